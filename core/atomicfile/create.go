package atomicfile

import (
	"bufio"
	"crypto/rand"
	"errors"
	"io"
	"os"
	"path/filepath"
)

// Create makes the file name, which must not be there yet, of what write writes. Others see it whole or not at all; after an
// error there is nothing.
//
// Units: size in bytes. Errors: [os.ErrExist], also when somebody else makes the file meanwhile; those of write and of the
// system.
func Create(name string, write func(io.Writer) error) (size int64, err error) {
	if _, err := os.Lstat(name); err == nil {
		return 0, &os.PathError{Op: "create", Path: name, Err: os.ErrExist}
	}
	// Project folders hide such names, also from what is being written.
	part := filepath.Join(filepath.Dir(name), ".pooled-new-"+rand.Text()[:10])
	f, err := os.OpenFile(part, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return 0, err
	}
	defer func() { _ = os.Remove(part) }()
	w := bufio.NewWriterSize(f, 64<<10)
	if err = write(w); err == nil {
		err = w.Flush()
	}
	if err == nil {
		err = f.Sync()
	}
	if err == nil {
		size, err = f.Seek(0, io.SeekCurrent)
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return 0, err
	}
	return size, place(part, name)
}

// place gives a file its name if that is free.
func place(part, name string) error {
	err := os.Link(part, name)
	if err == nil || errors.Is(err, os.ErrExist) {
		syncDir(filepath.Dir(name))
		return err
	}
	// This disk has no second names: the name is taken first.
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return err
	}
	if err := errors.Join(f.Close(), Rename(part, name)); err != nil {
		return errors.Join(err, os.Remove(name))
	}
	return nil
}
