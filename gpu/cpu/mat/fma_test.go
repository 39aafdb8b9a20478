package mat

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"
)

// fma rounds once, also close to the middle of two numbers, in cancellation and
// among subnormals.
func TestFMA(t *testing.T) {
	rng := rand.New(rand.NewPCG(seed, 3))
	exact := func(a, b, c float32) float32 {
		x := new(big.Float).SetPrec(600).SetFloat64(float64(a))
		x.Mul(x, new(big.Float).SetFloat64(float64(b)))
		x.Add(x, new(big.Float).SetFloat64(float64(c)))
		v, _ := x.Float32()
		return v
	}
	finite := func() float32 {
		for {
			if v := math.Float32frombits(rng.Uint32()); v-v == 0 {
				return v
			}
		}
	}
	for i := range 300_000 {
		a, b, c := finite(), finite(), finite()
		switch i % 4 {
		case 0: // cancelling
			if c = -a * b; c-c != 0 {
				continue
			}
		case 1: // a tie but for the last bits
			a, b = 1+float32(rng.IntN(1<<12))*0x1p-23, 1+float32(rng.IntN(1<<12))*0x1p-23
			c = float32(1+rng.IntN(1<<10)) * float32(math.Exp2(float64(rng.IntN(60)-30)))
		case 2: // subnormal results
			a, b, c = float32(rng.NormFloat64())*0x1p-70, float32(rng.NormFloat64())*0x1p-70, float32(rng.NormFloat64())*0x1p-140
		}
		if got, want := fma(a, b, c), exact(a, b, c); got != want {
			t.Fatalf("fma(%x, %x, %x): got %x, want %x", a, b, c, got, want)
		}
	}
}
