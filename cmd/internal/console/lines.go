package console

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync/atomic"
)

// MaxMessage bounds a message that a person or a script writes. Units: bytes.
const MaxMessage = 16 << 20

// lines are the lines of an input that is read in the background, so that waiting for a person can be ended.
type lines struct {
	next chan line // closed after the end or an error
	// drop is set to forget what was said so far of a message that goes on.
	drop atomic.Bool
}

type line struct {
	text string
	err  error // with the text before it
}

// readLines reads in until its end, an error or the end of ctx.
func readLines(ctx context.Context, in io.Reader) *lines {
	l := &lines{next: make(chan line)}
	go func() {
		defer close(l.next)
		r := bufio.NewReader(in)
		for {
			text, err := readLine(r)
			select {
			case l.next <- line{text, err}:
			case <-ctx.Done():
				return
			}
			if err != nil {
				return
			}
		}
	}()
	return l
}

// readLine reads a line of at most [MaxMessage] bytes.
func readLine(r *bufio.Reader) (string, error) {
	var b strings.Builder
	for {
		part, err := r.ReadSlice('\n')
		b.Write(part)
		if b.Len() > MaxMessage {
			return "", errLong()
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return b.String(), err
		}
	}
}

func errLong() error { return fmt.Errorf("a message has more than %d bytes", MaxMessage) }

// read waits for a line and returns it without its end. A last line without a line break counts.
//
// Errors: io.EOF, the context's, and those of the input.
func (l *lines) read(ctx context.Context) (string, error) {
	select {
	case next, more := <-l.next:
		text := strings.TrimRight(next.text, "\r\n")
		if !more {
			return "", io.EOF
		}
		if errors.Is(next.err, io.EOF) && text != "" {
			return text, nil
		}
		return text, next.err
	case <-ctx.Done():
		return "", ctx.Err()
	}
}

// message reads a line and those that it goes on in; again is called before each of these.
func (l *lines) message(ctx context.Context, again func()) (string, error) {
	l.drop.Store(false)
	var b strings.Builder
	for {
		text, err := l.read(ctx)
		if l.drop.Swap(false) {
			b.Reset()
		}
		if errors.Is(err, io.EOF) && b.Len() > 0 {
			return b.String(), nil
		}
		if err != nil {
			return "", err
		}
		more, goesOn := strings.CutSuffix(text, `\`)
		b.WriteString(more)
		if b.Len() > MaxMessage {
			return "", errLong()
		}
		if !goesOn {
			return b.String(), nil
		}
		b.WriteByte('\n')
		again()
	}
}
