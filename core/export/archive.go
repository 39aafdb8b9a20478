package export

import (
	"archive/zip"
	"context"
	"errors"
	"io"
	"io/fs"
	"strings"
	"time"
)

// Zip writes the files of a project as a .zip; it has the same bytes for the same files. What a package manager put there
// is left out. Every name in it can be a file's on every system. Left lists what is not in it, or has another name there.
//
// Errors: those of w; of a project that cannot be listed at all; the context's.
func Zip(ctx context.Context, w io.Writer, files fs.FS) (left []string, err error) {
	a := &archive{ctx: ctx, files: files, budget: archiveBudget(), names: newNames(), to: zip.NewWriter(w)}
	err = fs.WalkDir(files, ".", a.visit)
	return a.all(), errors.Join(err, a.to.Close())
}

// archive is a .zip that is being written.
type archive struct {
	budget
	notes
	ctx   context.Context
	files fs.FS
	names *names
	to    *zip.Writer
}

// visit writes one file. A file that cannot be had is left out.
func (a *archive) visit(path string, d fs.DirEntry, err error) error {
	switch {
	case a.ctx.Err() != nil:
		return a.ctx.Err()
	case err != nil && path == ".":
		return err
	case a.step() != nil:
		a.leave(path, errors.New("there are too many files and folders; this one and those behind it are left out"))
		return fs.SkipAll
	case err != nil:
		a.leave(path, err)
		return nil
	case d.IsDir() && (d.Name() == "node_modules" || strings.Count(path, "/") >= maxFolders):
		if d.Name() != "node_modules" {
			a.leave(path, errors.New("it is too deep in folders"))
		}
		return fs.SkipDir
	case d.IsDir():
		return nil
	case !d.Type().IsRegular():
		a.leave(path, errKind)
		return nil
	}
	data, err := a.read(a.files, path, maxFile, errArchive)
	if err != nil {
		a.leave(path, err)
		return nil
	}
	name := a.names.of(path)
	if name != path {
		a.leave(path, errors.New("under this name; it is "+name+" there"))
	}
	to, err := a.to.CreateHeader(&zip.FileHeader{Name: name, Method: zip.Deflate, Modified: time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)})
	if err != nil {
		return err
	}
	_, err = to.Write(data)
	return err
}
