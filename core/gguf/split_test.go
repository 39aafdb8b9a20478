package gguf

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// splitPart returns part no (from 0) of count with the given tensors.
func splitPart(tb testing.TB, no, count, total int, tensors ...string) *Writer {
	tb.Helper()
	w := NewWriter()
	set := func(key string, v any) {
		if err := w.Set(key, v); err != nil {
			tb.Fatal(err)
		}
	}
	if no == 0 {
		set("general.architecture", "llama")
	}
	set("split.no", uint16(no))
	set("split.count", uint16(count))
	set("split.tensors.count", int32(total))
	for _, name := range tensors {
		if err := w.AddTensor(name, F32, []int{10}, pattern(name, 40)); err != nil {
			tb.Fatal(err)
		}
	}
	return w
}

func TestSplit(t *testing.T) {
	for _, tt := range []struct {
		name  string
		parts [][]string
	}{
		{"tensors in all parts", [][]string{{"a", "b"}, {"c"}, {"d"}}},
		{"first with metadata only", [][]string{nil, {"a", "b"}, {"c", "d"}}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			for i, names := range tt.parts {
				writeFile(t, filepath.Join(dir, SplitName{"big", i + 1, 3}.String()), splitPart(t, i, 3, 4, names...))
			}
			for no := 1; no <= 3; no++ {
				f, err := Open(filepath.Join(dir, SplitName{"big", no, 3}.String()))
				if err != nil {
					t.Fatal(err)
				}
				if v, _ := f.Get("general.architecture"); v.str != "llama" || filepath.Base(f.Path()) != "big-00001-of-00003.gguf" {
					t.Errorf("opened by part %d: metadata of another part, path %s", no, f.Path())
				}
				var names []string
				for _, x := range f.Tensors() {
					names = append(names, fmt.Sprint(x.Name, x.Part()))
					b, err := f.Data(x)
					if err != nil || !bytes.Equal(b, pattern(x.Name, 40)) {
						t.Errorf("%q: wrong data, %v", x.Name, err)
					}
					f.Release(x)
				}
				var want []string
				for i, p := range tt.parts {
					for _, n := range p {
						want = append(want, fmt.Sprint(n, i))
					}
				}
				if strings.Join(names, " ") != strings.Join(want, " ") {
					t.Errorf("tensors %v, want %v", names, want)
				}
				total := int64(0)
				for _, p := range f.Parts() {
					total += p.Size
				}
				if len(f.Parts()) != 3 || total != f.Size() {
					t.Errorf("%d parts of %d bytes, size %d", len(f.Parts()), total, f.Size())
				}
				if err := f.Close(); err != nil {
					t.Error(err)
				}
			}
		})
	}
}

func TestSplitRefuses(t *testing.T) {
	name := func(no int) string { return SplitName{"m", no, 2}.String() }
	for _, tt := range []struct {
		name  string
		files map[string]*Writer
		open  string
		want  error
		says  string
	}{
		{"part missing", map[string]*Writer{name(1): splitPart(t, 0, 2, 2, "a")}, name(1), os.ErrNotExist, "part 2 of 2"},
		{"renamed", map[string]*Writer{"m.gguf": splitPart(t, 0, 2, 2, "a")}, "m.gguf", ErrSplit, "NAME-00001-of-00002.gguf"},
		{"other number inside", map[string]*Writer{
			name(1): splitPart(t, 0, 2, 2, "a"), name(2): splitPart(t, 0, 2, 2, "b"),
		}, name(1), ErrSplit, "says that it is part 1 of 2"},
		{"other count inside", map[string]*Writer{
			name(1): splitPart(t, 0, 2, 2, "a"), name(2): splitPart(t, 1, 3, 2, "b"),
		}, name(1), ErrSplit, "part 2 of 3"},
		{"tensor count", map[string]*Writer{
			name(1): splitPart(t, 0, 2, 3, "a"), name(2): splitPart(t, 1, 2, 3, "b"),
		}, name(1), ErrSplit, "split.tensors.count is 3, the parts hold 2"},
		{"tensor in two parts", map[string]*Writer{
			name(1): splitPart(t, 0, 2, 2, "a"), name(2): splitPart(t, 1, 2, 2, "a"),
		}, name(1), ErrFormat, "occurs twice"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			for file, w := range tt.files {
				writeFile(t, filepath.Join(dir, file), w)
			}
			_, err := Open(filepath.Join(dir, tt.open))
			if !errors.Is(err, tt.want) || !strings.Contains(err.Error(), tt.says) {
				t.Errorf("%v; want %v that says %q", err, tt.want, tt.says)
			}
		})
	}
}

// TestSplitInCapitals opens a split model whose parts end in .GGUF, by any of them.
func TestSplitInCapitals(t *testing.T) {
	dir := t.TempDir()
	name := func(no int) string { return filepath.Join(dir, SplitName{"m", no, 2}.Beside("X.GGUF")) }
	for no := 1; no <= 2; no++ {
		writeFile(t, name(no), splitPart(t, no-1, 2, 2, fmt.Sprintf("t%d", no)))
	}
	for no := 1; no <= 2; no++ {
		f, err := Open(name(no))
		if err != nil {
			t.Fatal(err)
		}
		if len(f.Parts()) != 2 || len(f.Tensors()) != 2 {
			t.Errorf("%d parts, %d tensors", len(f.Parts()), len(f.Tensors()))
		}
		f.Close()
	}
}

func TestParseSplitName(t *testing.T) {
	for _, tt := range []struct {
		in   string
		want SplitName
		ok   bool
	}{
		{"qwen-00002-of-00005.gguf", SplitName{"qwen", 2, 5}, true},
		{"a-b-00001-of-00001.gguf", SplitName{"a-b", 1, 1}, true},
		{"x-99999-of-99999.gguf", SplitName{"x", 99999, 99999}, true},
		{"-00001-of-00002.gguf", SplitName{}, false},
		{"qwen-00006-of-00005.gguf", SplitName{}, false},
		{"qwen-00000-of-00005.gguf", SplitName{}, false},
		{"qwen-0001-of-00005.gguf", SplitName{}, false},
		{"qwen-+0001-of-00005.gguf", SplitName{}, false},
		{"qwen-00001-of-00005.GGUF", SplitName{"qwen", 1, 5}, true},
		{"qwen-00001-OF-00005.GGUF", SplitName{}, false},
		{"../x-00001-of-00002.gguf", SplitName{}, false},
		{`..\x-00001-of-00002.gguf`, SplitName{}, false},
		{"qwen.gguf", SplitName{}, false},
		{"", SplitName{}, false},
	} {
		if got, ok := ParseSplitName(tt.in); got != tt.want || ok != tt.ok {
			t.Errorf("ParseSplitName(%q) = %v, %v; want %v, %v", tt.in, got, ok, tt.want, tt.ok)
		}
	}
}

func FuzzParseSplitName(f *testing.F) {
	for _, s := range []string{"qwen-00002-of-00005.gguf", "-00001-of-00002.gguf", "x-00001-of-99999.gguf", "a/b-00001-of-00001.gguf"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		n, ok := ParseSplitName(s)
		if ok && (n.Beside(s) != s || n.No < 1 || n.No > n.Count || filepath.Base(s) != s) {
			t.Errorf("%q parsed as %+v", s, n)
		}
	})
}
