package workspace

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"strings"
	"unicode/utf8"
)

// Limits of content in bytes.
const (
	// MaxFile bounds a file that is read whole, written or edited: undo keeps a copy.
	MaxFile = 16 << 20
	// scanned bounds what is read of a file to find a line, and to count those that follow.
	scanned = 256 << 20
	// sniffed is how much of a file tells whether it is text.
	sniffed = 8000
	// maxLine bounds a line that is shown.
	maxLine = 4000
)

// Page is a part of a text file.
type Page struct {
	// Path is the file, without links, escaped.
	Path string
	// Text holds whole lines, with "\n" for "\r\n" and U+FFFD for what is not UTF-8.
	Text string
	// First is the number of the first line, from 1; Lines how many there are in Text.
	First, Lines int
	// More is how many lines follow, or -1 when the file is too large to count them.
	More int
	// Size is that of the file in bytes.
	Size int64
	// LongLines counts the lines that are not shown whole; Invalid says that the file is not UTF-8.
	LongLines int
	Invalid   bool
}

// Read returns lines of a text file: at most limit lines from line offset on, and at most size bytes of them but at least
// one line. The file may be of any size; it is never held whole.
//
// Errors: [*PathError], with [ErrBinary] for a file that is not text.
func (w *Workspace) Read(ctx context.Context, name string, offset, limit, size int) (Page, error) {
	at, info, err := w.locate(name)
	if err != nil {
		return Page{}, err
	}
	f, info, err := w.openFile(name, at, info)
	if err != nil {
		return Page{}, err
	}
	defer f.Close()
	p := Page{Path: Escape(at), First: max(offset, 1), Size: info.Size()}
	r := bufio.NewReaderSize(&contextReader{ctx, io.LimitReader(f, scanned)}, 64<<10)
	head, err := r.Peek(sniffed)
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, bufio.ErrBufferFull) {
		return Page{}, w.systemError(name, err)
	}
	if binary(head) {
		return Page{}, pathError(name, ErrBinary, "%d bytes", info.Size())
	}
	var text strings.Builder
	number, full := 0, false
	var line []byte
	for {
		got, n, err := readLine(r, line[:0])
		if err != nil && !errors.Is(err, io.EOF) {
			return Page{}, w.systemError(name, err)
		}
		if n == 0 {
			break
		}
		line = got
		number++
		switch {
		case number < p.First:
		case full || p.Lines == limit || p.Lines > 0 && text.Len()+len(got) > size:
			full = true
			p.More++
		default:
			p.add(&text, got, n)
		}
	}
	if info.Size() > scanned && (full || p.Lines == 0) {
		p.More = -1
	}
	switch {
	case p.Lines > 0 || number == 0:
	case p.More < 0:
		return p, pathError(name, ErrTooLarge, "line %d is beyond the first %d bytes, which is as far as files are read", p.First, scanned)
	default:
		return p, pathError(name, errors.New("there is no such line"), "the file has %d lines", number)
	}
	p.Text = text.String()
	return p, nil
}

// add appends a line that is n bytes long.
func (p *Page) add(text *strings.Builder, line []byte, n int) {
	p.Lines++
	if n > maxLine {
		p.LongLines++
		text.Write(bytes.ToValidUTF8(line, nil))
		text.WriteString("…\n")
		return
	}
	if !utf8.Valid(line) {
		p.Invalid = true
		line = bytes.ToValidUTF8(line, []byte("\uFFFD"))
	}
	if rest, ok := bytes.CutSuffix(line, []byte("\r\n")); ok {
		text.Write(rest)
		text.WriteByte('\n')
		return
	}
	text.Write(line)
}

// readLine appends a line with its end to buf, and returns how long it is: of a long one only the first maxLine bytes.
func readLine(r *bufio.Reader, buf []byte) (line []byte, n int, err error) {
	line = buf
	for {
		part, err := r.ReadSlice('\n')
		n += len(part)
		line = append(line, part[:min(len(part), maxLine-len(line))]...)
		if !errors.Is(err, bufio.ErrBufferFull) {
			return line, n, err
		}
	}
}

// contextReader stops when its context ends.
type contextReader struct {
	ctx context.Context
	r   io.Reader
}

func (c *contextReader) Read(p []byte) (int, error) {
	if err := c.ctx.Err(); err != nil {
		return 0, err
	}
	return c.r.Read(p)
}

// binary reports whether a file that begins like this is not text.
func binary(head []byte) bool { return bytes.IndexByte(head, 0) >= 0 }

// ReadFile returns the content of a file of at most [MaxFile] bytes.
//
// Errors: [*PathError].
func (w *Workspace) ReadFile(name string) ([]byte, error) {
	at, info, err := w.locate(name)
	if err != nil {
		return nil, err
	}
	data, _, err := w.content(name, at, info)
	return data, err
}

// content reads the located file at.
func (w *Workspace) content(asked, at string, info fs.FileInfo) ([]byte, fs.FileInfo, error) {
	f, info, err := w.openFile(asked, at, info)
	if err != nil {
		return nil, nil, err
	}
	defer f.Close()
	if info.Size() > MaxFile {
		return nil, nil, pathError(asked, ErrTooLarge, "%d bytes; the limit is %d", info.Size(), MaxFile)
	}
	data, err := io.ReadAll(io.LimitReader(f, MaxFile+1))
	switch {
	case err != nil:
		return nil, nil, w.systemError(asked, err)
	case len(data) > MaxFile:
		return nil, nil, pathError(asked, ErrTooLarge, "the limit is %d bytes", MaxFile)
	}
	return data, info, nil
}
