package mat

import (
	"encoding/binary"
	"fmt"

	"github.com/pooled/pooled/core/gguf"
	"github.com/pooled/pooled/core/quant"
)

// converter appends to dst the row src of a file, in a form that has panels.
type converter func(dst, src []byte, cols int) []byte

// conversion returns how a type without panels of its own is kept.
func conversion(typ gguf.Type) (format, converter, error) {
	switch {
	case typ == gguf.IQ4_NL:
		return formats[gguf.Q8_0], bytesFromIQ4NL, nil
	case typ == gguf.MXFP4:
		return formats[gguf.BF16], viaFloat(typ, quant.FloatToBF16), nil
	case quant.Supported(typ):
		return formats[gguf.F16], viaFloat(typ, quant.FloatToHalf), nil
	}
	return format{}, nil, fmt.Errorf("%w: %v", ErrType, typ)
}

// viaFloat decodes a row and rounds every value to 16 bits.
func viaFloat(typ gguf.Type, round func(float32) uint16) converter {
	return func(dst, src []byte, cols int) []byte {
		values := make([]float32, cols)
		if err := quant.Dequantize(values, typ, src); err != nil {
			panic(err) // the type is supported and the size was checked
		}
		for _, v := range values {
			dst = binary.LittleEndian.AppendUint16(dst, round(v))
		}
		return dst
	}
}

// iq4nl are the values of the sixteen quants. Source: kvalues_iq4nl in ggml-common.h.
var iq4nl = [16]int8{-127, -104, -83, -65, -49, -35, -22, -10, 1, 13, 25, 38, 53, 69, 89, 113}

// bytesFromIQ4NL turns IQ4_NL into Q8_0, which holds the same values.
func bytesFromIQ4NL(dst, src []byte, _ int) []byte {
	for ; len(src) > 0; src = src[18:] {
		dst = append(dst, src[:2]...)
		for _, b := range src[2:18] {
			dst = append(dst, uint8(iq4nl[b&15]))
		}
		for _, b := range src[2:18] {
			dst = append(dst, uint8(iq4nl[b>>4]))
		}
	}
	return dst
}
