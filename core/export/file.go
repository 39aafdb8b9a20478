package export

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/pooled/pooled/core/atomicfile"
)

// File writes a project to the file name: an archive if the name ends in .zip, the page index.html if it ends in .html. The
// file is there whole or not at all, and never takes another's place.
//
// Units: size in bytes. Errors: [ErrForm]; [ErrExists]; those of [Zip] and [SingleHTML], and of the system.
func File(ctx context.Context, name string, files fs.FS) (size int64, left []string, err error) {
	var write func(io.Writer) error
	switch strings.ToLower(filepath.Ext(name)) {
	case ".zip":
		write = func(w io.Writer) (err error) {
			left, err = Zip(ctx, w, files)
			return err
		}
	case ".html", ".htm":
		write = func(w io.Writer) error {
			page, rest, err := SingleHTML(ctx, files, "index.html")
			if err == nil {
				_, err = w.Write(page)
			}
			left = rest
			return err
		}
	default:
		return 0, nil, fmt.Errorf("%s: %w", name, ErrForm)
	}
	if size, err = atomicfile.Create(name, write); errors.Is(err, fs.ErrExist) {
		err = fmt.Errorf("%s: %w", name, ErrExists)
	}
	return size, left, err
}

// Place returns where an export is written that no place was named for: in the folder that the program was started in, or
// beside the project when that is a part of it, so that no export ever becomes a part of the project.
func Place(root, name string) (string, error) {
	started, err := os.Getwd()
	if err != nil {
		return "", err
	}
	return place(root, started, name)
}

func place(root, started, name string) (string, error) {
	root, err := filepath.EvalSymlinks(root)
	if err != nil {
		return "", err
	}
	if at, err := filepath.EvalSymlinks(started); err == nil {
		started = at
	}
	inside := func(dir string) bool {
		rel, err := filepath.Rel(root, dir)
		return err == nil && filepath.IsLocal(rel)
	}
	dir := started
	if inside(dir) {
		dir = filepath.Dir(root)
	}
	if inside(dir) {
		return "", errors.New("there is nothing outside of the project; name the file to be written")
	}
	return filepath.Join(dir, clean(name)), nil
}
