//go:build linux || darwin || freebsd || netbsd || openbsd

package console

import (
	"fmt"
	"io"
	"os"

	"golang.org/x/sys/unix"
)

// markPastes asks the terminal to mark what is pasted, so that it can be told from what is typed, and keeps the marks from
// being echoed as text. It returns what undoes both.
func markPastes(c *Console) (restore func()) {
	f, ok := c.In.(*os.File)
	if !ok {
		return func() {}
	}
	fd := int(f.Fd())
	before, err := unix.IoctlGetTermios(fd, getTermios)
	if err != nil {
		return func() {}
	}
	now := *before
	now.Lflag &^= unix.ECHOCTL // an escape is echoed as it is, and so obeyed, which for these marks does nothing
	if err := unix.IoctlSetTermios(fd, setTermios, &now); err != nil {
		return func() {}
	}
	fmt.Fprint(c.Out, c.mark(pasteOn))
	return func() {
		fmt.Fprint(c.Out, c.mark(pasteOff))
		_ = unix.IoctlSetTermios(fd, setTermios, before) // the terminal may be gone
	}
}

// flushInput forgets what a terminal has received and nobody has read.
func flushInput(in io.Reader) {
	if f, ok := in.(*os.File); ok {
		flush(int(f.Fd()))
	}
}
