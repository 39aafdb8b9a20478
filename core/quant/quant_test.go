package quant

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pooled/pooled/core/gguf"
)

var decodable = []gguf.Type{
	gguf.F16, gguf.BF16, gguf.Q4_0, gguf.Q4_1, gguf.Q5_0, gguf.Q5_1, gguf.Q8_0,
	gguf.Q2_K, gguf.Q3_K, gguf.Q4_K, gguf.Q5_K, gguf.Q6_K, gguf.IQ4_NL, gguf.IQ4_XS, gguf.MXFP4,
}

// vectors returns the blocks and the values of testdata, which were computed by gguf-py and agree with ggml's C code.
func vectors(tb testing.TB, typ gguf.Type) ([]byte, []float32) {
	tb.Helper()
	base := filepath.Join("testdata", strings.ToLower(typ.String()))
	blocks, err := os.ReadFile(base + ".bytes.bin")
	if err != nil {
		tb.Fatal(err)
	}
	raw, err := os.ReadFile(base + ".f32.bin")
	if err != nil {
		tb.Fatal(err)
	}
	values := make([]float32, len(raw)/4)
	decodeF32(values, raw)
	return blocks, values
}

func TestDequantizeEqualsGGML(t *testing.T) {
	for _, typ := range decodable {
		t.Run(typ.String(), func(t *testing.T) {
			blocks, want := vectors(t, typ)
			got := make([]float32, len(want))
			if err := Dequantize(got, typ, blocks); err != nil {
				t.Fatal(err)
			}
			for i := range want {
				if got[i] != want[i] {
					t.Fatalf("value %d = %v (%08x), want %v (%08x)", i, got[i], math.Float32bits(got[i]), want[i], math.Float32bits(want[i]))
				}
			}
		})
	}
}

func TestHalfRoundTrip(t *testing.T) {
	for h := range 1 << 16 {
		f := HalfToFloat(uint16(h))
		got := FloatToHalf(f)
		if f != f {
			if HalfToFloat(got) == HalfToFloat(got) || got&0x8000 != uint16(h)&0x8000 {
				t.Fatalf("NaN %04x came back as %04x", h, got)
			}
			continue
		}
		if got != uint16(h) {
			t.Fatalf("%04x → %v → %04x", h, f, got)
		}
	}
}

func TestHalfRounding(t *testing.T) {
	for _, tt := range []struct {
		f float32
		h uint16
	}{
		{0, 0},
		{float32(math.Copysign(0, -1)), 0x8000},
		{1, 0x3c00},
		{-2, 0xc000},
		{65504, 0x7bff},
		{65519.996, 0x7bff},
		{65520, 0x7c00},
		{1e30, 0x7c00},
		{float32(math.Inf(-1)), 0xfc00},
		{0x1p-14, 0x0400},
		{0x1p-24, 1},
		{0x1p-25, 0},
		{0x1.000002p-25, 1},
		{0x1.8p-24, 2},
		{0x1p-26, 0},
		{1 + 0x1p-11, 0x3c00},
		{1 + 0x1.8p-10, 0x3c02},
		{1 + 0x1.002p-11, 0x3c01},
		{2 - 0x1p-12, 0x4000},
		{0x1.ffep-15, 0x0400},
	} {
		if got := FloatToHalf(tt.f); got != tt.h {
			t.Errorf("FloatToHalf(%x) = %04x, want %04x", tt.f, got, tt.h)
		}
	}
}

// TestHalfNearest checks rounding against its definition: no half lies closer, and of two equally close the even one wins.
func TestHalfNearest(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 200_000 {
		f := math.Float32frombits(rng.Uint32())
		if f != f || abs(f) >= 65504 {
			continue
		}
		h := FloatToHalf(f)
		got := math.Abs(float64(HalfToFloat(h)) - float64(f))
		for _, other := range []uint16{h - 1, h + 1} {
			d := math.Abs(float64(HalfToFloat(other)) - float64(f))
			if d < got || d == got && h&1 == 1 {
				t.Fatalf("FloatToHalf(%v) = %04x, but %04x is nearer or even", f, h, other)
			}
		}
	}
}

func TestBF16(t *testing.T) {
	for h := range 1 << 16 {
		f := BF16ToFloat(uint16(h))
		got := FloatToBF16(f)
		if f != f {
			if g := BF16ToFloat(got); g == g {
				t.Fatalf("NaN %04x came back as %04x", h, got)
			}
			continue
		}
		if got != uint16(h) {
			t.Fatalf("%04x → %v → %04x", h, f, got)
		}
	}
	for _, tt := range []struct{ bits, want uint32 }{
		{0x3f808000, 0x3f80},
		{0x3f818000, 0x3f82},
		{0x3f808001, 0x3f81},
		{0x7f7fffff, 0x7f80},
		{0x7f800001, 0x7fc0},
	} {
		if got := FloatToBF16(math.Float32frombits(tt.bits)); uint32(got) != tt.want {
			t.Errorf("FloatToBF16(%08x) = %04x, want %04x", tt.bits, got, tt.want)
		}
	}
}

// weights returns normal values of three spreads with 0.5 % outliers of eightfold size.
func weights(n int) []float32 {
	rng := rand.New(rand.NewPCG(5, 7))
	out := make([]float32, n)
	for i := range out {
		x := rng.NormFloat64() * []float64{0.02, 0.1, 1}[i*3/n]
		if rng.IntN(200) == 0 {
			x *= 8
		}
		out[i] = float32(x)
	}
	return out
}

// rmsError returns the error of encoding and decoding, relative to the values, as the mean over the spreads.
func rmsError(tb testing.TB, typ gguf.Type, x []float32) float64 {
	tb.Helper()
	n, err := typ.RowBytes(len(x))
	if err != nil {
		tb.Fatal(err)
	}
	b, y := make([]byte, n), make([]float32, len(x))
	if err := Quantize(b, typ, x); err != nil {
		tb.Fatal(err)
	}
	if err := Dequantize(y, typ, b); err != nil {
		tb.Fatal(err)
	}
	var diff, sum float64
	for i := range x {
		diff += (float64(y[i]) - float64(x[i])) * (float64(y[i]) - float64(x[i]))
		sum += float64(x[i]) * float64(x[i])
	}
	return math.Sqrt(diff / sum)
}

func TestQuantizeError(t *testing.T) {
	x := weights(3 * 256 * 64)
	for _, tt := range []struct {
		typ  gguf.Type
		most float64
	}{
		{gguf.F32, 0},
		{gguf.F16, 0.00025},
		{gguf.BF16, 0.0017},
		{gguf.Q8_0, 0.008},
		{gguf.Q6_K, 0.023},
		{gguf.Q5_K, 0.042},
		{gguf.Q5_1, 0.043},
		{gguf.Q5_0, 0.060},
		{gguf.Q4_K, 0.084},
		{gguf.Q4_1, 0.090},
		{gguf.Q4_0, 0.122},
	} {
		got := rmsError(t, tt.typ, x)
		t.Logf("%v: relative rms error %.5f", tt.typ, got)
		if got > tt.most || got == 0 && tt.most != 0 {
			t.Errorf("%v: relative rms error %.5f, want above 0 and at most %.5f", tt.typ, got, tt.most)
		}
	}
}

// TestQuantizeFixedPoint encodes values that lie on a format's grid: where the scale is found again they come back.
func TestQuantizeFixedPoint(t *testing.T) {
	for _, typ := range []gguf.Type{gguf.F16, gguf.BF16, gguf.Q8_0} {
		blocks, values := vectors(t, typ)
		half := len(blocks) / 2 / typ.BlockBytes() * typ.BlockBytes()
		got := make([]byte, half)
		if err := Quantize(got, typ, values[:half/typ.BlockBytes()*typ.BlockLen()]); err != nil {
			t.Fatal(err)
		}
		back := make([]float32, half/typ.BlockBytes()*typ.BlockLen())
		if err := Dequantize(back, typ, got); err != nil {
			t.Fatal(err)
		}
		for i := range back {
			if diff := abs(back[i] - values[i]); diff > abs(values[i])*1e-3 {
				t.Fatalf("%v: value %d: %v came back as %v", typ, i, values[i], back[i])
			}
		}
	}
}

func TestQuantizeEdges(t *testing.T) {
	inf, nan := float32(math.Inf(1)), float32(math.NaN())
	for _, fill := range [][]float32{
		{0}, {0.125}, {-3}, {1, -1}, {1e-30}, {1e-8, 0}, {6e4}, {3e38, -3e38}, {inf}, {-inf, 1}, {nan}, {nan, 1, -2},
	} {
		for _, typ := range []gguf.Type{gguf.Q4_0, gguf.Q4_1, gguf.Q5_0, gguf.Q5_1, gguf.Q8_0, gguf.Q4_K, gguf.Q5_K, gguf.Q6_K} {
			x := make([]float32, 512)
			for i := range x {
				x[i] = fill[i%len(fill)]
			}
			n, _ := typ.RowBytes(len(x))
			b, y := make([]byte, n), make([]float32, len(x))
			for i := range b {
				b[i] = 0xa5 // what was there before must not shine through
			}
			if err := Quantize(b, typ, x); err != nil {
				t.Fatal(err)
			}
			again := make([]byte, n)
			if err := Quantize(again, typ, x); err != nil {
				t.Fatal(err)
			}
			if string(b) != string(again) {
				t.Errorf("%v of %v depends on what was in dst", typ, fill)
			}
			if err := Dequantize(y, typ, b); err != nil {
				t.Fatal(err)
			}
			for i := range y {
				if a := abs(x[i]); a >= 1e-3 && a <= 6e4 && fill[0] == fill[0] && !(fill[0] < -1e9) && abs(y[i]-x[i]) > 0.13*a {
					t.Fatalf("%v of %v: value %d came back as %v", typ, fill, i, y[i])
				}
			}
		}
	}
}

func TestErrors(t *testing.T) {
	for _, tt := range []struct {
		name string
		err  error
		want error
	}{
		{"unsupported decode", Dequantize(make([]float32, 256), gguf.IQ1_S, make([]byte, 50)), ErrUnsupported},
		{"unknown type", Dequantize(nil, gguf.Type(999), nil), ErrUnsupported},
		{"unsupported encode", Quantize(make([]byte, 84), gguf.Q2_K, make([]float32, 256)), ErrUnsupported},
		{"part of a block", Dequantize(make([]float32, 31), gguf.Q4_0, make([]byte, 18)), ErrSize},
		{"short bytes", Dequantize(make([]float32, 32), gguf.Q4_0, make([]byte, 17)), ErrSize},
		{"long bytes", Quantize(make([]byte, 37), gguf.Q4_0, make([]float32, 64)), ErrSize},
		{"empty", Dequantize(nil, gguf.Q4_0, nil), nil},
	} {
		if !errors.Is(tt.err, tt.want) {
			t.Errorf("%s: %v, want %v", tt.name, tt.err, tt.want)
		}
	}
	if !Supported(gguf.MXFP4) || Supported(gguf.IQ2_S) || !Encodable(gguf.Q6_K) || Encodable(gguf.IQ4_NL) {
		t.Error("Supported or Encodable is wrong")
	}
}

// FuzzDequantize feeds every format arbitrary bytes: no panic, and every value is the same the second time.
func FuzzDequantize(f *testing.F) {
	for _, typ := range decodable {
		b, err := os.ReadFile(filepath.Join("testdata", strings.ToLower(typ.String())+".bytes.bin"))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(uint32(typ), b[:typ.BlockBytes()])
	}
	f.Fuzz(func(t *testing.T, typ uint32, b []byte) {
		tt := gguf.Type(typ)
		if !Supported(tt) {
			return
		}
		blocks := len(b) / tt.BlockBytes()
		y := make([]float32, blocks*tt.BlockLen())
		if err := Dequantize(y, tt, b[:blocks*tt.BlockBytes()]); err != nil {
			t.Fatal(err)
		}
		if !Encodable(tt) {
			return
		}
		if err := Quantize(make([]byte, blocks*tt.BlockBytes()), tt, y); err != nil {
			t.Fatal(err)
		}
	})
}

func BenchmarkDequantize(b *testing.B) {
	for _, typ := range append([]gguf.Type{gguf.F32}, decodable...) {
		b.Run(typ.String(), func(b *testing.B) {
			y := make([]float32, 1<<16)
			n, _ := typ.RowBytes(len(y))
			src := make([]byte, n)
			for i := 0; i+4 <= n; i += 4 {
				binary.LittleEndian.PutUint32(src[i:], uint32(i)*2654435761)
			}
			b.SetBytes(int64(4 * len(y)))
			for b.Loop() {
				if err := Dequantize(y, typ, src); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func ExampleDequantize() {
	block := make([]byte, gguf.Q8_0.BlockBytes())
	block[1] = 0x3c // the scale 1.0 as a half
	block[2] = 7
	values := make([]float32, gguf.Q8_0.BlockLen())
	err := Dequantize(values, gguf.Q8_0, block)
	fmt.Println(values[:2], err)
	// Output: [7 0] <nil>
}
