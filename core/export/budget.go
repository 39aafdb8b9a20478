package export

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
)

// Limits of an export.
const (
	maxPage    = 64 << 20  // bytes that are put into a page, each time that they are put into something
	maxMarkup  = 16 << 20  // bytes of the page itself
	maxRead    = 128 << 20 // bytes of all files of a page, and of what is gone through, each time that it is
	maxPart    = 32 << 20  // bytes of one file of a page
	maxArchive = 256 << 20 // bytes of all files of an archive
	maxFile    = 128 << 20 // bytes of one file of an archive
	maxFiles   = 20_000
	maxSteps   = 20_000 // references that are followed
	maxDepth   = 16     // files within each other
	maxEntries = 200_000
)

// budget is what an export may still take. Every way through the bundler spends from it, so that no arrangement of files
// makes an export larger or longer than it allows.
type budget struct {
	out   int64 // bytes to be made
	in    int64 // bytes to be read
	work  int64 // bytes to be gone through
	files int   // files to be read
	steps int   // references to be followed
}

func pageBudget() budget {
	return budget{out: maxPage, in: maxRead, work: maxRead, files: maxFiles, steps: maxSteps}
}

func archiveBudget() budget { return budget{in: maxArchive, files: maxFiles, steps: maxEntries} }

// spend takes n bytes that were made.
func (b *budget) spend(n int) error {
	if int64(n) > b.out {
		return errRoom
	}
	b.out -= int64(n)
	return nil
}

// step takes one reference.
func (b *budget) step() error {
	if b.steps == 0 {
		return errSteps
	}
	b.steps--
	return nil
}

// walk takes n bytes that are gone through.
func (b *budget) walk(n int) error {
	if int64(n) > b.work {
		return errRead
	}
	b.work -= int64(n)
	return nil
}

// read returns the content of a plain file; whole is the reason when all files together are too large.
func (b *budget) read(files fs.FS, name string, most int64, whole error) ([]byte, error) {
	if b.files == 0 {
		return nil, errFiles
	}
	b.files--
	f, err := files.Open(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, errMissing
	case err != nil:
		return nil, err
	}
	defer f.Close()
	st, err := f.Stat()
	switch {
	case err != nil:
		return nil, err
	case !st.Mode().IsRegular():
		return nil, errKind
	case st.Size() > most:
		return nil, tooLarge(most)
	case st.Size() > b.in:
		return nil, whole
	}
	// It may grow meanwhile.
	data, err := io.ReadAll(io.LimitReader(f, min(most, b.in)+1))
	switch {
	case err != nil:
		return nil, err
	case int64(len(data)) > most:
		return nil, tooLarge(most)
	case int64(len(data)) > b.in:
		return nil, whole
	}
	b.in -= int64(len(data))
	return data, nil
}

func tooLarge(most int64) error { return fmt.Errorf("%w: more than %d MB", ErrLarge, most>>20) }
