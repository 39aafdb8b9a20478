package grammar

import (
	"encoding/json"
	"math"
	"slices"
	"strconv"
	"strings"
)

const (
	// maxDigits is how many digits a double keeps apart, and maxScale how many places its point may be moved exactly.
	maxDigits = 15
	maxScale  = 22
	maxWhole  = 1 << 53
	maxCount  = 1 << 30
)

// checkNumbers refuses numbers that the engine, which computes with doubles, would change.
func (d *document) checkNumbers(m member, at string) error {
	switch m.value.kind {
	case '[':
		for i, item := range m.value.items {
			if err := d.checkNumbers(member{"", item}, at+"/"+strconv.Itoa(i)); err != nil {
				return err
			}
		}
	case '{':
		for _, inner := range m.value.members {
			if err := d.checkNumbers(member{"", inner.value}, at+"/"+escape(inner.key)); err != nil {
				return err
			}
		}
	default:
		number, ok := m.value.scalar.(json.Number)
		if !ok {
			return nil
		}
		f, ok := decimal(string(number))
		if !ok {
			return errorf(at, "the number %.40s has too many digits to be kept exactly", number)
		}
		if m.key == "multipleOf" {
			d.factors[at] = f
		}
	}
	return nil
}

// factor is a number, coefficient · 10^-scale.
type factor struct {
	coefficient uint64
	scale       int
}

// decimal reads a number; ok is false for one that a double does not hold exactly enough.
func decimal(text string) (f factor, ok bool) {
	mantissa, exponent, _ := strings.Cut(strings.ToLower(strings.TrimPrefix(text, "-")), "e")
	whole, fraction, _ := strings.Cut(mantissa, ".")
	shift := 0
	if exponent != "" {
		var err error
		if shift, err = strconv.Atoi(exponent); err != nil {
			return f, false
		}
	}
	digits := strings.TrimLeft(whole+fraction, "0")
	scale := len(fraction) - shift
	if scale < -maxScale || scale > maxScale {
		return f, false
	}
	if len(digits) <= maxDigits {
		n, err := strconv.ParseUint("0"+digits, 10, 64)
		for ; scale < 0 && n <= maxWhole; scale++ {
			n *= 10
		}
		for ; scale > 0 && n%10 == 0; scale-- {
			n /= 10
		}
		return factor{n, scale}, err == nil && n <= maxWhole
	}
	n, err := strconv.ParseUint(digits, 10, 64)
	return factor{n, 0}, err == nil && n <= maxWhole && scale == 0
}

// numeral returns a text that numbers of the same value share.
func numeral(v *value) (string, bool) {
	number, ok := v.scalar.(json.Number)
	if !ok {
		return "", false
	}
	f, ok := decimal(string(number))
	if f.coefficient == 0 {
		return "0", ok
	}
	sign := ""
	if strings.HasPrefix(string(number), "-") {
		sign = "-"
	}
	return sign + strconv.FormatUint(f.coefficient, 10) + "e-" + strconv.Itoa(f.scale), ok
}

// checkMultiples refuses factors whose common multiple could overflow in the engine, which computes it with 32 bits.
func (d *document) checkMultiples() error {
	scale := 0
	var distinct []factor
	for _, f := range d.factors {
		scale = max(scale, f.scale)
		if !slices.Contains(distinct, f) {
			distinct = append(distinct, f)
		}
	}
	if len(distinct) < 2 {
		return nil
	}
	product := 1.0
	for _, f := range distinct {
		product *= float64(f.coefficient) * math.Pow10(scale-f.scale)
	}
	if product > math.MaxUint32 {
		return errorf(d.multiples[len(d.multiples)-1], "the factors of this schema are too large to be combined")
	}
	return nil
}

// checkCount writes a count as a whole number.
func checkCount(v *value, at string) error {
	n, ok := count(v)
	if !ok {
		return errorf(at, "this must be a whole number from 0 to %d", maxCount)
	}
	v.scalar = json.Number(strconv.Itoa(n))
	return nil
}

func count(v *value) (int, bool) {
	number, ok := v.scalar.(json.Number)
	if !ok {
		return 0, false
	}
	f, err := number.Float64()
	return int(f), err == nil && f >= 0 && f <= maxCount && f == math.Trunc(f)
}
