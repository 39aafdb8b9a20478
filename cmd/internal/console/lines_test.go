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
				if text, _, err := l.message(t.Context(), func() {}); text != want.text || !errors.Is(err, want.err) {
					t.Fatalf("got %q, %v, want %q, %v", text, err, want.text, want.err)
				}
			}
		})
	}
}

// TestPastes tells what is pasted from what is typed.
func TestPastes(t *testing.T) {
	const on, off = pasteBegin, pasteEnd
	for _, c := range []struct {
		in, want string
		pasted   bool
	}{
		{"typed\n", "typed", false},
		{on + "a\nb\nc" + off + "\n", "a\nb\nc", true},
		{"say " + on + "a\n  b\n" + off + " please\n", "say a\n  b\n please", true},
		{on + "a\\\nb" + off + "\n", "a\\\nb", true}, // a backslash in a paste is one
		{"one" + off + "\n", "one", true},            // the end of a paste whose beginning was forgotten
		{on + "a" + off + on + "b" + off + "\n", "ab", true},
		{on + "never ends\n", "never ends\n", true},
	} {
		text, pasted, err := readLines(t.Context(), strings.NewReader(c.in)).message(t.Context(), func() { t.Error("asked for more") })
		if text != c.want || pasted != c.pasted || err != nil {
			t.Errorf("%q: got %q, pasted %v, %v, want %q, %v", c.in, text, pasted, err, c.want, c.pasted)
		}
	}
}

// TestAskForgets does not take for an answer what was written before the question.
func TestAskForgets(t *testing.T) {
	r, w := io.Pipe()
	defer w.Close()
	asked := make(chan bool)
	d := (&Console{In: r, Out: io.Discard, Terminal: true}).Dialogue(t.Context(), signals{asked})
	defer d.Close()
	go func() {
		for range 3 {
			io.WriteString(w, "y\n")
		}
		<-asked
		io.WriteString(w, "no\n")
	}()
	if reply, err := d.Ask(t.Context(), "allow? "); err != nil || reply.Text != "no" {
		t.Errorf("got %+v, %v", reply, err)
	}
	w.Close()
	go func() { <-asked }()
	if _, err := d.Ask(t.Context(), "allow? "); !errors.Is(err, io.EOF) {
		t.Errorf("at the end of the input: %v", err)
	}
}

// signals is an output that says when something was written.
type signals struct{ written chan bool }

func (s signals) Write(b []byte) (int, error) {
	s.written <- true
	return len(b), nil
}

// fails is an input that cannot be read.
type fails struct{ err error }

func (f fails) Read([]byte) (int, error) { return 0, f.err }

// endless is an input without an end and without line breaks.
type endless struct{}

func (endless) Read(b []byte) (int, error) { return len(b), nil }

func TestMessageWithoutEnd(t *testing.T) {
	if text, _, err := readLines(t.Context(), endless{}).message(t.Context(), func() {}); text != "" || err == nil || errors.Is(err, io.EOF) {
		t.Errorf("got %d bytes, %v", len(text), err)
	}
}

// TestPasteAroundQuestion pastes something that begins before a question and ends after it: nothing of it is an answer.
func TestPasteAroundQuestion(t *testing.T) {
	r, w := io.Pipe()
	defer w.Close()
	l := readLines(t.Context(), r)
	go io.WriteString(w, "\x1b[200~first\nsecond\n")
	before, end := context.WithTimeout(t.Context(), 2*quiet)
	defer end()
	l.discard(before)
	go io.WriteString(w, "y\ny\nlast\x1b[201~no\ny\n")
	for _, want := range []string{"no", "y"} {
		if text, pasted, err := l.message(t.Context(), func() {}); text != want || pasted || err != nil {
			t.Errorf("got %q, %v, %v; want %q", text, pasted, err, want)
		}
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
			text, _, err := l.message(ctx, func() { goesOn <- true })
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
