package transcript

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/pooled/pooled/core/atomicfile"
	"github.com/pooled/pooled/core/regular"
)

// Store keeps what belongs to projects and must not lie in them: sessions and what undo needs. It is a folder:
//
//	DIR/NAME-HASH/project.json      which folder the project is
//	DIR/NAME-HASH/undo/             the journal of changes (core/workspace)
//	DIR/NAME-HASH/sessions/ID.jsonl one session
//	DIR/NAME-HASH/files/            the project itself, if it is a scratch one
//
// Safe for concurrent use, also by several processes.
type Store struct{ dir string }

// OpenStore returns the store in a folder, which is made when something is kept.
func OpenStore(dir string) *Store { return &Store{dir} }

// Project is a folder that is worked on.
type Project struct {
	// ID is the project's name in the store.
	ID string `json:"-"`
	// Root is the folder's absolute path.
	Root string `json:"root"`
	// Scratch says that the store made the folder.
	Scratch bool `json:"scratch,omitempty"`
	// Created is when it was first opened.
	Created time.Time `json:"created"`
	// Used is when it was last worked on.
	Used time.Time `json:"-"`

	dir string
}

// State is the folder for the journal of changes.
func (p *Project) State() string { return filepath.Join(p.dir, "undo") }

const (
	projectFile  = "project.json"
	scratchFiles = "files" // the folder of a scratch project's own
)

// Project returns the project in a folder, which must exist.
func (s *Store) Project(root string) (*Project, error) {
	root, err := filepath.Abs(root)
	if err != nil {
		return nil, err
	}
	// One folder is one project, whichever way leads to it.
	if root, err = filepath.EvalSymlinks(root); err != nil {
		return nil, err
	}
	st, err := os.Stat(root)
	if err != nil {
		return nil, err
	}
	if !st.IsDir() {
		return nil, fmt.Errorf("%s is not a folder", root)
	}
	if rel, err := filepath.Rel(s.abs(), root); err == nil && filepath.IsLocal(rel) && rel != "." {
		// A scratch project is asked for by its folder.
		id, rest, _ := strings.Cut(filepath.ToSlash(rel), "/")
		if p, err := s.read(id); err == nil && rest == scratchFiles {
			return p, nil
		}
	}
	sum := sha256.Sum256([]byte(root))
	p := &Project{ID: slug(filepath.Base(root)) + "-" + hex.EncodeToString(sum[:5]), Root: root}
	if known, err := s.read(p.ID); err == nil && known.Root == root {
		return known, nil
	}
	return p, s.keep(p)
}

func (s *Store) abs() string {
	if dir, err := filepath.Abs(s.dir); err == nil {
		if real, err := filepath.EvalSymlinks(dir); err == nil {
			return real
		}
		return dir
	}
	return s.dir
}

// Scratch makes an empty project in the store.
func (s *Store) Scratch() (*Project, error) {
	now := time.Now()
	for n := 1; ; n++ {
		id := now.Format("scratch-20060102-150405")
		if n > 1 {
			id += fmt.Sprintf("-%d", n)
		}
		dir := filepath.Join(s.abs(), id)
		if err := os.MkdirAll(filepath.Dir(dir), 0o700); err != nil {
			return nil, err
		}
		err := os.Mkdir(dir, 0o700)
		if errors.Is(err, fs.ErrExist) && n < 1000 {
			continue
		}
		if err != nil {
			return nil, err
		}
		p := &Project{ID: id, Root: filepath.Join(dir, scratchFiles), Scratch: true}
		if err := os.Mkdir(p.Root, 0o700); err != nil {
			return nil, err
		}
		return p, s.keep(p)
	}
}

// maxProject bounds a project's file, in bytes, for who writes it and who reads it.
const maxProject = 64 << 10

// keep writes a new project down.
func (s *Store) keep(p *Project) error {
	p.dir = filepath.Join(s.abs(), p.ID)
	p.Created = time.Now().UTC().Truncate(time.Second)
	p.Used = p.Created
	if err := os.MkdirAll(p.dir, 0o700); err != nil {
		return err
	}
	data, err := json.MarshalIndent(p, "", "\t")
	if err != nil {
		return err
	}
	if len(data) >= maxProject {
		return fmt.Errorf("%s: a project's file of more than %d bytes", p.Root, maxProject)
	}
	return atomicfile.Write(filepath.Join(p.dir, projectFile), data, []byte("\n"))
}

// read returns a project of the store.
func (s *Store) read(id string) (*Project, error) {
	dir := filepath.Join(s.abs(), id)
	data, err := regular.Read(filepath.Join(dir, projectFile), maxProject)
	if err != nil {
		return nil, err
	}
	p := &Project{ID: id, dir: dir}
	if err := json.Unmarshal(data, p); err != nil {
		return nil, fmt.Errorf("%s: %w", filepath.Join(dir, projectFile), err)
	}
	if p.Scratch {
		p.Root = filepath.Join(dir, scratchFiles) // the store may have been moved since
	}
	p.Used = p.Created
	if infos, err := p.Sessions(); err == nil && len(infos) > 0 {
		p.Used = infos[0].Used
	}
	return p, nil
}

// Projects lists the projects, last used first.
func (s *Store) Projects() ([]*Project, error) {
	entries, err := os.ReadDir(s.dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var list []*Project
	for _, e := range entries {
		if p, err := s.read(e.Name()); err == nil {
			list = append(list, p)
		}
	}
	slices.SortFunc(list, func(a, b *Project) int {
		if c := b.Used.Compare(a.Used); c != 0 {
			return c
		}
		return strings.Compare(a.ID, b.ID)
	})
	return list, nil
}

// slug makes a name of a folder's that can stand in any file name.
func slug(name string) string {
	out := strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= '0' && r <= '9', r == '-', r == '_':
			return r
		case r >= 'A' && r <= 'Z':
			return r + 'a' - 'A'
		}
		return '-'
	}, name)
	out = strings.Trim(out, "-")
	if len(out) > 40 {
		out = out[:40]
	}
	if out == "" {
		return "project"
	}
	return out
}
