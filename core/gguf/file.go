package gguf

import (
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"path/filepath"
)

// Tensor is one named array of a model.
//
// Shapes: row-major, outermost dimension first; the last is the row, whose elements share blocks. ggml's ne is the reverse.
//
// Owns: a Tensor is immutable and safe for concurrent use.
type Tensor struct {
	Name  string
	Type  Type
	Shape []int

	part  *part
	off   int64 // in the part's file
	size  int64
	entry int64 // where the header states the offset
}

// Bytes returns the size of the tensor's data.
func (t *Tensor) Bytes() int64 { return t.size }

// Elems returns the number of elements.
func (t *Tensor) Elems() int64 {
	n := int64(1)
	for _, d := range t.Shape {
		n *= int64(d)
	}
	return n
}

// Offset returns where the data begins in its file; see [Tensor.Part].
func (t *Tensor) Offset() int64 { return t.off }

// Part returns the number of the file that holds the data, from 0; see [File.Parts].
func (t *Tensor) Part() int { return t.part.split.no }

// Part is one file of a model.
type Part struct {
	Path string // empty when it was read from memory
	Size int64
	Data int64 // offset of the tensor data: the length of the header with its padding
}

// File is a model: the metadata of the first part and the tensors of all parts.
//
// Owns: the caller closes it. Everything but Close is safe for concurrent use; Close must not run beside other calls, and
// slices from [File.Data] are invalid after it. When somebody shortens a mapped file while it is open, reading the lost pages
// ends the process, as with every mapping, unless it is done under [Guard].
type File struct {
	parts   []*part
	tensors []*Tensor
	byName  map[string]*Tensor
}

// Open maps a model. Of a split model any part may be named; the others are found beside it.
//
// Errors: [FormatError], [TruncatedError], [ErrSplit], [ErrLost], and those of the file system.
func Open(path string) (*File, error) {
	first, err := openPart(path)
	if err != nil {
		return nil, err
	}
	f := &File{parts: []*part{first}}
	if first.split.count > 1 {
		if err := f.openSplit(); err != nil {
			f.Close()
			return nil, err
		}
	}
	if err := f.index(); err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

func openPart(path string) (*part, error) {
	src, size, err := openSource(path)
	if err != nil {
		return nil, err
	}
	var p *part
	err = Guard(func() (err error) {
		p, err = readPart(path, src, size)
		return err
	})
	if err != nil {
		src.Close()
		return nil, err
	}
	return p, nil
}

// openSplit replaces the one opened part of a split model by all of them, in order.
func (f *File) openSplit() error {
	given := f.parts[0]
	name, ok := ParseSplitName(filepath.Base(given.path))
	if !ok || name.Count != given.split.count || name.No != given.split.no+1 {
		return fmt.Errorf("%s: %w: it is part %d of %d and must be called like NAME%s, beside the others",
			given.path, ErrSplit, given.split.no+1, given.split.count, splitSuffix(given.split.no+1, given.split.count))
	}
	dir, file := filepath.Split(given.path)
	f.parts = nil
	defer func() {
		if given != nil {
			given.src.Close()
		}
	}()
	for no := 1; no <= name.Count; no++ {
		p := given
		if no != name.No {
			var err error
			if p, err = openPart(filepath.Join(dir, SplitName{Base: name.Base, No: no, Count: name.Count}.Beside(file))); err != nil {
				return fmt.Errorf("%w: part %d of %d: %w", ErrSplit, no, name.Count, err)
			}
		} else {
			given = nil
		}
		f.parts = append(f.parts, p)
		if p.split.no != no-1 || p.split.count != name.Count {
			return fmt.Errorf("%s: %w: it says that it is part %d of %d", p.path, ErrSplit, p.split.no+1, p.split.count)
		}
	}
	return nil
}

// index collects the tensors of all parts.
func (f *File) index() error {
	n := 0
	for _, p := range f.parts {
		n += len(p.tensors)
	}
	f.tensors = make([]*Tensor, 0, n)
	f.byName = make(map[string]*Tensor, n)
	for _, p := range f.parts {
		for _, t := range p.tensors {
			if _, dup := f.byName[t.Name]; dup {
				return &FormatError{
					Path: p.path, Field: fmt.Sprintf("tensor %q: name", t.Name), Offset: t.entry,
					Reason: "the name occurs twice", Err: ErrFormat,
				}
			}
			f.byName[t.Name] = t
			f.tensors = append(f.tensors, t)
		}
		if want := p.split.tensors; want >= 0 && want != n && len(f.parts) == p.split.count && p.split.count > 1 {
			return fmt.Errorf("%s: %w: split.tensors.count is %d, the parts hold %d tensors", p.path, ErrSplit, want, n)
		}
	}
	return nil
}

// Read reads a model from r, such as a file in a browser; tensor data is read when it is asked for.
//
// Errors: as [Open]; a part of a split model is refused with [ErrSplit].
func Read(r io.ReaderAt, size int64) (*File, error) {
	if size < 0 || size > math.MaxInt {
		return nil, fmt.Errorf("GGUF data: a size of %d bytes: %w", size, ErrFormat)
	}
	return single(&reader{r: r}, size)
}

// ReadBytes reads a model from memory without copying tensor data, such as one that is embedded in the program.
//
// Owns: data must not change while the File is in use.
func ReadBytes(data []byte) (*File, error) {
	return single(&memory{data: data}, int64(len(data)))
}

func single(src source, size int64) (*File, error) {
	p, err := readPart("", src, size)
	if err != nil {
		return nil, err
	}
	if p.split.count > 1 {
		return nil, fmt.Errorf("GGUF data: %w: it is part %d of %d; open it from a folder that holds all parts",
			ErrSplit, p.split.no+1, p.split.count)
	}
	f := &File{parts: []*part{p}}
	return f, f.index()
}

// Close unmaps the file.
func (f *File) Close() error {
	var errs []error
	for _, p := range f.parts {
		errs = append(errs, p.src.Close())
	}
	return errors.Join(errs...)
}

// Path returns the path of the first part, empty for a model read from memory.
func (f *File) Path() string { return f.parts[0].path }

// Size returns the bytes of all parts together.
func (f *File) Size() int64 {
	n := int64(0)
	for _, p := range f.parts {
		n += p.size
	}
	return n
}

// Version returns the GGUF version of the first part.
func (f *File) Version() int { return int(f.parts[0].version) }

// Parts returns the files of the model in order.
func (f *File) Parts() []Part {
	out := make([]Part, len(f.parts))
	for i, p := range f.parts {
		out[i] = Part{Path: p.path, Size: p.size, Data: min(p.data, p.size)}
	}
	return out
}

// Get returns the metadata value of a key.
func (f *File) Get(key string) (Value, bool) {
	v, ok := f.parts[0].meta[key]
	return v, ok
}

// Keys returns the metadata keys in the order of the file. The slice must not be changed.
func (f *File) Keys() []string { return f.parts[0].keys }

// Tensor returns the tensor of a name.
func (f *File) Tensor(name string) (*Tensor, bool) {
	t, ok := f.byName[name]
	return t, ok
}

// Tensors returns the tensors in the order of the file, part after part. The slice must not be changed.
func (f *File) Tensors() []*Tensor { return f.tensors }

// Data returns the bytes of a tensor: a view of the mapping where there is one, else a fresh copy.
//
// Owns: the bytes are read-only (writing to a mapping faults) and valid until [File.Close].
func (f *File) Data(t *Tensor) ([]byte, error) {
	if err := f.owns(t); err != nil {
		return nil, err
	}
	return f.Range(t, 0, t.size)
}

// ReadRange copies part of a tensor's bytes into dst, beginning at byte off of the tensor.
//
// Errors: the range does not lie inside the tensor; [ErrLost].
func (f *File) ReadRange(t *Tensor, off int64, dst []byte) error {
	if err := f.owns(t); err != nil {
		return err
	}
	if off < 0 || off > t.size || int64(len(dst)) > t.size-off {
		return fmt.Errorf("tensor %q: bytes %d to %d are outside its %d", t.Name, off, off+int64(len(dst)), t.size)
	}
	if err := Guard(func() error { return t.part.src.read(dst, t.off+off) }); err != nil {
		return fmt.Errorf("tensor %q: %w", t.Name, err)
	}
	return nil
}

// Release tells the operating system that a tensor's mapped pages are not needed soon, for instance after their upload to
// a GPU. The data stays readable and comes back from the file. It does nothing where files are not mapped.
func (f *File) Release(t *Tensor) {
	if f.owns(t) == nil && t.size <= math.MaxInt {
		t.part.src.release(t.off, int(t.size))
	}
}

func (f *File) owns(t *Tensor) error {
	if t == nil {
		return fmt.Errorf("%w: nil", ErrNoTensor)
	}
	if f.byName[t.Name] != t {
		return fmt.Errorf("%w: %q", ErrNoTensor, t.Name)
	}
	return nil
}

// Range returns n bytes of a tensor from off on: a view of the mapping where there is one, else a fresh copy.
//
// Errors: the range does not lie inside the tensor; those of reading.
// Owns: as [File.Data].
func (f *File) Range(t *Tensor, off, n int64) ([]byte, error) {
	if err := f.owns(t); err != nil {
		return nil, err
	}
	if off < 0 || n < 0 || off > t.size || n > min(t.size-off, math.MaxInt) {
		return nil, fmt.Errorf("tensor %q: %d bytes at %d are outside its %d", t.Name, n, off, t.size)
	}
	b, err := t.part.src.view(t.off+off, int(n))
	if err != nil {
		return nil, fmt.Errorf("tensor %q: %w", t.Name, err)
	}
	return b, nil
}

// HeaderSum returns the SHA-256 of what the model says about itself: for each part its size, and its header up to the
// tensor data. The tensor data is not read.
//
// Errors: [ErrLost], those of reading.
func (f *File) HeaderSum() ([32]byte, error) {
	h := sha256.New()
	for _, p := range f.parts {
		err := Guard(func() error {
			head, err := p.src.view(0, int(min(p.data, p.size)))
			if err != nil {
				return err
			}
			h.Write(binary.LittleEndian.AppendUint64(nil, uint64(p.size)))
			h.Write(binary.LittleEndian.AppendUint64(nil, uint64(len(head))))
			h.Write(head)
			return nil
		})
		if err != nil {
			return [32]byte{}, fmt.Errorf("%s: %w", p.path, err)
		}
	}
	return [32]byte(h.Sum(nil)), nil
}
