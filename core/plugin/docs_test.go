package plugin

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/pooled/pooled/core/model"
	"github.com/pooled/pooled/core/plugin/modelv1"
	"github.com/pooled/pooled/core/plugin/protocol"
	"github.com/pooled/pooled/core/plugin/toolv1"
	"github.com/pooled/pooled/core/tool"
)

// authors is the page for authors of plugins.
const authors = "../../docs/plugins.md"

func readDocs(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile(authors)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// DocTable returns the first table of the page for authors from some text on: the second cell of each row by its first.
func DocTable(t *testing.T, from string) map[string]string {
	t.Helper()
	text := readDocs(t)
	at := strings.Index(text, from)
	if at < 0 {
		t.Fatalf("%s has no %q", authors, from)
	}
	rows := map[string]string{}
	n := 0
	for line := range strings.Lines(text[at+1:]) {
		line = strings.TrimSpace(line)
		cells := strings.Split(line, "|")
		if len(cells) != 4 || cells[0] != "" {
			if n > 0 {
				break
			}
			continue
		}
		if n++; n > 2 { // behind the head
			rows[strings.Trim(cells[1], " `")] = strings.TrimSpace(cells[2])
		}
	}
	return rows
}

// size writes bytes as the page does.
func size(n int) string {
	switch {
	case n >= 1<<20 && n%(1<<20) == 0:
		return fmt.Sprintf("%d MiB", n>>20)
	case n >= 1<<10 && n%(1<<10) == 0:
		return fmt.Sprintf("%d KiB", n>>10)
	}
	return fmt.Sprintf("%d B", n)
}

// span writes a time as the page does.
func span(d time.Duration) string {
	switch {
	case d >= time.Minute && d%time.Minute == 0:
		return fmt.Sprintf("%d min", d/time.Minute)
	case d >= time.Second && d%time.Second == 0:
		return fmt.Sprintf("%d s", d/time.Second)
	}
	return fmt.Sprintf("%d ms", d/time.Millisecond)
}

// TestDocs holds the numbers and names of the page for authors to the source: none is missing, and none is said that is not so.
func TestDocs(t *testing.T) {
	o := Options{}.withDefaults()
	limits := map[string]string{
		"from the start to the answer of `Info`":           span(o.StartTimeout),
		"`Plan`, and `Open` of tools":                      span(o.CallTimeout),
		"a call of a tool, in a program":                   span(o.ToolTimeout),
		"`Close` of tools":                                 span(toolv1.CloseTimeout),
		"from `Shutdown` to being killed":                  span(grace),
		"a family without work is ended after":             span(o.Linger),
		"failures after which it is not started again":     fmt.Sprintf("%d in %s", o.Restarts, span(o.Window)),
		"a message of models":                              size(modelv1.MaxMessage),
		"a message of tools, but for the answer of `Info`": size(toolv1.MaxMessage),
		"the answer of `Info` of tools":                    size(toolv1.MaxInfo),
		"the greeting":                                     size(maxGreeting),
		"what is kept of standard error":                   size(maxTail),
		"lines of a trace that are shown":                  fmt.Sprint(maxSaid),
		"files of a plugin's folder":                       fmt.Sprint(maxFiles),
		"bytes of a plugin's folder":                       size(maxBundle),
		"plugin.json":                                      size(maxJSON),
		"a WebAssembly module":                             size(maxWasm),
		"architectures of a family":                        fmt.Sprint(modelv1.MaxArchitectures),
		"tools of a set":                                   fmt.Sprint(tool.MaxTools),
		"description of a tool":                            size(tool.MaxDescription),
		"parameters of a tool":                             size(tool.MaxParameters),
		"lines for the system prompt":                      fmt.Sprint(tool.MaxPromptLines),
		"bytes of these lines":                             size(tool.MaxPrompt),
		"arguments of a call":                              size(tool.MaxArguments),
		"text of a result, and its diff":                   size(tool.MaxText),
		"data of a result":                                 size(tool.MaxData),
		"a progress line":                                  size(tool.MaxProgress),
		"changes that a result names":                      fmt.Sprint(tool.MaxChanges),
		"the id of a change, and a sum":                    size(tool.MaxID),
		"problems of a page":                               fmt.Sprint(tool.MaxProblems),
		"a problem of a page":                              size(tool.MaxProblem),
	}
	clean := map[string]string{}
	for name, limit := range limits {
		clean[strings.Trim(name, "`")] = limit
	}
	compare(t, "limits", DocTable(t, "\n## Limits\n"), clean)

	fields := map[string]bool{}
	for f := range reflect.TypeFor[Manifest]().Fields() {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		fields[name] = true
	}
	rows := DocTable(t, "\n| field |")
	if got, want := slices.Sorted(maps.Keys(rows)), slices.Sorted(maps.Keys(fields)); !slices.Equal(got, want) {
		t.Errorf("fields of %s: the page has %v, the source %v", ManifestFile, got, want)
	}
	if want := fmt.Sprintf("at most %d for models, %d for tools", model.ContractVersion, tool.ContractVersion); !strings.HasSuffix(rows["contract"], want) {
		t.Errorf("contract: the page says %q, want %q", rows["contract"], want)
	}
	_, sample, _ := strings.Cut(readDocs(t), "```json\n")
	sample, _, _ = strings.Cut(sample, "```")
	var m Manifest
	d := json.NewDecoder(bytes.NewReader([]byte(sample)))
	d.DisallowUnknownFields()
	if err := d.Decode(&m); err != nil {
		t.Error(err)
	} else if err := m.check(); err != nil {
		t.Errorf("the manifest of the page: %v", err)
	}
	h := protocol.Handshake()
	if got := DocTable(t, "\n   | variable |")[h.MagicCookieKey]; !strings.HasPrefix(got, "`"+h.MagicCookieValue+"`") {
		t.Errorf("%s: the page says %q, want %q", h.MagicCookieKey, got, h.MagicCookieValue)
	}
}

// compare reports where two tables are not the same.
func compare(t *testing.T, what string, got, want map[string]string) {
	t.Helper()
	for name, w := range want {
		if g, ok := got[name]; !ok || g != w {
			t.Errorf("%s: the page says %q of %q, the source %q", what, g, name, w)
		}
	}
	for name := range got {
		if _, ok := want[name]; !ok {
			t.Errorf("%s: the page has %q, which is checked by nothing", what, name)
		}
	}
}
