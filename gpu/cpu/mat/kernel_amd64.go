package mat

import (
	"math/bits"

	"github.com/pooled/pooled/gpu/cpu/isa"
)

//go:generate go run -C ../asm . mat-avx512 -out ../mat/mul_avx512_gen_amd64.s -stubs ../mat/mul_avx512_gen_amd64.go -pkg mat
//go:generate go run -C ../asm . mat-avx2 -out ../mat/mul_avx2_gen_amd64.s -stubs ../mat/mul_avx2_gen_amd64.go -pkg mat

// mulFunc multiplies panels, one panelBytes after the other, by one group of
// columns; the outputs of a column lie strideBytes after those of the one before.
type mulFunc func(panel *byte, acts *uint32, y *float32, blocks, panels, panelBytes, strideBytes int)

// mulTable has the functions of each kind for 1, 2, 4 and 8 columns.
type mulTable [kinds][4]mulFunc

func kernelsOf(path isa.Path) kernels {
	k := portable
	switch path {
	case isa.AVX512:
		k.quant = func(t *task) { mul(&avx512Table, t) }
		k.float = func(sums []columnSums, w, x []float32) { mulFloat(&avx512Floats, sums, w, x) }
		k.values = valuesSIMD
		k.quantize = quantizeSIMD
	case isa.AVX2:
		k.quant = func(t *task) { mul(&avx2Table, t) }
		k.float = func(sums []columnSums, w, x []float32) { mulFloat(&avx2Floats, sums, w, x) }
		k.values = valuesSIMD
		k.quantize = quantizeSIMD
	}
	return k
}

// floatTable has the functions for 1, 2, 4 and 8 columns.
type floatTable [4]func(acc, w, x *float32, count int)

var (
	avx512Floats = floatTable{mulFloatx1AVX512, mulFloatx2AVX512, mulFloatx4AVX512, mulFloatx8AVX512}
	avx2Floats   = floatTable{mulFloatx1AVX2, mulFloatx2AVX2, mulFloatx4AVX2, mulFloatx8AVX2}
)

func mulFloat(table *floatTable, sums []columnSums, w, x []float32) {
	width := len(sums)
	count := len(x) / width
	_ = w[count*panelRows-1]
	table[bits.TrailingZeros(uint(width))](&sums[0][0][0], &w[0], &x[0], count)
}

// valuesTable has the functions of each kind.
var valuesTable = [kinds]func(panel *byte, dst *float32, supers int){
	valuesQ4AVX2, valuesQ4MinAVX2, valuesQ5AVX2, valuesQ5MinAVX2, valuesQ8AVX2, valuesQ4KAVX2, valuesQ5KAVX2, valuesQ6KAVX2,
}

func valuesSIMD(f *format, dst []float32, panel []byte) {
	supers := len(dst) / (f.super * panelRows)
	if supers == 0 {
		return
	}
	_ = panel[supers*f.superBytes()-1]
	valuesTable[f.kind](&panel[0], &dst[0], supers)
}

func quantizeSIMD(dst []uint32, c, w int, x []float32) {
	blocks := len(x) / blockCols
	if blocks == 0 {
		return
	}
	_ = dst[blocks*blockWords*w-1]
	quantizeBlocksAVX2(&dst[8*c], &dst[8*w+c], &x[0], blocks, 4*blockWords*w, w)
}

// mul calls the function for the task.
func mul(table *mulTable, t *task) {
	m := t.m
	panel := m.panel(t.panel)
	blocks := m.cols / blockCols
	// The last number that the function reads and the last that it writes.
	_ = t.acts[t.w*blocks*blockWords-1]
	_ = t.y[(t.w-1)*t.stride+t.panels*panelRows-1]
	_ = m.data[(t.panel+t.panels)*m.panelBytes-1]
	table[m.format.kind][bits.TrailingZeros(uint(t.w))](
		&panel[0], &t.acts[0], &t.y[0],
		blocks, t.panels, m.panelBytes, 4*t.stride)
}

var avx512Table = mulTable{
	kindQ4:    {mulQ4x1AVX512, mulQ4x2AVX512, mulQ4x4AVX512, mulQ4x8AVX512},
	kindQ4Min: {mulQ4Minx1AVX512, mulQ4Minx2AVX512, mulQ4Minx4AVX512, mulQ4Minx8AVX512},
	kindQ5:    {mulQ5x1AVX512, mulQ5x2AVX512, mulQ5x4AVX512, mulQ5x8AVX512},
	kindQ5Min: {mulQ5Minx1AVX512, mulQ5Minx2AVX512, mulQ5Minx4AVX512, mulQ5Minx8AVX512},
	kindQ8:    {mulQ8x1AVX512, mulQ8x2AVX512, mulQ8x4AVX512, mulQ8x8AVX512},
	kindQ4K:   {mulQ4Kx1AVX512, mulQ4Kx2AVX512, mulQ4Kx4AVX512, mulQ4Kx8AVX512},
	kindQ5K:   {mulQ5Kx1AVX512, mulQ5Kx2AVX512, mulQ5Kx4AVX512, mulQ5Kx8AVX512},
	kindQ6K:   {mulQ6Kx1AVX512, mulQ6Kx2AVX512, mulQ6Kx4AVX512, mulQ6Kx8AVX512},
}

var avx2Table = mulTable{
	kindQ4:    {mulQ4x1AVX2, mulQ4x2AVX2, mulQ4x4AVX2, mulQ4x8AVX2},
	kindQ4Min: {mulQ4Minx1AVX2, mulQ4Minx2AVX2, mulQ4Minx4AVX2, mulQ4Minx8AVX2},
	kindQ5:    {mulQ5x1AVX2, mulQ5x2AVX2, mulQ5x4AVX2, mulQ5x8AVX2},
	kindQ5Min: {mulQ5Minx1AVX2, mulQ5Minx2AVX2, mulQ5Minx4AVX2, mulQ5Minx8AVX2},
	kindQ8:    {mulQ8x1AVX2, mulQ8x2AVX2, mulQ8x4AVX2, mulQ8x8AVX2},
	kindQ4K:   {mulQ4Kx1AVX2, mulQ4Kx2AVX2, mulQ4Kx4AVX2, mulQ4Kx8AVX2},
	kindQ5K:   {mulQ5Kx1AVX2, mulQ5Kx2AVX2, mulQ5Kx4AVX2, mulQ5Kx8AVX2},
	kindQ6K:   {mulQ6Kx1AVX2, mulQ6Kx2AVX2, mulQ6Kx4AVX2, mulQ6Kx8AVX2},
}
