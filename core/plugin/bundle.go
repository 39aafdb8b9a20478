package plugin

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/pooled/pooled/core/regular"
)

// Limits of a plugin's folder.
const (
	maxFiles  = 4096
	maxBundle = 512 << 20 // bytes
)

// bytecode is where Python keeps what it compiled. It changes whenever a program runs, and is not looked at there: see child.
const bytecode = "__pycache__"

// bundle is what a plugin consists of: a program, or the folder that it lies in.
type bundle struct {
	root string // the program's file, or the folder
	main string // the program, relative to the folder; empty for a single file
}

// part is a file of a bundle.
type part struct {
	name string // relative, with slashes; empty for a single file
	size int64
	exec bool
}

// parts lists the files of a bundle by name.
//
// Errors: [ErrBroken] for what is neither a file nor a folder, and for more than the limits.
func (b bundle) parts() ([]part, error) {
	if b.main == "" {
		return []part{{}}, nil
	}
	var list []part
	size := int64(0)
	err := filepath.WalkDir(b.root, func(name string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(b.root, name)
		if err != nil {
			return err
		}
		rel = filepath.ToSlash(rel)
		switch t := e.Type(); {
		case e.IsDir() && e.Name() == bytecode:
			return fs.SkipDir
		case e.IsDir():
			return openToAll(name)
		case !t.IsRegular():
			return fmt.Errorf("%w: %s is no plain file; put a copy of what it stands for there", ErrBroken, rel)
		}
		info, err := e.Info()
		if err != nil {
			return err
		}
		list = append(list, part{name: rel, size: info.Size(), exec: info.Mode()&0o111 != 0})
		if size += info.Size(); len(list) > maxFiles || size > maxBundle {
			return fmt.Errorf("%w: its folder has more than %d files or %d MB", ErrBroken, maxFiles, maxBundle>>20)
		}
		return nil
	})
	slices.SortFunc(list, func(a, b part) int { return strings.Compare(a.name, b.name) })
	return list, err
}

// sum returns the SHA-256 of the bundle in hex: of a single file that of its content, of a folder that of the names, modes and
// contents of its files.
func (b bundle) sum() (string, error) { return b.copy("") }

// copy writes the bundle to a new folder, for nobody to change, and returns the sum of what it wrote. Without a folder it only
// computes the sum.
func (b bundle) copy(to string) (string, error) {
	list, err := b.parts()
	if err != nil {
		return "", err
	}
	whole := sha256.New()
	budget := int64(maxBundle)
	for _, p := range list {
		own := whole
		if p.name != "" {
			own = sha256.New()
		}
		n, err := b.copyPart(p, to, own, budget)
		if err != nil {
			return "", err
		}
		if budget -= n; p.name != "" {
			fmt.Fprintf(whole, "%q %v %d %x\n", p.name, p.exec, n, own.Sum(nil))
		}
	}
	return hex.EncodeToString(whole.Sum(nil)), nil
}

// copyPart copies one file into h and, where there is a folder, below that.
func (b bundle) copyPart(p part, to string, h hash.Hash, budget int64) (n int64, err error) {
	in, err := regular.Open(filepath.Join(b.root, filepath.FromSlash(p.name)))
	if err != nil {
		return 0, err
	}
	defer in.Close()
	if err := openToAll(in.Name()); err != nil {
		return 0, err
	}
	w := io.Writer(h)
	if to != "" {
		name, mode := filepath.Join(to, filepath.FromSlash(p.name)), fs.FileMode(0o400)
		if b.main == "" {
			name = filepath.Join(to, filepath.Base(b.root))
		}
		if p.exec || b.main == "" {
			mode = 0o500
		}
		if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
			return 0, err
		}
		// Nothing can be run that somebody has open for writing, and a process that is started now would have it open too.
		syscall.ForkLock.RLock()
		defer syscall.ForkLock.RUnlock()
		out, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
		if err != nil {
			return 0, err
		}
		defer func() { err = errors.Join(err, out.Close()) }()
		w = io.MultiWriter(h, out)
	}
	n, err = io.Copy(w, io.LimitReader(in, budget+1))
	if err == nil && n > budget {
		err = fmt.Errorf("%w: it has more than %d MB", ErrBroken, maxBundle>>20)
	}
	return n, err
}

// program returns the program of a bundle that lies at root.
func (b bundle) program(root string) string {
	if b.main == "" {
		return filepath.Join(root, filepath.Base(b.root))
	}
	return filepath.Join(root, filepath.FromSlash(b.main))
}
