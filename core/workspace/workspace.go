package workspace

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"sync"

	"github.com/pooled/pooled/core/regular"
)

// Workspace is an open project folder.
//
// Owns: the caller closes it. Safe for concurrent use, also with other processes that have opened the same folder with the
// same state.
type Workspace struct {
	root  *os.Root
	dir   string
	state string // empty: changes are not recorded

	mu    sync.Mutex // held while files change
	aside []string   // why records were set aside
	// step is called between the steps of a change; tests stop the world there.
	step func(string)
}

// Open opens the project in folder dir, which must exist, with its journal in folder state, which is made when it is
// missing. Without a state changes cannot be undone.
//
// Errors: those of the system; [ErrJournal].
func Open(dir, state string) (*Workspace, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, fmt.Errorf("project folder: %w", err)
	}
	root, err := regular.OpenRoot(dir)
	if err != nil {
		return nil, fmt.Errorf("project folder: %w", err)
	}
	w := &Workspace{root: root, dir: dir, state: state, step: func(string) {}}
	if state != "" {
		if err := w.openJournal(); err != nil {
			root.Close()
			return nil, err
		}
	}
	return w, nil
}

// Close ends the use of the folder.
func (w *Workspace) Close() error { return w.root.Close() }

// Dir returns the folder's absolute path.
func (w *Workspace) Dir() string { return w.dir }

// locate returns the path of p without symbolic links, and what is there; info is nil when there is nothing. It takes the
// form that [Escape] gives for a name that is there.
func (w *Workspace) locate(p string) (string, fs.FileInfo, error) {
	c, err := Clean(p)
	if err == nil {
		var at string
		var info fs.FileInfo
		at, info, err = w.follow(p, c)
		if info != nil {
			return at, info, nil
		}
		c = at
	}
	if plain, ok := unescape(p); ok {
		if c, err := Clean(plain); err == nil {
			if at, info, err := w.follow(p, c); info != nil {
				return at, info, err
			}
		}
	}
	return c, nil, err
}

// follow resolves the symbolic links of the clean path c; asked is what errors call it.
func (w *Workspace) follow(asked, c string) (string, fs.FileInfo, error) {
	rest := strings.Split(c, "/")
	at, links := ".", 0
	for len(rest) > 0 {
		name := rest[0]
		rest = rest[1:]
		switch {
		case name == "" || name == ".":
			continue
		case name == "..":
			if at == "." {
				return "", nil, pathError(asked, ErrOutside, "a symbolic link leads out")
			}
			at = path.Dir(at)
			continue
		case hidden(name):
			return "", nil, pathError(asked, ErrHidden, "")
		}
		next := path.Join(at, name)
		info, err := w.root.Lstat(next)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			left := path.Join(append([]string{next}, rest...)...)
			if left, err = Clean(left); err != nil {
				return "", nil, err
			}
			return left, nil, nil
		case err != nil:
			return "", nil, w.systemError(asked, err)
		case info.Mode()&fs.ModeSymlink == 0:
			if at = next; len(rest) > 0 && !info.IsDir() {
				return "", nil, pathError(asked, ErrKind, "%s is not a folder", Escape(at))
			}
			continue
		}
		if links++; links > maxLinks {
			return "", nil, pathError(asked, ErrOutside, "too many symbolic links")
		}
		target, err := w.root.Readlink(next)
		if err != nil {
			return "", nil, w.systemError(asked, err)
		}
		target = filepath.ToSlash(target)
		if path.IsAbs(target) || filepath.IsAbs(target) || hasDrive(target) {
			return "", nil, pathError(asked, ErrOutside, "a symbolic link leads to %s", Escape(target))
		}
		rest = append(strings.Split(target, "/"), rest...)
	}
	info, err := w.root.Lstat(at)
	if err != nil {
		return "", nil, w.systemError(asked, err)
	}
	return at, info, nil
}

// systemError gives an error of the system the path that the caller knows.
func (w *Workspace) systemError(asked string, err error) error {
	cause := err
	if pe, ok := errors.AsType[*fs.PathError](err); ok {
		cause = pe.Err
	} else if le, ok := errors.AsType[*os.LinkError](err); ok {
		cause = le.Err
	}
	return &PathError{Path: Escape(asked), Err: cause}
}

// openFile opens the file at the located path at for reading, and nothing that is not a plain file.
func (w *Workspace) openFile(asked, at string, info fs.FileInfo) (*os.File, fs.FileInfo, error) {
	if err := plainFile(asked, info); err != nil {
		return nil, nil, err
	}
	f, err := w.root.OpenFile(at, os.O_RDONLY|nonblock, 0)
	if err != nil {
		return nil, nil, w.systemError(asked, err)
	}
	// Something else may lie there by now.
	if info, err = f.Stat(); err == nil {
		err = plainFile(asked, info)
	}
	if err != nil {
		f.Close()
		return nil, nil, err
	}
	return f, info, nil
}

// plainFile returns nil for a plain file.
func plainFile(asked string, info fs.FileInfo) error {
	if info == nil {
		return pathError(asked, fs.ErrNotExist, "")
	}
	switch m := info.Mode(); {
	case m.IsRegular():
		return nil
	case m.IsDir():
		return pathError(asked, ErrKind, "it is a folder, not a file")
	default:
		return pathError(asked, ErrKind, "it is a %s, not a file", kindName(m))
	}
}

// kindName says what something is that is neither a file nor a folder.
func kindName(m fs.FileMode) string {
	switch {
	case m&fs.ModeSymlink != 0:
		return "symbolic link"
	case m&fs.ModeNamedPipe != 0:
		return "named pipe"
	case m&fs.ModeSocket != 0:
		return "socket"
	case m&fs.ModeDevice != 0:
		return "device"
	}
	return "special file"
}
