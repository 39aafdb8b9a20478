package tooltest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/pooled/pooled/core/tool"
)

// The page that tools with roles are tried on.
const (
	page     = "index.html"
	pageText = "<!doctype html>\n<title>before</title>\n"
)

// roles calls every tool that says what it does by its roles alone, and looks whether it did that.
func roles(ctx context.Context, s tool.Set) error {
	for _, t := range s.Info().Tools {
		if t.Does == "" {
			continue
		}
		err := with(ctx, s, map[string]string{page: pageText}, func(p project) error { return p.plays(ctx, t) })
		if err != nil {
			return fmt.Errorf("%s, which %s: %w", t.Name, t.Does, err)
		}
	}
	return nil
}

// plays calls a tool with its roles filled in.
func (p project) plays(ctx context.Context, t tool.Spec) error {
	values := map[string]string{t.Roles.Path: page, t.Roles.Content: "<p>after</p>\n", t.Roles.Old: "before", t.Roles.New: "after"}
	args, err := filled(t, values)
	if err != nil {
		return err
	}
	r, err := p.call(ctx, tool.Call{Name: t.Name, Arguments: args})
	if err != nil {
		return err
	}
	now, err := os.ReadFile(filepath.Join(p.dir, page))
	if err != nil {
		return err
	}
	want := pageText
	switch t.Does {
	case tool.ReadsFile:
		if !strings.Contains(r.Text, "<title>before</title>") {
			return fmt.Errorf("it answers %q, without the text of the file", r.Text)
		}
	case tool.WritesFile:
		want = "<p>after</p>\n"
	case tool.EditsFile:
		want = strings.Replace(pageText, "before", "after", 1)
	case tool.ServesApp:
		if t.Reports && r.Health == nil {
			return errors.New("it does not say how the page is")
		}
	}
	if string(now) != want {
		return fmt.Errorf("the file holds %q, want %q", now, want)
	}
	return nil
}

// filled makes the least arguments that fit the schema, with some of them given.
func filled(t tool.Spec, values map[string]string) (json.RawMessage, error) {
	schema, err := tool.ParseSchema(t.Parameters)
	if err != nil {
		return nil, err
	}
	args := minimal(schema).(map[string]any)
	for name, v := range values {
		if name != "" {
			args[name] = v
		}
	}
	return json.Marshal(args)
}
