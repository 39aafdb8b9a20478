// Package quant converts between float32 and the block formats of GGUF tensors.
//
// It is the plain, exact form of every format: decoding gives the same float32 values as ggml's own code, bit for bit, and
// the fast kernels are tested against it. There is one file per family of formats:
//
//	half.go    F16 and BF16: no blocks
//	legacy.go  Q4_0, Q4_1, Q5_0, Q5_1, Q8_0: 32 elements share a scale, and the _1 forms a minimum
//	kquant.go  Q2_K … Q6_K: 256 elements in sub-blocks whose scales are quantised themselves
//	iq4.go     IQ4_NL, IQ4_XS and MXFP4: 4-bit indices into a fixed table
//
// Source: ggml/src/ggml-quants.c and ggml-common.h.
package quant
