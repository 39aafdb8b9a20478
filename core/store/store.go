package store

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/pooled/pooled/core/gguf"
	"github.com/pooled/pooled/core/regular"
)

// DefaultHub is where hf: sources are looked up unless POOLED_HUB says otherwise.
const DefaultHub = "https://huggingface.co"

// Options configure a [Store]. Apart from the folder, the zero value is what the program uses.
type Options struct {
	Dir     string       // the model folder; it must be named
	Hub     string       // base address of hf: sources; default: POOLED_HUB, then [DefaultHub]
	Token   string       // sent to the hub only; default: POOLED_HUB_TOKEN
	Client  *http.Client // default: no overall time limit, 60 s for the header of an answer
	Catalog []Entry      // default: [Catalog]
	Taken   []string     // names that mean another model already, such as that of an embedded one
	Logger  *slog.Logger // default: none
}

// Store is a folder of models.
//
// Owns: safe for concurrent use, also by several processes on one folder; there is nothing to close.
type Store struct {
	dir     string
	hub     string
	token   string
	client  *http.Client
	catalog []Entry
	taken   []string
	log     *slog.Logger

	// What tests replace: free space, the file that is written, waiting, and when a silent server is given up.
	free   func(dir string) (int64, bool)
	create func(path string) (partFileWriter, error)
	sleep  func(ctx context.Context, d time.Duration) error
	stall  time.Duration
}

// Model is a model in the folder.
type Model struct {
	Name     string
	Path     string // the file to open: the first part that is there
	Parts    int
	Size     int64 // bytes of all parts that are there
	Modified time.Time
	Problem  string // why it cannot be used, such as a missing part; empty when it can

	like string // the name of one of its files, whose extension is that of all
}

// Unfinished is a pull that can be resumed.
type Unfinished struct {
	Name   string
	Source string
	Bytes  int64 // bytes on disk
}

// NewStore returns the store of a folder. The folder is made when the first model arrives.
//
// Errors: [ErrNoFolder].
func NewStore(o Options) (*Store, error) {
	if o.Dir == "" {
		return nil, ErrNoFolder
	}
	dir, err := filepath.Abs(o.Dir)
	if err != nil {
		return nil, err
	}
	if o.Hub == "" {
		o.Hub = os.Getenv("POOLED_HUB")
	}
	if o.Hub == "" {
		o.Hub = DefaultHub
	}
	if o.Token == "" {
		o.Token = os.Getenv("POOLED_HUB_TOKEN")
	}
	if o.Catalog == nil {
		o.Catalog = Catalog()
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	return &Store{
		dir: dir, hub: o.Hub, token: o.Token, client: httpClient(o.Client), catalog: o.Catalog, taken: o.Taken, log: o.Logger,
		free: freeSpace, create: createPart, sleep: sleep, stall: time.Minute,
	}, nil
}

// Dir returns the model folder.
func (s *Store) Dir() string { return s.dir }

// List returns the models in the folder, sorted by name. A folder that does not exist holds none.
func (s *Store) List() ([]Model, error) { return scan(s.dir) }

// scan finds the models in any folder.
func scan(dir string) ([]Model, error) {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	models := map[string]*Model{}
	have := map[string]int{}
	for _, e := range entries {
		base, ok := gguf.TrimExtension(e.Name())
		if !ok || strings.HasPrefix(base, ".") || base == "" {
			continue
		}
		info, err := os.Stat(filepath.Join(dir, e.Name()))
		if err != nil || !info.Mode().IsRegular() {
			continue
		}
		id, parts := e.Name(), 1
		if split, ok := gguf.ParseSplitName(e.Name()); ok {
			split.No, base, parts = 1, split.Base, split.Count
			id = split.Beside(e.Name())
		}
		m := models[id]
		if m == nil {
			m = &Model{Name: base, Parts: parts, Path: filepath.Join(dir, e.Name()), like: e.Name()}
			models[id] = m
		}
		m.Size += info.Size()
		m.Modified = later(m.Modified, info.ModTime())
		have[id]++
	}
	out := make([]Model, 0, len(models))
	for id, m := range models {
		if have[id] < m.Parts {
			m.Problem = fmt.Sprintf("%d of %d parts are missing", m.Parts-have[id], m.Parts)
		}
		out = append(out, *m)
	}
	slices.SortFunc(out, func(a, b Model) int {
		if c := strings.Compare(key(a.Name), key(b.Name)); c != 0 {
			return c
		}
		return strings.Compare(a.Path, b.Path)
	})
	return out, nil
}

func later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}

// find returns the model of a name, whatever its case and how its letters are composed; a usable one before one with a problem.
func (s *Store) find(name string) (Model, bool, error) {
	models, err := scan(s.dir)
	if err != nil {
		return Model{}, false, err
	}
	best, found := Model{}, false
	for _, m := range models {
		better := !found || best.Problem != "" && m.Problem == "" || best.Problem == m.Problem && m.Name == name
		if key(m.Name) == key(name) && better {
			best, found = m, true
		}
	}
	return best, found, nil
}

// Unfinished returns the pulls that were interrupted, sorted by name.
func (s *Store) Unfinished() ([]Unfinished, error) {
	entries, err := os.ReadDir(filepath.Join(s.dir, ".pull"))
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var out []Unfinished
	for _, e := range entries {
		dir := filepath.Join(s.dir, ".pull", e.Name())
		u := Unfinished{Name: e.Name()}
		files, err := os.ReadDir(dir)
		if err != nil || checkName(e.Name()) != nil {
			continue
		}
		for _, f := range files {
			info, err := f.Info()
			if err == nil && (strings.HasSuffix(f.Name(), ".part") || strings.HasSuffix(f.Name(), ".gguf")) {
				u.Bytes += info.Size()
			}
			if !strings.HasSuffix(f.Name(), ".json") || u.Source != "" {
				continue
			}
			if state, err := readResume(filepath.Join(dir, f.Name())); err == nil {
				u.Source = state.URL
			}
		}
		out = append(out, u)
	}
	return out, nil
}

// LocalPath returns the model file that ref names by its path, of a folder the first part; ok is false where ref is the name
// of something else, or nothing is there.
func LocalPath(ref string) (path string, ok bool, err error) {
	_, named := gguf.TrimExtension(ref)
	if isRemote(ref) || !strings.ContainsAny(ref, `/\`) && !named {
		return "", false, nil
	}
	info, err := os.Stat(ref)
	if err != nil {
		return "", false, nil // it may be a name
	}
	if !info.IsDir() {
		return ref, true, nil
	}
	p, err := planLocal(ref)
	if err != nil {
		return "", false, err
	}
	return p.local[0], true, nil
}

// isModel reports whether there is a file that begins as models do.
func isModel(path string) bool {
	f, err := regular.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	head := make([]byte, len(magic))
	_, err = io.ReadFull(f, head)
	return err == nil && string(head) == magic
}

// magic is what a model begins with.
const magic = "GGUF"

// isRemote reports whether ref is an address.
func isRemote(ref string) bool { return strings.HasPrefix(ref, "hf:") || strings.Contains(ref, "://") }

// Resolve returns the file to open for what a person typed: the name of a model in the folder, a path, the name of a
// catalog entry, or a source that was pulled. A file here whose name could be that of a model is meant where none has it.
//
// Errors: [*NotFoundError], [ErrIncomplete].
func (s *Store) Resolve(ref string) (string, error) {
	if path, ok, err := LocalPath(ref); ok || err != nil {
		return path, err
	}
	remoteLike := isRemote(ref)
	name, _ := gguf.TrimExtension(ref)
	if remoteLike {
		p, err := s.plan(ref)
		if err != nil {
			return "", err
		}
		name = p.name
		for _, e := range s.catalog {
			if _, ok, err := s.find(e.Name); e.Source == ref && ok && err == nil {
				name = e.Name
			}
		}
	}
	m, ok, err := s.find(name)
	if err != nil {
		return "", err
	}
	if ok && m.Problem != "" {
		return "", fmt.Errorf("%s: %w: %s; pull it again", m.Name, ErrIncomplete, m.Problem)
	}
	if ok {
		return m.Path, nil
	}
	if !remoteLike && isModel(ref) {
		return ref, nil
	}
	if e, ok := s.entry(name); ok || remoteLike {
		source := ref
		if ok {
			source = e.Name
		}
		return "", &NotFoundError{Name: ref, Source: source}
	}
	return "", &NotFoundError{Name: ref, Similar: s.similar(ref)}
}

// Remove deletes a model, its record, and what an interrupted pull of it left behind.
//
// Errors: [*NotFoundError], [ErrName], [*BusyError].
func (s *Store) Remove(name string) error {
	name, _ = gguf.TrimExtension(name)
	m, found, err := s.find(name)
	if err != nil {
		return err
	}
	if found {
		name = m.Name
	} else if err := checkName(name); err != nil {
		return err
	}
	unfinished := false
	if checkName(name) == nil {
		_, err := os.Stat(s.pullDir(name))
		unfinished = err == nil
	}
	if !found && !unfinished {
		return &NotFoundError{Name: name, Similar: s.similar(name)}
	}
	if checkName(name) == nil {
		unlock, err := s.lock(name)
		if err != nil {
			return err
		}
		defer unlock()
	}
	if found {
		for no := 1; no <= m.Parts; no++ {
			path := filepath.Join(s.dir, m.like)
			if m.Parts > 1 {
				path = filepath.Join(s.dir, gguf.SplitName{Base: m.Name, No: no, Count: m.Parts}.Beside(m.like))
			}
			if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
				return err
			}
		}
	}
	if checkName(name) != nil {
		return nil
	}
	if err := os.Remove(s.recordPath(name)); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	return os.RemoveAll(s.pullDir(name))
}

func (s *Store) pullDir(name string) string { return filepath.Join(s.dir, ".pull", key(name)) }
func (s *Store) recordPath(name string) string {
	return filepath.Join(s.dir, ".meta", key(name)+".json")
}
