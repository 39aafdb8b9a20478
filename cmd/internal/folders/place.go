package folders

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// Place is where things of one kind are. At most one of Moved, Stays and Other is set.
type Place struct {
	// Dir is the folder to use.
	Dir string
	// What is in it: "models" or "projects".
	What string
	// Moved is the folder that they were moved from just now.
	Moved string
	// Stays is why they are still in their old folder, which is Dir then.
	Stays error
	// Other is the old folder where it still holds things though Dir exists.
	Other string

	better string // where they would be if they did not stay
}

// News says for people what they must know at once: that things were moved, or why not. It is empty when all is well.
func (p Place) News() string {
	switch {
	case p.Moved != "":
		return fmt.Sprintf("%s are kept in %s from now on; what was in %s was moved there", p.What, p.Dir, p.Moved)
	case p.Stays != nil:
		return fmt.Sprintf("%s stay in %s, for they cannot be moved to %s: %v; move the folder yourself, or set %s",
			p.What, p.Dir, p.better, p.Stays, Home)
	}
	return ""
}

// settle finds out whether things are in the old folder or in the new one, and moves them from the one to the other if they
// can be moved in one step. Of two programs that do this at once, one moves and the other finds what was moved.
func settle(what, old, now string, rename func(from, to string) error) Place {
	p := Place{Dir: now, What: what}
	if old == "" || old == now {
		return p
	}
	if exists(now) {
		if hasAny(old) {
			p.Other = old
		}
		return p
	}
	info, err := os.Lstat(old)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return p
	case err == nil && !info.IsDir():
		err = errLink
	case err == nil:
		if err = os.MkdirAll(filepath.Dir(now), 0o700); err == nil {
			err = rename(old, now)
		}
	}
	switch {
	case err == nil:
		p.Moved = old
	case exists(now) || gone(old):
		// Another program was faster.
	default:
		p.Dir, p.Stays, p.better = old, err, now
	}
	return p
}

// exists reports whether there is anything of a name.
func exists(name string) bool {
	_, err := os.Lstat(name)
	return err == nil
}

// gone reports whether there is nothing of a name, for certain.
func gone(name string) bool {
	_, err := os.Lstat(name)
	return errors.Is(err, fs.ErrNotExist)
}

// hasAny reports whether a folder holds anything.
func hasAny(dir string) bool {
	f, err := os.Open(dir)
	if err != nil {
		return false
	}
	defer f.Close()
	names, err := f.Readdirnames(1)
	return err == nil && len(names) > 0
}
