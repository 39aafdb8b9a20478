package agent_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pooled/pooled/core/agent"
	"github.com/pooled/pooled/core/toolcall"
	"github.com/pooled/pooled/core/transcript"
)

// TestResumeAfterAnyKill cuts the file of a session at every byte, as a kill could.
func TestResumeAfterAnyKill(t *testing.T) {
	b := newBench(t, toolcall.QwenXML, 8192, nil, call("write_file", "path", "a.txt", "content", "x"), "Done.")
	b.run("Go", transcript.ReasonStop)
	name := sessionFile(t, b)
	whole, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if err := b.opt.Session.Close(); err != nil {
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
		b.run("Go on", transcript.ReasonStop)
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
