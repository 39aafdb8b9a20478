package core_test

import (
	"encoding/json"
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const module = "github.com/pooled/pooled/"

// bans are the arrows that must not exist, each with its reason. A path stands for itself and all below it.
var bans = []struct{ from, to, reason string }{
	{"core", "gpu", "contracts and orchestration must not know how things are computed; take an engine.Backend"},
	{"core", "ui", "the core works without a window"},
	{"core", "sandbox", "core states the interfaces that it needs of the guests; cmd wires them"},
	{"core", "plugins", "implementations are loaded through core/plugin"},
	{"core", "cmd", "arrows never reverse"},
	{"core", "github.com/tetratelabs/wazero", "the core also runs in a browser tab, whose own WebAssembly takes the guests"},
	{"core/transcript", "core/event", "what was said does not know how it is told"},
	{"core/transcript", "core/agent", "contracts lie below orchestration"},
	{"core/event", "core/agent", "contracts lie below orchestration"},
	{"core/event", "core/hub", "contracts lie below orchestration"},
	{"core/answer", "core/agent", "contracts lie below orchestration"},
	{"core/answer", "core/hub", "contracts lie below orchestration"},
	{"core/hub", "core/agent", "an agent is handed a model; a model knows no agent"},
	{"core/agent", "core/hub", "an agent is handed a model; a model knows no agent"},
	{"core/hub", "core/store", "downloads and file locks have no place where a model answers"},
	{"core/agent", "core/workspace", "tools work on files; the agent is handed what takes a change back"},
	{"gpu", "ui", "compute and drawing never know of each other"},
	{"gpu", "plugins", "a family reaches a backend as a plan"},
	{"gpu", "sandbox", "compute has nothing to do with guests"},
	{"gpu", "cmd", "arrows never reverse"},
	{"ui", "gpu", "compute and drawing never know of each other"},
	{"ui", "plugins", "the view model speaks to the hub"},
	{"ui", "sandbox", "the view model speaks to the hub"},
	{"ui", "cmd", "arrows never reverse"},
	{"plugins", "gpu", "plugins run in processes of their own, without a device"},
	{"plugins", "ui", "plugins have no window"},
	{"plugins", "cmd", "arrows never reverse"},
	{"sandbox", "gpu", "guests have nothing to do with compute"},
	{"sandbox", "ui", "guests have no window"},
	{"sandbox", "plugins", "arrows never reverse"},
	{"sandbox", "cmd", "arrows never reverse"},
	{"cmd/pooled", "gioui.org", "the command line links no GUI library"},
	{"cmd/pooled", "ui", "the command line links no GUI library"},
}

// floors are the packages of core from the ground up: each imports only those of lower floors, and of its own. Data and
// contracts come below what is done with them; a new package finds its floor here.
var floors = [][]string{
	{"atomicfile", "filelock", "plain", "regular", "units"},
	{"gguf", "model"},
	{"quant", "tokenizer", "engine", "tool", "workspace", "export"},
	{"chat", "grammar", "toolcall", "generate", "store", "starter"},
	{"transcript", "event", "answer"},
	{"plugin", "agent", "hub"},
}

// peers are packages of the top floor, which know nothing of each other: cmd puts them together.
var peers = []string{"plugin", "agent", "hub"}

// wgpu is imported by one package alone.
const (
	wgpu     = "github.com/cogentcore/webgpu"
	wgpuHome = "gpu/device"
)

type pkg struct {
	ImportPath string
	Imports    []string
}

func packages(t *testing.T) []pkg {
	t.Helper()
	cmd := exec.Command("go", "list", "-json=ImportPath,Imports", module+"...")
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	var all []pkg
	for d := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p pkg
		if err := d.Decode(&p); errors.Is(err, io.EOF) {
			return all
		} else if err != nil {
			t.Fatal(err)
		}
		all = append(all, p)
	}
}

func within(path, dir string) bool { return path == dir || strings.HasPrefix(path, dir+"/") }

// TestImports walks the import graph.
func TestImports(t *testing.T) {
	all := packages(t)
	if len(all) < 10 {
		t.Fatalf("found only %d packages", len(all))
	}
	for _, p := range all {
		from := strings.TrimPrefix(p.ImportPath, module)
		for _, imp := range p.Imports {
			to := strings.TrimPrefix(imp, module)
			for _, b := range bans {
				if within(from, b.from) && within(to, b.to) {
					t.Errorf("%s imports %s: %s", from, to, b.reason)
				}
			}
			if (from == "core/plugin/serve" || from == "core/plugin/protocol") && to == "core/plugin" {
				t.Errorf("%s imports %s: a plugin's own side carries no catalog and no supervision", from, to)
			}
			if within(imp, wgpu) && from != wgpuHome {
				t.Errorf("%s imports %s: only %s does, so that its faults are mended in one place", from, to, wgpuHome)
			}
			if within(from, "plugins/models") && strings.HasPrefix(imp, module) && !within(to, "core/model") && !within(to, "plugins/models") {
				t.Errorf("%s imports %s: a family imports core/model only", from, to)
			}
		}
	}
}

// TestFloors walks the imports within core.
func TestFloors(t *testing.T) {
	floor := map[string]int{}
	for i, names := range floors {
		for _, n := range names {
			floor[n] = i
		}
	}
	room := func(path string) (name string, ok bool) {
		path, ok = strings.CutPrefix(strings.TrimPrefix(path, module), "core/")
		name, _, _ = strings.Cut(path, "/")
		return name, ok
	}
	seen := map[string]bool{}
	for _, p := range packages(t) {
		from, ok := room(p.ImportPath)
		if !ok {
			continue
		}
		seen[from] = true
		at, known := floor[from]
		if !known {
			t.Errorf("core/%s has no floor: say in floors what it stands on", from)
		}
		for _, imp := range p.Imports {
			to, ok := room(imp)
			switch {
			case !ok || to == from:
			case floor[to] > at:
				t.Errorf("core/%s imports core/%s, which stands above it", from, to)
			case slices.Contains(peers, from) && slices.Contains(peers, to):
				t.Errorf("core/%s imports core/%s: cmd puts the two together", from, to)
			}
		}
	}
	for name := range floor {
		if !seen[name] {
			t.Errorf("there is no package core/%s", name)
		}
	}
}

// TestDocs checks that every package and every exported symbol has a doc comment.
func TestDocs(t *testing.T) {
	err := filepath.WalkDir("..", func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.IsDir() {
			return err
		}
		if name := d.Name(); name == "testdata" || name == "node_modules" || name == "bin" || (strings.HasPrefix(name, ".") && path != "..") {
			return fs.SkipDir
		}
		checkDocs(t, path)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

func checkDocs(t *testing.T, dir string) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	set := token.NewFileSet()
	documented, any := false, false
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(set, name, nil, parser.ParseComments)
		if err != nil {
			t.Error(err)
			continue
		}
		any = true
		documented = documented || f.Doc != nil
		if strings.HasSuffix(name, ".pb.go") || ast.IsGenerated(f) {
			continue
		}
		for _, d := range f.Decls {
			undocumented(d, func(pos token.Pos, symbol string) {
				t.Errorf("%s: %s has no doc comment", set.Position(pos), symbol)
			})
		}
	}
	if any && !documented {
		t.Errorf("%s: the package has no doc comment", dir)
	}
}

// undocumented reports the exported symbols of a declaration that have no comment.
func undocumented(d ast.Decl, report func(token.Pos, string)) {
	switch d := d.(type) {
	case *ast.FuncDecl:
		if d.Name.IsExported() && d.Doc == nil && exportedReceiver(d) && !wellKnown[d.Name.Name] {
			report(d.Pos(), d.Name.Name)
		}
	case *ast.GenDecl:
		for _, s := range d.Specs {
			switch s := s.(type) {
			case *ast.TypeSpec:
				if s.Name.IsExported() && d.Doc == nil && s.Doc == nil {
					report(s.Pos(), s.Name.Name)
				}
			case *ast.ValueSpec:
				for _, n := range s.Names {
					if n.IsExported() && d.Doc == nil && s.Doc == nil && s.Comment == nil {
						report(n.Pos(), n.Name)
					}
				}
			}
		}
	}
}

// wellKnown are methods whose meaning the standard library has fixed.
var wellKnown = map[string]bool{
	"Error": true, "Unwrap": true, "String": true, "Is": true, "Len": true, "Less": true, "Swap": true, "Push": true, "Pop": true,
}

// exportedReceiver reports whether d is a function or a method of an exported type.
func exportedReceiver(d *ast.FuncDecl) bool {
	if d.Recv == nil || len(d.Recv.List) == 0 {
		return true
	}
	typ := d.Recv.List[0].Type
	for {
		switch x := typ.(type) {
		case *ast.StarExpr:
			typ = x.X
		case *ast.IndexExpr:
			typ = x.X
		case *ast.Ident:
			return x.IsExported()
		default:
			return true
		}
	}
}
