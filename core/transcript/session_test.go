package transcript

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pooled/pooled/core/chat"
)

func newProject(t *testing.T) *Project {
	t.Helper()
	p, err := OpenStore(t.TempDir()).Project(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func said(text string) *Message { return &Message{Role: chat.RoleUser, Text: text} }

// TestFullDisk lets writes fail for a while, half-way and wholly; nothing may be lost afterwards.
func TestFullDisk(t *testing.T) {
	p := newProject(t)
	s, err := p.NewSession("m")
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Append(said("one")); err != nil {
		t.Fatal(err)
	}
	file := s.f
	name := filepath.Join(p.sessions(), s.ID+sessionSuffix)
	// A file that is open for reading alone refuses every write.
	if s.f, err = os.Open(name); err != nil {
		t.Fatal(err)
	}
	if err := s.Append(said("two"), said("three")); err == nil {
		t.Fatal("two and three were written")
	}
	s.f.Close()
	s.f = file
	// Half of a line stands behind the last whole one, as a full disk leaves it.
	if _, err := file.WriteAt([]byte(`{"kind":"message","mess`), s.good); err != nil {
		t.Fatal(err)
	}
	if err := s.Append(said("four")); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	s, history, note, err := p.Resume("")
	if err != nil || note != "" {
		t.Fatalf("%v, %q", err, note)
	}
	defer s.Close()
	var texts []string
	for _, m := range history {
		texts = append(texts, m.Text)
	}
	if got, want := strings.Join(texts, " "), "one two three four"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestInUse(t *testing.T) {
	p := newProject(t)
	s, err := p.NewSession("m")
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Append(said("hello")); err != nil {
		t.Fatal(err)
	}
	if _, _, _, err := p.Resume(s.ID); !errors.Is(err, ErrInUse) || !strings.Contains(err.Error(), s.ID) {
		t.Errorf("got %v, want that %s is in use", err, s.ID)
	}
	if history, err := p.Read(""); err != nil || len(history) != 1 {
		t.Errorf("reading beside it: %v, %v", history, err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	again, _, _, err := p.Resume(s.ID)
	if err != nil {
		t.Fatal(err)
	}
	again.Close()
}

// TestDamaged lists a damaged session, and goes on with another where none is named.
func TestDamaged(t *testing.T) {
	p := newProject(t)
	for _, text := range []string{"good", "bad"} {
		s, err := p.NewSession("m")
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Append(said(text), said("more")); err != nil {
			t.Fatal(err)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		if text != "bad" {
			continue
		}
		name := filepath.Join(p.sessions(), s.ID+sessionSuffix)
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		lines := strings.SplitAfter(string(data), "\n")
		lines[2] = "{\n"
		if err := os.WriteFile(name, []byte(strings.Join(lines, "")+lines[1]), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	list, err := p.Sessions()
	if err != nil || len(list) != 2 {
		t.Fatalf("%+v, %v", list, err)
	}
	damaged := 0
	for _, s := range list {
		if s.Err != nil {
			damaged++
			if s.Title != "bad" {
				t.Errorf("%q is damaged", s.Title)
			}
		}
	}
	s, history, _, err := p.Resume("")
	if damaged != 1 || err != nil || history[0].Text != "good" {
		t.Fatalf("%d damaged; going on with %v, %v", damaged, history, err)
	}
	s.Close()
}

// TestRead reads what other programs may have written.
func TestRead(t *testing.T) {
	p := newProject(t)
	for _, c := range []struct{ id, text, says string }{
		{"newer", `{"kind":"session","version":99}` + "\n", "newer version"},
		{"other", `{"kind":"message","message":{"role":"user","text":"x"}}` + "\n", "damaged: line 1"},
		{"empty", "", "damaged: line 1"},
		{"null", `{"kind":"session","version":1}` + "\n" + `{"kind":"message","message":{"role":"assistant","calls":[{"id":"1","name":"f","arguments":null},{"id":"2","name":"f"}]}}` + "\n", ""},
	} {
		if err := os.MkdirAll(p.sessions(), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(p.sessions(), c.id+sessionSuffix), []byte(c.text), 0o600); err != nil {
			t.Fatal(err)
		}
		history, err := p.Read(c.id)
		if c.says != "" {
			if err == nil || !strings.Contains(err.Error(), c.says) {
				t.Errorf("%s: got %v, want %q", c.id, err, c.says)
			}
			continue
		}
		if err != nil || len(history) != 1 || string(history[0].Calls[0].Arguments) != "{}" || string(history[0].Calls[1].Arguments) != "{}" {
			t.Errorf("%s: got %+v, %v", c.id, history, err)
		}
	}
}
