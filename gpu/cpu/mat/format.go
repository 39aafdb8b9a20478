package mat

import "github.com/pooled/pooled/core/gguf"

const (
	// panelRows is the number of rows that are computed side by side, one per 32-bit lane of a 512-bit register.
	panelRows = 16
	// blockCols is the number of values that share an activation scale.
	blockCols = 32
	// align is the alignment of a panel and of its quants: a cache line, and the widest load.
	align = 64
)

// format describes how panels of one kind are laid out and what their numbers mean.
//
// A panel holds 16 rows. It is one stream of super-blocks, a header and then
// the quants of its blocks of 32 columns: read from memory it is a single
// sequence, which is what a processor fetches ahead. A value is
// d·(q − offset) + m.
//
// The quants of a block are eight groups j of four columns k = 4j+i. In an
// 8-bit format group j is 64 bytes, byte 4r+i for row r. In the others a bit
// plane of high bits comes first (5 bits: 64 bytes, bit j of byte 4r+i belongs
// to group j; 6 bits: twice 64 bytes, for groups 0–3 and 4–7, two bits each),
// then four times 64 bytes of nibbles, group j low and group j+4 high in the
// same byte: one 64-byte load feeds two 4-column dot products of all 16 rows.
//
// The header of a block of 32 is sixteen half-precision d and, where min is
// set, sixteen m. The header of a super-block of 256 is sixteen d and, where min
// is set, sixteen dmin, both half-precision, then for each of its eight blocks
// 32 bytes of sub-scales: sixteen scales and sixteen mins, or (halves) sixteen
// signed scales for the first 16 columns and sixteen for the last. It is padded
// to a whole number of cache lines.
type format struct {
	kind   kernelKind
	super  int  // columns that a header covers: 32 or 256
	header int  // bytes of one header
	bits   int  // bits of a quant
	offset int  // what is subtracted from a quant
	min    bool // values have an additive part
	halves bool // each half of a block has its own scale
}

// kernelKind names the kernel that multiplies a panel.
type kernelKind uint8

const (
	kindQ4 kernelKind = iota
	kindQ4Min
	kindQ5
	kindQ5Min
	kindQ8
	kindQ4K
	kindQ5K
	kindQ6K
	kinds // the number of quantised kinds

	kindF16
	kindBF16
	kindF32
)

// formats maps the types that are kept as they are in the file.
var formats = map[gguf.Type]format{
	gguf.Q4_0: {kind: kindQ4, super: 32, header: 32, bits: 4, offset: 8},
	gguf.Q4_1: {kind: kindQ4Min, super: 32, header: 64, bits: 4, min: true},
	gguf.Q5_0: {kind: kindQ5, super: 32, header: 32, bits: 5, offset: 16},
	gguf.Q5_1: {kind: kindQ5Min, super: 32, header: 64, bits: 5, min: true},
	gguf.Q8_0: {kind: kindQ8, super: 32, header: 32, bits: 8, offset: 128},
	gguf.Q4_K: {kind: kindQ4K, super: 256, header: 320, bits: 4, min: true},
	gguf.Q5_K: {kind: kindQ5K, super: 256, header: 320, bits: 5, min: true},
	gguf.Q6_K: {kind: kindQ6K, super: 256, header: 320, bits: 6, offset: 32, halves: true},
	gguf.F16:  {kind: kindF16, super: 32},
	gguf.BF16: {kind: kindBF16, super: 32},
	gguf.F32:  {kind: kindF32, super: 32},
}

// float reports whether the panel holds plain numbers, 16 per column.
func (f *format) float() bool { return f.kind > kinds }

// elemBytes is the size of a plain number.
func (f *format) elemBytes() int {
	if f.kind == kindF32 {
		return 4
	}
	return 2
}

// quantBytes is the size of the quants of one block.
func (f *format) quantBytes() int { return panelRows * blockCols * f.bits / 8 }

// planeBytes is the size of the bit plane in front of the nibbles of one block.
func (f *format) planeBytes() int {
	if f.bits == 8 {
		return 0
	}
	return panelRows * blockCols * (f.bits - 4) / 8
}

// superBytes is the size of a super-block.
func (f *format) superBytes() int {
	if f.float() {
		return f.super * panelRows * f.elemBytes()
	}
	return f.header + f.super/blockCols*f.quantBytes()
}

// panelBytes is the size of a panel.
func (f *format) panelBytes(cols int) int {
	if f.float() {
		return roundUp(cols*panelRows*f.elemBytes(), align)
	}
	return roundUp(cols/f.super*f.superBytes(), align)
}

// headerOf returns a panel from the header of block b on.
func (f *format) headerOf(panel []byte, b int) []byte {
	return panel[b*blockCols/f.super*f.superBytes():]
}

// quantsOf returns a panel from the quants of block b on.
func (f *format) quantsOf(panel []byte, b int) []byte {
	return f.headerOf(panel, b)[f.header+b%(f.super/blockCols)*f.quantBytes():]
}

func roundUp(n, to int) int { return (n + to - 1) / to * to }
