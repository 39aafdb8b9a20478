package transcript_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/pooled/pooled/core/transcript"
)

func TestDamagedSession(t *testing.T) {
	store := transcript.OpenStore(t.TempDir())
	project, err := store.Project(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	session, err := project.NewSession("script")
	if err != nil {
		t.Fatal(err)
	}
	id := session.ID
	name := filepath.Join(filepath.Dir(project.State()), "sessions", id+".jsonl")
	if err := errors.Join(
		session.Append(&transcript.Message{Role: "user", Text: "Go"}, &transcript.Message{Role: "assistant", Text: "Done."}),
		session.End(transcript.Outcome{Reason: transcript.ReasonStop}), session.Close(),
	); err != nil {
		t.Fatal(err)
	}
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
		var damaged *transcript.DamagedError
		if _, _, _, err := project.Resume(id); !errors.As(err, &damaged) || damaged.Line != c.line+1 {
			t.Errorf("%s: got %v", c.name, err)
		}
	}
	for _, id := range []string{"nothing", "../" + id, "a/b", ".."} {
		if _, _, _, err := project.Resume(id); !errors.Is(err, transcript.ErrUnknown) {
			t.Errorf("%q: got %v, want %v", id, err, transcript.ErrUnknown)
		}
	}
}

// TestVersion1 reads a session of the first version: a page that was written, taken back and written again. What goes on in
// it is written in the same form, so that its messages have the same members.
func TestVersion1(t *testing.T) {
	data, err := os.ReadFile("testdata/v1.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	p, err := transcript.OpenStore(t.TempDir()).Scratch()
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(filepath.Dir(p.Root), "sessions")
	if err := errors.Join(os.MkdirAll(dir, 0o700), os.WriteFile(filepath.Join(dir, "old.jsonl"), data, 0o600)); err != nil {
		t.Fatal(err)
	}
	s, history, note, err := p.Resume("")
	if err != nil || note != "" || s.ID != "old" {
		t.Fatalf("got %v, %q, %v", s, note, err)
	}
	defer s.Close()
	var roles []string
	for _, m := range history {
		roles = append(roles, m.Role)
	}
	if got, want := strings.Join(roles, " "), "user assistant tool assistant tool assistant"; got != want {
		t.Fatalf("got %s, want %s", got, want)
	}
	if c := history[1].Calls; len(c) != 1 || c[0].Argument("content") != "good" || len(history[1].IDs) == 0 || history[2].Diff == "" {
		t.Errorf("got %+v", history[1:3])
	}
	for _, m := range history[len(history)-5:] {
		line, err := json.Marshal(m)
		if err != nil {
			t.Fatal(err)
		}
		var plain any // the file has < and > as they are
		if err := json.Unmarshal(line, &plain); err != nil {
			t.Fatal(err)
		}
		if !slices.ContainsFunc(bytes.Split(data, []byte("\n")), func(old []byte) bool {
			var e struct{ Message any }
			return json.Unmarshal(old, &e) == nil && reflect.DeepEqual(e.Message, plain)
		}) {
			t.Errorf("the session has no message %s", line)
		}
	}
	if list, err := p.Sessions(); err != nil || len(list) != 1 || list[0].Title != "Make a page" || list[0].Turns != 1 {
		t.Errorf("got %+v, %v", list, err)
	}
}

func TestProjects(t *testing.T) {
	home, root := t.TempDir(), t.TempDir()
	store := transcript.OpenStore(filepath.Join(home, "projects"))
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
	if err := session.Append(&transcript.Message{Role: "user", Text: "What is this?"}); err != nil {
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
		store := transcript.OpenStore(t.TempDir())
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
		if err := s.Append(&transcript.Message{Role: "user", Text: "more"}); err != nil {
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
	m := transcript.Message{Role: "tool", Text: "x", CallID: "call00001"}
	got, err := json.Marshal(m)
	if want := `{"role":"tool","text":"x","call_id":"call00001"}`; err != nil || string(got) != want {
		t.Errorf("got %s, %v, want %s", got, err, want)
	}
	if got := transcript.ReasonLoop.String(); !strings.Contains(got, "repeats") {
		t.Errorf("got %q", got)
	}
}
