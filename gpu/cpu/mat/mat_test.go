package mat

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"testing"

	"github.com/pooled/pooled/core/gguf"
	"github.com/pooled/pooled/core/quant"
	"github.com/pooled/pooled/gpu/cpu/pool"
)

// seed makes every random number of these tests.
const seed = 20260301

// nativeTypes are the types with panels of their own.
var nativeTypes = []gguf.Type{
	gguf.Q4_0, gguf.Q4_1, gguf.Q5_0, gguf.Q5_1, gguf.Q8_0,
	gguf.Q4_K, gguf.Q5_K, gguf.Q6_K, gguf.F16, gguf.BF16, gguf.F32,
}

// randomRows returns rows of random bytes whose scales are ordinary numbers, so
// that every pattern of quants and sub-scales occurs.
func randomRows(rng *rand.Rand, typ gguf.Type, rows, cols int) []byte {
	rowBytes, err := typ.RowBytes(cols)
	if err != nil {
		panic(err)
	}
	raw := make([]byte, rows*rowBytes)
	for i := range raw {
		raw[i] = byte(rng.Uint32())
	}
	var scales []int // where in a block half-precision scales lie
	switch typ {
	case gguf.Q4_0, gguf.Q5_0, gguf.Q8_0, gguf.IQ4_NL:
		scales = []int{0}
	case gguf.Q4_1, gguf.Q5_1, gguf.Q4_K, gguf.Q5_K:
		scales = []int{0, 2}
	case gguf.Q6_K:
		scales = []int{208}
	case gguf.Q2_K:
		scales = []int{80, 82}
	case gguf.Q3_K:
		scales = []int{108}
	case gguf.IQ4_XS:
		scales = []int{0}
	case gguf.MXFP4:
		for i := 0; i < len(raw); i += 17 {
			raw[i] = byte(100 + rng.IntN(40))
		}
	case gguf.F16:
		scales = []int{0}
	case gguf.BF16:
		for i := 0; i < len(raw); i += 2 {
			v := math.Float32bits(float32(rng.NormFloat64())) >> 16
			binary.LittleEndian.PutUint16(raw[i:], uint16(v))
		}
	case gguf.F32:
		for i := 0; i < len(raw); i += 4 {
			binary.LittleEndian.PutUint32(raw[i:], math.Float32bits(float32(rng.NormFloat64())))
		}
	}
	for at := 0; at < len(raw); at += typ.BlockBytes() {
		for _, s := range scales {
			// sign, exponent 2⁻⁵ … 2⁻², any fraction
			h := uint16(rng.Uint32())&0x83ff | uint16(10+rng.IntN(4))<<10
			binary.LittleEndian.PutUint16(raw[at+s:], h)
		}
	}
	return raw
}

func randomFloats(rng *rand.Rand, n int) []float32 {
	x := make([]float32, n)
	for i := range x {
		x[i] = float32(rng.NormFloat64())
	}
	return x
}

// dequantize is the other way to the values of rows: core/quant.
func dequantize(t testing.TB, typ gguf.Type, raw []byte, n int) []float32 {
	t.Helper()
	values := make([]float32, n)
	if err := quant.Dequantize(values, typ, raw); err != nil {
		t.Fatal(err)
	}
	return values
}

// product is the reference: dequantised rows, summed in float64.
func product(w []float32, rows, cols int, x []float32, n int) []float64 {
	y := make([]float64, n*rows)
	for r := range rows {
		for c := range n {
			var sum float64
			for k, v := range w[r*cols : (r+1)*cols] {
				sum += float64(v) * float64(x[c*cols+k])
			}
			y[c*rows+r] = sum
		}
	}
	return y
}

// nmse is the squared error relative to the reference.
func nmse(got []float32, want []float64) float64 {
	var diff, sum float64
	for i, w := range want {
		d := float64(got[i]) - w
		diff += d * d
		sum += w * w
	}
	return diff / sum
}

func mustPack(t testing.TB, typ gguf.Type, rows, cols int, raw []byte, p *pool.Pool) *Matrix {
	t.Helper()
	m, err := Pack(typ, rows, cols, raw, p)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func shapes(typ gguf.Type) [][2]int {
	block := typ.BlockLen()
	if block == 1 {
		return [][2]int{{1, 1}, {3, 7}, {16, 31}, {17, 257}, {40, 300}, {33, 640}}
	}
	return [][2]int{{1, block}, {15, 3 * block}, {16, block}, {17, 5 * block}, {50, 7 * block}}
}

func TestMulAgainstFloat64(t *testing.T) {
	p := pool.New(2)
	defer p.Close()
	for _, typ := range append(nativeTypes, gguf.IQ4_NL) {
		for _, shape := range shapes(typ) {
			for _, exact := range []bool{false, true} {
				rows, cols := shape[0], shape[1]
				t.Run(fmt.Sprintf("%v/%dx%d/exact=%v", typ, rows, cols, exact), func(t *testing.T) {
					rng := rand.New(rand.NewPCG(seed, uint64(typ)))
					raw := randomRows(rng, typ, rows, cols)
					m := mustPack(t, typ, rows, cols, raw, p)
					const n = 11
					x := randomFloats(rng, n*cols)
					var a Acts
					a.Set(x, n, cols, exact)
					y := make([]float32, n*rows)
					m.Mul(p, y, rows, &a)
					limit := 2e-4 // 8-bit activations
					if exact || m.format.float() {
						limit = 1e-12
					}
					w := dequantize(t, typ, raw, rows*cols)
					if got := nmse(y, product(w, rows, cols, x, n)); !(got <= limit) {
						t.Errorf("got NMSE %.3g, want at most %.3g", got, limit)
					}
				})
			}
		}
	}
}

// The rows that come back are the rows of the file.
func TestRow(t *testing.T) {
	converted := map[gguf.Type]float64{gguf.IQ4_NL: 0, gguf.MXFP4: 0, gguf.Q2_K: 0x1p-11, gguf.Q3_K: 0x1p-11, gguf.IQ4_XS: 0x1p-11}
	types := append([]gguf.Type{}, nativeTypes...)
	for typ := range converted {
		types = append(types, typ)
	}
	for _, typ := range types {
		t.Run(typ.String(), func(t *testing.T) {
			rng := rand.New(rand.NewPCG(seed, uint64(typ)))
			rows, cols := 35, 3*max(typ.BlockLen(), 8)
			raw := randomRows(rng, typ, rows, cols)
			m := mustPack(t, typ, rows, cols, raw, nil)
			want := dequantize(t, typ, raw, rows*cols)
			got := make([]float32, cols)
			for r := range rows {
				m.Row(got, r)
				for k, g := range got {
					w := want[r*cols+k]
					if diff := math.Abs(float64(g) - float64(w)); diff > converted[typ]*math.Max(math.Abs(float64(w)), 0x1p-14) {
						t.Fatalf("row %d column %d: got %v, want %v", r, k, g, w)
					}
				}
			}
		})
	}
}

// A column must give the same bits in whatever company it is computed.
func TestMulDoesNotDependOnWidth(t *testing.T) {
	p := pool.New(2)
	defer p.Close()
	for _, typ := range nativeTypes {
		for _, exact := range []bool{false, true} {
			t.Run(fmt.Sprintf("%v/exact=%v", typ, exact), func(t *testing.T) {
				rng := rand.New(rand.NewPCG(seed, uint64(typ)))
				const rows, cols, most = 53, 512, 40
				m := mustPack(t, typ, rows, cols, randomRows(rng, typ, rows, cols), nil)
				x := randomFloats(rng, most*cols)
				one := make([]float32, most*rows)
				var a Acts
				for c := range most {
					a.Set(x[c*cols:], 1, cols, exact)
					m.Mul(nil, one[c*rows:], rows, &a)
				}
				for _, n := range []int{1, 2, 3, 4, 5, 6, 7, 8, 9, 13, 15, 16, 31, most} {
					const stride = rows + 5
					y := make([]float32, n*stride)
					a.Set(x, n, cols, exact)
					m.Mul(p, y, stride, &a)
					for c := range n {
						for r := range stride {
							var want float32
							if r < rows {
								want = one[c*rows+r]
							}
							if got := y[c*stride+r]; math.Float32bits(got) != math.Float32bits(want) {
								t.Fatalf("n=%d column %d row %d: got %v, want %v", n, c, r, got, want)
							}
						}
					}
				}
			})
		}
	}
}

func TestMulMany(t *testing.T) {
	p := pool.New(2)
	defer p.Close()
	rng := rand.New(rand.NewPCG(seed, 1))
	const cols, n = 1024, 9
	x := randomFloats(rng, n*cols)
	var a Acts
	a.Set(x, n, cols, false)
	var jobs []Job
	var want [][]float32
	for i, typ := range []gguf.Type{gguf.Q4_0, gguf.F16, gguf.Q6_K, gguf.Q8_0} {
		rows := []int{300, 17, 64, 5}[i]
		m := mustPack(t, typ, rows, cols, randomRows(rng, typ, rows, cols), p)
		y := make([]float32, n*rows)
		m.Mul(nil, y, rows, &a)
		want = append(want, y)
		jobs = append(jobs, Job{M: m, Y: make([]float32, n*rows), Stride: rows})
	}
	MulMany(p, &a, jobs)
	for i, job := range jobs {
		for k := range job.Y {
			if job.Y[k] != want[i][k] {
				t.Fatalf("matrix %d output %d: got %v, want %v", i, k, job.Y[k], want[i][k])
			}
		}
	}
}

func TestPackSize(t *testing.T) {
	for _, typ := range nativeTypes {
		rows, cols := 576, 1536
		rng := rand.New(rand.NewPCG(seed, 2))
		raw := randomRows(rng, typ, rows, cols)
		m := mustPack(t, typ, rows, cols, raw, nil)
		if got, limit := float64(m.Bytes()), 1.03*float64(len(raw)); got > limit {
			t.Errorf("%v: panels take %.0f bytes, want at most %.0f", typ, got, limit)
		}
		if m.Rows() != rows || m.Cols() != cols || m.Type() != typ {
			t.Errorf("got %dx%d %v, want %dx%d %v", m.Rows(), m.Cols(), m.Type(), rows, cols, typ)
		}
	}
}

func TestPackErrors(t *testing.T) {
	tests := []struct {
		name       string
		typ        gguf.Type
		rows, cols int
		bytes      int
		want       error
	}{
		{"short", gguf.Q4_0, 2, 64, 71, ErrShape},
		{"long", gguf.Q4_0, 2, 64, 73, ErrShape},
		{"a row more", gguf.Q4_0, 2, 64, 108, ErrShape},
		{"part of a block", gguf.Q4_0, 2, 40, 72, ErrShape},
		{"no rows", gguf.F32, 0, 4, 0, ErrShape},
		{"negative", gguf.F32, -1, -4, 16, ErrShape},
		{"overflow", gguf.F32, math.MaxInt, math.MaxInt, 16, ErrShape},
		{"integers", gguf.I32, 1, 4, 16, ErrType},
		{"unknown", gguf.Type(999), 1, 4, 16, ErrType},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			m, err := Pack(tt.typ, tt.rows, tt.cols, make([]byte, tt.bytes), nil)
			if m != nil || !errors.Is(err, tt.want) {
				t.Errorf("got %v, %v, want %v", m, err, tt.want)
			}
		})
	}
}

func FuzzPack(f *testing.F) {
	f.Add(uint32(gguf.Q4_0), 2, 64, make([]byte, 72))
	f.Add(uint32(gguf.Q6_K), 1, 256, make([]byte, 210))
	f.Add(uint32(gguf.F16), 3, 5, make([]byte, 30))
	f.Fuzz(func(t *testing.T, typ uint32, rows, cols int, raw []byte) {
		m, err := Pack(gguf.Type(typ), rows, cols, raw, nil)
		if err != nil {
			return
		}
		if m.Bytes() > int64(64*len(raw)+4096) {
			t.Errorf("%d bytes became %d", len(raw), m.Bytes())
		}
		row := make([]float32, cols)
		m.Row(row, rows-1)
		var a Acts
		a.Set(row, 1, cols, false)
		m.Mul(nil, make([]float32, rows), rows, &a)
	})
}

// Memory of collected matrices goes back, and what shares a slab with them stays.
func TestMemoryIsReleased(t *testing.T) {
	rng := rand.New(rand.NewPCG(seed, 4))
	const rows, cols = 512, 2048
	raw := randomRows(rng, gguf.Q4_0, rows, cols)
	kept := mustPack(t, gguf.Q4_0, rows, cols, raw, nil)
	want := make([]float32, cols)
	kept.Row(want, rows-1)
	for range 5 {
		for range 10 {
			mustPack(t, gguf.Q4_0, rows, cols, raw, nil)
		}
		runtime.GC()
	}
	got := make([]float32, cols)
	kept.Row(got, rows-1)
	for k := range want {
		if got[k] != want[k] {
			t.Fatalf("column %d: got %v, want %v", k, got[k], want[k])
		}
	}
}

func TestMulAllocatesNothing(t *testing.T) {
	p := pool.New(2)
	defer p.Close()
	rng := rand.New(rand.NewPCG(seed, 5))
	const rows, cols = 64, 512
	var jobs []Job
	for _, typ := range []gguf.Type{gguf.Q4_0, gguf.Q6_K, gguf.F16} {
		m := mustPack(t, typ, rows, cols, randomRows(rng, typ, rows, cols), nil)
		jobs = append(jobs, Job{M: m, Y: make([]float32, rows), Stride: rows})
	}
	x := randomFloats(rng, cols)
	var a Acts
	got := testing.AllocsPerRun(20, func() {
		a.Set(x, 1, cols, false)
		MulMany(p, &a, jobs)
	})
	if got != 0 {
		t.Errorf("got %v allocations, want none", got)
	}
}
