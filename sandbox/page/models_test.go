package page

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/pooled/pooled/sandbox/js"
)

var update = flag.Bool("update", false, "write the expected reports anew")

// TestModelPages loads pages of the kind a small model writes, clicks each button once, and
// compares the report.
func TestModelPages(t *testing.T) {
	pages, err := filepath.Glob("testdata/corpus/*.html")
	if err != nil || len(pages) < 12 {
		t.Fatalf("%d pages, %v", len(pages), err)
	}
	for _, name := range pages {
		t.Run(strings.TrimSuffix(filepath.Base(name), ".html"), func(t *testing.T) {
			p, err := shared.Open(t.Context(), os.DirFS("testdata/corpus"), Options{Entry: filepath.Base(name), Limits: js.Limits{Time: time.Minute}})
			if err != nil {
				t.Fatal(err)
			}
			defer p.Close()
			buttons := strings.Count(p.Report().DOM, "<button")
			for i := range buttons {
				// Buttons have no ids here, and what a click adds is not clicked.
				h, err := p.s.VM.Eval(fmt.Sprintf("(globalThis.buttons ??= [...document.querySelectorAll('button')])[%d]?.click()", i), "click.js", 0)
				if err := p.check(err); err != nil {
					t.Fatal(err)
				}
				p.s.VM.Free(h)
				if err := p.settle(defaultSettle); err != nil {
					t.Fatal(err)
				}
			}
			r := p.Report()
			got := r.Text + "\n---\n" + summary(r) + "\n"
			golden := strings.TrimSuffix(name, ".html") + ".txt"
			if *update {
				if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if got != string(want) {
				t.Errorf("got\n%s\nwant\n%s", got, want)
			}
		})
	}
}
