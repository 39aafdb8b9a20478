package agent_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/pooled/pooled/core/agent"
	"github.com/pooled/pooled/core/toolcall"
)

// TestResumeAfterAnyKill cuts the file of a session at every byte, as a kill could.
func TestResumeAfterAnyKill(t *testing.T) {
	b := newBench(t, toolcall.QwenXML, 8192, nil, call("write_file", "path", "a.txt", "content", "x"), "Done.")
	b.run("Go", agent.ReasonStop)
	name := sessionFile(t, b)
	whole, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	first := bytes.IndexByte(whole, '\n') + 1
	every := 97
	if testing.Short() {
		every = 397
	}
	for n := first; n <= len(whole); n++ {
		if err := os.WriteFile(name, whole[:n], 0o600); err != nil {
			t.Fatal(err)
		}
		s, history, note, err := b.project.Resume(strings.TrimSuffix(filepath.Base(name), ".jsonl"))
		if err != nil {
			t.Fatalf("cut at byte %d: %v", n, err)
		}
		if cut := whole[n-1] != '\n'; cut != (note != "") {
			t.Fatalf("cut at byte %d: the note is %q", n, note)
		}
		s.Close()
		if n%every != 0 && n < len(whole)-1 {
			continue
		}
		// Going on leaves a session that can be read.
		o := b.opt
		o.History = history
		if o.Session, _, _, err = b.project.Resume(strings.TrimSuffix(filepath.Base(name), ".jsonl")); err != nil {
			t.Fatal(err)
		}
		b.model.Say("Here I am.")
		if b.agent, err = agent.New(o); err != nil {
			t.Fatal(err)
		}
		b.run("Go on", agent.ReasonStop)
		o.Session.Close()
	}
}

func sessionFile(t *testing.T, b *bench) string {
	t.Helper()
	all, err := filepath.Glob(filepath.Join(filepath.Dir(b.state), "sessions", "*.jsonl"))
	if err != nil || len(all) != 1 {
		t.Fatalf("got %v, %v", all, err)
	}
	return all[0]
}

func TestDamagedSession(t *testing.T) {
	b := newBench(t, toolcall.QwenXML, 8192, nil, "Done.")
	b.run("Go", agent.ReasonStop)
	name := sessionFile(t, b)
	id := strings.TrimSuffix(filepath.Base(name), ".jsonl")
	whole, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	lines := bytes.SplitAfter(whole, []byte("\n"))
	for _, c := range []struct {
		name string
		line int
		with string
	}{
		{"a line that is no JSON", 1, "oops\n"},
		{"a message without a message", 1, `{"kind":"message"}` + "\n"},
		{"a version to come", 0, `{"kind":"session","version":99}` + "\n"},
		{"no session at all", 0, `{"kind":"end"}` + "\n"},
	} {
		other := slices.Clone(lines)
		other[c.line] = []byte(c.with)
		if err := os.WriteFile(name, bytes.Join(other, nil), 0o600); err != nil {
			t.Fatal(err)
		}
		var damaged *agent.DamagedError
		if _, _, _, err := b.project.Resume(id); !errors.As(err, &damaged) || damaged.Line != c.line+1 {
			t.Errorf("%s: got %v", c.name, err)
		}
	}
	for _, id := range []string{"nothing", "../" + id, "a/b", ".."} {
		if _, _, _, err := b.project.Resume(id); !errors.Is(err, agent.ErrUnknown) {
			t.Errorf("%q: got %v, want %v", id, err, agent.ErrUnknown)
		}
	}
}

func TestProjects(t *testing.T) {
	home, root := t.TempDir(), t.TempDir()
	store := agent.OpenStore(filepath.Join(home, "projects"))
	if list, err := store.Projects(); err != nil || len(list) != 0 {
		t.Errorf("got %v, %v", list, err)
	}
	p, err := store.Project(root)
	if err != nil {
		t.Fatal(err)
	}
	again, err := store.Project(root + "/.")
	if err != nil || again.ID != p.ID {
		t.Errorf("got %v, %v, want the same project", again, err)
	}
	link := filepath.Join(home, "link")
	if err := os.Symlink(root, link); err == nil {
		if again, err = store.Project(link); err != nil || again.ID != p.ID {
			t.Errorf("through a link: got %v, %v, want the same project", again, err)
		}
	}
	if _, err := store.Project(filepath.Join(root, "none")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("got %v", err)
	}
	s1, err := store.Scratch()
	if err != nil {
		t.Fatal(err)
	}
	s2, err := store.Scratch()
	if err != nil || s1.Root == s2.Root {
		t.Fatalf("two scratch projects: %v, %v, %v", s1, s2, err)
	}
	if again, err := store.Project(s1.Root); err != nil || again.ID != s1.ID {
		t.Errorf("a scratch project by its folder: got %v, %v", again, err)
	}
	session, err := s2.NewSession("script")
	if err != nil {
		t.Fatal(err)
	}
	defer session.Close()
	if list, err := s2.Sessions(); err != nil || len(list) != 0 {
		t.Errorf("a session without a message is listed: %v, %v", list, err)
	}
	if err := session.Append(&agent.Message{Role: "user", Text: "What is this?"}); err != nil {
		t.Fatal(err)
	}
	list, err := s2.Sessions()
	if err != nil || len(list) != 1 || list[0].Title != "What is this?" || list[0].Model != "script" {
		t.Errorf("got %+v, %v", list, err)
	}
	all, err := store.Projects()
	if err != nil || len(all) != 3 || all[0].ID != s2.ID {
		t.Errorf("got %v, %v, want three, the one that was used first", all, err)
	}
}

func FuzzResume(f *testing.F) {
	f.Add([]byte(`{"kind":"session","version":1}` + "\n" + `{"kind":"message","message":{"role":"user","text":"x"}}` + "\n"))
	f.Add([]byte(`{"kind":"session","version":1}` + "\n" + `{"kind":"back","to":-3}` + "\n{"))
	f.Add([]byte("\n\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		store := agent.OpenStore(t.TempDir())
		p, err := store.Scratch()
		if err != nil {
			t.Fatal(err)
		}
		dir := filepath.Join(filepath.Dir(p.Root), "sessions")
		if err := errors.Join(os.MkdirAll(dir, 0o700), os.WriteFile(filepath.Join(dir, "x.jsonl"), data, 0o600)); err != nil {
			t.Fatal(err)
		}
		s, history, _, err := p.Resume("x")
		if err != nil {
			return
		}
		if err := s.Append(&agent.Message{Role: "user", Text: "more"}); err != nil {
			t.Fatal(err)
		}
		s.Close()
		s, more, note, err := p.Resume("x")
		if err != nil || note != "" || len(more) != len(history)+1 {
			t.Fatalf("after going on: %v, %q, %d messages, want %d", err, note, len(more), len(history)+1)
		}
		s.Close()
	})
}

func TestMessageForm(t *testing.T) {
	m := agent.Message{Role: "tool", Text: "x", CallID: "call00001"}
	got, err := json.Marshal(m)
	if want := `{"role":"tool","text":"x","call_id":"call00001"}`; err != nil || string(got) != want {
		t.Errorf("got %s, %v, want %s", got, err, want)
	}
	if got := fmt.Sprint(agent.ReasonLoop); !strings.Contains(got, "repeats") {
		t.Errorf("got %q", got)
	}
}
