package starter_test

import (
	"errors"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/pooled/pooled/core/export"
	"github.com/pooled/pooled/core/starter"
	"github.com/pooled/pooled/core/workspace"
	"github.com/pooled/pooled/sandbox/js"
	"github.com/pooled/pooled/sandbox/page"
)

// TestStarters opens every starter in the sandbox, and each as one file, too.
func TestStarters(t *testing.T) {
	engine, err := js.NewRuntime(t.Context(), js.RuntimeOptions{CacheDir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	defer engine.Close(t.Context())
	pages, err := page.NewRuntime(t.Context(), engine)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range starter.All() {
		w, err := workspace.Open(t.TempDir(), t.TempDir())
		if err != nil {
			t.Fatal(err)
		}
		defer w.Close()
		if err := starter.Write(t.Context(), w, s.Name); err != nil {
			t.Fatalf("%s: %v", s.Name, err)
		}
		if s.Name == "blank" {
			continue
		}
		one, left, err := export.SingleHTML(t.Context(), w.FS(), "index.html")
		if err != nil || len(left) > 0 {
			t.Errorf("%s as one file: %v, %q", s.Name, err, left)
		}
		for form, files := range map[string]fstest.MapFS{"one file": {"index.html": {Data: one}}, "its files": nil} {
			tree := w.FS()
			if files != nil {
				tree = files
			}
			p, err := pages.Open(t.Context(), tree, page.Options{})
			if err != nil {
				t.Fatal(err)
			}
			if s.Name == "app" {
				for _, do := range []page.Action{{Verb: "type", Target: "#name", Text: "Buy milk"}, {Verb: "click", Target: "Add"}} {
					if err := p.Do(t.Context(), do); err != nil {
						t.Errorf("%s as %s: %v", s.Name, form, err)
					}
				}
				if r := p.Report(); !strings.Contains(r.Text, "Buy milk") {
					t.Errorf("%s as %s shows %q", s.Name, form, r.Text)
				}
			}
			if r := p.Report(); !r.OK {
				t.Errorf("%s as %s: %+v %q", s.Name, form, r.Errors, r.Missing)
			}
			p.Close()
		}
		if err := starter.Write(t.Context(), w, s.Name); !errors.Is(err, starter.ErrNotEmpty) {
			t.Errorf("%s, twice: got %v, want %v", s.Name, err, starter.ErrNotEmpty)
		}
	}
	w, err := workspace.Open(t.TempDir(), "")
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	if err := starter.Write(t.Context(), w, "rocket"); !errors.Is(err, starter.ErrUnknown) {
		t.Errorf("got %v, want %v", err, starter.ErrUnknown)
	}
}
