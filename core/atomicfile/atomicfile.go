// Package atomicfile replaces files whole or not at all: a reader sees the old or the new content, after a crash, too.
package atomicfile

import (
	"errors"
	"os"
	"path/filepath"
)

// Write replaces the file name by parts, one behind the other; only the user may read it. The folder must exist. After an
// error the old file is still there.
func Write(name string, parts ...[]byte) error {
	f, err := os.CreateTemp(filepath.Dir(name), ".new-*")
	if err != nil {
		return err
	}
	for _, p := range parts {
		if err == nil {
			_, err = f.Write(p)
		}
	}
	if err == nil {
		err = f.Sync()
	}
	err = errors.Join(err, f.Close())
	if err == nil {
		err = Rename(f.Name(), name)
	}
	if err != nil {
		_ = os.Remove(f.Name())
	}
	return err
}

// Rename gives a file or folder another name on the same disk, and makes that last.
func Rename(from, to string) error {
	if err := os.Rename(from, to); err != nil {
		return err
	}
	syncDir(filepath.Dir(to))
	if filepath.Dir(from) != filepath.Dir(to) {
		syncDir(filepath.Dir(from))
	}
	return nil
}

// syncDir writes the names in a folder to the disk. Not every system can, and none needs it to go on.
func syncDir(dir string) {
	if d, err := os.Open(dir); err == nil {
		_ = d.Sync()
		_ = d.Close()
	}
}
