package workspace

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"
	"time"
)

// maxEntries bounds the entries of one folder that are looked at.
const maxEntries = 20_000

// Entry is something in a folder.
type Entry struct {
	// Name is the name, escaped.
	Name string
	// Dir says that it is a folder.
	Dir bool
	// Size is that of a file in bytes.
	Size int64
	// Modified is when a file was last written.
	Modified time.Time
	// Kind names what is neither a file nor a folder, such as "symbolic link" or "named pipe".
	Kind string

	raw string
}

// List returns what lies in a folder, folders first, each sorted by name. More says that the folder has so many entries
// that some were not looked at.
//
// Errors: [*PathError].
func (w *Workspace) List(ctx context.Context, dir string) (list []Entry, more bool, err error) {
	at, info, err := w.locate(dir)
	switch {
	case err != nil:
		return nil, false, err
	case info == nil:
		return nil, false, pathError(dir, fs.ErrNotExist, "")
	case !info.IsDir():
		return nil, false, pathError(dir, ErrKind, "it is a file, not a folder")
	}
	return w.entries(ctx, dir, at)
}

// entries lists the located folder at.
func (w *Workspace) entries(ctx context.Context, asked, at string) (list []Entry, more bool, err error) {
	f, err := w.root.OpenFile(at, nonblock, 0)
	if err != nil {
		return nil, false, w.systemError(asked, err)
	}
	defer f.Close()
	for !more {
		if err := ctx.Err(); err != nil {
			return nil, false, err
		}
		some, err := f.ReadDir(512)
		for _, d := range some {
			if !hidden(d.Name()) {
				list = append(list, entry(d))
			}
		}
		if errors.Is(err, io.EOF) || len(some) == 0 && err == nil {
			break
		}
		if err != nil {
			return nil, false, w.systemError(asked, err)
		}
		more = len(list) >= maxEntries
	}
	slices.SortFunc(list, func(a, b Entry) int {
		if a.Dir != b.Dir {
			if a.Dir {
				return -1
			}
			return 1
		}
		return strings.Compare(a.raw, b.raw)
	})
	return list, more, nil
}

func entry(d fs.DirEntry) Entry {
	e := Entry{Name: Escape(d.Name()), raw: d.Name(), Dir: d.IsDir()}
	switch {
	case e.Dir:
	case d.Type().IsRegular():
		if info, err := d.Info(); err == nil {
			e.Size, e.Modified = info.Size(), info.ModTime()
		}
	default:
		e.Kind = kindName(d.Type())
	}
	return e
}

// errEnough ends a walk.
var errEnough = errors.New("enough")

// walk calls visit with every plain file below the located folder at, in order, until visit returns an error. It follows
// no links and leaves out what [skipped] names. What cannot be read is left out, too.
func (w *Workspace) walk(ctx context.Context, at string, depth int, visit func(path string, e Entry) error) error {
	list, _, err := w.entries(ctx, at, at)
	if err != nil {
		return ctx.Err()
	}
	for _, e := range list {
		p := path.Join(at, e.raw)
		switch {
		case e.Dir && depth < maxDepth && !skipped(e.raw):
			err = w.walk(ctx, p, depth+1, visit)
		case !e.Dir && e.Kind == "":
			err = visit(p, e)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// Files returns the paths of the plain files of the project, escaped and in order, at most n of them; more says that
// there are others.
func (w *Workspace) Files(ctx context.Context, n int) (list []Entry, more bool, err error) {
	err = w.walk(ctx, ".", 0, func(p string, e Entry) error {
		if len(list) == n {
			more = true
			return errEnough
		}
		e.Name, e.raw = Escape(p), p
		list = append(list, e)
		return nil
	})
	if errors.Is(err, errEnough) {
		err = nil
	}
	return list, more, err
}

// Fingerprint returns a text that changes when a file of the project is written, made or removed. It looks at no content.
func (w *Workspace) Fingerprint(ctx context.Context) (string, error) {
	h, n := sha256.New(), 0
	err := w.walk(ctx, ".", 0, func(p string, e Entry) error {
		if n++; n > maxSearchFiles {
			return errEnough
		}
		fmt.Fprintf(h, "%q %d %d\n", p, e.Size, e.Modified.UnixNano())
		return nil
	})
	if err != nil && !errors.Is(err, errEnough) {
		return "", err
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}
