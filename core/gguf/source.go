package gguf

import (
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/pooled/pooled/core/regular"
)

// source is the bytes of one file.
type source interface {
	// view returns n bytes at off, which the caller has checked to lie inside. The bytes are read-only.
	view(off int64, n int) ([]byte, error)
	// read copies the bytes at off into dst; the caller has checked that they lie inside.
	read(dst []byte, off int64) error
	// release says that the bytes will not be needed soon.
	release(off int64, n int)
	// Close gives up the file; views of a mapping are invalid afterwards.
	Close() error
}

// memory is a source whose bytes are all addressable: a mapping or a slice.
type memory struct {
	data   []byte
	drop   func(begin, end int) // nil when the bytes are not a mapping
	unmap  func(data []byte) error
	closed bool
}

func (m *memory) view(off int64, n int) ([]byte, error) {
	if m.closed {
		return nil, os.ErrClosed
	}
	return m.data[off : off+int64(n) : off+int64(n)], nil
}

func (m *memory) read(dst []byte, off int64) error {
	b, err := m.view(off, len(dst))
	copy(dst, b)
	return err
}

func (m *memory) release(off int64, n int) {
	if m.drop != nil && !m.closed {
		m.drop(int(off), int(off)+n)
	}
}

func (m *memory) Close() error {
	if m.closed {
		return nil
	}
	m.closed = true
	data := m.data
	m.data = nil
	if m.unmap == nil {
		return nil
	}
	mapped.remove(data)
	return m.unmap(data)
}

// reader is a source that copies what is asked for.
type reader struct {
	r     io.ReaderAt
	close func() error
}

func (s *reader) view(off int64, n int) ([]byte, error) {
	b := make([]byte, n)
	if err := s.read(b, off); err != nil {
		return nil, err
	}
	return b, nil
}

func (s *reader) read(dst []byte, off int64) error {
	n, err := s.r.ReadAt(dst, off)
	if n == len(dst) {
		return nil
	}
	if err == nil || errors.Is(err, io.EOF) {
		err = io.ErrUnexpectedEOF
	}
	return fmt.Errorf("reading %d bytes at %d: %w", len(dst), off, err)
}

func (s *reader) release(int64, int) {}

func (s *reader) Close() error {
	if s.close == nil {
		return nil
	}
	return s.close()
}

// openSource maps a file, or reads it piece by piece where it cannot be mapped.
func openSource(path string) (source, int64, error) {
	f, err := regular.Open(path)
	if err != nil {
		return nil, 0, err
	}
	info, err := f.Stat()
	if err != nil {
		f.Close()
		return nil, 0, err
	}
	size := info.Size()
	if m, err := mapFile(f, size); err == nil {
		f.Close()
		mapped.add(m.data)
		return m, size, nil
	}
	return &reader{r: f, close: f.Close}, size, nil
}
