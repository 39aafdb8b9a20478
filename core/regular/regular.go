// Package regular opens files that somebody else may have put there: only plain ones, without waiting, and no more of them than
// is wanted. A named pipe in the place of a settings file would otherwise hang the program, deaf to Ctrl-C, and a device
// fill its memory.
package regular

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
)

var (
	// ErrKind says that something is not a plain file.
	ErrKind = errors.New("not a file")
	// ErrTooLarge says that a file is over its limit.
	ErrTooLarge = errors.New("too large")
)

// Open opens a plain file for reading; links are followed.
//
// Errors: [ErrKind] with what it is, those of the system.
func Open(name string) (*os.File, error) { return OpenFile(name, os.O_RDONLY, 0) }

// OpenFile is [os.OpenFile] for plain files.
//
// Errors: as of [Open].
func OpenFile(name string, flag int, mode fs.FileMode) (*os.File, error) {
	f, err := os.OpenFile(name, flag|nonblock, mode)
	if err != nil {
		// A pipe that nobody reads cannot be opened for writing; say what it is.
		if info, serr := os.Stat(name); serr == nil && !info.Mode().IsRegular() {
			return nil, kindError(name, info.Mode())
		}
		return nil, err
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = kindError(name, info.Mode())
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// OpenRoot opens a folder, to reach what is below it. What is no folder is not waited for.
//
// Errors: those of the system.
func OpenRoot(dir string) (*os.Root, error) {
	if info, err := os.Stat(dir); err == nil && !info.IsDir() {
		return nil, fmt.Errorf("%s: not a folder: it is a %s", dir, kind(info.Mode()))
	}
	return os.OpenRoot(dir)
}

// Read reads a plain file of at most limit bytes.
//
// Errors: [ErrTooLarge], and as of [Open].
func Read(name string, limit int64) ([]byte, error) {
	f, err := Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, limit+1))
	if err != nil {
		return nil, err
	}
	if int64(len(data)) > limit {
		return nil, fmt.Errorf("%s: %w: it has more than %d bytes", name, ErrTooLarge, limit)
	}
	return data, nil
}

func kindError(name string, m fs.FileMode) error {
	return fmt.Errorf("%s: %w: it is a %s", name, ErrKind, kind(m))
}

// kind says what something is that is no plain file.
func kind(m fs.FileMode) string {
	switch {
	case m.IsRegular():
		return "file"
	case m.IsDir():
		return "folder"
	case m&fs.ModeNamedPipe != 0:
		return "named pipe"
	case m&fs.ModeSocket != 0:
		return "socket"
	case m&fs.ModeDevice != 0:
		return "device"
	}
	return "special file"
}
