//go:build !unix

package workspace

// nonblock is for the named pipes of Unix.
const nonblock = 0
