package plugin

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// copiesFolder holds what was approved, in the plugin folder: a copy of each bundle that only this user can enter, by its sum.
// What runs is the copy, so that nothing can change between the check and the start.
const (
	copiesFolder = ".approved"
	newCopy      = ".new-" // begins the name of one that is being made
)

// held returns the program of the private copy of a bundle, which is made if it is not there.
//
// Errors: [ErrChanged] where what lies in the plugin folder has another sum, even though a copy of what was approved is there.
func (s spec) held() (string, error) {
	now, err := s.bundle.sum()
	if err != nil {
		return "", fmt.Errorf("plugin %s: %w", s.name, err)
	}
	if now != s.sum {
		return "", s.changed(now)
	}
	all := filepath.Join(s.dir, copiesFolder)
	if err := privateFolder(all); err != nil {
		return "", fmt.Errorf("plugin %s: %w", s.name, err)
	}
	root := filepath.Join(all, s.sum)
	inside := s.bundle
	inside.root = root
	if s.bundle.main == "" {
		inside.root = s.bundle.program(root)
	}
	if got, err := inside.sum(); err == nil && got == s.sum {
		return s.bundle.program(root), nil
	}
	if err := removeCopy(root); err != nil {
		return "", fmt.Errorf("plugin %s: %w", s.name, err)
	}
	temp, err := os.MkdirTemp(all, newCopy)
	if err != nil {
		return "", fmt.Errorf("plugin %s: %w", s.name, err)
	}
	got, err := s.bundle.copy(temp)
	if err == nil && got != s.sum {
		err = s.changed(got)
	} else if err != nil {
		err = fmt.Errorf("plugin %s: %w", s.name, err)
	}
	if err == nil {
		// Another program may have been faster, with the same.
		if err = os.Rename(temp, root); errors.Is(err, fs.ErrExist) {
			err = nil
		}
	}
	if err != nil {
		return "", errors.Join(err, removeCopy(temp))
	}
	return s.bundle.program(root), removeCopy(temp)
}

// privateFolder makes a folder that only this user can enter, or checks that it is one.
func privateFolder(dir string) error {
	if err := os.Mkdir(dir, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	info, err := os.Lstat(dir)
	if err == nil && !info.IsDir() {
		err = fmt.Errorf("%s is no folder; remove it", dir)
	}
	if err != nil {
		return err
	}
	return openToAll(dir)
}

// removeCopy removes a copy, if it is there.
func removeCopy(root string) error {
	if err := os.RemoveAll(root); err != nil {
		return fmt.Errorf("an old copy: %w", err)
	}
	return nil
}

// dropCopies removes the copies that no approval needs. A process that runs one goes on.
func dropCopies(dir string, approvals map[string]approval) error {
	all := filepath.Join(dir, copiesFolder)
	entries, err := os.ReadDir(all)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	needed := map[string]bool{}
	for _, a := range approvals {
		needed[a.SHA256] = true
	}
	var errs []error
	for _, e := range entries {
		info, err := e.Info()
		if err != nil || needed[e.Name()] || strings.HasPrefix(e.Name(), newCopy) && time.Since(info.ModTime()) < time.Hour {
			continue // it is needed, or is being made
		}
		errs = append(errs, removeCopy(filepath.Join(all, e.Name())))
	}
	return errors.Join(errs...)
}
