package store

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/pooled/pooled/core/atomicfile"
	"github.com/pooled/pooled/core/gguf"
	"github.com/pooled/pooled/core/regular"
)

// Pull brings a model into the folder and returns it. A model that is there from the same source is returned at once.
//
// The source is a catalog name, hf:owner/repository[@revision]/file.gguf, an http(s) URL (of any part of a split model; a
// fragment #sha256=… pins the content), a local file, or a local folder that holds one model. Local files are hard-linked
// where possible, else copied. An interrupted pull goes on where it stopped.
//
// progress is called on the calling goroutine; nil is allowed.
//
// Errors: every sentinel of this package; ctx's cause when it ended.
func (s *Store) Pull(ctx context.Context, source string, progress func(Progress)) (Model, error) {
	p, err := s.plan(source)
	if err != nil {
		return Model{}, err
	}
	if slices.ContainsFunc(s.taken, func(name string) bool { return key(name) == key(p.name) }) {
		return Model{}, fmt.Errorf("%w: %q means another model; get the file, give it another name and pull that", ErrName, p.name)
	}
	if m, ok, err := s.present(p); ok || err != nil {
		return m, err
	}
	dir := s.pullDir(p.name)
	for _, d := range []string{dir, filepath.Join(s.dir, ".meta")} {
		if err := os.MkdirAll(d, 0o755); err != nil {
			return Model{}, err
		}
	}
	unlock, err := s.lock(p.name)
	if err != nil {
		return Model{}, err
	}
	defer unlock()
	// Another process may have finished, and cleaned up, since the first look.
	if m, ok, err := s.present(p); ok || err != nil {
		return m, err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return Model{}, err
	}
	files, err := s.fetch(ctx, p, dir, progress)
	if err != nil {
		return Model{}, err
	}
	m := newMeter(Progress{Model: p.name, File: files[0].Name, Part: len(files), Parts: len(files)}, progress)
	size := int64(0)
	for _, f := range files {
		size += f.Size
	}
	m.phase(Verifying, 0, size, "")
	if err := s.validate(p, dir, files); err != nil {
		return Model{}, errors.Join(err, os.RemoveAll(dir))
	}
	if err := s.publish(p, dir, files); err != nil {
		return Model{}, err
	}
	m.phase(Done, size, size, "")
	got, ok, err := s.find(p.name)
	if err == nil && !ok {
		err = fmt.Errorf("%w: %q disappeared after it was pulled", ErrNotFound, p.name)
	}
	return got, err
}

// present returns the model if it is in the folder already.
func (s *Store) present(p *plan) (Model, bool, error) {
	m, ok, err := s.find(p.name)
	if err != nil || !ok || m.Problem != "" {
		return Model{}, false, err
	}
	for _, path := range p.local {
		if filepath.Dir(path) == s.dir {
			return m, true, nil
		}
	}
	r, ok := s.readRecord(p.name)
	if ok && r.Source == p.source {
		if want := p.pinned(); want != "" && len(r.Files) == 1 && r.Files[0].SHA256 != want {
			return Model{}, false, fmt.Errorf("%s: %w: want %s, the one that was pulled has %s; remove it first with: pooled rm %s",
				m.Path, ErrHash, want, r.Files[0].SHA256, m.Name)
		}
		return m, true, nil
	}
	from := "a file that was put there by hand"
	if ok {
		from = r.Source
	}
	return Model{}, false, fmt.Errorf("%w: %s is %s, from %s; remove it first with: pooled rm %s", ErrExists, m.Name, m.Path, from, m.Name)
}

// fetch brings every file of a plan into the pull folder.
func (s *Store) fetch(ctx context.Context, p *plan, dir string, progress func(Progress)) ([]RecordFile, error) {
	var files []RecordFile
	parts := max(len(p.files), len(p.local))
	for i := range parts {
		name := partFile(p.name, i+1, parts)
		m := newMeter(Progress{Model: p.name, File: name, Part: i + 1, Parts: parts}, progress)
		var file RecordFile
		var err error
		if p.local != nil {
			file, err = s.adopt(ctx, p.local[i], filepath.Join(dir, name), m)
		} else {
			d := &download{s: s, f: p.files[i], hub: p.hub, path: filepath.Join(dir, name), meter: m}
			file, err = d.run(ctx)
		}
		if err == nil && p.local == nil {
			err = checkPart(filepath.Join(dir, name), i+1, parts)
		}
		if err != nil {
			return nil, err
		}
		files = append(files, file)
	}
	return files, nil
}

// checkPart checks that a file is the part that its name says before the next is asked for: there may be 99,999 of them.
func checkPart(path string, no, parts int) error {
	gotNo, got, err := gguf.ReadSplit(path)
	if err == nil && (got != parts || gotNo != no) {
		err = fmt.Errorf("its name says part %d of %d, its content %d of %d", no, parts, gotNo, got)
	}
	if err != nil {
		return errors.Join(fmt.Errorf("%s: %w: %w", filepath.Base(path), ErrNotModel, err), os.Remove(path))
	}
	return nil
}

// adopt links or copies a local file and computes its sum; FILE.sha256 beside it is checked.
func (s *Store) adopt(ctx context.Context, from, to string, m *meter) (RecordFile, error) {
	name := filepath.Base(to)
	src, err := regular.Open(from)
	if err != nil {
		return RecordFile{}, err
	}
	defer src.Close()
	info, err := src.Stat()
	if err != nil {
		return RecordFile{}, err
	}
	if err := os.Remove(to); err != nil && !errors.Is(err, os.ErrNotExist) {
		return RecordFile{}, err
	}
	sum := sha256.New()
	if os.Link(from, to) == nil {
		m.phase(Checking, 0, info.Size(), "")
		if _, err := copyContext(ctx, sum, src, m); err != nil {
			return RecordFile{}, errors.Join(err, os.Remove(to))
		}
	} else if err := s.copyLocal(ctx, src, to, info.Size(), sum, m); err != nil {
		return RecordFile{}, err
	}
	got := hex.EncodeToString(sum.Sum(nil))
	if b, err := regular.Read(from+".sha256", maxState); err == nil {
		if want := parseSum(string(b), filepath.Base(from)); want != "" && want != got {
			return RecordFile{}, errors.Join(fmt.Errorf("%s: %w: %s.sha256 says %s, got %s", from, ErrHash, filepath.Base(from), want, got), os.Remove(to))
		}
	}
	return RecordFile{Name: name, Size: info.Size(), SHA256: got}, nil
}

func (s *Store) copyLocal(ctx context.Context, src io.Reader, to string, size int64, sum io.Writer, m *meter) error {
	if err := s.checkSpace(size); err != nil {
		return err
	}
	dst, err := s.create(to)
	if err != nil {
		return err
	}
	m.phase(Copying, 0, size, "")
	n, err := copyContext(ctx, io.MultiWriter(dst, sum), src, m)
	if err == nil && n != size {
		err = fmt.Errorf("%w: the file changed while it was copied", ErrSize)
	}
	if err == nil {
		err = dst.Sync()
	}
	if err = errors.Join(err, dst.Close()); err != nil {
		return errors.Join(s.diskError(filepath.Base(to), size, err), os.Remove(to))
	}
	return nil
}

// validate opens what was fetched as the model it should be.
func (s *Store) validate(p *plan, dir string, files []RecordFile) error {
	f, err := gguf.Open(filepath.Join(dir, files[0].Name))
	if err != nil {
		return fmt.Errorf("%s: %w: %w", p.name, ErrNotModel, err)
	}
	defer f.Close()
	if len(f.Parts()) != len(files) {
		return fmt.Errorf("%s: %w: it has %d parts, %d were pulled", p.name, ErrNotModel, len(f.Parts()), len(files))
	}
	return nil
}

// publish moves a checked model into the folder: the record first, the first part last, so that a model is seen only when
// it is whole.
func (s *Store) publish(p *plan, dir string, files []RecordFile) error {
	r := Record{Name: p.name, Source: p.source, Pulled: time.Now().UTC().Truncate(time.Second), Licence: p.licence, Files: files}
	if err := writeJSON(s.recordPath(p.name), r); err != nil {
		return err
	}
	for i := len(files) - 1; i >= 0; i-- {
		if err := atomicfile.Rename(filepath.Join(dir, files[i].Name), filepath.Join(s.dir, files[i].Name)); err != nil {
			return err
		}
	}
	if err := os.RemoveAll(dir); err != nil {
		s.log.Warn("pull folder not removed", "dir", dir, "err", err)
	}
	return nil
}
