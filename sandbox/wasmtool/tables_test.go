package wasmtool

import (
	"bytes"
	"encoding/json"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/pooled/pooled/core/tool"
	"github.com/pooled/pooled/sandbox/internal/cputime"
)

// withTables puts a table section into a module.
func withTables(m []byte, tables ...[]byte) []byte {
	at := bytes.Index(m, section(5, vec([]byte{0, 4})))
	return slices.Concat(m[:at], section(tableSection, vec(tables...)), m[at:])
}

// TestTables bounds what lies in the host's memory.
func TestTables(t *testing.T) {
	const funcref = 0x70
	grow := func(n int) []byte { // fails unless the table refuses
		return slices.Concat([]byte{0xd0, funcref}, push(n), []byte{0xfc, 0x0f, 0}, []byte{0x41, 0x7f, 0x47, 0x04, 0x40, 0x00, 0x0b}, constant(answerAt, len(answer)))
	}
	free := append([]byte{funcref, 0}, uleb(1)...)
	for _, c := range []struct {
		name   string
		tables [][]byte
		code   []byte
		want   error
	}{
		{"one that grows", [][]byte{free}, grow(maxEntries), nil},
		{"one that grows to billions", [][]byte{free}, grow(1<<31 - 1), nil},
		{"one with a limit of its own", [][]byte{slices.Concat([]byte{funcref, 1}, uleb(1), uleb(10))}, grow(10), nil},
		{"one with a limit beyond ours", [][]byte{slices.Concat([]byte{funcref, 1}, uleb(1), uleb(1<<31))}, grow(maxEntries), nil},
		{"a large one", [][]byte{append([]byte{funcref, 0}, uleb(1<<27)...)}, constant(answerAt, len(answer)), ErrModule},
		{"many", slices.Repeat([][]byte{free}, maxTables+1), constant(answerAt, len(answer)), ErrModule},
	} {
		t.Run(c.name, func(t *testing.T) {
			s, err := Load(t.Context(), withTables(module(info, answer, c.code), c.tables...), Options{})
			if !errors.Is(err, c.want) {
				t.Fatalf("got %v, want %v", err, c.want)
			}
			if err != nil {
				return
			}
			defer s.Close()
			opened, err := s.Open(t.Context(), tool.Project{Root: t.TempDir()})
			if err != nil {
				t.Fatal(err)
			}
			defer opened.Close()
			if r, err := opened.Call(t.Context(), tool.Call{Name: "say", Arguments: json.RawMessage(`{}`)}); err != nil || r.Text != "hello" {
				t.Errorf("got %+v, %v: the table was let grow", r, err)
			}
		})
	}
}

// TestBoundTables leaves alone what has no tables, or is no module.
func TestBoundTables(t *testing.T) {
	whole := withTables(say(answer), []byte{0x70, 0, 1})
	for n := range whole {
		if got, err := boundTables(whole[:n]); err != nil || len(got) < n {
			t.Fatalf("cut at %d: %d bytes, %v", n, len(got), err)
		}
	}
	if got, err := boundTables(say(answer)); err != nil || !bytes.Equal(got, say(answer)) {
		t.Errorf("without tables: %v", err)
	}
}

func FuzzBoundTables(f *testing.F) {
	f.Add(withTables(say(answer), []byte{0x70, 0, 1}))
	f.Fuzz(func(_ *testing.T, b []byte) { _, _ = boundTables(b) })
}

// TestLongName reads a file by a name of 256 kB, again and again until the time is over.
func TestLongName(t *testing.T) {
	code := slices.Concat([]byte{0x03, 0x40}, push(0), push(4<<16), push(0), push(0), call(0), []byte{0x1a, 0x0c, 0, 0x0b}, constant(answerAt, len(answer)))
	s := load(t, module(info, answer, code, [2]string{"pooled", "read_file"}), Options{Time: 200 * time.Millisecond})
	opened, err := s.Open(t.Context(), tool.Project{Root: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	defer opened.Close()
	took := cputime.Of(func() { _, err = opened.Call(t.Context(), tool.Call{Name: "say", Arguments: json.RawMessage(`{}`)}) })
	if !errors.Is(err, ErrTime) || took > 2*time.Second {
		t.Errorf("took %v: %v", took, err)
	}
}
