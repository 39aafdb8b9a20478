package console

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"
)

// message is what reading one gave.
type message struct {
	text string
	err  error
}

func TestMessages(t *testing.T) {
	broken := errors.New("broken")
	for _, c := range []struct {
		name string
		in   io.Reader
		want []message
	}{
		{"nothing", strings.NewReader(""), []message{{"", io.EOF}}},
		{"lines", strings.NewReader("one\n\ntwo\r\n"), []message{{"one", nil}, {"", nil}, {"two", nil}, {"", io.EOF}}},
		{"a last line without an end", strings.NewReader("one\ntwo"), []message{{"one", nil}, {"two", nil}, {"", io.EOF}}},
		{"a message of two lines", strings.NewReader("one\\\ntwo\nthree\n"), []message{{"one\ntwo", nil}, {"three", nil}, {"", io.EOF}}},
		{"a message that would go on", strings.NewReader("one\\\n"), []message{{"one\n", nil}, {"", io.EOF}}},
		{"a backslash within", strings.NewReader(`a\b`), []message{{`a\b`, nil}, {"", io.EOF}}},
		{"a broken input", io.MultiReader(strings.NewReader("one\ntw"), fails{broken}), []message{{"one", nil}, {"", broken}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			l := readLines(t.Context(), c.in)
			for _, want := range c.want {
				if text, err := l.message(t.Context(), func() {}); text != want.text || !errors.Is(err, want.err) {
					t.Fatalf("got %q, %v, want %q, %v", text, err, want.text, want.err)
				}
			}
		})
	}
}

// fails is an input that cannot be read.
type fails struct{ err error }

func (f fails) Read([]byte) (int, error) { return 0, f.err }

// endless is an input without an end and without line breaks.
type endless struct{}

func (endless) Read(b []byte) (int, error) { return len(b), nil }

func TestMessageWithoutEnd(t *testing.T) {
	if text, err := readLines(t.Context(), endless{}).message(t.Context(), func() {}); text != "" || err == nil || errors.Is(err, io.EOF) {
		t.Errorf("got %d bytes, %v", len(text), err)
	}
}

// TestForget drops what was typed of a message when it is interrupted, and gives up waiting at the end of the context.
func TestForget(t *testing.T) {
	r, w := io.Pipe()
	defer w.Close()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	l := readLines(ctx, r)
	goesOn, got := make(chan bool), make(chan message)
	go func() {
		for {
			text, err := l.message(ctx, func() { goesOn <- true })
			got <- message{text, err}
			if err != nil {
				return
			}
		}
	}()
	io.WriteString(w, "forget\\\n")
	<-goesOn
	l.drop.Store(true)
	io.WriteString(w, "three\n")
	if m := <-got; m.text != "three" || m.err != nil {
		t.Errorf("after an interrupt: got %q, %v", m.text, m.err)
	}
	cancel()
	if m := <-got; !errors.Is(m.err, context.Canceled) {
		t.Errorf("after the end of the context: got %q, %v", m.text, m.err)
	}
}
