package cli

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync/atomic"
)

// maxMessage bounds what is read of one message.
const maxMessage = 16 << 20

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

// readLine reads a line of at most [maxMessage] bytes.
func readLine(r *bufio.Reader) (string, error) {
	var b strings.Builder
	for {
		part, err := r.ReadSlice('\n')
		b.Write(part)
		if b.Len() > maxMessage {
			return "", fmt.Errorf("a message has more than %d bytes", maxMessage)
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return b.String(), err
		}
	}
}

// readMessage reads a line and those that it goes on in. A last line without a line break counts.
func (c *commands) readMessage(ctx context.Context, in *lines) (string, error) {
	if c.Terminal {
		fmt.Fprint(c.Err, prompt)
	}
	in.drop.Store(false)
	var b strings.Builder
	for {
		l := line{err: io.EOF}
		select {
		case next, more := <-in.next:
			if more {
				l = next
			}
		case <-ctx.Done():
			return "", ctx.Err()
		}
		if in.drop.Swap(false) {
			b.Reset()
		}
		if l.err != nil && (!errors.Is(l.err, io.EOF) || l.text == "" && b.Len() == 0) {
			return "", l.err
		}
		more, goesOn := strings.CutSuffix(strings.TrimRight(l.text, "\r\n"), "\\")
		b.WriteString(more)
		if b.Len() > maxMessage {
			return "", fmt.Errorf("a message has more than %d bytes", maxMessage)
		}
		if !goesOn || l.err != nil {
			return b.String(), nil
		}
		b.WriteByte('\n')
		if c.Terminal {
			fmt.Fprint(c.Err, ". ")
		}
	}
}

// isCommand reports whether a message looks like a command: a slash and one word.
func isCommand(message string) bool {
	word, ok := strings.CutPrefix(message, "/")
	return ok && word != "" && strings.Trim(word, "abcdefghijklmnopqrstuvwxyz") == ""
}
