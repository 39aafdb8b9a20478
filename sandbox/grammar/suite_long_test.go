//go:build long

package grammar

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/pooled/pooled/core/grammar"
	"github.com/pooled/pooled/core/tokenizer"
)

var update = flag.Bool("update", false, "write the tables of docs/json-schema.md")

// The JSON Schema Test Suite, as jsonschema's source archive on PyPI carries it (MIT). POOLED_JSON_SCHEMA_SUITE may name a
// folder that holds draft2020-12 instead.
const (
	suitePackage = "jsonschema==4.17.3"
	suiteArchive = "jsonschema-4.17.3.tar.gz"
	suiteSum     = "0f864437ab8b6076ba6707453ef8f98a6a0d512a80e93f8abdb676f737ecb60d"
	suiteFolder  = "jsonschema-4.17.3/json/tests/draft2020-12"
)

// suiteFiles returns the files of the suite by their names without ".json".
func suiteFiles(t *testing.T) map[string][]byte {
	t.Helper()
	if dir := os.Getenv("POOLED_JSON_SCHEMA_SUITE"); dir != "" {
		files := map[string][]byte{}
		err := filepath.WalkDir(dir, func(p string, d fs.DirEntry, err error) error {
			if err != nil || !strings.HasSuffix(p, ".json") {
				return err
			}
			name, err := filepath.Rel(dir, p)
			if err != nil {
				return err
			}
			files[strings.TrimSuffix(filepath.ToSlash(name), ".json")], err = os.ReadFile(p)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		return files
	}
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("python3 is not installed: the JSON Schema Test Suite was not run")
	}
	dir := t.TempDir()
	fetch := exec.CommandContext(t.Context(), python, "-m", "pip", "download", "--quiet", "--no-deps", "--no-binary", ":all:", "--dest", dir, suitePackage)
	if out, err := fetch.CombinedOutput(); err != nil {
		t.Skipf("pip could not fetch %s, the JSON Schema Test Suite was not run: %v\n%s", suitePackage, err, out)
	}
	archive, err := os.ReadFile(filepath.Join(dir, suiteArchive))
	if err != nil {
		t.Fatal(err)
	}
	if sum := sha256.Sum256(archive); hex.EncodeToString(sum[:]) != suiteSum {
		t.Fatalf("%s has the SHA-256 %x, want %s", suiteArchive, sum, suiteSum)
	}
	return unpackSuite(t, archive)
}

func unpackSuite(t *testing.T, archive []byte) map[string][]byte {
	t.Helper()
	z, err := gzip.NewReader(bytes.NewReader(archive))
	if err != nil {
		t.Fatal(err)
	}
	files := map[string][]byte{}
	for r := tar.NewReader(z); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			return files
		}
		if err != nil {
			t.Fatal(err)
		}
		name, ok := strings.CutPrefix(h.Name, suiteFolder+"/")
		if !ok || path.Ext(name) != ".json" {
			continue
		}
		if files[strings.TrimSuffix(name, ".json")], err = io.ReadAll(r); err != nil {
			t.Fatal(err)
		}
	}
}

type suiteGroup struct {
	Description string
	Schema      json.RawMessage
	Tests       []struct {
		Description string
		Data        json.RawMessage
		Valid       bool
	}
}

// TestManyProperties is TestProperties with more schemas.
func TestManyProperties(t *testing.T) {
	for i, name := range vocabularies {
		t.Run(name, func(t *testing.T) { testProperties(t, name, uint64(i), 250) })
	}
}

// forbiddenFor are the reasons for which a valid text may be forbidden, as docs/json-schema.md lists them, each with the cases
// of the suite that show it: file, group, test.
var forbiddenFor = map[string][]string{
	"properties come in the order of the schema": {
		"allOf: allOf: allOf",
		"allOf: allOf with base schema: valid",
		"const: const with object: same object with different property order is valid",
		"dependentRequired: dependencies with escaped characters: quoted quotes",
		"dependentRequired: multiple dependents required: with dependencies",
		"dependentRequired: single dependency: with dependency",
	},
	"an integer has no fraction and no exponent": {
		"const: const with -2.0 matches integer and float types: float -2.0 is valid",
		"const: const with 0 does not match other zero-like types: float zero is valid",
		"const: const with 1 does not match true: float one is valid",
		"const: float and integers are equal up to 64-bit representation limits: float is valid",
		"enum: enum with 0 does not match false: float zero is valid",
		"enum: enum with 1 does not match true: float one is valid",
		"optional/float-overflow: all integers are multiples of 0.5, if overflow is handled: valid if optional overflow handling is implemented",
		"type: integer type matches integers: a float with zero fractional part is an integer",
	},
	"a leap second is written in UTC": {
		"optional/format/date-time: validation of date-time strings: a valid date-time with a leap second, with minus offset",
		"optional/format/time: validation of time strings: valid leap second, large negative time-offset",
		"optional/format/time: validation of time strings: valid leap second, large positive time-offset",
		"optional/format/time: validation of time strings: valid leap second, negative time-offset",
		"optional/format/time: validation of time strings: valid leap second, positive time-offset",
	},
	"an e-mail address has no quoted part and no IPv6 address": {
		"optional/format/email: validation of e-mail addresses: a quoted string with a @ in the local part is valid",
		"optional/format/email: validation of e-mail addresses: a quoted string with a double dot in the local part is valid",
		"optional/format/email: validation of e-mail addresses: a quoted string with a space in the local part is valid",
		"optional/format/email: validation of e-mail addresses: an IPv6-address-literal after the @ is valid",
	},
	"a metaschema cannot switch keywords off": {
		"vocabulary: schema that uses custom metaschema with with no validation vocabulary: no validation: invalid number, but it still validates",
	},
}

// suiteResult counts what became of the cases of one part of the suite.
type suiteResult struct {
	cases, right int
	refused      map[string]int // cases by the keyword that was refused
	paths        map[string]string
}

// TestSuite runs the draft 2020-12 part of the JSON Schema Test Suite: no text may be allowed that is not valid, a valid one may
// be forbidden for the reasons of forbiddenFor only, and docs/json-schema.md must have the counts.
func TestSuite(t *testing.T) {
	files := suiteFiles(t)
	expected := map[string]bool{}
	for _, cases := range forbiddenFor {
		for _, c := range cases {
			expected[c] = true
		}
	}
	parts := map[string]*suiteResult{}
	for _, name := range slices.Sorted(maps.Keys(files)) {
		var groups []suiteGroup
		if err := json.Unmarshal(files[name], &groups); err != nil {
			t.Fatal(err)
		}
		part := path.Dir(name)
		if parts[part] == nil {
			parts[part] = &suiteResult{refused: map[string]int{}, paths: map[string]string{}}
		}
		for _, g := range groups {
			runGroup(t, name, &g, parts[part], expected)
		}
	}
	for c := range expected {
		t.Errorf("%s is listed as forbidden and is not", c)
	}
	checkTable(t, parts)
}

// runGroup runs the tests of one schema; it deletes what was forbidden from expected.
func runGroup(t *testing.T, name string, g *suiteGroup, result *suiteResult, expected map[string]bool) {
	t.Helper()
	result.cases += len(g.Tests)
	prepared, err := grammar.JSONSchema(g.Schema, grammar.LayoutFree)
	for _, c := range g.Tests {
		var m grammar.Matcher
		if err == nil {
			m, err = shared.engine.Matcher(context.Background(), prepared)
		}
		var refusal *grammar.SchemaError
		if errors.As(err, &refusal) {
			keyword := refusal.Path[strings.LastIndexByte(refusal.Path, '/')+1:]
			if strings.HasPrefix(refusal.Reason, "Unsatisfiable") {
				keyword = "nothing is valid"
			} else if keyword == "" {
				t.Errorf("%s: %s: refused without a path: %s", name, g.Description, refusal.Reason)
			}
			result.refused[keyword] += len(g.Tests)
			result.paths[keyword] = name + ".json, " + g.Description + ": " + refusal.Error()
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		allowed := false
		for _, text := range spellings(t, c.Data) {
			allowed = allowed || accepts(t, prepared, text)
		}
		_ = m.Close()
		full := name + ": " + g.Description + ": " + c.Description
		switch {
		case allowed == c.Valid:
			result.right++
		case allowed:
			t.Errorf("%s: %s allows %s", full, g.Schema, c.Data)
		case !expected[full]:
			t.Errorf("%s: %s forbids %s", full, g.Schema, c.Data)
		}
		if !allowed && c.Valid {
			delete(expected, full)
		}
	}
}

// spellings returns an instance as the suite writes it and without escapes that are not needed.
func spellings(t *testing.T, data json.RawMessage) []string {
	t.Helper()
	var compact bytes.Buffer
	if err := json.Compact(&compact, data); err != nil {
		t.Fatal(err)
	}
	text := compact.String()
	if !strings.Contains(text, `\u`) {
		return []string{text}
	}
	v, ok := decodeJSON(text)
	if !ok {
		t.Fatalf("not JSON: %s", text)
	}
	return []string{text, compactJSON(v)}
}

func accepts(t *testing.T, g grammar.Grammar, text string) bool {
	t.Helper()
	m, err := shared.engine.Matcher(context.Background(), g)
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	for _, id := range shared.tok.Encode(text, tokenizer.Options{}) {
		if err := m.Accept(id); err != nil {
			if !errors.Is(err, grammar.ErrNotAllowed) {
				t.Fatal(err)
			}
			return false
		}
	}
	return m.Accepting()
}

// checkTable holds the tables between the marks of docs/json-schema.md against the results; with -update it writes them.
func checkTable(t *testing.T, parts map[string]*suiteResult) {
	t.Helper()
	names := []string{".", "optional", "optional/format"}
	var b strings.Builder
	b.WriteString("| part of the suite | cases | as it should be | forbidden though valid | allowed though not valid | refused |\n|---|---|---|---|---|---|\n")
	keywords := map[string][]string{}
	for i, name := range names {
		p := parts[name]
		if p == nil {
			t.Fatalf("the suite has no part %s", name)
		}
		refused := 0
		for keyword, n := range p.refused {
			refused += n
			if keywords[keyword] == nil {
				keywords[keyword] = []string{"", "", ""}
			}
			keywords[keyword][i] = strconv.Itoa(n)
		}
		fmt.Fprintf(&b, "| %s | %d | %d | %d | 0 | %d |\n", []string{"required", "optional", "formats"}[i], p.cases, p.right, p.cases-p.right-refused, refused)
	}
	b.WriteString("\n| refused at | required | optional | formats |\n|---|---|---|---|\n")
	for _, keyword := range slices.Sorted(maps.Keys(keywords)) {
		fmt.Fprintf(&b, "| %s | %s |\n", keyword, strings.Join(keywords[keyword], " | "))
		for _, name := range names {
			if example := parts[name].paths[keyword]; example != "" {
				t.Logf("refused: %s", example)
			}
		}
	}
	b.WriteString("\n| forbidden though valid, because | cases |\n|---|---|\n")
	for _, reason := range slices.Sorted(maps.Keys(forbiddenFor)) {
		fmt.Fprintf(&b, "| %s | %d |\n", reason, len(forbiddenFor[reason]))
	}
	const file, from, to = "../../docs/json-schema.md", "<!-- TestSuite -->\n", "<!-- end -->"
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	head, rest, ok := strings.Cut(string(text), from)
	_, tail, ok2 := strings.Cut(rest, to)
	if !ok || !ok2 {
		t.Fatalf("%s lacks the marks of the table", file)
	}
	want := head + from + b.String() + to + tail
	if want == string(text) {
		return
	}
	if !*update {
		t.Fatalf("%s is out of date (run with -update); the tables are now\n%s", file, b.String())
	}
	if err := os.WriteFile(file, []byte(want), 0o644); err != nil {
		t.Fatal(err)
	}
}
