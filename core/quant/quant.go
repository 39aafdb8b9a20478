package quant

import (
	"encoding/binary"
	"fmt"
	"math"

	"github.com/pooled/pooled/core/gguf"
)

// decoder turns whole blocks into values; both lengths were checked.
type decoder func(dst []float32, src []byte)

// encoder turns whole blocks of values into bytes; both lengths were checked.
type encoder func(dst []byte, src []float32)

func decoderOf(t gguf.Type) decoder {
	switch t {
	case gguf.F32:
		return decodeF32
	case gguf.F16:
		return decodeF16
	case gguf.BF16:
		return decodeBF16
	case gguf.Q4_0:
		return decodeQ4_0
	case gguf.Q4_1:
		return decodeQ4_1
	case gguf.Q5_0:
		return decodeQ5_0
	case gguf.Q5_1:
		return decodeQ5_1
	case gguf.Q8_0:
		return decodeQ8_0
	case gguf.Q2_K:
		return decodeQ2_K
	case gguf.Q3_K:
		return decodeQ3_K
	case gguf.Q4_K:
		return decodeQ4_K
	case gguf.Q5_K:
		return decodeQ5_K
	case gguf.Q6_K:
		return decodeQ6_K
	case gguf.IQ4_NL:
		return decodeIQ4_NL
	case gguf.IQ4_XS:
		return decodeIQ4_XS
	case gguf.MXFP4:
		return decodeMXFP4
	}
	return nil
}

func encoderOf(t gguf.Type) encoder {
	switch t {
	case gguf.F32:
		return encodeF32
	case gguf.F16:
		return encodeF16
	case gguf.BF16:
		return encodeBF16
	case gguf.Q4_0:
		return encodeQ4_0
	case gguf.Q4_1:
		return encodeQ4_1
	case gguf.Q5_0:
		return encodeQ5_0
	case gguf.Q5_1:
		return encodeQ5_1
	case gguf.Q8_0:
		return encodeQ8_0
	case gguf.Q4_K:
		return encodeQ4_K
	case gguf.Q5_K:
		return encodeQ5_K
	case gguf.Q6_K:
		return encodeQ6_K
	}
	return nil
}

// Supported reports whether [Dequantize] knows the type.
func Supported(t gguf.Type) bool { return decoderOf(t) != nil }

// Encodable reports whether [Quantize] knows the type.
func Encodable(t gguf.Type) bool { return encoderOf(t) != nil }

// Dequantize decodes whole blocks: len(dst) elements from src, with exactly the values that ggml computes.
//
// Errors: [ErrUnsupported]; [ErrSize] when len(dst) is not a whole number of blocks or src has another size.
func Dequantize(dst []float32, t gguf.Type, src []byte) error {
	decode := decoderOf(t)
	if decode == nil {
		return fmt.Errorf("decoding %v: %w", t, ErrUnsupported)
	}
	if err := checkSizes(t, len(dst), len(src)); err != nil {
		return err
	}
	decode(dst, src)
	return nil
}

// Quantize encodes whole blocks of src into dst.
//
// The encoders are for tests and synthetic models: valid and deterministic, in the manner of ggml's encoders without an
// importance matrix. Relative rms error on normal values of three spreads with 0.5 % outliers of eightfold size, as
// measured by TestQuantizeError:
//
//	F16   0.0002    Q6_K  0.022    Q5_1  0.042    Q4_1  0.089
//	BF16  0.0016    Q5_K  0.041    Q5_0  0.059    Q4_0  0.120
//	Q8_0  0.0077    Q4_K  0.083
//
// Values that are not finite encode to something, not to an error: the caller checks its data.
//
// Errors: [ErrUnsupported]; [ErrSize] when len(src) is not a whole number of blocks or dst has another size.
func Quantize(dst []byte, t gguf.Type, src []float32) error {
	encode := encoderOf(t)
	if encode == nil {
		return fmt.Errorf("encoding %v: %w", t, ErrUnsupported)
	}
	if err := checkSizes(t, len(src), len(dst)); err != nil {
		return err
	}
	encode(dst, src)
	return nil
}

func checkSizes(t gguf.Type, values, bytes int) error {
	want, err := t.RowBytes(values)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrSize, err)
	}
	if bytes != want {
		return fmt.Errorf("%w: %d %v values take %d bytes, not %d", ErrSize, values, t, want, bytes)
	}
	return nil
}

func decodeF32(dst []float32, src []byte) {
	for i := range dst {
		dst[i] = math.Float32frombits(binary.LittleEndian.Uint32(src[4*i:]))
	}
}

func encodeF32(dst []byte, src []float32) {
	for i, x := range src {
		binary.LittleEndian.PutUint32(dst[4*i:], math.Float32bits(x))
	}
}
