package workspace

import (
	"cmp"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/pooled/pooled/core/atomicfile"
	"github.com/pooled/pooled/core/filelock"
	"github.com/pooled/pooled/core/regular"
)

// Limits of the journal.
const (
	maxRecords    = 1000
	maxRecordSize = 64 << 10
)

// record is one change in the journal.
type record struct {
	Seq  int       `json:"seq"`
	Time time.Time `json:"time"`
	// Quoted is the path as a Go string, since it may not be UTF-8.
	Quoted string `json:"path"`
	Path   string `json:"-"`
	// Existed says that there was a file; then Before is the sum of its content and Mode its mode.
	Existed bool        `json:"existed"`
	Before  string      `json:"before,omitempty"`
	Mode    fs.FileMode `json:"mode"`
	After   string      `json:"after"`
	// Removed says that the change removed the file: it takes back the creation of one.
	Removed bool `json:"removed,omitempty"`
	// Reverts is the id of the change that this one takes back, or empty.
	Reverts string `json:"reverts,omitempty"`
	// Temp is the file that was renamed; it is left over when the writer was killed.
	Temp string `json:"temp"`
	// Made counts the folders that were made for the file: the one it lies in, and those above.
	Made int `json:"made,omitempty"`
}

// id names the record as long as it is there; numbers are given again.
func (r *record) id() string { return strings.TrimPrefix(path.Base(r.Temp), tempPrefix) }

// folders lists the folders that were made for the file, innermost first.
func (r *record) folders() []string {
	var dirs []string
	for p := path.Dir(r.Path); p != "." && len(dirs) < r.Made; p = path.Dir(p) {
		dirs = append(dirs, p)
	}
	return dirs
}

// openJournal makes the state folder and finishes what a killed process left.
func (w *Workspace) openJournal() error {
	state, err := filepath.Abs(w.state)
	if err != nil {
		return fmt.Errorf("undo journal: %w", err)
	}
	w.state = state
	if rel, err := filepath.Rel(w.dir, state); err == nil && filepath.IsLocal(rel) && !hidden(strings.Split(filepath.ToSlash(rel), "/")[0]) {
		return fmt.Errorf("undo journal: %s lies inside the project %s, where tools would see it", state, w.dir)
	}
	if err := os.MkdirAll(filepath.Join(state, "blobs"), 0o700); err != nil {
		return fmt.Errorf("undo journal: %w", err)
	}
	release, err := w.lock()
	if err != nil {
		return err
	}
	defer release()
	seqs, err := w.sequence()
	if err != nil {
		return err
	}
	_, err = w.sweep(seqs)
	return err
}

// sweep removes the file, and the folders, that a process left that was killed in its change. Records at the end that cannot be read are set
// aside: they would stand in the way of all that comes. What is left of seqs is returned.
func (w *Workspace) sweep(seqs []int) ([]int, error) {
	for n := len(seqs); n > 0; n = len(seqs) {
		r, err := w.readRecord(seqs[n-1])
		if err == nil {
			_ = w.root.Remove(r.Temp)
			if _, err := w.root.Lstat(r.Path); errors.Is(err, fs.ErrNotExist) && !r.Existed {
				w.unmake(r)
			}
			break
		}
		if err := w.setAside(seqs[n-1], err); err != nil {
			return nil, err
		}
		seqs = seqs[:n-1]
	}
	return seqs, nil
}

// setAside keeps a record that cannot be used out of the way, and notes why.
func (w *Workspace) setAside(seq int, why error) error {
	name := filepath.Join(w.state, recordName(seq))
	if err := os.Rename(name, name+".damaged"); err != nil {
		return fmt.Errorf("%w: %w", why, err)
	}
	w.aside = append(w.aside, fmt.Sprintf("%v; it was set aside, and that change cannot be undone", why))
	return nil
}

// SetAside says which records of the journal could not be used and were set aside since it was asked last, a sentence each.
func (w *Workspace) SetAside() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	said := w.aside
	w.aside = nil
	return said
}

// lock keeps other processes from changing the project or its journal until release is called.
func (w *Workspace) lock() (release func(), err error) {
	if w.state == "" {
		return func() {}, nil
	}
	f, err := os.OpenFile(filepath.Join(w.state, "lock"), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("undo journal: %w", err)
	}
	if err := filelock.Wait(f); err != nil {
		f.Close()
		return nil, fmt.Errorf("undo journal: %w", err)
	}
	return func() { f.Close() }, nil
}

// sequence lists the numbers of the records, oldest first.
func (w *Workspace) sequence() ([]int, error) {
	entries, err := os.ReadDir(w.state)
	if err != nil {
		return nil, fmt.Errorf("undo journal: %w", err)
	}
	var seqs []int
	for _, e := range entries {
		if n, err := strconv.Atoi(strings.TrimSuffix(e.Name(), ".json")); err == nil && n > 0 && recordName(n) == e.Name() {
			seqs = append(seqs, n)
		}
	}
	slices.Sort(seqs)
	return seqs, nil
}

func recordName(seq int) string { return fmt.Sprintf("%06d.json", seq) }

func (w *Workspace) blob(sum string) string { return filepath.Join(w.state, "blobs", sum) }

// recordChange writes the record of a change that is about to be made, and the content that it replaces.
func (w *Workspace) recordChange(r *record, before []byte) error {
	if w.state == "" {
		return nil
	}
	seqs, err := w.sequence()
	if err != nil {
		return err
	}
	if seqs, err = w.sweep(seqs); err != nil {
		return err
	}
	w.step("begin")
	if r.Existed {
		if err := w.keep(w.blob(r.Before), before); err != nil {
			return err
		}
		w.step("blob")
	}
	r.Seq = 1
	if len(seqs) > 0 {
		r.Seq = seqs[len(seqs)-1] + 1
	}
	r.Time, r.Quoted = time.Now().UTC().Truncate(time.Second), strconv.QuoteToASCII(r.Path)
	q := *r
	q.Temp = strconv.QuoteToASCII(r.Temp)
	data, err := json.MarshalIndent(q, "", "\t")
	if err != nil {
		return err
	}
	if data = append(data, '\n'); len(data) > maxRecordSize {
		return fmt.Errorf("undo journal: a record of %d bytes: %w", len(data), ErrTooLarge)
	}
	if err := w.keep(filepath.Join(w.state, recordName(r.Seq)), data); err != nil {
		return err
	}
	w.step("recorded")
	if len(seqs) >= maxRecords {
		return w.trim(seqs[:len(seqs)-maxRecords+1])
	}
	return nil
}

// keep writes a file of the journal at once.
func (w *Workspace) keep(name string, data []byte) error {
	if err := atomicfile.Write(name, data); err != nil {
		return fmt.Errorf("undo journal: %w", err)
	}
	w.step("kept")
	return nil
}

// readRecord reads a record. A tool process can write to the journal, so it is not to be trusted: paths are checked here,
// and again wherever they are used.
func (w *Workspace) readRecord(seq int) (record, error) {
	name := filepath.Join(w.state, recordName(seq))
	bad := func(err error) (record, error) { return record{}, fmt.Errorf("%w: %s: %w", ErrJournal, name, err) }
	data, err := regular.Read(name, maxRecordSize)
	if err != nil {
		return bad(err)
	}
	var r record
	if err := json.Unmarshal(data, &r); err != nil {
		return bad(err)
	}
	unquote := func(q string) (string, error) {
		s, err := strconv.Unquote(q)
		if err != nil {
			return "", fmt.Errorf("%.80s is no quoted path", q)
		}
		return s, nil
	}
	if r.Path, err = unquote(r.Quoted); err != nil {
		return bad(err)
	}
	if r.Temp, err = unquote(r.Temp); err != nil {
		return bad(err)
	}
	if c, err := Clean(r.Path); err != nil || c != r.Path || c == "." {
		return bad(errors.New("it names no file of the project"))
	}
	if dir, base := path.Split(r.Temp); path.Clean(dir) != path.Dir(r.Path) || !strings.HasPrefix(base, tempPrefix) {
		return bad(errors.New("it names no temporary file"))
	}
	if !isSum(r.After) || r.Existed != isSum(r.Before) {
		return bad(errors.New("it holds no sums"))
	}
	r.Seq, r.Mode = seq, r.Mode&0o777
	return r, nil
}

func isSum(s string) bool {
	b, err := hex.DecodeString(s)
	return err == nil && len(b) == 32
}

// forget removes the record of a change that was not made, or was undone. Its content stays for [Workspace.trim].
func (w *Workspace) forget(r record) error {
	if w.state == "" {
		return nil
	}
	if err := os.Remove(filepath.Join(w.state, recordName(r.Seq))); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("undo journal: %w", err)
	}
	return nil
}

// trim removes the records seqs and the content that no record needs any more.
func (w *Workspace) trim(seqs []int) error {
	for _, seq := range seqs {
		if err := w.forget(record{Seq: seq}); err != nil {
			return err
		}
	}
	left, err := w.sequence()
	if err != nil {
		return err
	}
	needed := map[string]bool{}
	for _, seq := range left {
		if r, err := w.readRecord(seq); err == nil {
			needed[r.Before] = true
		}
	}
	blobs, err := os.ReadDir(filepath.Join(w.state, "blobs"))
	if err != nil {
		return fmt.Errorf("undo journal: %w", err)
	}
	for _, b := range blobs {
		if !needed[b.Name()] {
			err = cmp.Or(err, os.Remove(w.blob(b.Name())))
		}
	}
	return err
}
