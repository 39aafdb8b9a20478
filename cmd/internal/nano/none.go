//go:build nonano

package nano

// Data returns nil: this build has no embedded model.
func Data() []byte { return nil }
