//go:build long

package page

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// libraries are fetched from npm when this test runs, and never committed:
// package, file in it, name in the site.
var libraries = [][3]string{
	{"preact@10.27.2", "preact/dist/preact.module.js", "preact.module.js"},
	{"", "preact/hooks/dist/hooks.module.js", "hooks.module.js"},
	{"vue@3.5.22", "vue/dist/vue.global.prod.js", "vue.global.prod.js"},
	{"", "vue/dist/vue.esm-browser.prod.js", "vue.esm-browser.prod.js"},
	{"react@18.3.1", "react/umd/react.development.js", "react.development.js"},
	{"react-dom@18.3.1", "react-dom/umd/react-dom.development.js", "react-dom.development.js"},
	{"d3@7.9.0", "d3/dist/d3.min.js", "d3.min.js"},
	{"alpinejs@3.15.0", "alpinejs/dist/cdn.min.js", "cdn.min.js"},
	{"jquery@3.7.1", "jquery/dist/jquery.min.js", "jquery.min.js"},
	{"htmx.org@2.0.7", "htmx.org/dist/htmx.min.js", "htmx.min.js"},
	{"lodash@4.17.21", "lodash/lodash.min.js", "lodash.min.js"},
	{"chart.js@4.5.1", "chart.js/dist/chart.umd.js", "chart.umd.js"},
}

// TestFrameworks runs small pages made with common libraries.
func TestFrameworks(t *testing.T) {
	npm, err := exec.LookPath("npm")
	if err != nil {
		t.Skip("npm is not installed: no framework was tested")
	}
	work := t.TempDir()
	site := filepath.Join(work, "site")
	if err := os.CopyFS(site, os.DirFS("testdata/frameworks")); err != nil {
		t.Fatal(err)
	}
	args := []string{"install", "--ignore-scripts", "--no-audit", "--no-fund", "--silent", "--prefix", work}
	for _, l := range libraries {
		if l[0] != "" {
			args = append(args, l[0])
		}
	}
	if out, err := exec.CommandContext(t.Context(), npm, args...).CombinedOutput(); err != nil {
		t.Skipf("npm could not fetch the libraries, no framework was tested: %v\n%s", err, out)
	}
	for _, l := range libraries {
		b, err := os.ReadFile(filepath.Join(work, "node_modules", filepath.FromSlash(l[1])))
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(site, l[2]), b, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	const twice = "click:#b click:#b"
	for _, c := range []struct{ page, actions, text, log string }{
		{"preact", twice, "Preact 2", ""},
		{"vue", twice + " type:#i=Zed", "Zed\nHello Zed\nVue 2\na\nb\nbig", "log mounted"},
		{"react", twice + " type:#i=Zed", "React 2 Zed\nZED", "info Download the React DevTools"},
		{"d3", twice, "go", "log json 3\nlog csv 2 1"},
		{"alpine", "click:#b type:#i=Zed", "Alpine 1\nshown\nZed\nZed\ny", ""},
		{"jquery", twice, "jQ 2\n3\n1\n2", "missing nope.json\nlog fail 404"},
		{"chart", "", "x", "log 2"},
		{"htmx", "click:#b", "load\npart", ""},
		{"error", "click:#b", "1x", "error TypeError: cannot set property 'here' of undefined\n    at boom (error.html:7:5)"},
	} {
		t.Run(c.page, func(t *testing.T) {
			p, err := shared.Open(t.Context(), os.DirFS(site), Options{Entry: c.page + ".html"})
			if err != nil {
				t.Fatal(err)
			}
			defer p.Close()
			for text := range strings.FieldsSeq(c.actions) {
				a, err := ParseAction(text)
				if err != nil {
					t.Fatal(err)
				}
				if err := p.Do(t.Context(), a); err != nil {
					t.Fatalf("%s: %v", text, err)
				}
			}
			r := p.Report()
			if r.Text != c.text {
				t.Errorf("text %q, want %q", r.Text, c.text)
			}
			if got := summary(r); !strings.HasPrefix(got, c.log) || (c.log == "" && got != "") {
				t.Errorf("report\n%s\nwant\n%s", got, c.log)
			}
			if c.page == "chart" && (len(r.Canvases) != 1 || r.Canvases[0].Ops["fillText"] < 4) {
				t.Errorf("the chart drew %+v", r.Canvases)
			}
		})
	}
}
