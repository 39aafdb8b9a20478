package console

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"
)

func TestRun(t *testing.T) {
	disk := errors.New("no space left")
	for _, c := range []struct {
		name string
		err  error
		code int
		says string
	}{
		{"done", nil, ExitDone, ""},
		{"an error", errors.New("what\x1b[2J"), ExitFailed, "prog: what\\x1b[2J\n"},
		{"a wrong call", Usage("--x is %d", 1), ExitUsage, "prog: --x is 1\n"},
		{"a wrapped one", fmt.Errorf("run: %w", Usage("--x")), ExitUsage, "prog: run: --x\n"},
		{"a code", Exit(ExitUnfinished), ExitUnfinished, ""},
		{"an interrupt", fmt.Errorf("read: %w", context.Canceled), ExitInterrupted, ""},
		{"an output that was closed", fmt.Errorf("%w: %w", ErrClosed, disk), ExitFailed, ""},
		{"a file that was closed", &os.PathError{Op: "write", Err: os.ErrClosed}, ExitFailed, ""},
	} {
		var errs bytes.Buffer
		con := &Console{Out: io.Discard, Err: &errs}
		if code := con.Run("prog", func(*Console) error { return c.err }); code != c.code || errs.String() != c.says {
			t.Errorf("%s: got %d, %q, want %d, %q", c.name, code, errs.String(), c.code, c.says)
		}
	}
	if Exit(ExitDone) != nil {
		t.Error("the code 0 is an error")
	}
}

// full is an output that cannot be written to.
type full struct{}

func (full) Write([]byte) (int, error) { return 0, errors.New("no space left") }

func TestRunFullDisk(t *testing.T) {
	var errs bytes.Buffer
	con := &Console{Out: full{}, Err: &errs}
	code := con.Run("prog", func(c *Console) error {
		fmt.Fprintln(c.Out, "text")
		return nil
	})
	if code != ExitFailed || errs.String() != "prog: no space left\n" {
		t.Errorf("got %d, %q", code, errs.String())
	}
}

func TestPaint(t *testing.T) {
	for _, c := range []struct {
		on    bool
		color Color
		text  string
		want  string
	}{
		{true, Red, "x", "\x1b[31mx\x1b[0m"},
		{true, Plain, "x", "x"},
		{true, Red, "", ""},
		{false, Red, "x", "x"},
	} {
		if got := (&Console{Color: c.on}).Paint(c.color, c.text); got != c.want {
			t.Errorf("%+v: got %q", c, got)
		}
	}
}

func TestForPeopleOnly(t *testing.T) {
	for _, person := range []bool{false, true} {
		var b bytes.Buffer
		c := &Console{In: strings.NewReader("yes\n"), Out: &b, Err: &b, Terminal: person}
		c.Note("a %s", "remark")
		s := c.Status(&b)
		s.Show("%d\x1b of 2", 1)
		s.Show("2 of 2")
		if s.Clear() != person || s.Clear() {
			t.Error("Clear does not know what is shown")
		}
		d := c.Dialogue(t.Context(), &b)
		text, err := d.Message(t.Context())
		d.Close()
		want := ""
		if person {
			want = "[a remark]\n\r\x1b[K1\\x1b of 2\r\x1b[K2 of 2\r\x1b[K> "
		}
		if b.String() != want || text != "yes" || err != nil {
			t.Errorf("person %v: wrote %q, want %q; read %q, %v", person, b.String(), want, text, err)
		}
	}
}

func TestConfirm(t *testing.T) {
	for answer, want := range map[string]bool{"y\n": true, "Yes": true, "": false, "\n": false, "no, yes\n": false} {
		var out bytes.Buffer
		c := &Console{In: strings.NewReader(answer), Out: &out}
		if got := c.Confirm(t.Context(), "Sure? "); got != want || out.String() != "Sure? " {
			t.Errorf("%q: got %v, asked %q", answer, got, out.String())
		}
	}
}

func TestTable(t *testing.T) {
	var b bytes.Buffer
	left := NewTable(&b)
	left.Row("NAME", "SIZE", "NOTE")
	left.Row("a\nb\x1b", 12, "")
	right := NewNumbers(&b)
	right.Row("a", "long")
	right.Row(1, 2)
	if err := errors.Join(left.Flush(), right.Flush()); err != nil {
		t.Fatal(err)
	}
	if got, want := b.String(), "NAME     SIZE  NOTE\na b\\x1b  12    \n  a  long\n  1     2\n"; got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestInput(t *testing.T) {
	if b, err := (&Console{In: strings.NewReader("all of it")}).Input(); string(b) != "all of it" || err != nil {
		t.Errorf("got %q, %v", b, err)
	}
}

func TestWords(t *testing.T) {
	for got, want := range map[string]string{
		Count(0, "step"): "0 steps", Count(1, "step"): "1 step", Either(): "", Either("a"): "a", Either("a", "b"): "a or b",
		Either("a", "b", "c"): "a, b or c",
	} {
		if got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}
