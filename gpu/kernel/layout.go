package kernel

import (
	"encoding/binary"
	"fmt"
	"runtime"
	"sync"

	"github.com/pooled/pooled/core/gguf"
	"github.com/pooled/pooled/core/quant"
)

// Layout is how the weights of one type lie in device memory: planes of blocks of 32 weights, the blocks of 32 rows side
// by side, so that 32 threads on 32 rows read without a gap.
//
// Shapes: block b of row r is number ((r/32)·blocks + b)·32 + r mod 32 of each plane; rows are padded to a multiple of 32.
// Where an entry is longer than 16 bytes, the first 16 of 32 rows come first, then the next 16 of each, and so on.
type Layout struct {
	// Type is the type that device memory holds; it differs from the file's where that has no kernel.
	Type gguf.Type
	// Exact reports whether the values are those of the file.
	Exact  bool
	name   string
	planes []plane
	pack   func(dst [][]byte, at int, row []byte, block int)
}

// plane is one array of a layout.
type plane struct {
	wgsl  string
	bytes int
	per   int // blocks that share an entry
}

const tile = 32

// planes are laid out so that the widest comes first.
var layouts = map[gguf.Type]Layout{
	gguf.Q4_0: {name: "q4_0", planes: []plane{{"vec4<u32>", 16, 1}, {"u32", 2, 1}}, pack: packQ4_0},
	gguf.Q4_1: {name: "q4_1", planes: []plane{{"vec4<u32>", 16, 1}, {"u32", 4, 1}}, pack: packQ4_1},
	gguf.Q5_0: {name: "q5_0", planes: []plane{{"vec4<u32>", 16, 1}, {"u32", 4, 1}, {"u32", 2, 1}}, pack: packQ5_0},
	gguf.Q5_1: {name: "q5_1", planes: []plane{{"vec4<u32>", 16, 1}, {"u32", 4, 1}, {"u32", 4, 1}}, pack: packQ5_1},
	gguf.Q8_0: {name: "q8_0", planes: []plane{{"vec4<u32>", 32, 1}, {"u32", 2, 1}}, pack: packQ8_0},
	gguf.Q4_K: {name: "q4_k", planes: []plane{{"vec4<u32>", 16, 1}, {"u32", 2, 1}, {"u32", 4, 8}}, pack: packQ4_K},
	gguf.Q5_K: {name: "q5_k", planes: []plane{{"vec4<u32>", 16, 1}, {"u32", 2, 1}, {"u32", 4, 8}, {"u32", 4, 1}}, pack: packQ5_K},
	gguf.Q6_K: {name: "q6_k", planes: []plane{{"vec4<u32>", 16, 1}, {"u32", 2, 1}, {"u32", 2, 8}, {"vec2<u32>", 8, 1}}, pack: packQ6_K},
	gguf.F16:  {name: "f16", planes: []plane{{"vec4<u32>", 64, 1}}, pack: packRaw(64)},
	gguf.BF16: {name: "bf16", planes: []plane{{"vec4<u32>", 64, 1}}, pack: packRaw(64)},
	gguf.F32:  {name: "f32", planes: []plane{{"vec4<u32>", 128, 1}}, pack: packRaw(128)},
}

// LayoutOf returns the layout for weights of type t. IQ4_NL becomes Q8_0 without a loss; other types without a kernel
// become F16, each value off by at most 2⁻¹¹ of itself (2⁻²⁵ below 2⁻¹⁴).
//
// Errors: [quant.ErrUnsupported] for a type that cannot be dequantised.
func LayoutOf(t gguf.Type) (Layout, error) {
	if l, ok := layouts[t]; ok {
		l.Type, l.Exact = t, true
		return l, nil
	}
	if t == gguf.IQ4_NL {
		l := layouts[gguf.Q8_0]
		l.Type, l.Exact = gguf.Q8_0, true
		return l, nil
	}
	if !quant.Supported(t) {
		return Layout{}, fmt.Errorf("weights of type %v: %w", t, quant.ErrUnsupported)
	}
	l := layouts[gguf.F16]
	l.Type = gguf.F16
	return l, nil
}

// Planes returns the bytes of each plane of a matrix of rows rows of blocks blocks.
func (l Layout) Planes(rows, blocks int) []int64 {
	sizes := make([]int64, len(l.planes))
	for i, p := range l.planes {
		sizes[i] = int64((rows+tile-1)/tile) * int64(p.tileBytes(blocks))
	}
	return sizes
}

// parts is how many pieces of 16 bytes the first plane has for a block.
func (l Layout) parts() int { return l.planes[0].bytes / 16 }

// packParts writes an entry of the first plane in pieces.
func packParts(dst []byte, at int, entry []byte) {
	parts := len(entry) / 16
	for k := range parts {
		to := ((at/tile*parts+k)*tile + at%tile) * 16
		copy(dst[to:to+16], entry[16*k:])
	}
}

func (p plane) tileBytes(blocks int) int { return (blocks + p.per - 1) / p.per * tile * p.bytes }

// Pack lays rows out, which must begin at a multiple of 32 of the matrix. dst has a buffer for each plane, of the size
// that Planes gives for these rows; src is the rows as the file has them, of type t and cols columns each. The columns
// beyond cols, up to the last block, and the rows beyond the last become zero.
//
// Errors: a type that cannot be dequantised, src of another size.
func (l Layout) Pack(dst [][]byte, t gguf.Type, src []byte, rows, cols int) error {
	return l.PackInto(dst, t, src, rows, cols, 1, 0)
}

// PackInto is [Layout.Pack] of every of-th 32 rows of dst, from the at-th on, which is how several matrices become one.
func (l Layout) PackInto(dst [][]byte, t gguf.Type, src []byte, rows, cols, of, at int) error {
	stride, err := t.RowBytes(cols)
	if err != nil {
		return err
	}
	if len(src) != rows*stride {
		return fmt.Errorf("%d bytes for %d rows of %d", len(src), rows, stride)
	}
	blocks := (cols + 31) / 32
	width, err := l.Type.RowBytes(blocks * 32)
	if err != nil {
		return err
	}
	tiles := (rows + tile - 1) / tile
	workers := min(runtime.GOMAXPROCS(0), tiles)
	errs := make([]error, workers)
	var wg sync.WaitGroup
	for w := range workers {
		wg.Go(func() {
			row := make([]byte, width)
			values := make([]float32, cols)
			for i := w; i < tiles && errs[w] == nil; i += workers {
				to := i*of + at
				for r := i * tile; r < min((i+1)*tile, rows); r++ {
					if err := l.convert(row, t, src[r*stride:(r+1)*stride], values); err != nil {
						errs[w] = err
						break
					}
					for b := range blocks {
						l.pack(dst, (to*blocks+b)*tile+r%tile, row, b)
						if len(l.planes) > 2 && l.planes[2].per == 8 && b%8 == 0 {
							packSuper(l.Type, dst[2], (to*(blocks/8)+b/8)*tile+r%tile, row, b/8)
						}
					}
				}
			}
		})
	}
	wg.Wait()
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// convert brings a row of the file to the type of the layout.
func (l Layout) convert(dst []byte, t gguf.Type, src []byte, values []float32) error {
	if t == l.Type {
		clear(dst[copy(dst, src):])
		return nil
	}
	if t == gguf.IQ4_NL && l.Type == gguf.Q8_0 {
		for b := 0; b*18 < len(src); b++ {
			in, out := src[b*18:], dst[b*34:]
			copy(out[:2], in)
			for j := range 16 {
				out[2+j], out[18+j] = byte(iq4nl[in[2+j]&15]), byte(iq4nl[in[2+j]>>4])
			}
		}
		return nil
	}
	if err := quant.Dequantize(values, t, src); err != nil {
		return err
	}
	clear(dst)
	for i, v := range values {
		// The largest finite float16 stands for what is larger.
		v = min(max(v, -65504), 65504)
		binary.LittleEndian.PutUint16(dst[2*i:], quant.FloatToHalf(v))
	}
	return nil
}

// iq4nl are the values of IQ4_NL. Source: kvalues_iq4nl in ggml-common.h.
var iq4nl = [16]int8{-127, -104, -83, -65, -49, -35, -22, -10, 1, 13, 25, 38, 53, 69, 89, 113}

func packRaw(bytes int) func([][]byte, int, []byte, int) {
	return func(dst [][]byte, at int, row []byte, b int) {
		packParts(dst[0], at, row[b*bytes:(b+1)*bytes])
	}
}

func packQ4_0(dst [][]byte, at int, row []byte, b int) {
	in := row[b*18 : b*18+18]
	copy(dst[0][at*16:at*16+16], in[2:])
	copy(dst[1][at*2:at*2+2], in)
}

func packQ4_1(dst [][]byte, at int, row []byte, b int) {
	in := row[b*20 : b*20+20]
	copy(dst[0][at*16:at*16+16], in[4:])
	copy(dst[1][at*4:at*4+4], in)
}

func packQ5_0(dst [][]byte, at int, row []byte, b int) {
	in := row[b*22 : b*22+22]
	copy(dst[0][at*16:at*16+16], in[6:])
	copy(dst[1][at*4:at*4+4], in[2:])
	copy(dst[2][at*2:at*2+2], in)
}

func packQ5_1(dst [][]byte, at int, row []byte, b int) {
	in := row[b*24 : b*24+24]
	copy(dst[0][at*16:at*16+16], in[8:])
	copy(dst[1][at*4:at*4+4], in[4:])
	copy(dst[2][at*4:at*4+4], in)
}

func packQ8_0(dst [][]byte, at int, row []byte, b int) {
	in := row[b*34 : b*34+34]
	packParts(dst[0], at, in[2:])
	copy(dst[1][at*2:at*2+2], in)
}

// packSuper writes what the 8 blocks of a super-block share.
func packSuper(t gguf.Type, dst []byte, at int, row []byte, super int) {
	switch t {
	case gguf.Q6_K:
		copy(dst[at*2:at*2+2], row[super*210+208:])
	case gguf.Q4_K:
		copy(dst[at*4:at*4+4], row[super*144:])
	case gguf.Q5_K:
		copy(dst[at*4:at*4+4], row[super*176:])
	}
}

// scaleMin returns the scale and minimum of sub-block j of a Q4_K or Q5_K super-block. Source: get_scale_min_k4 in ggml.
func scaleMin(q []byte, j int) (byte, byte) {
	if j < 4 {
		return q[j] & 63, q[j+4] & 63
	}
	return q[j+4]&15 | q[j-4]>>6<<4, q[j+4]>>4 | q[j]>>6<<4
}

// packNibbles writes sub-block j of the low bits of a Q4_K or Q5_K super-block: 32 bytes hold two sub-blocks, the first in
// the low nibbles.
func packNibbles(dst, qs []byte, j int) {
	shift := 4 * (j & 1)
	in := qs[j/2*32 : j/2*32+32]
	for i := range 16 {
		dst[i] = in[i]>>shift&15 | in[i+16]>>shift&15<<4
	}
}

func packQ4_K(dst [][]byte, at int, row []byte, b int) {
	in := row[b/8*144 : b/8*144+144]
	packNibbles(dst[0][at*16:], in[16:], b%8)
	dst[1][at*2], dst[1][at*2+1] = scaleMin(in[4:16], b%8)
}

func packQ5_K(dst [][]byte, at int, row []byte, b int) {
	in := row[b/8*176 : b/8*176+176]
	packNibbles(dst[0][at*16:], in[48:], b%8)
	dst[1][at*2], dst[1][at*2+1] = scaleMin(in[4:16], b%8)
	var bits uint32
	for i, h := range in[16:48] {
		bits |= uint32(h>>(b%8)&1) << i
	}
	binary.LittleEndian.PutUint32(dst[3][at*4:], bits)
}

func packQ6_K(dst [][]byte, at int, row []byte, b int) {
	in := row[b/8*210 : b/8*210+210]
	j := b % 8
	ql, qh, sc := in[j/4*64:], in[128+j/4*32:], in[192+2*j:]
	part := j % 4 // of 128 values: two in the low nibbles, two in the high ones
	low := ql[part%2*32 : part%2*32+32]
	var bits uint64
	for i := range 16 {
		dst[0][at*16+i] = low[i]>>(part/2*4)&15 | low[i+16]>>(part/2*4)&15<<4
	}
	for i := range 32 {
		bits |= uint64(qh[i]>>(2*part)&3) << (2 * i)
	}
	dst[1][at*2], dst[1][at*2+1] = sc[0], sc[1]
	binary.LittleEndian.PutUint64(dst[3][at*8:], bits)
}
