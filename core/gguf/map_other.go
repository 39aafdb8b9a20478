//go:build !unix && !windows

package gguf

import (
	"errors"
	"os"
)

// mapFile refuses: this platform has no mappings, files are read piece by piece.
func mapFile(*os.File, int64) (*memory, error) { return nil, errors.ErrUnsupported }
