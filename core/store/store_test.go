package store

import (
	"bytes"
	"errors"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/pooled/pooled/core/gguf"
)

func write(tb testing.TB, path string, data []byte) {
	tb.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		tb.Fatal(err)
	}
	if err := os.WriteFile(path, data, 0o600); err != nil {
		tb.Fatal(err)
	}
}

func TestListAndResolve(t *testing.T) {
	s := store(t, nil)
	if got, err := s.List(); err != nil || len(got) != 0 {
		t.Errorf("folder that does not exist: %v, %v", got, err)
	}
	small := model(t, 1000, 1, nil)
	split := parts(t, 2)
	write(t, filepath.Join(s.dir, "Small-Q8_0.gguf"), small)
	write(t, filepath.Join(s.dir, partFile("big", 1, 2)), split[0])
	write(t, filepath.Join(s.dir, partFile("big", 2, 2)), split[1])
	write(t, filepath.Join(s.dir, partFile("half", 2, 2)), split[1])
	write(t, filepath.Join(s.dir, "notes.txt"), []byte("x"))
	write(t, filepath.Join(s.dir, ".hidden.gguf"), small)
	write(t, filepath.Join(s.dir, "folder.gguf", "x"), small)
	s.catalog = []Entry{{Name: "known", Source: "hf:o/r/known.gguf"}}

	models, err := s.List()
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, m := range models {
		names = append(names, m.Name)
	}
	if strings.Join(names, " ") != "big half Small-Q8_0" {
		t.Fatalf("models %v", names)
	}
	if m := models[0]; m.Size != int64(len(split[0])+len(split[1])) || m.Parts != 2 || m.Problem != "" {
		t.Errorf("split model %+v", m)
	}
	if m := models[1]; m.Problem != "1 of 2 parts are missing" {
		t.Errorf("incomplete model %+v", m)
	}

	elsewhere := filepath.Join(t.TempDir(), "e.gguf")
	write(t, elsewhere, small)
	folder := t.TempDir()
	write(t, filepath.Join(folder, "only.gguf"), small)
	for _, tt := range []struct {
		ref, base string
		want      error
		says      string
	}{
		{"small-q8_0", "Small-Q8_0.gguf", nil, ""},
		{"Small-Q8_0.gguf", "Small-Q8_0.gguf", nil, ""},
		{"big", "big-00001-of-00002.gguf", nil, ""},
		{elsewhere, "e.gguf", nil, ""},
		{folder + "/", "only.gguf", nil, ""},
		{"half", "", ErrIncomplete, "pull it again"},
		{"known", "", ErrNotFound, `"known"`},
		{"hf:o/r/known.gguf", "", ErrNotFound, "known.gguf"},
		{"hf:o/r/other.gguf", "", ErrNotFound, "hf:o/r/other.gguf"},
		{"https://x.example/small-q8_0.gguf", "Small-Q8_0.gguf", nil, ""},
		{"small-q8-0", "", ErrNotFound, "did you mean Small-Q8_0?"},
		{"../../etc/passwd", "", ErrNotFound, "etc/passwd"},
		{"", "", ErrNotFound, ""},
	} {
		got, err := s.Resolve(tt.ref)
		if !errors.Is(err, tt.want) || err != nil && !strings.Contains(err.Error(), tt.says) {
			t.Errorf("Resolve(%q): %v; want %v that says %q", tt.ref, err, tt.want, tt.says)
		}
		if err == nil && filepath.Base(got) != tt.base {
			t.Errorf("Resolve(%q) = %s, want %s", tt.ref, got, tt.base)
		}
	}
}

func TestRemove(t *testing.T) {
	s := store(t, nil)
	outside := filepath.Join(filepath.Dir(s.dir), "x.gguf")
	data := model(t, 1000, 1, nil)
	write(t, outside, data)
	write(t, filepath.Join(s.dir, "x y.gguf"), data)
	write(t, filepath.Join(s.dir, "Keep.gguf"), data)
	write(t, filepath.Join(s.pullDir("half"), "half.gguf.part"), data[:10])
	for _, tt := range []struct {
		name string
		want error
	}{
		{"../x", ErrName},
		{"../x.gguf", ErrName},
		{outside, ErrName},
		{"", ErrName},
		{".", ErrName},
		{strings.Repeat("n", 300), ErrName},
		{"absent", ErrNotFound},
		{"x y", nil},
		{"half", nil},
		{"keep.gguf", nil},
		{"keep", ErrNotFound},
	} {
		if err := s.Remove(tt.name); !errors.Is(err, tt.want) {
			t.Errorf("Remove(%.40q): %v, want %v", tt.name, err, tt.want)
		}
	}
	if _, err := os.Stat(outside); err != nil {
		t.Errorf("a file outside the folder: %v", err)
	}
	checkNothing(t, s)
	if u, err := s.Unfinished(); err != nil || len(u) != 0 {
		t.Errorf("unfinished: %v, %v", u, err)
	}
}

func TestSourceNames(t *testing.T) {
	s := store(t, nil)
	for _, tt := range []struct {
		source, name string
		want         error
	}{
		{"https://x.example/a/Model-1.5B_Q4_K_M.gguf", "Model-1.5B_Q4_K_M", nil},
		{"https://x.example/a/b%20(1).gguf?download=true", "b--1-", nil},
		{"https://x.example/%2e%2e%2f%2e%2e%2fx.gguf", "x", nil},
		{`https://x.example/..%5c..%5cx.gguf`, "x", nil},
		{"https://x.example/.gguf", "", ErrName},
		{"https://x.example/...gguf", "", ErrName},
		{"https://x.example/con.gguf", "", ErrName},
		{"https://x.example/LPT1.x.gguf", "", ErrName},
		{"https://x.example/" + strings.Repeat("a", 200) + ".gguf", "", ErrName},
		{"https://x.example/m.bin", "", ErrSource},
		{"https://x.example/", "", ErrSource},
		{"https:///m.gguf", "", ErrSource},
		{"http://[::1/m.gguf", "", ErrSource},
		{"hf:owner/m.gguf", "", ErrSource},
		{"hf:owner/../m.gguf", "", ErrSource},
		{"hf:owner/repo/../../m.gguf", "", ErrSource},
		{"hf:owner/repo@/m.gguf", "", ErrSource},
		{"hf:owner/re%2fpo/m.gguf", "", ErrSource},
		{"hf:owner/repo/m.gguf", "m", nil},
		{"ftp://x.example/m.gguf", "", ErrSource},
		{"", "", ErrSource},
		{"/does/not/exist.gguf", "", ErrSource},
	} {
		p, err := s.plan(tt.source)
		if !errors.Is(err, tt.want) {
			t.Errorf("%.60q: %v, want %v", tt.source, err, tt.want)
			continue
		}
		if err == nil && (p.name != tt.name || checkName(p.name) != nil) {
			t.Errorf("%.60q is named %q, want %q", tt.source, p.name, tt.name)
		}
	}
}

func TestPullLocal(t *testing.T) {
	data := model(t, 50_000, 1, nil)
	split := parts(t, 3)
	dir := t.TempDir()
	write(t, filepath.Join(dir, "one", "My Model.gguf"), data)
	for i, b := range split {
		write(t, filepath.Join(dir, "split", partFile("big", i+1, 3)), b)
	}
	write(t, filepath.Join(dir, "two", "a.gguf"), data)
	write(t, filepath.Join(dir, "two", "b.gguf"), data)
	write(t, filepath.Join(dir, "none", "a.txt"), []byte("text"))
	write(t, filepath.Join(dir, "unnamed", "model.bin"), data)
	write(t, filepath.Join(dir, "UP.GGUF"), data)
	write(t, filepath.Join(dir, "通义 🦙.gguf"), data)
	write(t, filepath.Join(dir, "---.gguf"), data)
	for i, b := range split {
		write(t, filepath.Join(dir, "capitals", gguf.SplitName{Base: "big", No: i + 1, Count: 3}.Beside("x.GGUF")), b)
	}
	write(t, filepath.Join(dir, "bad.gguf"), []byte("GGUF, or not"))
	write(t, filepath.Join(dir, "cut.gguf"), data[:len(data)/2])
	write(t, filepath.Join(dir, "sum.gguf"), data)
	write(t, filepath.Join(dir, "sum.gguf.sha256"), []byte(sum([]byte("x"))+"  sum.gguf\n"))
	for _, tt := range []struct {
		source, name string
		files        [][]byte
		want         error
	}{
		{"one/My Model.gguf", "My-Model", [][]byte{data}, nil},
		{"one", "My-Model", [][]byte{data}, nil},
		{"split", "big", split, nil},
		{"split/" + partFile("big", 2, 3), "big", split, nil},
		{"two", "", nil, ErrSource},
		{"none", "", nil, ErrSource},
		{"none/a.txt", "", nil, ErrNotModel},
		{"unnamed", "model.bin", [][]byte{data}, nil},
		{"unnamed/model.bin", "model.bin", [][]byte{data}, nil},
		{"UP.GGUF", "UP", [][]byte{data}, nil},
		{"通义 🦙.gguf", "通义-🦙", [][]byte{data}, nil},
		{"---.gguf", "", nil, ErrName},
		{"capitals", "big", split, nil},
		{"bad.gguf", "", nil, ErrNotModel},
		{"cut.gguf", "", nil, ErrNotModel},
		{"sum.gguf", "", nil, ErrHash},
	} {
		t.Run(tt.source, func(t *testing.T) {
			s := store(t, nil)
			source := filepath.Join(dir, filepath.FromSlash(tt.source))
			m, err := s.Pull(t.Context(), source, nil)
			if !errors.Is(err, tt.want) {
				t.Fatalf("%v, want %v", err, tt.want)
			}
			if err != nil {
				checkNothing(t, s)
				return
			}
			checkPulled(t, s, tt.name, tt.files...)
			if again, err := s.Pull(t.Context(), source, nil); err != nil || again != m {
				t.Errorf("second pull: %+v, %v", again, err)
			}
			if same, err := s.Pull(t.Context(), m.Path, nil); err != nil || same != m {
				t.Errorf("pull of the model in the folder: %+v, %v", same, err)
			}
		})
	}
}

// TestNames gives models names in many scripts, and refuses those that some system could not hold.
func TestNames(t *testing.T) {
	for _, tt := range []struct {
		file, name, says string
	}{
		{"通义.gguf", "通义", ""},
		{"модель-7B.gguf", "модель-7B", ""},
		{"نموذج.gguf", "نموذج", ""},
		{"मॉडल.gguf", "मॉडल", ""},
		{"모델.GGUF", "모델", ""},
		{"🦙 2.gguf", "🦙-2", ""},
		{"e\u0301te\u0301.gguf", "\u00e9t\u00e9", ""}, // composed, as other systems write it
		{"my model (1).Gguf", "my-model--1-", ""},
		{"no extension", "no-extension", ""},
		{"sha256-0123", "sha256-0123", ""},
		{"model.bin", "model.bin", ""},
		{"---.gguf", "", `nothing in "---.gguf" can be one; give the file a name`},
		{"\u0301.gguf", "", "give the file a name"},
		{"\xff\xfe.gguf", "", "give the file a name"},
		{"aux.gguf", "", "reserved by Windows"},
		{"COM¹.x.gguf", "", "reserved by Windows"},
		{"lpt0.gguf", "", "reserved by Windows"},
		{"end..gguf", "", "not end with a dot; give the file another name"},
		{strings.Repeat("通", 41) + ".gguf", "", "123 bytes, at most 120"},
	} {
		name, _, err := nameOf(tt.file)
		if tt.says != "" {
			if !errors.Is(err, ErrName) || !strings.Contains(err.Error(), tt.says) || !utf8.ValidString(err.Error()) {
				t.Errorf("%q: %v, want %s", tt.file, err, tt.says)
			}
			continue
		}
		if err != nil || name != tt.name {
			t.Errorf("%q: %q, %v, want %q", tt.file, name, err, tt.name)
		}
	}
	for _, same := range [][]string{{"Été", "été", "e\u0301te\u0301", "E\u0301TE\u0301"}, {"ΣΟΣ", "σος", "σοσ"}, {"K", "k", "\u212a"}} {
		for _, n := range same {
			if key(n) != key(same[0]) {
				t.Errorf("%q and %q have the keys %q and %q", n, same[0], key(n), key(same[0]))
			}
		}
	}
	if key("a") == key("ä") || key("i") == key("ı") {
		t.Error("different letters have one key")
	}
}

// TestByContent resolves files here by their content and not by their names, and lets what was pulled come first.
func TestByContent(t *testing.T) {
	s := store(t, nil)
	data := model(t, 1000, 1, nil)
	t.Chdir(t.TempDir())
	for _, name := range []string{"UP.GGUF", "model.bin", "通义", "pulled"} {
		write(t, name, data)
	}
	write(t, "notes", []byte("GGUF"[:3]))
	write(t, filepath.Join("folder", "m.gguf"), data)
	write(t, filepath.Join(s.dir, "pulled.GGUF"), data)
	write(t, filepath.Join(s.dir, "E\u0301te\u0301.gguf"), data)
	for ref, want := range map[string]string{
		"UP.GGUF": "UP.GGUF", "model.bin": "model.bin", "通义": "通义", "./通义": "./通义", "folder/": filepath.Join("folder", "m.gguf"),
		"pulled": filepath.Join(s.dir, "pulled.GGUF"), "PULLED.gguf": filepath.Join(s.dir, "pulled.GGUF"), "été": filepath.Join(s.dir, "E\u0301te\u0301.gguf"),
		"notes": "", "folder": "", "up": "",
	} {
		got, err := s.Resolve(ref)
		if want == "" {
			if !errors.Is(err, ErrNotFound) {
				t.Errorf("%s: %q, %v, want %v", ref, got, err, ErrNotFound)
			}
			continue
		}
		if err != nil || !strings.HasSuffix(got, want) {
			t.Errorf("%s: %q, %v, want %q", ref, got, err, want)
		}
	}
	for _, name := range []string{"pulled", "été"} {
		if err := s.Remove(name); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	checkNothing(t, s)
}

func TestPullLocalCopies(t *testing.T) {
	data := model(t, 50_000, 1, nil)
	s := store(t, nil)
	from := filepath.Join(t.TempDir(), "m.gguf")
	write(t, from, data)
	to := filepath.Join(t.TempDir(), "m.gguf")
	src, err := os.Open(from)
	if err != nil {
		t.Fatal(err)
	}
	defer src.Close()
	var h bytes.Buffer
	if err := s.copyLocal(t.Context(), src, to, int64(len(data)), &h, newMeter(Progress{}, nil)); err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(to)
	if err != nil || !bytes.Equal(got, data) || !bytes.Equal(h.Bytes(), data) {
		t.Errorf("copied %d bytes, %v", len(got), err)
	}
}

func TestShow(t *testing.T) {
	s := store(t, nil)
	data := model(t, 4000, 1, map[string]any{
		"general.name": "Tiny", "general.license": "mit", "general.file_type": uint32(15),
		"tokenizer.chat_template": "{{ x }}", "tokenizer.ggml.model": "gpt2", "tokenizer.ggml.tokens": []string{"a", "b"},
		"llama.embedding_length": uint32(64),
	})
	from := filepath.Join(t.TempDir(), "tiny.gguf")
	write(t, from, data)
	if _, err := s.Pull(t.Context(), from, nil); err != nil {
		t.Fatal(err)
	}
	d, err := s.Show("tiny")
	if err != nil {
		t.Fatal(err)
	}
	if d.Name != "Tiny" || d.Architecture != "llama" || d.Parameters != 4000 || d.Context != 2048 || d.Layers != 3 || d.Hidden != 64 ||
		!d.Template || d.Licence != "mit" || d.Quantisation != "Q4_K_M" || d.Vocabulary != 2 || d.Tokenizer != "gpt2" || d.Size != int64(len(data)) {
		t.Errorf("details %+v", d)
	}
	if len(d.Types) != 1 || d.Types[0] != (TypeShare{gguf.I8, 1, 4000, 4000}) || d.Mix() != "I8 100 %" {
		t.Errorf("types %+v, mix %q", d.Types, d.Mix())
	}
	if d.Record == nil || d.Record.Files[0].SHA256 != sum(data) {
		t.Errorf("record %+v", d.Record)
	}
	bare := filepath.Join(t.TempDir(), "bare.gguf")
	write(t, bare, model(t, 100, 1, nil))
	d, err = s.Show(bare)
	if err != nil || d.Record != nil || d.Template || d.Quantisation != "I8" {
		t.Errorf("bare file: %+v, %v", d, err)
	}
}

func TestCatalog(t *testing.T) {
	s, err := NewStore(Options{Dir: t.TempDir(), Hub: DefaultHub})
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for _, e := range Catalog() {
		p, err := s.plan(e.Name)
		if err != nil {
			t.Errorf("%s: %v", e.Name, err)
			continue
		}
		if seen[key(e.Name)] || checkName(e.Name) != nil || p.name != e.Name || len(p.files) != 1 {
			t.Errorf("%s: plan %+v", e.Name, p)
		}
		seen[key(e.Name)] = true
		if e.SHA256 != "" && !isSHA256(e.SHA256) || (e.SHA256 == "") != (e.Size == 0) {
			t.Errorf("%s: size %d, sha256 %q", e.Name, e.Size, e.SHA256)
		}
		if e.Description == "" || e.Licence == "" || e.Family == "" || e.Parameters == "" {
			t.Errorf("%s: a field is empty", e.Name)
		}
		if !slices.Contains([]string{"llama", "qwen2", "qwen3", "qwen35"}, e.Family) {
			t.Errorf("%s: no family for %q", e.Name, e.Family)
		}
	}
	p, err := s.plan("qwen3-0.6B")
	if err != nil {
		t.Fatal(err)
	}
	if got, want := p.files[0].url.String(), "https://huggingface.co/Qwen/Qwen3-0.6B-GGUF/resolve/main/Qwen3-0.6B-Q8_0.gguf"; got != want {
		t.Errorf("URL %s, want %s", got, want)
	}
	if _, err := s.plan("qwen3-06b"); !errors.Is(err, ErrSource) || !strings.Contains(err.Error(), "did you mean qwen3-0.6b") {
		t.Errorf("a near miss: %v", err)
	}
}

func TestNoFolder(t *testing.T) {
	if _, err := NewStore(Options{}); !errors.Is(err, ErrNoFolder) {
		t.Errorf("got %v, want ErrNoFolder", err)
	}
}

func TestMeter(t *testing.T) {
	now := time.Unix(1000, 0)
	var last Progress
	reports := 0
	m := newMeter(Progress{}, func(p Progress) { last, reports = p, reports+1 })
	m.now = func() time.Time { return now }
	m.phase(Downloading, 5000, 1_005_000, "")
	for i := range 400 { // 40 s at 10,000 bytes a second, in steps of 100 ms
		now = now.Add(100 * time.Millisecond)
		m.at(5000 + int64(i+1)*1000)
	}
	if last.Rate < 9990 || last.Rate > 10010 {
		t.Errorf("rate %v, want 10000", last.Rate)
	}
	if want := 60 * time.Second; last.ETA < want-time.Second || last.ETA > want+time.Second {
		t.Errorf("ETA %v, want about %v", last.ETA, want)
	}
	if reports > 401 {
		t.Errorf("%d reports", reports)
	}
	// A pause of one second must not throw the rate off, and ten fast reads must not make ten reports.
	now = now.Add(time.Second)
	m.at(last.Bytes)
	if last.Rate < 6500 || last.Rate > 9000 {
		t.Errorf("after a second of silence the rate is %v", last.Rate)
	}
	before := reports
	for range 10 {
		m.at(last.Bytes + 1)
	}
	if reports != before {
		t.Errorf("%d reports without time passing", reports-before)
	}
}

func TestParseSum(t *testing.T) {
	a, b := sum([]byte("a")), sum([]byte("b"))
	for _, tt := range []struct{ text, want string }{
		{a, a},
		{strings.ToUpper(a) + "\n", a},
		{b + "  x\n" + a + "  m.gguf\n", a},
		{a + " *dir/m.gguf", a},
		{b + "  x", ""},
		{"<html>", ""},
		{"", ""},
	} {
		if got := parseSum(tt.text, "m.gguf"); got != tt.want {
			t.Errorf("parseSum(%q) = %q, want %q", tt.text, got, tt.want)
		}
	}
}

func TestContentRange(t *testing.T) {
	for _, tt := range []struct {
		in   string
		want byteRange
		ok   bool
	}{
		{"bytes 5-9/10", byteRange{5, 5, 10}, true},
		{"bytes 0-0/*", byteRange{0, 1, 0}, true},
		{"bytes */10", byteRange{}, false},
		{"bytes 9-5/10", byteRange{}, false},
		{"bytes 5-9/9", byteRange{}, false},
		{"bytes -5-9/10", byteRange{}, false},
		{"bytes 0-9223372036854775807/*", byteRange{}, false},
		{"bytes 0-9223372036854775806/9223372036854775807", byteRange{0, math.MaxInt64, math.MaxInt64}, true},
		{"bytes 0-1/9223372036854775808", byteRange{}, false},
		{"5-9/10", byteRange{}, false},
		{"", byteRange{}, false},
	} {
		if got, ok := contentRange(tt.in); ok != tt.ok || ok && got != tt.want {
			t.Errorf("contentRange(%q) = %+v, %v", tt.in, got, ok)
		}
	}
}

// TestLockAcrossProcesses lets a second process try the lock that this one holds.
func TestLockAcrossProcesses(t *testing.T) {
	if dir := os.Getenv("WEIGHTS_TEST_LOCK"); dir != "" {
		s, err := NewStore(Options{Dir: dir})
		if err != nil {
			t.Fatal(err)
		}
		_, err = s.lock("m")
		var busy *BusyError
		if errors.As(err, &busy) && busy.PID == os.Getppid() {
			return
		}
		t.Fatalf("lock held by the parent: %v", err)
	}
	s := store(t, nil)
	unlock, err := s.lock("m")
	if err != nil {
		t.Fatal(err)
	}
	defer unlock()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	c := exec.CommandContext(t.Context(), self, "-test.run=^TestLockAcrossProcesses$")
	c.Env = append(os.Environ(), "WEIGHTS_TEST_LOCK="+s.dir)
	if out, err := c.CombinedOutput(); err != nil {
		t.Errorf("the second process: %v\n%s", err, out)
	}
}

func FuzzParseResume(f *testing.F) {
	f.Add([]byte(`{"url":"https://x.example/m.gguf","etag":"\"a\"","size":5}`))
	f.Add([]byte(`{"url":"u","size":5,"sha256":"` + sum(nil) + `","done":true}`))
	f.Add([]byte(`{"url":"u","size":-1}`))
	f.Add([]byte(`{"url":"u"} {}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		r, err := parseResume(b)
		if err != nil {
			if !errors.Is(err, errState) {
				t.Errorf("error without a sentinel: %v", err)
			}
			return
		}
		if r.Size < 0 || strings.ContainsAny(r.ETag+r.LastModified, "\r\n\x00") || r.URL == "" {
			t.Errorf("accepted %+v", r)
		}
	})
}

func FuzzNameOf(f *testing.F) {
	for _, s := range []string{"a.gguf", "a-00001-of-00002.gguf", "../x.gguf", "con.gguf", "ü ü.gguf", "-.gguf", "a-00001-of-00002-00001-of-00002.gguf"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, file string) {
		name, parts, err := nameOf(file)
		if err != nil {
			return
		}
		for _, no := range []int{1, parts} {
			got := partFile(name, no, parts)
			if len(got) > 255 || filepath.Base(got) != got || strings.HasPrefix(got, ".") || strings.ContainsAny(got, `/\:`) {
				t.Errorf("%q became the file %q", file, got)
			}
			if n, p, err := nameOf(got); err != nil || n != name || p != parts {
				t.Errorf("%q became %q, which is read as %q, %d, %v", file, got, n, p, err)
			}
		}
	})
}
