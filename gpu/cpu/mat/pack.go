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
	perItem := max(1, (1<<17)/(panelRows*rowBytes))
	p.Run((m.panels+perItem-1)/perItem, func(_, item int) {
		var rows [panelRows][]byte
		for i := item * perItem; i < min((item+1)*perItem, m.panels); i++ {
			n := min(panelRows, m.rows-i*panelRows)
			for r := range n {
				at := (i*panelRows + r) * rowBytes
				row := raw[at : at+rowBytes]
				if convert != nil {
					row = convert(rows[r][:0], row, cols)
				}
				rows[r] = row
			}
			f.packPanel(m.panel(i), rows[:n])
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

// packPanel writes up to 16 rows into a panel of zeroes, a super-block of all
// rows after the other, so that the panel is written once and in order.
func (f *format) packPanel(panel []byte, rows [][]byte) {
	pack, from, to := packers[f.kind], f.fileBytes(), f.superBytes()
	for at := 0; at < len(rows[0]); at += from {
		for r, row := range rows {
			pack(f, panel, r, row[at:min(at+from, len(row))])
		}
		panel = panel[min(to, len(panel)):]
	}
}

// fileBytes is the size of a row of a super-block in a file.
func (f *format) fileBytes() int {
	switch f.kind {
	case kindQ6K:
		return 210
	case kindQ4K, kindQ5K:
		return 16 + 32*f.bits
	case kindF16, kindBF16, kindF32:
		return f.super * f.elemBytes()
	case kindQ4Min, kindQ5Min:
		return 4 + 4*f.bits
	default:
		return 2 + 4*f.bits
	}
}

// packer writes row r of a super-block from the row's block in the file.
type packer func(f *format, super []byte, r int, block []byte)

var packers = [...]packer{
	kindQ4: packQ4, kindQ4Min: packQ4,
	kindQ5: packQ5, kindQ5Min: packQ5,
	kindQ8:  packQ8,
	kindQ4K: packQ4K, kindQ5K: packQ5K, kindQ6K: packQ6K,
	kindF16: packHalves, kindBF16: packHalves, kindF32: packFloats,
}

// group holds four columns, a byte each.
type group = uint32

// Four equal bytes.
const (
	bytesOf1   group = 0x01010101
	bytesOf3   group = 0x03030303
	bytesOf15  group = 0x0f0f0f0f
	bytesOf128 group = 0x80808080
)

func getGroup(b []byte, at int) group { return binary.LittleEndian.Uint32(b[at:]) }

func putGroup(b []byte, at int, g group) { binary.LittleEndian.PutUint32(b[at:], g) }

// packScales copies the one or two half-precision numbers at the start of src.
func packScales(f *format, header []byte, r int, src []byte) {
	header[2*r], header[2*r+1] = src[0], src[1]
	if f.min {
		header[32+2*r], header[32+2*r+1] = src[2], src[3]
	}
}

// packQuants writes the quants of row r of a block below 8 bits: low has their
// low four bits, high those above.
func packQuants(f *format, quants []byte, r int, low, high *[8]group) {
	switch f.bits {
	case 5:
		var plane group
		for j, h := range high {
			plane |= h << j
		}
		putGroup(quants, 4*r, plane)
	case 6:
		putGroup(quants, 4*r, high[0]|high[1]<<2|high[2]<<4|high[3]<<6)
		putGroup(quants, 64+4*r, high[4]|high[5]<<2|high[6]<<4|high[7]<<6)
	}
	nibbles := quants[f.planeBytes():]
	for j := range 4 {
		putGroup(nibbles, 64*j+4*r, low[j]|low[j+4]<<4)
	}
}

// packQ4 packs Q4_0 and Q4_1, whose bytes already hold column k low and column
// k+16 high.
func packQ4(f *format, super []byte, r int, block []byte) {
	packScales(f, super, r, block)
	quants, q := super[f.header:], block[len(block)-16:]
	for j := range 4 {
		putGroup(quants, 64*j+4*r, getGroup(q, 4*j))
	}
}

// packQ5 packs Q5_0 and Q5_1: like packQ4, and a word with the fifth bits.
func packQ5(f *format, super []byte, r int, block []byte) {
	packScales(f, super, r, block)
	bits, q := getGroup(block, len(block)-20), block[len(block)-16:]
	var low, high [8]group
	for j := range 4 {
		both := getGroup(q, 4*j)
		low[j], low[j+4] = both&bytesOf15, both>>4&bytesOf15
	}
	for j := range high {
		high[j] = bits >> (4 * j) & 15 * 0x00204081 & bytesOf1 // one bit to each byte
	}
	packQuants(f, super[f.header:], r, &low, &high)
}

// packQ8 packs Q8_0, shifted to unsigned.
func packQ8(f *format, super []byte, r int, block []byte) {
	packScales(f, super, r, block)
	for j := range 8 {
		putGroup(super, f.header+64*j+4*r, getGroup(block, 2+4*j)^bytesOf128)
	}
}

func packQ4K(f *format, super []byte, r int, block []byte) {
	packScales(f, super, r, block)
	packSubScales(super[64:], r, block[4:16])
	packPairs(f, super[f.header:], r, block[16:144], nil)
}

func packQ5K(f *format, super []byte, r int, block []byte) {
	packScales(f, super, r, block)
	packSubScales(super[64:], r, block[4:16])
	packPairs(f, super[f.header:], r, block[48:176], block[16:48])
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
// same bytes; bits 2c and 2c+1 of bits, where there are any, are their fifth bits.
func packPairs(f *format, quants []byte, r int, src, bits []byte) {
	for b := range 8 {
		var low, high [8]group
		for j := range low {
			low[j] = getGroup(src, b/2*32+4*j) >> (b % 2 * 4) & bytesOf15
			if bits != nil {
				high[j] = getGroup(bits, 4*j) >> b & bytesOf1
			}
		}
		packQuants(f, quants[b*f.quantBytes():], r, &low, &high)
	}
}

func packQ6K(f *format, super []byte, r int, block []byte) {
	nibbles, bits, scales := block[:128], block[128:192], block[192:208]
	super[2*r], super[2*r+1] = block[208], block[209]
	for b := range 8 {
		super[32+32*b+r], super[32+32*b+16+r] = scales[2*b], scales[2*b+1]
		var low, high [8]group
		for j := range low {
			low[j] = getGroup(nibbles, b/4*64+b%2*32+4*j) >> (b / 2 % 2 * 4) & bytesOf15
			high[j] = getGroup(bits, b/4*32+4*j) >> (b % 4 * 2) & bytesOf3
		}
		packQuants(f, super[f.header+b*f.quantBytes():], r, &low, &high)
	}
}

func packHalves(_ *format, super []byte, r int, row []byte) {
	for k := 0; 2*k < len(row); k++ {
		at := 2 * (k*panelRows + r)
		super[at], super[at+1] = row[2*k], row[2*k+1]
	}
}

func packFloats(_ *format, super []byte, r int, row []byte) {
	for k := 0; 4*k < len(row); k++ {
		putGroup(super, 4*(k*panelRows+r), getGroup(row, 4*k))
	}
}
