package mat

import "github.com/pooled/pooled/gpu/cpu/isa"

// kernels are the inner loops of one path.
type kernels struct {
	// quant multiplies some panels by one group of columns.
	quant func(*task)
	// float adds the columns of w, 16 rows each, times a group of activations to
	// the group's sums, one for each of its columns.
	float func(sums []columnSums, w, x []float32)
	// values turns super-blocks of a quantised panel into plain numbers, 16 a column.
	values func(f *format, dst []float32, panel []byte)
	// quantize quantises column c of a group of w.
	quantize func(dst []uint32, c, w int, x []float32)
}

// active are the kernels in use.
var active = kernelsOf(isa.Best())

var portable = kernels{quant: mulGo, float: mulFloatGo, values: valuesGo, quantize: quantizeGo}
