package cli

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pooled/pooled/cmd/internal/console"
	"github.com/pooled/pooled/core/gguf"
)

// What a file says about itself must not reach a terminal as commands.
func TestShowHostileFile(t *testing.T) {
	w := gguf.NewWriter()
	for key, v := range map[string]string{"general.architecture": "\x1b[2J", "general.name": "a\nruns here  yes\x1b]52;c;eA==\x07", "general.license": "\u009b5m"} {
		if err := w.Set(key, v); err != nil {
			t.Fatal(err)
		}
	}
	var b bytes.Buffer
	if _, err := w.WriteTo(&b); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "m.gguf")
	if err := os.WriteFile(path, b.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	out := ok(t, "", "show", path)
	if strings.ContainsAny(out, "\x1b\x07\u009b") || !strings.Contains(out, "a runs here yes") {
		t.Errorf("got %q", out)
	}
	if _, errs, code := pooled(t, "", "run", "-m", path, "hi"); code != console.ExitFailed || strings.Contains(errs, "\x1b") {
		t.Errorf("run: exit code %d: %q", code, errs)
	}
}

// failing is an output that cannot be written to, as a full disk.
type failing struct{}

func (failing) Write([]byte) (int, error) { return 0, errors.New("no space left") }

func TestOutputThatFails(t *testing.T) {
	for _, args := range [][]string{{"version"}, {"--help"}, {"list"}, {"doctor"}, {"plugin", "list"}, {"run", "-n", "2", "hi"}, {"tokenize"}, {"show"}} {
		var errs bytes.Buffer
		if code := Main(t.Context(), &console.Console{In: strings.NewReader("hi"), Out: failing{}, Err: &errs}, args); code != console.ExitFailed {
			t.Errorf("pooled %s: exit code %d (%s), want %d", strings.Join(args, " "), code, errs.String(), console.ExitFailed)
		}
	}
}

// endless is an input without an end and without line breaks.
type endless struct{}

func (endless) Read(b []byte) (int, error) { return len(b), nil }

func TestInputWithoutEnd(t *testing.T) {
	for _, args := range [][]string{{"run"}, {"chat"}, {"tokenize"}, {"tokenize", "--jsonl"}, {"template"}} {
		var errs bytes.Buffer
		if code := Main(t.Context(), &console.Console{In: endless{}, Out: io.Discard, Err: &errs}, args); code != console.ExitFailed {
			t.Errorf("pooled %s: exit code %d: %s", strings.Join(args, " "), code, errs.String())
		}
	}
}

func TestIsCommand(t *testing.T) {
	for text, want := range map[string]bool{"/nope": true, "/": false, "/etc/passwd": false, "/two words": false, "a/b": false, "": false} {
		if got := isCommand(text); got != want {
			t.Errorf("%q: got %v, want %v", text, got, want)
		}
	}
}
