package workspace

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"strings"
)

// Change is a change of one file: prepared, applied or undone.
type Change struct {
	// Path is the file, without links, escaped.
	Path string
	// Existed says that there was such a file before.
	Existed bool
	// Before and After are its content.
	Before, After []byte
	// Removed says that there is no such file afterwards: the creation of a file was undone.
	Removed bool
	// Replaced counts the places that an edit replaced.
	Replaced int
	// ID names the change in the journal; [Workspace.Apply] sets it. It is empty for a change that is not recorded.
	ID string

	at   string
	mode fs.FileMode // to be kept; 0 for a new file
}

// Diff returns the change as a unified diff with file names, or a line where it is not of text.
func (c *Change) Diff() string {
	if bytes.Equal(c.Before, c.After) && c.Existed && !c.Removed {
		return ""
	}
	from, to := "a/"+c.Path, "b/"+c.Path
	if !c.Existed {
		from = "/dev/null"
	}
	if c.Removed {
		to = "/dev/null"
	}
	if binary(c.Before[:min(len(c.Before), sniffed)]) || binary(c.After[:min(len(c.After), sniffed)]) {
		return fmt.Sprintf("Binary files %s and %s differ\n", from, to)
	}
	return fmt.Sprintf("--- %s\n+++ %s\n", from, to) +
		strings.ToValidUTF8(Diff(string(c.Before), string(c.After)), "\uFFFD")
}

// PrepareWrite says what it would mean to give a file this content, whether it exists or not. Reading shows no "\r" of a line
// end, so text without any that replaces a file whose line ends are all "\r\n" gets those.
//
// Errors: [*PathError].
func (w *Workspace) PrepareWrite(name string, content []byte) (*Change, error) {
	if len(content) > MaxFile {
		return nil, pathError(name, ErrTooLarge, "%d bytes; the limit is %d", len(content), MaxFile)
	}
	at, info, err := w.locate(name)
	switch {
	case err != nil:
		return nil, err
	case info == nil:
		if err := w.creatable(name, at); err != nil {
			return nil, err
		}
		return &Change{Path: Escape(at), After: content, at: at}, nil
	}
	c := &Change{Path: Escape(at), Existed: true, After: content, at: at}
	if c.Before, info, err = w.content(name, at, info); err != nil {
		return nil, err
	}
	c.mode = info.Mode().Perm()
	if l := readLines(string(c.Before)); l.ends == "\r\n" && !bytes.Contains(content, []byte("\r")) {
		c.After = bytes.ReplaceAll(content, []byte("\n"), []byte("\r\n"))
	}
	if len(c.After) > MaxFile {
		return nil, pathError(name, ErrTooLarge, "%d bytes; the limit is %d", len(c.After), MaxFile)
	}
	return c, nil
}

// creatable checks the names on the path at that do not exist yet.
func (w *Workspace) creatable(asked, at string) error {
	if strings.HasSuffix(asked, "/") || at == "." {
		return pathError(asked, ErrName, "it is a folder's name")
	}
	for p := at; p != "."; p = path.Dir(p) {
		_, err := w.root.Lstat(p)
		if err == nil {
			return nil
		}
		if !errors.Is(err, fs.ErrNotExist) {
			return w.systemError(asked, err)
		}
		if err := CheckName(path.Base(p)); err != nil {
			return pathError(asked, ErrName, "%v", err)
		}
	}
	return nil
}

// PrepareEdit says what it would mean to replace a text of a file by another, in the one place where it stands or
// everywhere.
//
// Errors: [*PathError], [*EditError].
func (w *Workspace) PrepareEdit(name, old, new string, all bool) (*Change, error) {
	at, info, err := w.locate(name)
	if err != nil {
		return nil, err
	}
	before, info, err := w.content(name, at, info)
	if err != nil {
		return nil, err
	}
	if binary(before[:min(len(before), sniffed)]) {
		return nil, pathError(name, ErrBinary, "%d bytes", len(before))
	}
	after, n, err := replace(Escape(at), string(before), old, new, all)
	if err != nil {
		return nil, err
	}
	return &Change{
		Path: Escape(at), Existed: true, Before: before, After: []byte(after), Replaced: n, at: at, mode: info.Mode().Perm(),
	}, nil
}

// Sum identifies what the change does: the file, what it held before and what it will hold. Two prepared changes with the same
// sum do the same.
func (c *Change) Sum() string {
	h := sha256.New()
	fmt.Fprintf(h, "%q %v %v %o %s %s", c.at, c.Existed, c.Removed, c.mode, sum(c.Before), sum(c.After))
	return hex.EncodeToString(h.Sum(nil))
}

// Apply makes a prepared change, unless the file has changed meanwhile. Folders that are missing are made. A change that
// changes nothing is not recorded.
//
// Errors: [*PathError] with [ErrStale] or what the system reports; [ErrJournal].
func (w *Workspace) Apply(ctx context.Context, c *Change) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if err := ctx.Err(); err != nil {
		return err
	}
	release, err := w.lock()
	if err != nil {
		return err
	}
	defer release()
	now, _, exists, err := w.current(c)
	switch {
	case err != nil:
		return err
	case exists != c.Existed || !bytes.Equal(now, c.Before):
		return pathError(c.Path, ErrStale, "")
	case exists && bytes.Equal(c.Before, c.After):
		return nil
	}
	r := record{
		Path: c.at, Existed: c.Existed, Mode: c.mode, After: sum(c.After), Temp: tempName(c.at), Made: len(w.missing(c.at)),
	}
	if c.Existed {
		r.Before = sum(c.Before)
	}
	if err := w.recordChange(&r, c.Before); err != nil {
		return err
	}
	if err := w.put(c.at, r.Temp, c.After, c.mode); err != nil {
		w.unmake(r)
		return errors.Join(err, w.forget(r))
	}
	w.step("done")
	if w.state != "" {
		c.ID = r.id()
	}
	return nil
}

// current reads what lies where c will write; a link there by now is an error.
func (w *Workspace) current(c *Change) (data []byte, mode fs.FileMode, exists bool, err error) {
	info, err := w.root.Lstat(c.at)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, 0, false, nil
	}
	if err != nil {
		return nil, 0, false, w.systemError(c.Path, err)
	}
	data, info, err = w.content(c.Path, c.at, info)
	if err != nil {
		return nil, 0, true, err
	}
	return data, info.Mode().Perm(), true, nil
}

// put writes data to a new file and renames it to at, whose folder is made where it is missing. On an error nothing is left of
// the file.
func (w *Workspace) put(at, temp string, data []byte, mode fs.FileMode) error {
	for _, dir := range w.missing(at) {
		if err := w.root.Mkdir(dir, 0o755); err != nil && !errors.Is(err, fs.ErrExist) {
			return w.systemError(at, err)
		}
		w.step("folder")
	}
	f, err := w.root.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return w.systemError(at, err)
	}
	w.step("temp")
	half := len(data) / 2
	_, err = f.Write(data[:half])
	w.step("half")
	if err == nil {
		_, err = f.Write(data[half:])
	}
	if err == nil && mode != 0 {
		err = f.Chmod(mode & 0o777)
	}
	if err == nil {
		err = f.Sync()
	}
	err = errors.Join(err, f.Close())
	w.step("written")
	if err == nil {
		err = w.root.Rename(temp, at)
	}
	if err != nil {
		_ = w.root.Remove(temp)
		return w.systemError(at, err)
	}
	w.step("renamed")
	return nil
}

// missing lists the folders above at that do not exist, outermost first.
func (w *Workspace) missing(at string) []string {
	var dirs []string
	for p := path.Dir(at); p != "."; p = path.Dir(p) {
		if _, err := w.root.Lstat(p); err == nil {
			break
		}
		dirs = append([]string{p}, dirs...)
	}
	return dirs
}

// tempName returns a new hidden name in the folder of at.
func tempName(at string) string { return path.Join(path.Dir(at), tempPrefix+rand.Text()) }

const tempPrefix = ".pooled-new-"

func sum(data []byte) string {
	s := sha256.Sum256(data)
	return hex.EncodeToString(s[:])
}
