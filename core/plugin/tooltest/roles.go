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

// approved asks every tool that changes files what it would do, changes the file, and approves what was shown: the tool must
// not do something else. One that gives no sum cannot be held to it.
func approved(ctx context.Context, s tool.Set) error {
	for _, t := range s.Info().Tools {
		if !t.Previews || t.Does != tool.WritesFile && t.Does != tool.EditsFile {
			continue
		}
		err := with(ctx, s, map[string]string{page: pageText}, func(p project) error { return p.holds(ctx, t) })
		if err != nil {
			return fmt.Errorf("%s, which %s: %w", t.Name, t.Does, err)
		}
	}
	return nil
}

// holds looks whether a tool holds itself to what was approved.
func (p project) holds(ctx context.Context, t tool.Spec) error {
	args, err := filled(t, p.values(t))
	if err != nil {
		return err
	}
	name := filepath.Join(p.dir, page)
	shown, err := p.call(ctx, tool.Call{Name: t.Name, Arguments: args, DryRun: true})
	if err != nil || shown.Sum == "" {
		return err
	}
	other := "<!-- before -->\n"
	if err := os.WriteFile(name, []byte(other), 0o600); err != nil {
		return err
	}
	r, err := p.call(ctx, tool.Call{Name: t.Name, Arguments: args, Approved: shown.Sum})
	if err != nil {
		return err
	}
	if now, err := os.ReadFile(name); err != nil || !r.IsError || string(now) != other {
		return errors.Join(err, fmt.Errorf("the file changed after its change was shown; the call answers %q, and the file holds %q", r.Text, now))
	}
	if shown, err = p.call(ctx, tool.Call{Name: t.Name, Arguments: args, DryRun: true}); err != nil {
		return err
	}
	if r, err = p.call(ctx, tool.Call{Name: t.Name, Arguments: args, Approved: shown.Sum}); err == nil && r.IsError {
		err = fmt.Errorf("what was shown and approved is not done: %s", r.Text)
	}
	return err
}

// values are what the roles of a tool are filled with.
func (p project) values(t tool.Spec) map[string]string {
	return map[string]string{t.Roles.Path: page, t.Roles.Content: "<p>after</p>\n", t.Roles.Old: "before", t.Roles.New: "after"}
}

// plays calls a tool with its roles filled in.
func (p project) plays(ctx context.Context, t tool.Spec) error {
	args, err := filled(t, p.values(t))
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
