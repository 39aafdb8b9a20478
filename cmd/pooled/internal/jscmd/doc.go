// Package jscmd holds the commands "pooled js" and "pooled page": running
// untrusted code in the sandbox by hand, without any model.
package jscmd

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// size is a flag value in bytes: a number with KiB, MiB or GiB, bare for MiB.
type size int64

func (s *size) String() string {
	switch v := int64(*s); {
	case v == 0:
		return ""
	case v%(1<<30) == 0:
		return fmt.Sprintf("%dGiB", v>>30)
	case v%(1<<20) == 0:
		return fmt.Sprintf("%dMiB", v>>20)
	default:
		return fmt.Sprintf("%dKiB", v>>10)
	}
}

func (s *size) Set(text string) error {
	digits := strings.TrimRight(text, "KMGTkmgtiIbB")
	n, err := strconv.ParseInt(digits, 10, 32)
	if err != nil || n <= 0 {
		return fmt.Errorf("%q is not a size such as 64MiB", text)
	}
	shift := map[string]uint{"": 20, "k": 10, "m": 20, "g": 30}
	unit := strings.ToLower(text[len(digits):])
	unit = strings.TrimSuffix(strings.TrimSuffix(unit, "b"), "i")
	bits, ok := shift[unit]
	if !ok {
		return fmt.Errorf("%q is not a size such as 64MiB", text)
	}
	*s = size(n << bits)
	return nil
}

func (*size) Type() string { return "size" }

// wait is a flag value of time: 500ms, 5s, 1m, or a bare number of seconds.
type wait time.Duration

func (w *wait) String() string { return time.Duration(*w).String() }

func (w *wait) Set(text string) error {
	d, err := time.ParseDuration(text)
	if err != nil {
		seconds, ferr := strconv.ParseFloat(text, 64)
		if ferr != nil {
			return fmt.Errorf("%q is not a time such as 5s", text)
		}
		d = time.Duration(seconds * float64(time.Second))
	}
	if d <= 0 || d > time.Hour {
		return fmt.Errorf("%q is not between 1ms and 1h", text)
	}
	*w = wait(d)
	return nil
}

func (*wait) Type() string { return "time" }
