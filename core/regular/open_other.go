//go:build !unix

package regular

// nonblock is for the named pipes of Unix.
const nonblock = 0
