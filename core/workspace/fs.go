package workspace

import (
	"context"
	"io"
	"io/fs"
	"os"
	"path"
)

// FS returns the project as a read-only file system, for the sandbox: without what is hidden, without links that lead
// out, and without anything that is neither a file nor a folder. It shows the files as they are when they are opened.
func (w *Workspace) FS() fs.FS { return tree{w} }

type tree struct{ w *Workspace }

// Open implements [fs.FS].
func (t tree) Open(name string) (fs.File, error) {
	fail := func(err error) (fs.File, error) { return nil, &fs.PathError{Op: "open", Path: name, Err: err} }
	if !fs.ValidPath(name) {
		return fail(fs.ErrInvalid)
	}
	at, info, err := t.w.follow(name, name)
	switch {
	case err != nil:
		return fail(err)
	case info == nil:
		return fail(fs.ErrNotExist)
	case info.IsDir():
		return &folder{tree: t, name: name, at: at, info: info}, nil
	}
	f, _, err := t.w.openFile(name, at, info)
	if err != nil {
		return fail(err)
	}
	return f, nil
}

// folder is an open folder of a tree.
type folder struct {
	tree     tree
	name, at string
	info     fs.FileInfo
	read     bool
	rest     []fs.DirEntry
}

// Stat implements [fs.File].
func (d *folder) Stat() (fs.FileInfo, error) { return named{d.info, path.Base(d.name)}, nil }

// Read implements [fs.File].
func (d *folder) Read([]byte) (int, error) {
	return 0, &fs.PathError{Op: "read", Path: d.name, Err: ErrKind}
}

// Close implements [fs.File].
func (d *folder) Close() error { return nil }

// ReadDir implements [fs.ReadDirFile].
func (d *folder) ReadDir(n int) ([]fs.DirEntry, error) {
	if !d.read {
		list, _, err := d.tree.w.entries(context.Background(), d.name, d.at)
		if err != nil {
			return nil, &fs.PathError{Op: "readdir", Path: d.name, Err: err}
		}
		for _, e := range list {
			if e.Kind != "" {
				continue
			}
			if info, err := d.tree.w.root.Lstat(path.Join(d.at, e.raw)); err == nil && (info.IsDir() || info.Mode().IsRegular()) {
				d.rest = append(d.rest, fs.FileInfoToDirEntry(info))
			}
		}
		d.read = true
	}
	if n <= 0 {
		all := d.rest
		d.rest = nil
		return all, nil
	}
	if len(d.rest) == 0 {
		return nil, io.EOF
	}
	n = min(n, len(d.rest))
	some := d.rest[:n]
	d.rest = d.rest[n:]
	return some, nil
}

// named is a FileInfo with another name.
type named struct {
	os.FileInfo
	name string
}

// Name implements [fs.FileInfo].
func (n named) Name() string { return n.name }
