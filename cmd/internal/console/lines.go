package console

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync/atomic"
	"time"
)

// MaxMessage bounds a message that a person or a script writes. Units: bytes.
const MaxMessage = 16 << 20

// lines are the lines of an input that is read in the background, so that waiting for a person can be ended.
type lines struct {
	next chan line // closed after the end or an error
	// drop is set to forget what was said so far of a message that goes on.
	drop atomic.Bool
	held *line // was taken from next, but not read
	// within says that the beginning of a paste was taken, and its end was not.
	within bool
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
	next := l.held
	if l.held = nil; next == nil {
		select {
		case got, more := <-l.next:
			if !more {
				return "", io.EOF
			}
			next = &got
		case <-ctx.Done():
			return "", ctx.Err()
		}
	}
	text := strings.TrimRight(next.text, "\r\n")
	if errors.Is(next.err, io.EOF) && text != "" {
		return text, nil
	}
	return text, next.err
}

// quiet is how long nothing may come for what was typed or pasted before to count as over, and patience how long that is
// waited for.
const (
	quiet    = 150 * time.Millisecond
	patience = 3 * time.Second
)

// discard forgets what was written so far, what comes without a pause after it, and all of a paste that has begun.
func (l *lines) discard(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	for {
		select {
		case got, more := <-l.next:
			if !more || got.err != nil {
				if more {
					l.held = &line{err: got.err}
				}
				return
			}
			l.mark(got.text)
		case <-time.After(quiet):
			if !l.within {
				return
			}
		case <-ctx.Done():
			return
		}
	}
}

// What a terminal puts around text that is pasted, once it is asked to.
const (
	pasteOn    = "\x1b[?2004h"
	pasteOff   = "\x1b[?2004l"
	pasteBegin = "\x1b[200~"
	pasteEnd   = "\x1b[201~"
)

// mark notes what the marks of a line that was taken say about pastes, and reports whether there are any.
func (l *lines) mark(text string) bool {
	from, to := strings.LastIndex(text, pasteBegin), strings.LastIndex(text, pasteEnd)
	if from == to {
		return false
	}
	l.within = from > to
	return true
}

// message reads a line and those that it goes on in: behind a backslash, or because they were pasted together. again is
// called before more is to be typed. Pasted says that a part was not typed. The rest of a paste whose beginning was discarded is
// no message.
func (l *lines) message(ctx context.Context, again func()) (text string, pasted bool, err error) {
	l.drop.Store(false)
	var b strings.Builder
	late := l.within // the rest of such a paste comes
	for {
		text, err := l.read(ctx)
		if l.drop.Swap(false) {
			b.Reset()
			l.within, late, pasted = false, false, false
		}
		if errors.Is(err, io.EOF) && b.Len() > 0 {
			return b.String(), pasted, nil
		}
		if err != nil {
			return "", false, err
		}
		marked := l.mark(text)
		if late && l.within {
			continue
		}
		if late {
			late = false
			text = text[strings.LastIndex(text, pasteEnd)+len(pasteEnd):]
			marked = false
		}
		pasted = pasted || marked
		text = strings.NewReplacer(pasteBegin, "", pasteEnd, "").Replace(text)
		more, goesOn := strings.CutSuffix(text, `\`)
		if l.within {
			more = text
		}
		b.WriteString(more)
		if b.Len() > MaxMessage {
			return "", false, errLong()
		}
		if !l.within && !goesOn {
			return b.String(), pasted, nil
		}
		b.WriteByte('\n')
		if !l.within {
			again()
		}
	}
}
