package console

import (
	"bytes"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// terminalPair opens a pseudo-terminal: what is written to keyboard is typed, and what tty shows is read from it.
func terminalPair(t *testing.T) (keyboard, tty *os.File) {
	t.Helper()
	keyboard, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Skipf("no pseudo-terminals here: %v", err)
	}
	t.Cleanup(func() { keyboard.Close() })
	n, err := unix.IoctlGetInt(int(keyboard.Fd()), unix.TIOCGPTN)
	if err == nil {
		err = unix.IoctlSetPointerInt(int(keyboard.Fd()), unix.TIOCSPTLCK, 0)
	}
	if err == nil {
		tty, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|unix.O_NOCTTY, 0)
	}
	if err != nil {
		t.Skipf("no pseudo-terminals here: %v", err)
	}
	t.Cleanup(func() { tty.Close() })
	return keyboard, tty
}

// TestTerminal pastes and types at a real terminal.
func TestTerminal(t *testing.T) {
	keyboard, tty := terminalPair(t)
	shown := make(chan string, 100)
	go func() {
		for {
			b := make([]byte, 4096)
			n, err := keyboard.Read(b)
			if err != nil {
				return
			}
			shown <- string(b[:n])
		}
	}()
	var screen strings.Builder
	until := func(text string) {
		t.Helper()
		for deadline := time.After(20 * time.Second); !strings.Contains(screen.String(), text); {
			select {
			case s := <-shown:
				screen.WriteString(s)
			case <-deadline:
				t.Errorf("%q was not shown: %q", text, screen.String())
				return
			}
		}
	}
	before, err := unix.IoctlGetTermios(int(tty.Fd()), getTermios)
	if err != nil {
		t.Fatal(err)
	}
	out, _, key := doors(tty, tty)
	c := &Console{In: tty, Out: out, Terminal: true, Screen: true, key: key}
	d := c.Dialogue(t.Context(), out)
	until(pasteOn)
	fmt.Fprint(keyboard, pasteBegin+"one\ntwo"+pasteEnd+"\n")
	if text, err := d.Message(t.Context()); text != "one\ntwo" || err != nil {
		t.Errorf("a paste: got %q, %v", text, err)
	}
	until("two")
	if strings.Contains(screen.String(), "^[") {
		t.Errorf("the marks are shown: %q", screen.String())
	}
	fmt.Fprint(keyboard, "y\ny\n") // before the question
	go func() {
		until("allow? ")
		fmt.Fprint(keyboard, "no\n")
	}()
	if reply, err := d.Ask(t.Context(), "allow? "); reply.Text != "no" || reply.Pasted || err != nil {
		t.Errorf("got %+v, %v", reply, err)
	}
	d.Close()
	after, err := unix.IoctlGetTermios(int(tty.Fd()), getTermios)
	if err != nil || !bytes.Equal(fmt.Append(nil, *after), fmt.Append(nil, *before)) {
		t.Errorf("the terminal is not as it was: %v", err)
	}
	until(pasteOff)
}
