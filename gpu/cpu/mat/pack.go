package mat

import (
	"encoding/binary"
	"fmt"
	"math"
	"unsafe"

	"github.com/pooled/pooled/core/gguf"
	"github.com/pooled/pooled/gpu/cpu/pool"
)

// Pack copies a matrix of a GGUF file into panels. raw holds rows rows of cols
// elements, row after row, as they lie in the file; it is not kept. Packing
// runs on p, which may be nil.
//
// Types without a panel format of their own are converted: IQ4_NL to Q8_0,
// and MXFP4 to BF16, which are exact, and what core/quant can read besides
// (Q2_K, Q3_K, IQ4_XS) to F16, which rounds each value to 11 bits.
//
// Errors: [ErrShape] when rows, cols and the length of raw do not fit together;
// [ErrType] when the type cannot be computed.
func Pack(typ gguf.Type, rows, cols int, raw []byte, p *pool.Pool) (*Matrix, error) {
	if rows < 1 || cols < 1 {
		return nil, fmt.Errorf("%w: %d rows of %d columns", ErrShape, rows, cols)
	}
	if !typ.Known() {
		return nil, fmt.Errorf("%w: %v", ErrType, typ)
	}
	rowBytes, err := typ.RowBytes(cols)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrShape, err)
	}
	if len(raw)/rowBytes != rows || len(raw)%rowBytes != 0 {
		return nil, fmt.Errorf("%w: %d rows of %d %v columns are not %d bytes", ErrShape, rows, cols, typ, len(raw))
	}
	f, native := formats[typ]
	convert := converter(nil)
	if !native {
		if f, convert, err = conversion(typ); err != nil {
			return nil, err
		}
	}
	m := &Matrix{
		typ: typ, format: f, rows: rows, cols: cols,
		panels:     (rows + panelRows - 1) / panelRows,
		panelBytes: f.panelBytes(cols),
	}
	if m.panels > math.MaxInt/m.panelBytes-1 {
		return nil, fmt.Errorf("%w: %d rows of %d columns are too large", ErrShape, rows, cols)
	}
	m.allocate(m.panels * m.panelBytes)
	pack := packers[f.kind]
	perItem := max(1, (1<<17)/(panelRows*rowBytes))
	p.Run((m.panels+perItem-1)/perItem, func(_, item int) {
		var row []byte
		for i := item * perItem; i < min((item+1)*perItem, m.panels); i++ {
			panel := m.panel(i)
			for r := 0; r < min(panelRows, rows-i*panelRows); r++ {
				at := (i*panelRows + r) * rowBytes
				src := raw[at : at+rowBytes]
				if convert != nil {
					row = convert(row[:0], src, cols)
					src = row
				}
				pack(&m.format, panel, r, src)
			}
		}
	})
	return m, nil
}

// heapBytes returns n zero bytes of the Go heap that start on a cache line.
func heapBytes(n int) []byte {
	b := make([]byte, n+align-1)
	skip := int(-uintptr(unsafe.Pointer(unsafe.SliceData(b))) & (align - 1))
	return b[skip : skip+n : skip+n]
}

// packer writes row r of a panel from the row's blocks as they lie in a file.
// The panel is zero before.
type packer func(f *format, panel []byte, r int, row []byte)

var packers = [...]packer{
	kindQ4: packNibbles, kindQ4Min: packNibbles,
	kindQ5: packFives, kindQ5Min: packFives,
	kindQ8:  packBytes,
	kindQ4K: packQ4K, kindQ5K: packQ5K, kindQ6K: packQ6K,
	kindF16: packHalves, kindBF16: packHalves, kindF32: packFloats,
}

// packNibbles packs Q4_0 and Q4_1: their bytes already hold column k low and
// column k+16 high.
func packNibbles(f *format, panel []byte, r int, row []byte) {
	scales := f.header / panelRows
	for len(row) > 0 {
		packScales(f, panel, r, row)
		q, quants := row[scales:scales+16], panel[f.header:]
		for j := range 4 {
			copy(quants[64*j+4*r:64*j+4*r+4], q[4*j:])
		}
		panel, row = panel[f.superBytes():], row[scales+16:]
	}
}

// packFives packs Q5_0 and Q5_1.
func packFives(f *format, panel []byte, r int, row []byte) {
	scales := f.header / panelRows
	for len(row) > 0 {
		packScales(f, panel, r, row)
		high := binary.LittleEndian.Uint32(row[scales:])
		var q [blockCols]uint8
		for i, b := range row[scales+4 : scales+20] {
			q[i] = b&15 | uint8(high>>i&1)<<4
			q[i+16] = b>>4 | uint8(high>>(i+16)&1)<<4
		}
		packBlock(f, panel[f.header:], r, &q)
		panel, row = panel[f.superBytes():], row[scales+20:]
	}
}

// packBytes packs Q8_0, shifted to unsigned.
func packBytes(f *format, panel []byte, r int, row []byte) {
	for len(row) > 0 {
		packScales(f, panel, r, row)
		q, quants := row[2:34], panel[f.header:]
		for j := range 8 {
			v := binary.LittleEndian.Uint32(q[4*j:]) ^ 0x80808080
			binary.LittleEndian.PutUint32(quants[64*j+4*r:], v)
		}
		panel, row = panel[f.superBytes():], row[34:]
	}
}

// packScales copies the one or two half-precision numbers at the start of src.
func packScales(f *format, headers []byte, r int, src []byte) {
	copy(headers[2*r:2*r+2], src)
	if f.min {
		copy(headers[32+2*r:32+2*r+2], src[2:])
	}
}

// packBlock writes the 32 quants of row r of one block, below 8 bits.
func packBlock(f *format, quants []byte, r int, q *[blockCols]uint8) {
	plane, nibbles := quants[:f.planeBytes()], quants[f.planeBytes():]
	for i := range 16 {
		nibbles[i/4*64+4*r+i%4] = q[i]&15 | q[i+16]<<4
	}
	switch f.bits {
	case 5:
		for k, v := range q {
			plane[4*r+k%4] |= v >> 4 << (k / 4)
		}
	case 6:
		for k, v := range q {
			plane[k/16*64+4*r+k%4] |= v >> 4 << (k / 4 % 4 * 2)
		}
	}
}

// packQ4K and the next two unpack a super-block of 256 columns into blocks of 32.
func packQ4K(f *format, panel []byte, r int, row []byte) {
	for len(row) > 0 {
		packScales(f, panel, r, row)
		packSubScales(panel[64:], r, row[4:16])
		packPairs(f, panel[f.header:], r, row[16:144], nil)
		panel, row = panel[f.superBytes():], row[144:]
	}
}

func packQ5K(f *format, panel []byte, r int, row []byte) {
	for len(row) > 0 {
		packScales(f, panel, r, row)
		packSubScales(panel[64:], r, row[4:16])
		packPairs(f, panel[f.header:], r, row[48:176], row[16:48])
		panel, row = panel[f.superBytes():], row[176:]
	}
}

// packSubScales spreads eight 6-bit scales and mins from their 12 bytes.
// Source: get_scale_min_k4 in ggml-quants.c.
func packSubScales(dst []byte, r int, s []byte) {
	for b := range 8 {
		var scale, low uint8
		if b < 4 {
			scale, low = s[b]&63, s[b+4]&63
		} else {
			scale = s[b+4]&15 | s[b-4]>>6<<4
			low = s[b+4]>>4 | s[b]>>6<<4
		}
		dst[32*b+r], dst[32*b+16+r] = scale, low
	}
}

// packPairs packs four times 32 bytes, block 2c low and block 2c+1 high in the
// same bytes; bits 2c and 2c+1 of high, where there is one, are their fifth bits.
func packPairs(f *format, quants []byte, r int, src, high []byte) {
	for b := range 8 {
		var q [blockCols]uint8
		for i := range q {
			q[i] = src[b/2*32+i] >> (b % 2 * 4) & 15
		}
		for i, h := range high {
			q[i] |= h >> b & 1 << 4
		}
		packBlock(f, quants, r, &q)
		quants = quants[f.quantBytes():]
	}
}

func packQ6K(f *format, panel []byte, r int, row []byte) {
	for len(row) > 0 {
		low, high, scales := row[:128], row[128:192], row[192:208]
		copy(panel[2*r:2*r+2], row[208:210])
		quants := panel[f.header:]
		for b := range 8 {
			panel[32+32*b+r], panel[32+32*b+16+r] = scales[2*b], scales[2*b+1]
			var q [blockCols]uint8
			for i := range q {
				q[i] = low[b/4*64+b%2*32+i]>>(b/2%2*4)&15 | high[b/4*32+i]>>(b%4*2)&3<<4
			}
			packBlock(f, quants, r, &q)
			quants = quants[f.quantBytes():]
		}
		panel, row = panel[f.superBytes():], row[210:]
	}
}

func packHalves(_ *format, values []byte, r int, row []byte) {
	for k := 0; 2*k < len(row); k++ {
		copy(values[2*(k*panelRows+r):2*(k*panelRows+r)+2], row[2*k:])
	}
}

func packFloats(_ *format, values []byte, r int, row []byte) {
	for k := 0; 4*k < len(row); k++ {
		copy(values[4*(k*panelRows+r):4*(k*panelRows+r)+4], row[4*k:])
	}
}
