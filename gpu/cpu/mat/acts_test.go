package mat

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/pooled/pooled/gpu/cpu/isa"
)

// The paths quantise activations to the same records, halves and zeros included.
func TestQuantize(t *testing.T) {
	for _, path := range paths[1:] {
		for _, w := range []int{1, 2, 4, 8} {
			t.Run(fmt.Sprintf("%v/width=%d", path, w), func(t *testing.T) {
				rng := rand.New(rand.NewPCG(seed, uint64(w)))
				const cols = 7 * blockCols
				x := randomFloats(rng, w*cols)
				for i := range blockCols {
					x[i] = float32(i) - 15.5 // exact halves
				}
				x[7] = 127
				clear(x[blockCols : 2*blockCols])
				for i := range blockCols {
					x[2*blockCols+i] *= 1e-32 // too small for a scale
				}
				run := func(path isa.Path) []uint32 {
					usePath(t, path)
					var a Acts
					a.Set(x, w, cols, false)
					a.prepareQuants(nil)
					return a.quants
				}
				want, got := run(isa.Portable), run(path)
				for i := range want {
					if got[i] != want[i] {
						t.Errorf("word %d: got %#x (%v), want %#x (%v)", i, got[i], math.Float32frombits(got[i]), want[i], math.Float32frombits(want[i]))
					}
				}
			})
		}
	}
}
