package export_test

import (
	"archive/zip"
	"bytes"
	"errors"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/pooled/pooled/core/export"
	"github.com/pooled/pooled/core/workspace"
)

func archived(t *testing.T, b []byte) (names []string) {
	t.Helper()
	r, err := zip.NewReader(bytes.NewReader(b), int64(len(b)))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range r.File {
		names = append(names, f.Name)
	}
	return names
}

// checkNames checks that an archive can be unpacked everywhere.
func checkNames(t *testing.T, names []string) {
	t.Helper()
	seen := map[string]bool{}
	for _, n := range names {
		for _, part := range strings.Split(n, "/") {
			if err := workspace.CheckName(part); err != nil {
				t.Errorf("%q: %v", n, err)
			}
		}
		if key := strings.ToLower(n); seen[key] {
			t.Errorf("%q is there twice", n)
		} else {
			seen[key] = true
		}
		for dir := path.Dir(n); dir != "."; dir = path.Dir(dir) {
			if seen[strings.ToLower(dir)] {
				t.Errorf("%q is a file and a folder", dir)
			}
		}
	}
}

func TestNamesInArchives(t *testing.T) {
	files := fstest.MapFS{}
	for _, n := range []string{
		"plain.txt", `..\..\up.txt`, `C:\x.txt`, "C:x", "con.txt", "aux", "nul .txt", "a\nb.txt", "\x1b[2J.txt", "ends.", "ends ", " begins", "caf\u00e9.txt",
		"cafe\u0301.txt", "Same.txt", "same.TXT", "a?b", "a*b", "bad\xff.txt", strings.Repeat("x", 250) + ".txt", strings.Repeat("\u00e9", 120), "turned\u202etxt.exe",
		"Dir/x", "dir/x", "dir/X", "clash", "CLASH/x", "_aux", "com1/lpt1", "...",
	} {
		files[n] = &fstest.MapFile{Data: []byte(n)}
	}
	var out bytes.Buffer
	left, err := export.Zip(t.Context(), &out, files)
	if err != nil {
		t.Fatal(err)
	}
	names := archived(t, out.Bytes())
	checkNames(t, names)
	if want := "bad\uFFFD.txt: there is no such file"; !slices.Contains(left, want) { // a file system of Go has no such names
		t.Errorf("it is not said that %s: %q", want, left)
	}
	if len(names) != len(files)-1 {
		t.Errorf("%d files of %d are in it: %q", len(names), len(files), left)
	}
	for _, want := range []string{"plain.txt", ".._.._up.txt", "C__x.txt", "_con.txt", "_aux", "_aux (2)", "ends_", "same (2).TXT", "_", "_com1/_lpt1"} {
		if !slices.Contains(names, want) {
			t.Errorf("%q is not in it: %q", want, names)
		}
	}
	if want := `..\..\up.txt: under this name; it is .._.._up.txt there`; !slices.Contains(left, want) {
		t.Errorf("it is not said that %s: %q", want, left)
	}
}

func FuzzNames(f *testing.F) {
	f.Add("a/b", "A/B", "a\\b")
	f.Add("con/x.", "CON/x", "_con/x_")
	f.Fuzz(func(t *testing.T, a, b, c string) {
		files := fstest.MapFS{}
		for _, n := range []string{a, b, c} {
			if n = path.Clean(n); n != "." && filepath.IsLocal(n) && len(n) < 1000 {
				files[n] = &fstest.MapFile{Data: []byte("x")}
			}
		}
		for n := range files {
			for m := range files {
				if strings.HasPrefix(m, n+"/") {
					t.Skip("a file cannot be a folder")
				}
			}
		}
		var out bytes.Buffer
		if _, err := export.Zip(t.Context(), &out, files); err != nil {
			t.Skip(err) // of the test's file system
		}
		checkNames(t, archived(t, out.Bytes()))
	})
}

func TestFile(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"site.zip", "site.html"} {
		at := filepath.Join(dir, name)
		size, left, err := export.File(t.Context(), at, site)
		st, serr := os.Stat(at)
		if err := errors.Join(err, serr); err != nil || st.Size() != size || size == 0 {
			t.Fatalf("%s: %d bytes, %v", name, size, err)
		}
		if (name == "site.html") != (len(left) > 0) {
			t.Errorf("%s: left %q", name, left)
		}
		if _, _, err := export.File(t.Context(), at, site); !errors.Is(err, export.ErrExists) {
			t.Errorf("%s again: %v, want ErrExists", name, err)
		}
	}
	if _, _, err := export.File(t.Context(), filepath.Join(dir, "site.exe"), site); !errors.Is(err, export.ErrForm) {
		t.Errorf("another form: %v, want ErrForm", err)
	}
	if _, _, err := export.File(t.Context(), filepath.Join(dir, "none.html"), fstest.MapFS{}); err == nil {
		t.Error("a project without a page became one")
	}
	if list, err := os.ReadDir(dir); err != nil || len(list) != 2 {
		t.Errorf("the folder holds %v, %v, want the two files", list, err)
	}
	// An export into the project does not hold itself.
	w, err := workspace.Open(dir, "")
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	inside := filepath.Join(dir, "again.zip")
	if _, left, err := export.File(t.Context(), inside, w.FS()); err != nil || len(left) > 0 {
		t.Fatal(left, err)
	}
	b, err := os.ReadFile(inside)
	if err != nil {
		t.Fatal(err)
	}
	if got := archived(t, b); !slices.Equal(got, []string{"site.html", "site.zip"}) {
		t.Errorf("it holds %q", got)
	}
}

func TestPlace(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range []string{"project/sub", "elsewhere", "project-2"} {
		if err := os.MkdirAll(filepath.Join(dir, d), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink("project/sub", filepath.Join(dir, "link")); err != nil {
		t.Log("no links here:", err)
	}
	root := filepath.Join(dir, "project")
	for _, c := range []struct{ started, want string }{
		{"project", "project.zip"},
		{"project/sub", "project.zip"},
		{"elsewhere", "elsewhere/project.zip"},
		{"project-2", "project-2/project.zip"},
		{"", "project.zip"},
		{"link", "project.zip"},
	} {
		t.Chdir(filepath.Join(dir, c.started))
		if got, err := export.Place(root, "project.zip"); err != nil || got != filepath.Join(dir, c.want) {
			t.Errorf("started in %q: got %q, %v, want %q", c.started, got, err, c.want)
		}
	}
	if got, err := export.Place("/", "x.zip"); err == nil {
		t.Errorf("beside everything: got %q", got)
	}
}
