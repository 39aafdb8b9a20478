//go:build unix

package workspace

import "syscall"

// nonblock keeps the opening of a named pipe from waiting for its other end.
const nonblock = syscall.O_NONBLOCK
