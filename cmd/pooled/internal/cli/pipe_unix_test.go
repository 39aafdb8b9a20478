//go:build unix

package cli

import (
	"context"
	"io"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/pooled/pooled/cmd/internal/console"
)

// TestPipesThatAreNamed waits for a program or a template that a person gives as a pipe, until they have enough.
func TestPipesThatAreNamed(t *testing.T) {
	pipe := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"js", pipe}, {"template", "--template", pipe}} {
		ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
		code := Main(ctx, &console.Console{In: strings.NewReader("{}"), Out: io.Discard, Err: io.Discard}, args)
		if cancel(); code == 0 {
			t.Errorf("pooled %s: exit code %d", strings.Join(args, " "), code)
		}
	}
}

// TestPipes gives every command that opens a file a named pipe that nobody writes to: it must say so and not wait.
func TestPipes(t *testing.T) {
	dir := t.TempDir()
	pipe := filepath.Join(dir, "pipe.gguf")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{
		{"run", "-m", pipe, "hi"},
		{"show", pipe},
		{"pull", pipe},
		{"code", pipe, "-p", "x"},
		{"js", "--tree", pipe, "-"},
		{"tokenize", "-m", pipe},
		{"template", "-m", pipe},
		{"page", pipe},
	} {
		done := make(chan bool)
		go func() {
			defer close(done)
			_, errs, code := pooled(t, "{}", args...)
			if code != 1 && code != 2 || !strings.Contains(errs, "pipe") {
				t.Errorf("pooled %s: exit code %d, %q", strings.Join(args, " "), code, errs)
			}
		}()
		select {
		case <-done:
		case <-time.After(time.Minute):
			t.Fatalf("pooled %s waits for the pipe", strings.Join(args, " "))
		}
	}
}
