//go:build unix

package plugin

import (
	"fmt"
	"os"
)

// openToAll refuses a file or folder that everybody may write to: whoever does decides what runs.
func openToAll(name string) error {
	info, err := os.Stat(name)
	if err != nil {
		return err
	}
	if info.Mode()&0o002 != 0 {
		return fmt.Errorf("%w: everybody may write to %s; take that right away: chmod -R o-w", ErrBroken, name)
	}
	return nil
}
