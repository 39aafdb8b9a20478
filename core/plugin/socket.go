package plugin

import (
	"errors"
	"os"
	"path/filepath"
	"time"

	"github.com/pooled/pooled/core/filelock"
	"github.com/pooled/pooled/core/regular"
)

// What the folder of a plugin's socket is called, in the folder for temporary files, and the file in it that its owner holds.
const (
	socketPrefix = "pooled-plugin-"
	socketOwner  = "owner"
)

// socketFolder makes a folder for the socket of one plugin, and removes those whose owners were killed.
//
// Owns: the caller calls release, which removes it.
func socketFolder() (dir string, release func(), err error) {
	sweepFolders(os.TempDir())
	if dir, err = os.MkdirTemp("", socketPrefix); err != nil {
		return "", nil, err
	}
	f, err := os.OpenFile(filepath.Join(dir, socketOwner), os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err == nil {
		if _, lerr := filelock.Try(f); lerr != nil {
			err = errors.Join(lerr, f.Close())
		}
	}
	if err != nil {
		return "", nil, errors.Join(err, os.RemoveAll(dir))
	}
	return dir, func() {
		f.Close()
		_ = os.RemoveAll(dir) // what is left is swept at the next start
	}, nil
}

// sweepFolders removes the folders of sockets that nobody owns any more.
func sweepFolders(temp string) {
	found, err := filepath.Glob(filepath.Join(temp, socketPrefix+"*"))
	if err != nil {
		return
	}
	for _, dir := range found {
		info, err := os.Lstat(dir)
		if err != nil || !info.IsDir() {
			continue
		}
		f, err := regular.OpenFile(filepath.Join(dir, socketOwner), os.O_RDWR, 0)
		switch {
		case errors.Is(err, os.ErrNotExist):
			if time.Since(info.ModTime()) < time.Minute {
				continue // it is being made
			}
		case err != nil:
			continue // another user's
		default:
			held, err := filelock.Try(f)
			f.Close()
			if held || err != nil {
				continue
			}
		}
		_ = os.RemoveAll(dir)
	}
}
