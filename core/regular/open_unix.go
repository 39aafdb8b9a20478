//go:build unix

package regular

import "syscall"

// nonblock keeps the opening of a named pipe from waiting for its other end. A plain file ignores it.
const nonblock = syscall.O_NONBLOCK
