//go:build darwin || freebsd || netbsd || openbsd

package console

import "golang.org/x/sys/unix"

const (
	getTermios = unix.TIOCGETA
	setTermios = unix.TIOCSETA
)

const fread = 1 // FREAD of <sys/fcntl.h>: the input side

func flush(fd int) { _ = unix.IoctlSetPointerInt(fd, unix.TIOCFLUSH, fread) } // what is no terminal has nothing to forget
