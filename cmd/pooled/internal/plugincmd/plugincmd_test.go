package plugincmd_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/pooled/pooled/cmd/internal/console"
	"github.com/pooled/pooled/cmd/pooled/internal/plugincmd"
	"github.com/pooled/pooled/core/model"
	"github.com/pooled/pooled/core/plugin"
	"github.com/pooled/pooled/core/plugin/serve"
	"github.com/pooled/pooled/plugins/models/dense"
	"github.com/pooled/pooled/plugins/tools/files"
)

const checkout = "../../../.."

// TestMain lets the test binary stand for a plugin program.
func TestMain(m *testing.M) {
	switch strings.TrimSuffix(filepath.Base(os.Args[0]), ".exe") {
	case "sound":
		serve.Family(dense.Family{})
		return
	case "clerk":
		serve.Tools(files.Set{})
		return
	case "garbage":
		os.Stdout.WriteString("hello\n")
		return
	}
	os.Exit(m.Run())
}

// run runs "pooled plugin" on a folder and returns what it prints.
func run(t *testing.T, dir, stdin string, args ...string) (string, error) {
	t.Helper()
	c := plugin.NewCatalog(dir, model.Families{dense.Family{}}, plugin.Options{Wasm: loadWasm})
	defer c.Close()
	var out bytes.Buffer
	cmd := plugincmd.New(plugincmd.Deps{
		Console: &console.Console{In: strings.NewReader(stdin), Out: &out, Err: &out},
		Catalog: func() *plugin.Catalog { return c }, Wasm: loadWasm,
	})
	cmd.SetArgs(args)
	cmd.SilenceErrors, cmd.SilenceUsage = true, true
	err := cmd.ExecuteContext(t.Context())
	return out.String(), err
}

// folder makes a plugin folder with links to the test binary.
func folder(t *testing.T, names ...string) string {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("links to programs need rights on Windows")
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for _, name := range names {
		if err := os.Symlink(self, filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestListApproveRemove(t *testing.T) {
	dir := folder(t, "sound", "garbage")
	want := func(step string, got string, err error, parts ...string) {
		t.Helper()
		if err != nil {
			t.Fatalf("%s: %v", step, err)
		}
		for _, p := range parts {
			if !strings.Contains(got, p) {
				t.Errorf("%s: no %q in\n%s", step, p, got)
			}
		}
	}
	out, err := run(t, dir, "", "list")
	want("list", out, err, "models/dense  built in      llama, qwen2, qwen3, qwen3moe\n", "sound         not approved  -\n",
		"pooled plugin approve sound", "Plugin folder: "+dir)

	out, err = run(t, dir, "no\n", "approve", "sound")
	if !errors.Is(err, plugin.ErrNotApproved) || !strings.Contains(out, "SHA-256: ") || !strings.Contains(out, "[y/N]") {
		t.Errorf("approve, answered no: %v\n%s", err, out)
	}
	if _, err = run(t, dir, "", "approve", "sound"); !errors.Is(err, plugin.ErrNotApproved) {
		t.Errorf("approve without an answer: %v, want ErrNotApproved", err)
	}
	out, err = run(t, dir, "y\n", "approve", "sound")
	want("approve", out, err, "Approved. It plans llama, qwen2, qwen3, qwen3moe, instead of models/dense.")
	out, err = run(t, dir, "", "list", "--json")
	var list []map[string]any
	if err != nil || json.Unmarshal([]byte(out), &list) != nil || len(list) != 3 || list[2]["state"] != "approved" {
		t.Errorf("list --json: %v\n%s", err, out)
	}

	if _, err := run(t, dir, "", "approve", "garbage", "--yes"); !errors.Is(err, model.ErrFault) {
		t.Errorf("approve of garbage: %v, want ErrFault", err)
	}
	for _, name := range []string{"nobody", "models/dense"} {
		if _, err := run(t, dir, "", "approve", name, "--yes"); !errors.Is(err, plugin.ErrUnknown) {
			t.Errorf("approve of %s: %v, want ErrUnknown", name, err)
		}
	}

	out, err = run(t, dir, "\n", "remove", "sound")
	want("remove, not confirmed", out, err, "Kept.")
	out, err = run(t, dir, "", "remove", "sound", "-y")
	want("remove", out, err, "Removed.")
	if out, err = run(t, dir, "", "list"); err != nil || strings.Contains(out, "sound") {
		t.Errorf("list after remove: %v\n%s", err, out)
	}
}

func TestCheck(t *testing.T) {
	dir := folder(t, "sound", "garbage")
	out, err := run(t, "", "", "check", filepath.Join(dir, "sound"))
	if err != nil || !strings.Contains(out, "ok    info is complete") || !strings.Contains(out, "No plan was checked") {
		t.Errorf("without a model: %v\n%s", err, out)
	}
	out, err = run(t, "", "", "check", filepath.Join(dir, "sound"), "--model", filepath.Join(checkout, "plugins/models/dense/testdata/llama-tied.json"))
	if err != nil || !strings.Contains(out, "ok    llama-tied.json is planned") || !strings.Contains(out, "All requirements hold.") {
		t.Errorf("with a model: %v\n%s", err, out)
	}
	out, err = run(t, "", "", "check", filepath.Join(dir, "sound"), "--model", filepath.Join(checkout, "plugins/models/qwen35/testdata/nano.json"))
	if err == nil || !strings.Contains(out, "FAIL  nano.json is planned") {
		t.Errorf("with a model of another family: %v\n%s", err, out)
	}
	if _, err := run(t, "", "", "check", filepath.Join(dir, "garbage")); !errors.Is(err, model.ErrFault) {
		t.Errorf("garbage: %v, want ErrFault", err)
	}
	if _, err := run(t, "", "", "check", dir); err == nil {
		t.Error("a folder without a manifest: want an error")
	}
}

// TestCheckManifest holds what a manifest says against the program.
func TestCheckManifest(t *testing.T) {
	for _, c := range []struct{ name, manifest, want string }{
		{"the same", `{"name":"sound","kind":"models","contract":1,"binary":"sound","architectures":["qwen3","qwen2","llama","qwen3moe"]}`, ""},
		{"no architectures", `{"name":"sound","kind":"models","contract":1,"binary":"sound"}`, ""},
		{
			"other architectures", `{"name":"sound","kind":"models","contract":1,"binary":"sound","architectures":["gemma3"]}`,
			"lists the architectures gemma3, and the program plans llama, qwen2, qwen3, qwen3moe; make them the same",
		},
		{"another kind", `{"name":"sound","kind":"tools","contract":1,"binary":"sound"}`, `plugin.json says kind "tools", and the program serves "models"`},
		{"no kind", `{"name":"sound","contract":1,"binary":"sound"}`, `plugin.json says kind ""; this version knows "models" and "tools"`},
		{"a program outside", `{"name":"sound","kind":"models","contract":1,"binary":"../sound"}`, "which is not inside its folder"},
	} {
		dir := folder(t, "sound")
		if err := os.WriteFile(filepath.Join(dir, plugin.ManifestFile), []byte(c.manifest), 0o644); err != nil {
			t.Fatal(err)
		}
		out, err := run(t, "", "", "check", dir)
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(out+err.Error(), c.want)) {
			t.Errorf("%s: %v, want %q\n%s", c.name, err, c.want, out)
		}
	}
}

func TestServeUnknown(t *testing.T) {
	if _, err := run(t, "", "", "serve", "models/nothing"); !errors.Is(err, plugin.ErrUnknown) {
		t.Errorf("got %v, want ErrUnknown", err)
	}
}

// goTool runs the go command in a module, without a network and without changes to its go.mod.
func goTool(t *testing.T, dir string, args ...string) {
	t.Helper()
	cmd := exec.Command("go", args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GOFLAGS=-mod=readonly", "GOPROXY=off", "GOWORK=off")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("go %s: %v\n%s", args[0], err, out)
	}
}

// TestExample drops the example plugin in, as its README says.
func TestExample(t *testing.T) {
	if testing.Short() {
		t.Skip("builds a module")
	}
	src, dir := filepath.Join(checkout, "examples/plugins/gemma3"), t.TempDir()
	to := filepath.Join(dir, "gemma3")
	goTool(t, src, "build", "-o", filepath.Join(to, "gemma3"), ".")
	manifest, err := os.ReadFile(filepath.Join(src, plugin.ManifestFile))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(to, plugin.ManifestFile), manifest, 0o644); err != nil {
		t.Fatal(err)
	}
	out, err := run(t, "", "", "check", to, "--model", filepath.Join(src, "testdata"))
	if err != nil || !strings.Contains(out, "ok    gemma3-270m is planned") {
		t.Errorf("check: %v\n%s", err, out)
	}
	if out, err := run(t, dir, "", "approve", "gemma3", "--yes"); err != nil || !strings.Contains(out, "It plans gemma3.") {
		t.Errorf("approve: %v\n%s", err, out)
	}
}

// TestNewFindsCheckout starts a plugin without --pooled: in a checkout it is found, elsewhere it is asked for.
func TestNewFindsCheckout(t *testing.T) {
	root, err := filepath.Abs(checkout)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	out, err := run(t, "", "", "new", "models", "starling", filepath.Join(dir, "a"))
	mod, readErr := os.ReadFile(filepath.Join(dir, "a", "go.mod"))
	if err != nil || readErr != nil || !strings.Contains(out, "builds against the checkout "+root+".") || !strings.Contains(string(mod), "=> "+root+"\n") {
		t.Errorf("in the checkout: %v, %v\n%s%s", err, readErr, out, mod)
	}
	t.Chdir(dir)
	for _, kind := range []string{"models", "tools"} {
		if out, err := run(t, "", "", "new", kind, "starling", "b"); err == nil || !strings.Contains(err.Error(), "--pooled FOLDER") {
			t.Errorf("new %s elsewhere: %v, want a word about --pooled\n%s", kind, err, out)
		}
	}
	if _, err := os.Stat("b"); err == nil {
		t.Error("what failed left a folder")
	}
	if out, err := run(t, "", "", "new", "tools", "starling", "c", "--wasm"); err != nil {
		t.Errorf("a module needs no checkout: %v\n%s", err, out)
	}
}

// TestNew builds what "new" writes, runs its tests, checks it and uses it.
func TestNew(t *testing.T) {
	if testing.Short() {
		t.Skip("builds a module")
	}
	src := filepath.Join(t.TempDir(), "starling")
	if out, err := run(t, "", "", "new", "models", "starling", src, "--architecture", "bird", "--pooled", checkout); err != nil {
		t.Fatalf("new: %v\n%s", err, out)
	}
	goTool(t, src, "vet", ".")
	goTool(t, src, "test", ".")
	goTool(t, src, "build", "-o", "starling", ".")
	out, err := run(t, "", "", "check", src)
	if err != nil || !strings.Contains(out, "starling plans bird (contract 1)") || !strings.Contains(out, "ok    tiny without a tensor") {
		t.Fatalf("check: %v\n%s", err, out)
	}

	dir := t.TempDir()
	if err := os.Rename(src, filepath.Join(dir, "starling")); err != nil {
		t.Fatal(err)
	}
	if out, err := run(t, dir, "", "list"); err != nil || !strings.Contains(out, "starling      not approved  bird") {
		t.Errorf("list: %v\n%s", err, out)
	}
	if out, err := run(t, dir, "yes\n", "approve", "starling"); err != nil || !strings.Contains(out, "It plans bird.") {
		t.Errorf("approve: %v\n%s", err, out)
	}

	if _, err := run(t, "", "", "new", "models", "starling", filepath.Join(dir, "starling"), "--pooled", checkout); !errors.Is(err, os.ErrExist) {
		t.Errorf("new over a plugin: %v, want ErrExist", err)
	}
	if _, err := run(t, "", "", "new", "models", "Starling", "--pooled", checkout); err == nil {
		t.Error("a name in capitals: want an error")
	}
	if _, err := run(t, "", "", "new", "models", "x", t.TempDir(), "--pooled", t.TempDir()); err == nil {
		t.Error("a folder that is no checkout: want an error")
	}
}
