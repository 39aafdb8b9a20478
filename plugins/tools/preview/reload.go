package preview

import (
	"bytes"
	"errors"
	"io"

	"github.com/pooled/pooled/core/workspace"
)

// reloadTag is the script that a page gets.
const reloadTag = `<script src="` + reloadPath + `"></script>` + "\n"

// withReload returns a page of size bytes with the script that reloads it, before the end of its body. It is read as it is
// sent, so that no client costs the memory of a page.
func withReload(page io.ReaderAt, size int64) (io.ReadSeeker, error) {
	at, err := endOfBody(page, size)
	if err != nil {
		return nil, err
	}
	return &spliced{page: page, size: size, at: at}, nil
}

// endOfBody returns where the last end tag of a body begins, or the size of a page that has none near its end.
func endOfBody(page io.ReaderAt, size int64) (int64, error) {
	const tag = "</body>"
	block := make([]byte, 64<<10)
	for end := size; end > 0 && size-end < workspace.MaxFile; {
		begin := max(0, end-int64(len(block)))
		part := block[:end-begin]
		if n, err := page.ReadAt(part, begin); n < len(part) {
			return 0, err
		}
		for i := len(part) - len(tag); i >= 0; i-- {
			if part[i] == '<' && bytes.EqualFold(part[i:i+len(tag)], []byte(tag)) {
				return begin + int64(i), nil
			}
		}
		if begin == 0 {
			break
		}
		end = begin + int64(len(tag)) - 1 // it may lie across the border
	}
	return size, nil
}

// spliced is a page with the tag at a place.
type spliced struct {
	page           io.ReaderAt
	size, at, read int64
}

// Read implements [io.Reader].
func (s *spliced) Read(b []byte) (n int, err error) {
	tag := int64(len(reloadTag))
	switch {
	case s.read >= s.size+tag:
		return 0, io.EOF
	case s.read < s.at:
		n, err = s.page.ReadAt(b[:min(int64(len(b)), s.at-s.read)], s.read)
	case s.read < s.at+tag:
		n = copy(b, reloadTag[s.read-s.at:])
	default:
		n, err = s.page.ReadAt(b[:min(int64(len(b)), s.size+tag-s.read)], s.read-tag)
	}
	s.read += int64(n)
	switch {
	case n > 0:
		err = nil
	case errors.Is(err, io.EOF):
		err = io.ErrUnexpectedEOF // it has become shorter
	}
	return n, err
}

// Seek implements [io.Seeker].
func (s *spliced) Seek(offset int64, whence int) (int64, error) {
	switch whence {
	case io.SeekCurrent:
		offset += s.read
	case io.SeekEnd:
		offset += s.size + int64(len(reloadTag))
	}
	if offset < 0 {
		return 0, errors.New("a place before the page")
	}
	s.read = offset
	return offset, nil
}
