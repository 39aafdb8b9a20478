package plugincmd_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pooled/pooled/core/tool"
	"github.com/pooled/pooled/sandbox/wasmtool"
)

func loadWasm(ctx context.Context, module []byte) (tool.Set, error) {
	return wasmtool.Load(ctx, module, wasmtool.Options{})
}

// TestNewTools builds what "new tools" writes, runs its tests, checks it and approves it.
func TestNewTools(t *testing.T) {
	if testing.Short() {
		t.Skip("builds a module")
	}
	dir := t.TempDir()
	src := filepath.Join(dir, "word-count")
	if out, err := run(t, "", "", "new", "tools", "word-count", src, "--pooled", checkout); err != nil {
		t.Fatalf("new: %v\n%s", err, out)
	}
	goTool(t, src, "vet", ".")
	goTool(t, src, "test", ".")
	goTool(t, src, "build", "-o", "word-count", ".")
	checkTools(t, dir, src)
}

// TestNewWasmTools does the same for a WebAssembly module.
func TestNewWasmTools(t *testing.T) {
	if testing.Short() {
		t.Skip("builds a module")
	}
	dir := t.TempDir()
	src := filepath.Join(dir, "word-count")
	if out, err := run(t, "", "", "new", "tools", "word-count", src, "--wasm"); err != nil {
		t.Fatalf("new: %v\n%s", err, out)
	}
	build := exec.Command("go", "build", "-buildmode=c-shared", "-o", "word-count.wasm", ".")
	build.Dir = src
	build.Env = append(os.Environ(), "GOOS=wasip1", "GOARCH=wasm", "CGO_ENABLED=0", "GOFLAGS=-mod=readonly", "GOPROXY=off", "GOWORK=off")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	checkTools(t, dir, src)

	module, err := os.ReadFile(filepath.Join(src, "word-count.wasm"))
	if err != nil {
		t.Fatal(err)
	}
	set, err := loadWasm(t.Context(), module)
	if err != nil {
		t.Fatal(err)
	}
	defer set.(*wasmtool.Set).Close()
	project := t.TempDir()
	if err := os.WriteFile(filepath.Join(project, "a.txt"), []byte("one two\nthree"), 0o644); err != nil {
		t.Fatal(err)
	}
	s, err := tool.Checked(set).Open(t.Context(), tool.Project{Root: project})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for args, want := range map[string]string{
		`{"path":"a.txt"}`:         "3 words",
		`{"path":"../a.txt"}`:      "../a.txt: there is no such file",
		`{"path":"/etc/hostname"}`: "/etc/hostname: there is no such file",
	} {
		r, err := s.Call(t.Context(), tool.Call{Name: "word_count", Arguments: []byte(args)})
		if err != nil || r.Text != want {
			t.Errorf("%s: %q, %v; want %q", args, r.Text, err, want)
		}
	}
}

func checkTools(t *testing.T, dir, src string) {
	t.Helper()
	out, err := run(t, "", "", "check", src)
	if err != nil || !strings.Contains(out, "word-count has the tools word_count (read) (contract 2)") || !strings.Contains(out, "All requirements hold.") {
		t.Fatalf("check: %v\n%s", err, out)
	}
	if out, err := run(t, dir, "yes\n", "approve", "word-count"); err != nil || !strings.Contains(out, "It adds the tools word_count (read).") {
		t.Errorf("approve: %v\n%s", err, out)
	}
	if out, err := run(t, dir, "", "list"); err != nil || !strings.Contains(out, "word-count    approved  word_count\n") {
		t.Errorf("list: %v\n%s", err, out)
	}
}
