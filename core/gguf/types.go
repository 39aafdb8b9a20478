package gguf

import (
	"fmt"
	"math"
	"math/bits"
)

// Type is a ggml tensor type: the number in a tensor header.
type Type uint32

// The tensor types, with ggml's numbers.
const (
	F32     Type = 0
	F16     Type = 1
	Q4_0    Type = 2
	Q4_1    Type = 3
	Q5_0    Type = 6
	Q5_1    Type = 7
	Q8_0    Type = 8
	Q8_1    Type = 9
	Q2_K    Type = 10
	Q3_K    Type = 11
	Q4_K    Type = 12
	Q5_K    Type = 13
	Q6_K    Type = 14
	Q8_K    Type = 15
	IQ2_XXS Type = 16
	IQ2_XS  Type = 17
	IQ3_XXS Type = 18
	IQ1_S   Type = 19
	IQ4_NL  Type = 20
	IQ3_S   Type = 21
	IQ2_S   Type = 22
	IQ4_XS  Type = 23
	I8      Type = 24
	I16     Type = 25
	I32     Type = 26
	I64     Type = 27
	F64     Type = 28
	IQ1_M   Type = 29
	BF16    Type = 30
	TQ1_0   Type = 34
	TQ2_0   Type = 35
	MXFP4   Type = 39
	NVFP4   Type = 40
	Q1_0    Type = 41
	Q2_0    Type = 42
)

// layout is the name of a type and the size of its blocks; a removed type has no block.
type layout struct {
	name       string
	blockLen   int
	blockBytes int
}

// layouts is indexed by Type. Source: ggml_type and type_traits in ggml/src/ggml.c, block structs in ggml-common.h.
var layouts = [...]layout{
	F32: {"F32", 1, 4}, F16: {"F16", 1, 2}, BF16: {"BF16", 1, 2}, F64: {"F64", 1, 8},
	I8: {"I8", 1, 1}, I16: {"I16", 1, 2}, I32: {"I32", 1, 4}, I64: {"I64", 1, 8},
	Q4_0: {"Q4_0", 32, 18}, Q4_1: {"Q4_1", 32, 20}, Q5_0: {"Q5_0", 32, 22}, Q5_1: {"Q5_1", 32, 24},
	Q8_0: {"Q8_0", 32, 34}, Q8_1: {"Q8_1", 32, 36},
	Q2_K: {"Q2_K", 256, 84}, Q3_K: {"Q3_K", 256, 110}, Q4_K: {"Q4_K", 256, 144}, Q5_K: {"Q5_K", 256, 176},
	Q6_K: {"Q6_K", 256, 210}, Q8_K: {"Q8_K", 256, 292},
	IQ1_S: {"IQ1_S", 256, 50}, IQ1_M: {"IQ1_M", 256, 56},
	IQ2_XXS: {"IQ2_XXS", 256, 66}, IQ2_XS: {"IQ2_XS", 256, 74}, IQ2_S: {"IQ2_S", 256, 82},
	IQ3_XXS: {"IQ3_XXS", 256, 98}, IQ3_S: {"IQ3_S", 256, 110},
	IQ4_NL: {"IQ4_NL", 32, 18}, IQ4_XS: {"IQ4_XS", 256, 136},
	TQ1_0: {"TQ1_0", 256, 54}, TQ2_0: {"TQ2_0", 256, 66},
	MXFP4: {"MXFP4", 32, 17}, NVFP4: {"NVFP4", 64, 36}, Q1_0: {"Q1_0", 128, 18}, Q2_0: {"Q2_0", 64, 18},

	4: {name: "Q4_2"}, 5: {name: "Q4_3"},
	31: {name: "Q4_0_4_4"}, 32: {name: "Q4_0_4_8"}, 33: {name: "Q4_0_8_8"},
	36: {name: "IQ4_NL_4_4"}, 37: {name: "IQ4_NL_4_8"}, 38: {name: "IQ4_NL_8_8"},
}

// Known reports whether t is a type that a GGUF file may hold today; removed types are named but not known.
func (t Type) Known() bool { return t.BlockLen() > 0 }

// String returns ggml's name of the type, such as "Q4_K".
func (t Type) String() string {
	if int64(t) < int64(len(layouts)) && layouts[t].name != "" {
		return layouts[t].name
	}
	return fmt.Sprintf("type %d", uint32(t))
}

// BlockLen returns the number of elements in a block, or 0 when the type is not known.
func (t Type) BlockLen() int {
	if int64(t) >= int64(len(layouts)) {
		return 0
	}
	return layouts[t].blockLen
}

// BlockBytes returns the number of bytes in a block, or 0 when the type is not known.
func (t Type) BlockBytes() int {
	if int64(t) >= int64(len(layouts)) {
		return 0
	}
	return layouts[t].blockBytes
}

// Quantized reports whether elements share a block, so that a single one cannot be addressed.
func (t Type) Quantized() bool { return t.BlockLen() > 1 }

// RowBytes returns the size of a row of n elements.
//
// Errors: n is negative, not a whole number of blocks, or the size overflows an int; the type is not known ([ErrType]).
func (t Type) RowBytes(n int) (int, error) {
	if !t.Known() {
		return 0, fmt.Errorf("%w: %v", ErrType, t)
	}
	if n < 0 || n%t.BlockLen() != 0 {
		return 0, fmt.Errorf("a row of %d elements is not a whole number of %v blocks of %d", n, t, t.BlockLen())
	}
	blocks := n / t.BlockLen()
	if blocks > math.MaxInt/t.BlockBytes() {
		return 0, fmt.Errorf("a row of %d %v elements is too large", n, t)
	}
	return blocks * t.BlockBytes(), nil
}

// tensorBytes returns the size of a tensor with these dimensions, innermost first, or a reason why it has none.
func tensorBytes(t Type, ne []uint64) (size int64, reason string) {
	elems := uint64(1)
	for _, n := range ne {
		if n == 0 {
			return 0, "a dimension is 0"
		}
		hi, lo := bits.Mul64(elems, n)
		if hi != 0 || lo > math.MaxInt64 || n > math.MaxInt {
			return 0, "the number of elements overflows"
		}
		elems = lo
	}
	if ne[0]%uint64(t.BlockLen()) != 0 {
		return 0, fmt.Sprintf("rows of %d elements are not whole %v blocks of %d", ne[0], t, t.BlockLen())
	}
	hi, lo := bits.Mul64(elems/uint64(t.BlockLen()), uint64(t.BlockBytes()))
	if hi != 0 || lo > math.MaxInt64 {
		return 0, "the size overflows"
	}
	return int64(lo), ""
}
