//go:build !unix

package plugin

// openToAll refuses nothing: who may write is no matter of modes on this system.
func openToAll(string) error { return nil }
