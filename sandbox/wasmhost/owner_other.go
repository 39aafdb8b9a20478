//go:build !unix

package wasmhost

import "io/fs"

// ownedByUs reports true: the folder lies in the user's own cache folder, which the system protects.
func ownedByUs(fs.FileInfo) bool { return true }
