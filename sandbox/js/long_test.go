//go:build long

package js

const long = true
