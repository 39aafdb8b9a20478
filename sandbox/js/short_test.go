//go:build !long

package js

// long asks for the time that a quiet machine has; see -tags long.
const long = false
