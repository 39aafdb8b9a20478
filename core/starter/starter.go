// Package starter holds the projects to begin with: a few small pages that work as they are.
package starter

import (
	"context"
	"embed"
	"fmt"
	"io/fs"
	"strings"

	"github.com/pooled/pooled/core/workspace"
)

//go:embed starters
var starterFiles embed.FS

// Starter is a project to begin with.
type Starter struct {
	Name, Description string
}

// All lists what there is to begin with.
func All() []Starter {
	return []Starter{
		{"blank", "an empty folder"},
		{"page", "one page with a little style"},
		{"app", "a form and a list, with style and script in files of their own"},
		{"game", "a canvas, a loop and the arrow keys"},
	}
}

// Write writes a starter into a project that has no files yet. It can be undone.
//
// Errors: [ErrUnknown], [ErrNotEmpty], those of the workspace.
func Write(ctx context.Context, w *workspace.Workspace, name string) error {
	known, names := false, []string{}
	for _, s := range All() {
		known = known || s.Name == name
		names = append(names, s.Name)
	}
	if !known {
		return fmt.Errorf("%w: the starter %q; there are %s", ErrUnknown, name, strings.Join(names, ", "))
	}
	some, _, err := w.Files(ctx, 1)
	switch {
	case err != nil:
		return err
	case len(some) > 0:
		return fmt.Errorf("%w: it has %s", ErrNotEmpty, some[0].Name)
	case name == "blank":
		return nil
	}
	root, err := fs.Sub(starterFiles, "starters/"+name)
	if err != nil {
		return err
	}
	return fs.WalkDir(root, ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := fs.ReadFile(root, path)
		if err != nil {
			return err
		}
		change, err := w.PrepareWrite(path, data)
		if err != nil {
			return err
		}
		return w.Apply(ctx, change)
	})
}
