package page

import (
	"flag"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/pooled/pooled/sandbox/js"
)

var chromium = flag.String("chromium", "", "write what this browser gives for testdata/browser anew")

// TestBrowser opens pages that ask the DOM for values, and compares with what Chromium gave for the same page.
func TestBrowser(t *testing.T) {
	pages, err := filepath.Glob("testdata/browser/*.html")
	if err != nil || len(pages) == 0 {
		t.Fatalf("%d pages, %v", len(pages), err)
	}
	for _, name := range pages {
		area := strings.TrimSuffix(filepath.Base(name), ".html")
		t.Run(area, func(t *testing.T) {
			golden := "testdata/browser/" + area + ".txt"
			if *chromium != "" {
				if err := os.WriteFile(golden, []byte(inChromium(t, area)), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			b, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			p, err := shared.Open(t.Context(), os.DirFS("testdata/browser"), Options{Entry: area + ".html", Limits: js.Limits{Time: time.Minute}})
			if err != nil {
				t.Fatal(err)
			}
			defer p.Close()
			r := p.Report()
			if !r.OK {
				t.Errorf("the page is told to be broken: %s %v\n%s", r.Stopped, r.Missing, summary(r))
			}
			var got []string
			for _, line := range r.Console {
				if line.Level == "log" {
					got = append(got, line.Text)
				}
			}
			want := strings.Split(strings.TrimSuffix(string(b), "\n"), "\n")
			if len(got) != len(want) {
				t.Errorf("%d lines, want %d", len(got), len(want))
			}
			for i := range min(len(got), len(want)) {
				if got[i] != want[i] {
					t.Errorf("got  %s\nwant %s", got[i], want[i])
				}
			}
		})
	}
}

// inChromium gives the lines of a page's checks in Chromium.
func inChromium(t *testing.T, area string) string {
	server := httptest.NewServer(http.FileServer(http.Dir("testdata/browser")))
	defer server.Close()
	out, err := exec.CommandContext(t.Context(), *chromium, "--headless", "--no-sandbox", "--disable-gpu", "--window-size=1280,720",
		"--virtual-time-budget=4000", "--user-data-dir="+t.TempDir(), "--dump-dom", server.URL+"/"+area+".html").Output()
	if err != nil {
		t.Fatal(err)
	}
	_, rest, ok := strings.Cut(string(out), `id="checks">`)
	lines, _, closed := strings.Cut(rest, "</script>")
	if !ok || !closed {
		t.Fatalf("no checks in what Chromium gave: %.500s", out)
	}
	return lines + "\n"
}
