package gguf

import (
	"cmp"
	"fmt"
	"math/bits"
	"slices"
)

// defaultAlignment is general.alignment where a file does not set it.
const defaultAlignment = 32

// part is one file of a model; a model that is not split has one.
type part struct {
	path      string
	size      int64
	src       source
	version   uint32
	alignment int64
	data      int64 // offset of the tensor data
	keys      []string
	meta      map[string]Value
	tensors   []*Tensor
	split     split
}

// split is what a part says about the model that it belongs to.
type split struct {
	no, count int // zero-based; count is 1 for a model in one file
	tensors   int // in all parts; -1 when not said
}

// readPart reads and checks the header of one file.
func readPart(path string, src source, size int64) (*part, error) {
	p := &part{path: path, src: src, size: size, meta: map[string]Value{}, alignment: defaultAlignment}
	c := &cursor{path: path, src: src, size: size}
	tensors, entries, err := p.readHead(c)
	if err != nil {
		return nil, err
	}
	for i := range entries {
		if err := p.readEntry(c, i); err != nil {
			return nil, err
		}
	}
	if err := p.interpret(c); err != nil {
		return nil, err
	}
	for i := range tensors {
		if err := p.readTensor(c, i); err != nil {
			return nil, err
		}
	}
	return p, p.place(c)
}

func (p *part) readHead(c *cursor) (tensors, entries uint64, err error) {
	c.in("magic")
	if c.size < 4 {
		return 0, 0, c.fail(0, ErrNotGGUF, "the file has %d bytes", c.size)
	}
	magic, err := c.take(4)
	if err != nil {
		return 0, 0, err
	}
	if string(magic) != "GGUF" {
		return 0, 0, c.fail(0, ErrNotGGUF, "found %q", magic)
	}
	c.in("version")
	if p.version, err = c.u32(); err != nil {
		return 0, 0, err
	}
	switch {
	case p.version == 2 || p.version == 3:
	case bits.ReverseBytes32(p.version) >= 1 && bits.ReverseBytes32(p.version) <= 3:
		return 0, 0, c.fail(4, ErrBigEndian, "version %d, byte-swapped", bits.ReverseBytes32(p.version))
	case p.version == 1:
		return 0, 0, c.fail(4, ErrVersion, "version 1, of August 2023; convert the model again, 2 and 3 are read")
	default:
		return 0, 0, c.fail(4, ErrVersion, "version %d; 2 and 3 are read", p.version)
	}
	c.in("tensor count")
	if tensors, err = c.u64(); err != nil {
		return 0, 0, err
	}
	c.in("metadata count")
	if entries, err = c.u64(); err != nil {
		return 0, 0, err
	}
	if tensors > maxEntries {
		c.in("tensor count")
		return 0, 0, c.fail(8, ErrFormat, "%d tensors; at most %d are read", tensors, maxEntries)
	}
	if entries > maxEntries {
		return 0, 0, c.fail(16, ErrFormat, "%d entries; at most %d are read", entries, maxEntries)
	}
	// The smallest tensor entry is a name of one byte and one dimension; the smallest metadata entry a key and a byte.
	const leastTensor, leastEntry = 8 + 1 + 4 + 8 + 4 + 8, 8 + 1 + 4 + 1
	c.in("tensor and metadata counts")
	if least := tensors*leastTensor + entries*leastEntry; least > uint64(c.left()) {
		return 0, 0, c.fail(8, ErrTruncated, "%d tensors and %d metadata entries; the file should have at least %d bytes, it has %d",
			tensors, entries, c.pos+int64(least), c.size)
	}
	return tensors, entries, nil
}

func (p *part) readEntry(c *cursor, i uint64) error {
	start := c.pos
	c.in("metadata %d", i)
	key, err := c.name(maxKey)
	if err != nil {
		return err
	}
	c.in("metadata %d (%q)", i, key)
	if _, dup := p.meta[key]; dup {
		return c.fail(start, ErrFormat, "the key occurs twice")
	}
	kind, err := c.u32()
	if err != nil {
		return err
	}
	v, err := c.value(Kind(kind))
	if err != nil {
		return err
	}
	p.meta[key] = v
	p.keys = append(p.keys, key)
	return nil
}

// interpret reads the metadata that the container itself depends on.
func (p *part) interpret(c *cursor) error {
	at := c.pos
	number := func(key string, def, lo, hi int64) (int64, error) {
		v, ok := p.meta[key]
		if !ok {
			return def, nil
		}
		c.in("metadata (%q)", key)
		n, ok := v.Int()
		if !ok || n < lo || n > hi {
			return 0, c.fail(at, ErrFormat, "want an integer between %d and %d", lo, hi)
		}
		return n, nil
	}
	align, err := number("general.alignment", defaultAlignment, 8, 1<<30)
	if err != nil {
		return err
	}
	if align&(align-1) != 0 {
		return c.fail(at, ErrFormat, "the alignment %d is not a power of two", align)
	}
	p.alignment = align
	count, err := number("split.count", 1, 0, 65535)
	if err != nil {
		return err
	}
	count = max(count, 1)
	no, err := number("split.no", 0, 0, count-1)
	if err != nil {
		return err
	}
	total, err := number("split.tensors.count", -1, 0, maxEntries)
	if err != nil {
		return err
	}
	p.split = split{no: int(no), count: int(count), tensors: int(total)}
	return nil
}

func (p *part) readTensor(c *cursor, i uint64) error {
	c.in("tensor %d: name", i)
	name, err := c.name(maxTensorName)
	if err != nil {
		return err
	}
	t := &Tensor{Name: name, part: p}
	c.in("tensor %d (%q): dimensions", i, name)
	start := c.pos
	dims, err := c.u32()
	if err != nil {
		return err
	}
	if dims < 1 || dims > maxDims {
		return c.fail(start, ErrFormat, "%d dimensions; 1 to %d are allowed", dims, maxDims)
	}
	ne := make([]uint64, dims)
	for j := range ne {
		if ne[j], err = c.u64(); err != nil {
			return err
		}
	}
	c.in("tensor %d (%q): type", i, name)
	typeAt := c.pos
	typ, err := c.u32()
	if err != nil {
		return err
	}
	t.Type = Type(typ)
	if !t.Type.Known() {
		what := "is not known"
		if int64(typ) < int64(len(layouts)) && layouts[typ].name != "" {
			what = fmt.Sprintf("(number %d) was removed from the format; convert the model again", typ)
		}
		return c.fail(typeAt, ErrType, "%v %s", t.Type, what)
	}
	size, reason := tensorBytes(t.Type, ne)
	if reason != "" {
		c.in("tensor %d (%q): dimensions", i, name)
		return c.fail(start, ErrFormat, "%v of %v", reason, ne)
	}
	t.size = size
	for j := range ne {
		t.Shape = append(t.Shape, int(ne[len(ne)-1-j]))
	}
	c.in("tensor %d (%q): offset", i, name)
	start = c.pos
	off, err := c.u64()
	if err != nil {
		return err
	}
	if off%uint64(p.alignment) != 0 {
		return c.fail(start, ErrFormat, "%d is not a multiple of the alignment %d", off, p.alignment)
	}
	if off > 1<<62 {
		return c.fail(start, ErrFormat, "%d is absurd", off)
	}
	t.off, t.entry = int64(off), start
	p.tensors = append(p.tensors, t)
	return nil
}

// place turns offsets into file offsets and checks that tensors lie inside the file and apart from each other.
func (p *part) place(c *cursor) error {
	p.data = (c.pos + p.alignment - 1) / p.alignment * p.alignment
	byOffset := slices.Clone(p.tensors)
	slices.SortStableFunc(byOffset, func(a, b *Tensor) int { return cmp.Compare(a.off, b.off) })
	var last *Tensor
	want := int64(0)
	for _, t := range byOffset {
		c.in("tensor %q: offset", t.Name)
		if last != nil && t.off < last.off+last.size {
			return c.fail(t.entry, ErrFormat, "its data overlaps that of %q", last.Name)
		}
		if t.size > 1<<62-t.off {
			return c.fail(t.entry, ErrFormat, "its data ends beyond every file")
		}
		last, want = t, t.off+t.size
	}
	// Sizes are below 1<<62 and the header below 1<<30: the sum cannot overflow.
	if last != nil && p.data+want > p.size {
		return &TruncatedError{Path: p.path, Have: p.size, Want: p.data + want}
	}
	for _, t := range p.tensors {
		t.off += p.data
	}
	return nil
}
