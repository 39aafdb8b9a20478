package wasmtool

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/pooled/pooled/core/plugin/tooltest"
	"github.com/pooled/pooled/core/tool"
)

// A tiny assembler, so that every module of these tests can be read here.
// Source: WebAssembly Core Specification, Binary Format.

func leb(n int64) []byte {
	var b []byte
	for {
		c := byte(n & 0x7f)
		n >>= 7
		if n == 0 && c&0x40 == 0 || n == -1 && c&0x40 != 0 {
			return append(b, c)
		}
		b = append(b, c|0x80)
	}
}

func uleb(n int) []byte {
	var b []byte
	for n >= 0x80 {
		b = append(b, byte(n)|0x80)
		n >>= 7
	}
	return append(b, byte(n))
}

func vec(items ...[]byte) []byte {
	b := uleb(len(items))
	for _, i := range items {
		b = append(b, i...)
	}
	return b
}

func name(s string) []byte { return append(uleb(len(s)), s...) }

func section(id byte, content []byte) []byte {
	return append(append([]byte{id}, uleb(len(content))...), content...)
}

func cat(parts ...[]byte) []byte {
	var b []byte
	for _, p := range parts {
		b = append(b, p...)
	}
	return b
}

const (
	i32, i64 = 0x7f, 0x7e
	infoAt   = 1024
	answerAt = 8192
	allocAt  = 65536
)

// constant is code that returns the place and length of data.
func constant(at, n int) []byte { return append([]byte{0x42}, leb(int64(at)<<32|int64(n))...) }

// call is the code of an imported or own function's call.
func call(n int) []byte { return append([]byte{0x10}, uleb(n)...) }

func push(n int) []byte { return append([]byte{0x41}, leb(int64(n))...) }

// module makes a module whose pooled_call runs code, after imports of the type (i32 i32 i32 i32) -> i64.
func module(info, answer string, code []byte, imports ...[2]string) []byte {
	var imported [][]byte
	for _, i := range imports {
		imported = append(imported, cat(name(i[0]), name(i[1]), []byte{0, 3}))
	}
	n := len(imports)
	body := func(code []byte) []byte {
		b := cat([]byte{0}, code, []byte{0x0b})
		return append(uleb(len(b)), b...)
	}
	export := func(s string, kind byte, i int) []byte { return cat(name(s), []byte{kind}, uleb(i)) }
	return cat([]byte("\x00asm\x01\x00\x00\x00"),
		section(1, vec(
			[]byte{0x60, 1, i32, 1, i32},
			[]byte{0x60, 0, 1, i64},
			[]byte{0x60, 2, i32, i32, 1, i64},
			[]byte{0x60, 4, i32, i32, i32, i32, 1, i64},
		)),
		section(2, vec(imported...)),
		section(3, vec([]byte{0}, []byte{1}, []byte{2})),
		section(5, vec([]byte{0, 4})),
		section(7, vec(export("memory", 2, 0), export("pooled_alloc", 0, n), export("pooled_info", 0, n+1), export("pooled_call", 0, n+2))),
		section(10, vec(body(push(allocAt)), body(constant(infoAt, len(info))), body(code))),
		section(11, vec(
			cat([]byte{0}, push(infoAt), []byte{0x0b}, name(info)),
			cat([]byte{0}, push(answerAt), []byte{0x0b}, name(answer)),
		)),
	)
}

const (
	info = `{"name":"tiny","contract":1,"tools":[{"name":"say","description":"Says it.","class":"run",` +
		`"parameters":{"type":"object","properties":{"x":{"type":"string"}}}}]}`
	answer = `{"text":"hello"}`
)

// TestRoles reads what contract 2 added, and nothing of it in a module of contract 1.
func TestRoles(t *testing.T) {
	const more = `"prompt":["Write with put."],"tools":[{"name":"put","description":"Writes.","class":"edit","does":"writes-file",` +
		`"roles":{"path":"p","content":"c","brief":["p"]},"reports":true,"parameters":{"type":"object","properties":{"p":{"type":"string"},"c":{"type":"string"}}}}]}`
	const answer = `{"text":"put","health":{"page":"index.html","problems":["TypeError"],"url":"http://127.0.0.1:1/"}}`
	s := load(t, module(`{"name":"tiny","contract":2,`+more, answer, constant(answerAt, len(answer))), Options{})
	i := s.Info()
	if want := (tool.Roles{Path: "p", Content: "c", Brief: []string{"p"}}); !reflect.DeepEqual(i.Tools[0].Roles, want) || i.Tools[0].Does != tool.WritesFile || len(i.Prompt) != 1 {
		t.Errorf("got %+v", i)
	}
	opened, err := tool.Checked(s).Open(t.Context(), tool.Project{Root: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	defer opened.Close()
	r, err := opened.Call(t.Context(), tool.Call{Name: "put"})
	if err != nil || r.Health == nil || r.Health.OK() || r.Health.Page != "index.html" {
		t.Errorf("got %+v, %v", r, err)
	}
	if s, err := Load(t.Context(), module(`{"name":"tiny","contract":1,`+more, answer, constant(answerAt, len(answer))), Options{}); !errors.Is(err, ErrModule) {
		t.Errorf("contract 1 with roles: %v, %v; want ErrModule", s, err)
	}
}

// say answers with what is at answerAt.
func say(answer string) []byte { return module(info, answer, constant(answerAt, len(answer))) }

func load(t *testing.T, m []byte, o Options) *Set {
	t.Helper()
	s, err := Load(t.Context(), m, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

func TestConformance(t *testing.T) {
	cases := []tooltest.Case{{Name: "it answers", Steps: []tooltest.Step{{Tool: "say", Arguments: `{"x":"y"}`, Text: "hello"}}}}
	for _, r := range tooltest.Run(t.Context(), load(t, say(answer), Options{}), cases) {
		if r.Err != nil {
			t.Errorf("%s: %v", r.Name, r.Err)
		}
	}
}

func TestLoad(t *testing.T) {
	good := say(answer)
	for _, c := range []struct {
		name   string
		module []byte
		text   string
	}{
		{"nothing", nil, ""},
		{"no module", []byte("hello"), ""},
		{"cut", good[:len(good)-5], ""},
		{"other export", []byte(strings.Replace(string(good), "pooled_call", "pooled_cull", 1)), "does not export pooled_call"},
		{"unknown import", module(info, answer, constant(answerAt, 1), [2]string{"pooled", "exec"}), "imports pooled.exec, which does not exist"},
		{"import from elsewhere", module(info, answer, constant(answerAt, 1), [2]string{"env", "read_file"}), "imports env.read_file"},
		{"import of another type", module(info, answer, constant(answerAt, 1), [2]string{"pooled", "list_files"}), "other parameters"},
		{"info is no JSON", module("x", answer, constant(answerAt, 1)), "info"},
		{"info without tools", module(`{"name":"x","contract":1}`, answer, constant(answerAt, 1)), "0 tools"},
		{"info of a later contract", module(strings.Replace(info, `:1,`, `:9,`, 1), answer, constant(answerAt, 1)), "contract 9"},
	} {
		s, err := Load(t.Context(), c.module, Options{})
		if !errors.Is(err, ErrModule) || !strings.Contains(err.Error(), c.text) {
			t.Errorf("%s: %v, want ErrModule with %q", c.name, err, c.text)
		}
		if err == nil {
			s.Close()
		}
	}
	if _, err := Load(t.Context(), good, Options{Memory: 2 * pageSize}); !errors.Is(err, ErrModule) {
		t.Errorf("more memory than allowed: %v", err)
	}
}

// TestLimits runs code that does harm: each call is one clear error, and the next one works.
func TestLimits(t *testing.T) {
	loop := []byte{0x03, 0x40, 0x0c, 0, 0x0b, 0x00} // loop: br 0
	for _, c := range []struct {
		name string
		code []byte
		err  error
	}{
		{"an endless loop", loop, ErrTime},
		{"unreachable", []byte{0x00}, ErrTrap},
		{"endless recursion", cat([]byte{0x20, 0, 0x20, 1}, call(2)), ErrTrap},
		{"an answer outside of its memory", constant(3*pageSize, 2*pageSize), ErrTrap},
		{"an answer at the end of the address space", constant(-1, 0x7fffffff), ErrTrap},
		{"an answer that is no JSON", constant(answerAt, 3), ErrTrap},
		{"an empty answer", constant(answerAt, 0), ErrTrap},
		{"an access out of bounds", cat(push(-8), []byte{0x29, 3, 0}), ErrTrap},
	} {
		o := Options{}
		if c.err == ErrTime {
			o.Time = 200 * time.Millisecond
		}
		set := load(t, module(info, answer, c.code), o)
		s, err := tool.Checked(set).Open(t.Context(), tool.Project{Root: t.TempDir()})
		if err != nil {
			t.Fatal(err)
		}
		begin := time.Now()
		for range 2 {
			if _, err := s.Call(t.Context(), tool.Call{Name: "say"}); !errors.Is(err, c.err) || !errors.Is(err, tool.ErrFault) {
				t.Errorf("%s: %v, want %v", c.name, err, c.err)
			}
		}
		if d := time.Since(begin); d > 8*time.Second {
			t.Errorf("%s took %v", c.name, d)
		}
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		if _, err := s.Call(ctx, tool.Call{Name: "say"}); c.err == ErrTime && err != context.DeadlineExceeded {
			t.Errorf("%s, cancelled: %v", c.name, err)
		}
		cancel()
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}

	// Memory beyond the limit is refused: memory.grow gives -1.
	grow := cat(push(10_000), []byte{0x40, 0, 0x1a}, constant(answerAt, len(answer)))
	s, err := load(t, module(info, answer, grow), Options{Memory: 1 << 20}).Open(t.Context(), tool.Project{Root: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if r, err := s.Call(t.Context(), tool.Call{Name: "say"}); err != nil || r.Text != "hello" {
		t.Errorf("after growing: %+v, %v", r, err)
	}
}

// TestReadFile answers with a file of the project, or traps where read_file gives -1.
func TestReadFile(t *testing.T) {
	for _, c := range []struct {
		path string
		ok   bool
	}{
		{"answer.json", true}, {"../outside.json", false}, {"/etc/hostname", false}, {".git/config", false}, {"none", false}, {"\x00", false},
	} {
		// read_file(path, n, answerAt+1024, 4096), then its size as the length of the answer there.
		code := cat(push(answerAt), push(len(c.path)), push(answerAt+1024), push(4096), call(0),
			append([]byte{0x42}, leb(int64(answerAt+1024)<<32)...), []byte{0x84}) // i64.or
		set := load(t, module(info, c.path, code, [2]string{"pooled", "read_file"}), Options{})
		dir := filepath.Join(t.TempDir(), "project")
		for name, text := range map[string]string{"answer.json": answer, "../outside.json": answer, ".git/config": answer} {
			name = filepath.Join(dir, name)
			if err := errors.Join(os.MkdirAll(filepath.Dir(name), 0o755), os.WriteFile(name, []byte(text), 0o644)); err != nil {
				t.Fatal(err)
			}
		}
		s, err := tool.Checked(set).Open(t.Context(), tool.Project{Root: dir})
		if err != nil {
			t.Fatal(err)
		}
		r, err := s.Call(t.Context(), tool.Call{Name: "say"})
		if c.ok != (err == nil && r.Text == "hello") || !c.ok && !errors.Is(err, ErrTrap) {
			t.Errorf("%q: %+v, %v; want it to be read: %v", c.path, r, err, c.ok)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
}

func TestCache(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "cache")
	for range 2 {
		load(t, say(answer), Options{CacheDir: dir})
	}
	if entries, err := os.ReadDir(dir); err != nil || len(entries) == 0 {
		t.Errorf("nothing is kept: %v", err)
	}
	file := filepath.Join(t.TempDir(), "file") // where there cannot be a folder
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	load(t, say(answer), Options{CacheDir: file})
}

// FuzzAnswer gives any answer: it is a result or a fault.
func FuzzAnswer(f *testing.F) {
	for _, a := range []string{answer, `{"text":1}`, `{"text":"x","data":{}}`, "{", `{"text":"\ud800"}`, "null"} {
		f.Add(a)
	}
	dir := f.TempDir()
	f.Fuzz(func(t *testing.T, a string) {
		if len(a) > 4000 {
			t.Skip()
		}
		set, err := Load(t.Context(), say(a), Options{})
		if err != nil {
			t.Fatal(err)
		}
		defer set.Close()
		s, err := tool.Checked(set).Open(t.Context(), tool.Project{Root: dir})
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		r, err := s.Call(t.Context(), tool.Call{Name: "say"})
		if err != nil && !errors.Is(err, tool.ErrFault) {
			t.Errorf("%q: %v", a, err)
		}
		if err == nil && r.Data != nil && !json.Valid(r.Data) {
			t.Errorf("%q: %s", a, fmt.Sprint(r))
		}
	})
}
