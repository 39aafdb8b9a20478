package export

import (
	"archive/zip"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"time"
)

// Limits of an export.
const (
	maxExport      = 256 << 20 // bytes
	maxExportFiles = 20_000
)

// Zip writes the files of a project as a .zip; it has the same bytes for the same files. What a package manager put there
// is left out.
func Zip(ctx context.Context, w io.Writer, files fs.FS) error {
	z := zip.NewWriter(w)
	size, count := int64(0), 0
	err := fs.WalkDir(files, ".", func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case ctx.Err() != nil:
			return ctx.Err()
		case d.IsDir() && d.Name() == "node_modules":
			return fs.SkipDir
		case d.IsDir() || !d.Type().IsRegular():
			return nil
		}
		count++
		f, err := files.Open(path)
		if err != nil {
			return err
		}
		defer f.Close()
		to, err := z.CreateHeader(&zip.FileHeader{Name: path, Method: zip.Deflate, Modified: time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)})
		if err != nil {
			return err
		}
		n, err := io.Copy(to, io.LimitReader(f, maxExport-size+1))
		if size += n; err == nil && (size > maxExport || count > maxExportFiles) {
			err = fmt.Errorf("the project has more than %d files or %d MB, which is too much to export", maxExportFiles, maxExport>>20)
		}
		return err
	})
	return errors.Join(err, z.Close())
}
