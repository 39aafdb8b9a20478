package plugin

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/pooled/pooled/core/atomicfile"
	"github.com/pooled/pooled/core/model"
	"github.com/pooled/pooled/core/plain"
	"github.com/pooled/pooled/core/plugin/protocol"
	"github.com/pooled/pooled/core/regular"
	"github.com/pooled/pooled/core/tool"
)

// Files of the plugin folder.
const (
	// ManifestFile is the name of a plugin's manifest.
	ManifestFile = "plugin.json"
	approvedFile = "approved.json"
	maxJSON      = 1 << 20
	// maxApproved bounds what is approved, for who writes it and who reads it. Units: bytes.
	maxApproved = 64 << 20
)

// Manifest describes a plugin; it is the file plugin.json beside the program.
type Manifest struct {
	// Name is the plugin's name, which is that of its folder, too: lower-case letters, digits and dashes.
	Name string `json:"name"`
	// Kind says what it extends: [KindModels] or [KindTools].
	Kind string `json:"kind"`
	// Contract is the version of the contract that it was written for.
	Contract int `json:"contract"`
	// Binary is the program, relative to the manifest's folder, or a WebAssembly module, NAME.wasm. On Windows ".exe" is
	// added to a program when missing.
	Binary string `json:"binary"`
	// SHA256 is the sum of the program in hex, if the author says it.
	SHA256 string `json:"sha256,omitempty"`
	// Architectures are those that the plugin plans, to be named before it was ever started.
	Architectures []string `json:"architectures,omitempty"`
}

// approval is what is recorded when the user approves a plugin.
type approval struct {
	SHA256 string `json:"sha256"`
	// Kind is empty in files that were written when there was but one.
	Kind          string    `json:"kind,omitempty"`
	Family        string    `json:"family,omitempty"`
	Architectures []string  `json:"architectures,omitempty"`
	Tools         tool.Info `json:"tools,omitzero"`
	Contract      int       `json:"contract"`
	Time          time.Time `json:"time"`
}

// kind is what was approved; a kind that this version does not know is never asked for.
func (a approval) kind() *kind {
	if a.Kind == "" {
		return models
	}
	if k := kindOf(a.Kind); k != nil {
		return k
	}
	return &kind{Kind: protocol.Kind{Name: a.Kind}, recall: func(*Entry, approval) {}}
}

func (a approval) info() model.Info {
	return model.Info{Name: a.Family, Architectures: a.Architectures, Contract: a.Contract}
}

// dropped is a plugin found in the folder.
type dropped struct {
	name     string
	path     string // of the program
	bundle   bundle
	manifest Manifest
	err      error // why it cannot be used
}

var validName = regexp.MustCompile(`^[a-z0-9][a-z0-9-]{0,62}$`)

// scan lists what lies in the plugin folder, sorted by name; a folder that does not exist is empty.
func scan(dir string) ([]dropped, error) {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) || dir == "" {
		return nil, nil
	}
	if err == nil {
		err = openToAll(dir)
	}
	if err != nil {
		return nil, fmt.Errorf("plugin folder: %w", err)
	}
	var found []dropped
	for _, e := range entries {
		if e.Name() == approvedFile || strings.HasPrefix(e.Name(), ".") {
			continue
		}
		found = append(found, look(dir, e.Name()))
	}
	return found, nil
}

// look reads one entry of the plugin folder.
func look(dir, entry string) dropped {
	d := dropped{name: strings.TrimSuffix(strings.TrimSuffix(entry, ".exe"), wasmExt), path: filepath.Join(dir, entry)}
	fail := func(err error) dropped {
		d.err = fmt.Errorf("plugin %s: %w: %w", plain.Line(d.name, 64), ErrBroken, err)
		return d
	}
	if !validName.MatchString(d.name) {
		return fail(errors.New("a name is made of lower-case letters, digits and dashes"))
	}
	st, err := os.Stat(d.path)
	if err != nil {
		return fail(err)
	}
	if st.IsDir() {
		folder := d.path
		d.manifest, err = ReadManifest(folder)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			d.path = filepath.Join(folder, executable(d.name))
		case err != nil:
			return fail(err)
		case d.manifest.Name != d.name:
			return fail(fmt.Errorf("%s names it %q", ManifestFile, d.manifest.Name))
		default:
			d.path = filepath.Join(folder, executable(d.manifest.Binary))
		}
		if st, err = os.Stat(d.path); err != nil {
			return fail(err)
		}
		if d.bundle.main, err = filepath.Rel(folder, d.path); err != nil {
			return fail(err)
		}
		d.bundle.root, d.bundle.main = folder, filepath.ToSlash(d.bundle.main)
	}
	if d.bundle.main == "" || isWasm(d.path) {
		d.bundle = bundle{root: d.path}
	}
	if isWasm(d.path) {
		if d.manifest.Kind == "" {
			d.manifest.Kind = KindTools
		}
		if !kindOf(d.manifest.Kind).wasm || !st.Mode().IsRegular() {
			return fail(fmt.Errorf("%s: a WebAssembly module can be a set of tools only", d.path))
		}
		return d
	}
	if !st.Mode().IsRegular() || runtime.GOOS != "windows" && st.Mode()&0o111 == 0 {
		return fail(fmt.Errorf("%s is not a program", d.path))
	}
	return d
}

// ReadManifest reads the manifest in a plugin's folder and checks what it says; only where the folder lies is not looked at.
//
// Errors: [fs.ErrNotExist] where there is none, [ErrVersion], and what is wrong with it.
func ReadManifest(folder string) (Manifest, error) {
	var m Manifest
	if err := readJSON(filepath.Join(folder, ManifestFile), &m); err != nil {
		return m, err
	}
	return m, m.check()
}

func (m *Manifest) check() error {
	switch {
	case !validName.MatchString(m.Name):
		return fmt.Errorf("%s names it %q; a name is made of lower-case letters, digits and dashes", ManifestFile, m.Name)
	case m.Kind == "" || kindOf(m.Kind) == nil:
		return fmt.Errorf("%s says kind %q; this version knows %s", ManifestFile, m.Kind, kindNames())
	case m.Contract < 1 || m.Contract > kindOf(m.Kind).Contract:
		return fmt.Errorf("%s says contract %d; this version has %d: %w", ManifestFile, m.Contract, kindOf(m.Kind).Contract, ErrVersion)
	case !filepath.IsLocal(m.Binary) || m.Binary == ".":
		return fmt.Errorf("%s names the program %q, which is not inside its folder", ManifestFile, m.Binary)
	}
	return nil
}

// Agrees reports where a manifest that lists architectures and the program that it names do not say the same.
//
// Errors: [ErrBroken].
func (m *Manifest) Agrees(info model.Info) error {
	said, does := slices.Sorted(slices.Values(m.Architectures)), slices.Sorted(slices.Values(info.Architectures))
	if len(said) == 0 || slices.Equal(said, does) {
		return nil
	}
	return fmt.Errorf("plugin %s: %w: %s lists the architectures %s, and the program plans %s; make them the same",
		m.Name, ErrBroken, ManifestFile, plain.Line(strings.Join(said, ", "), 300), strings.Join(does, ", "))
}

// executable adds what this system wants at the end of a program's name.
func executable(name string) string {
	if runtime.GOOS == "windows" && filepath.Ext(name) != ".exe" && !isWasm(name) {
		return name + ".exe"
	}
	return name
}

// readApprovals reads what was approved. A file that cannot be read is set aside, and note says so: everything is to be
// approved again then. An entry that is not one of ours counts as none.
func readApprovals(dir string) (all map[string]approval, note string, err error) {
	all = map[string]approval{}
	if dir == "" {
		return all, "", nil
	}
	name := filepath.Join(dir, approvedFile)
	data, err := regular.Read(name, maxApproved)
	if errors.Is(err, fs.ErrNotExist) {
		return all, "", nil
	}
	var raw map[string]json.RawMessage
	if err == nil {
		err = json.Unmarshal(data, &raw)
	}
	if err != nil {
		aside := name + ".damaged"
		if moved := os.Rename(name, aside); moved != nil {
			return nil, "", fmt.Errorf("plugin folder: %w", errors.Join(err, moved))
		}
		return all, fmt.Sprintf("what was approved cannot be read (%v) and was set aside as %s; approve your plugins again", err, aside), nil
	}
	for plugin, entry := range raw {
		var a approval
		if json.Unmarshal(entry, &a) == nil {
			all[plugin] = a
		}
	}
	return all, "", nil
}

// writeApprovals replaces the file at once, so that no reader sees half of it.
func writeApprovals(dir string, all map[string]approval) error {
	data, err := json.MarshalIndent(all, "", "\t")
	if err != nil {
		return err
	}
	if len(data) >= maxApproved {
		return fmt.Errorf("plugin folder: what is approved takes %d bytes, the limit is %d; remove a plugin first", len(data), maxApproved)
	}
	return atomicfile.Write(filepath.Join(dir, approvedFile), data, []byte("\n"))
}

// readJSON reads a small file.
func readJSON(path string, to any) error {
	data, err := regular.Read(path, maxJSON)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(data, to); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return nil
}
