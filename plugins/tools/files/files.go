// Package files is the set of tools that look at a project and change it: list_dir, read_file, search, edit_file and
// write_file. What they may reach, and how changes are undone, is core/workspace's.
package files

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/pooled/pooled/core/tool"
	"github.com/pooled/pooled/core/workspace"
)

// Limits of what a model reads at once.
const (
	maxList  = 200
	maxLines = 600
	maxBytes = 24 << 10
	maxFound = 50
)

// prompt is what every model is told of the tools.
var prompt = []string{
	"write_file creates a file or replaces all of it. Give it the whole content: nothing left out, no placeholders.",
	"To change a part of a file, call read_file first, then edit_file with an old text that occurs exactly once.",
}

// Set is the set; its zero value is ready.
type Set struct{}

// Info implements [tool.Set].
func (Set) Info() tool.Info {
	return tool.Info{Name: "files", Contract: tool.ContractVersion, Prompt: prompt, Tools: []tool.Spec{
		{
			Name: "list_dir", Class: tool.Read, Roles: tool.Roles{Path: "path", Brief: []string{"path"}},
			Description: "List a folder of the project.",
			Parameters:  json.RawMessage(`{"type":"object","properties":{"path":{"type":"string"}}}`),
		},
		{
			Name: "read_file", Class: tool.Read, Does: tool.ReadsFile, Roles: tool.Roles{Path: "path", Brief: []string{"path"}},
			Description: "Read a text file.",
			Parameters: json.RawMessage(`{"type":"object","properties":{"path":{"type":"string"},` +
				`"offset":{"type":"integer","description":"first line, from 1"},` +
				`"limit":{"type":"integer","description":"number of lines"}},"required":["path"]}`),
		},
		{
			Name: "search", Class: tool.Read, Roles: tool.Roles{Path: "path", Brief: []string{"path", "query"}},
			Description: "Find lines that contain a text, in all files or below path.",
			Parameters: json.RawMessage(`{"type":"object","properties":{"query":{"type":"string"},"path":{"type":"string"}},` +
				`"required":["query"]}`),
		},
		{
			Name: "edit_file", Class: tool.Edit, Previews: true, Does: tool.EditsFile,
			Roles:       tool.Roles{Path: "path", Old: "old", New: "new", Brief: []string{"path"}},
			Description: "Replace a text in a file. old must be there exactly once, unless all is true.",
			Parameters: json.RawMessage(`{"type":"object","properties":{"path":{"type":"string"},` +
				`"old":{"type":"string"},"new":{"type":"string"},"all":{"type":"boolean"}},"required":["path","old","new"]}`),
		},
		{
			Name: "write_file", Class: tool.Edit, Previews: true, Does: tool.WritesFile,
			Roles:       tool.Roles{Path: "path", Content: "content", Brief: []string{"path"}},
			Description: "Create a file or replace all of it.",
			Parameters: json.RawMessage(`{"type":"object","properties":{"path":{"type":"string"},"content":{"type":"string"}},` +
				`"required":["path","content"]}`),
		},
	}}
}

// Open implements [tool.Set].
func (Set) Open(_ context.Context, p tool.Project) (tool.Session, error) {
	w, err := workspace.Open(p.Root, p.State)
	if err != nil {
		return nil, err
	}
	return &session{w}, nil
}

type session struct{ w *workspace.Workspace }

// Close implements [tool.Session].
func (s *session) Close() error { return s.w.Close() }

// arguments are those of every tool.
type arguments struct {
	Path    string
	Offset  int
	Limit   int
	Query   string
	Old     string
	New     string
	All     bool
	Content string
}

// Call implements [tool.Session].
func (s *session) Call(ctx context.Context, c tool.Call) (tool.Result, error) {
	var a arguments
	if err := json.Unmarshal(c.Arguments, &a); err != nil {
		return tool.Result{}, err
	}
	switch c.Name {
	case "list_dir":
		return s.list(ctx, a)
	case "read_file":
		return s.read(ctx, a)
	case "search":
		return s.search(ctx, a)
	case "edit_file":
		change, err := s.w.PrepareEdit(a.Path, a.Old, a.New, a.All)
		if err != nil {
			return tool.Result{}, s.instead(ctx, a.Path, err, ". To create it, call write_file with all of its content")
		}
		return s.change(ctx, c, change)
	case "write_file":
		change, err := s.w.PrepareWrite(a.Path, []byte(a.Content))
		if err != nil {
			return tool.Result{}, s.instead(ctx, a.Path, err, "")
		}
		return s.change(ctx, c, change)
	}
	return tool.Result{}, fmt.Errorf("there is no tool %q", c.Name)
}

func (s *session) list(ctx context.Context, a arguments) (tool.Result, error) {
	list, more, err := s.w.List(ctx, a.Path)
	if errors.Is(err, workspace.ErrKind) && s.isFile(a.Path) {
		return tool.Result{}, fmt.Errorf("%s is a file, not a folder; read it with read_file", workspace.Escape(a.Path))
	}
	if err != nil {
		return tool.Result{}, s.hint(ctx, "folder", a.Path, err, "")
	}
	if len(list) == 0 {
		return tool.Result{Text: "the folder is empty"}, nil
	}
	var text strings.Builder
	for i, e := range list {
		if i == maxList {
			fmt.Fprintf(&text, "… %d more, use search or list a folder", len(list)-i)
			if more {
				text.WriteString(" (there are more than can be counted)")
			}
			break
		}
		text.WriteString(e.Name)
		switch {
		case e.Dir:
			text.WriteByte('/')
		case e.Kind != "":
			fmt.Fprintf(&text, " (%s)", e.Kind)
		}
		text.WriteByte('\n')
	}
	return tool.Result{Text: strings.TrimSuffix(text.String(), "\n")}, nil
}

// isFile reports whether a path is a file of the project.
func (s *session) isFile(path string) bool {
	name, err := workspace.Clean(path)
	if err != nil {
		return false
	}
	st, err := fs.Stat(s.w.FS(), name)
	return err == nil && st.Mode().IsRegular()
}

func (s *session) read(ctx context.Context, a arguments) (tool.Result, error) {
	limit := a.Limit
	if limit <= 0 || limit > maxLines {
		limit = maxLines
	}
	p, err := s.w.Read(ctx, a.Path, a.Offset, limit, maxBytes)
	if err != nil {
		return tool.Result{}, s.instead(ctx, a.Path, err, "")
	}
	if p.Size == 0 {
		return tool.Result{Text: "the file is empty"}, nil
	}
	text := p.Text
	note := func(format string, args ...any) {
		if !strings.HasSuffix(text, "\n") {
			text += "\n"
		}
		text += fmt.Sprintf(format, args...)
	}
	next := p.First + p.Lines
	switch {
	case p.More > 0:
		note("… %d more lines, use offset=%d", p.More, next)
	case p.More < 0:
		note("… more lines, use offset=%d (the file has %d bytes)", next, p.Size)
	}
	if p.LongLines > 0 {
		note("(%d long lines are not shown whole)", p.LongLines)
	}
	if p.Invalid {
		note("(the file is not UTF-8: \uFFFD stands for what cannot be read)")
	}
	return tool.Result{Text: text}, nil
}

// instead says what to do instead of what cannot be done with a file; create is what to do where there is none.
func (s *session) instead(ctx context.Context, asked string, err error, create string) error {
	var edit *workspace.EditError
	switch {
	case errors.As(err, &edit) && edit.Whole:
		return fmt.Errorf("%w with write_file", err)
	case errors.Is(err, workspace.ErrKind) && s.isFolder(asked):
		return fmt.Errorf("%s is a folder, not a file; list it with list_dir", workspace.Escape(asked))
	}
	return s.hint(ctx, "file", asked, err, create)
}

// isFolder reports whether a path is a folder of the project.
func (s *session) isFolder(path string) bool {
	name, err := workspace.Clean(path)
	if err != nil {
		return false
	}
	st, err := fs.Stat(s.w.FS(), name)
	return err == nil && st.IsDir()
}

// hint says of a file or a folder that is not there where one of that name is, or what there is and how to create it.
func (s *session) hint(ctx context.Context, kind, asked string, err error, create string) error {
	var pe *workspace.PathError
	if !errors.As(err, &pe) || !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	files, _, walkErr := s.w.Files(ctx, 2000)
	if walkErr != nil {
		return err
	}
	base := strings.ToLower(asked[strings.LastIndexAny(asked, `/\`)+1:])
	var alike, all []string
	for _, f := range files {
		if strings.ToLower(f.Name[strings.LastIndexByte(f.Name, '/')+1:]) == base && len(alike) < 3 {
			alike = append(alike, f.Name)
		}
		if len(all) < 8 {
			all = append(all, f.Name)
		}
	}
	missing := fmt.Sprintf("%s: there is no such %s", pe.Path, kind)
	switch {
	case len(alike) > 0:
		return fmt.Errorf("%s; did you mean %s?", missing, strings.Join(alike, " or "))
	case len(all) == 0:
		return fmt.Errorf("%s; the project is empty%s", missing, create)
	case len(files) > len(all):
		return fmt.Errorf("%s; there are %s, …%s", missing, strings.Join(all, ", "), create)
	}
	return fmt.Errorf("%s; there are %s%s", missing, strings.Join(all, ", "), create)
}

func (s *session) search(ctx context.Context, a arguments) (tool.Result, error) {
	found, err := s.w.Search(ctx, a.Query, a.Path, maxFound)
	if err != nil {
		return tool.Result{}, err
	}
	var text strings.Builder
	for _, m := range found.Matches {
		if m.Line == 0 {
			fmt.Fprintf(&text, "%s (its name)\n", m.Path)
			continue
		}
		fmt.Fprintf(&text, "%s:%d: %s\n", m.Path, m.Line, m.Text)
	}
	switch {
	case len(found.Matches) == 0:
		fmt.Fprintf(&text, "no matches in %s", plural(found.Files, "file"))
	case found.More > 0:
		fmt.Fprintf(&text, "… %d more matches, use path or a longer query", found.More)
	}
	if found.Partial {
		text.WriteString("\n(the project is too large to be searched whole, use path)")
	}
	return tool.Result{Text: strings.TrimSuffix(text.String(), "\n")}, nil
}

// change applies a prepared change, or only shows it.
func (s *session) change(ctx context.Context, c tool.Call, change *workspace.Change) (tool.Result, error) {
	r := tool.Result{Diff: change.Diff()}
	if len(r.Diff) > tool.MaxText {
		r.Diff = fmt.Sprintf("--- %s\n+++ %s\n(the difference is too long to be shown)\n", change.Path, change.Path)
	}
	switch {
	case c.Name == "write_file":
		r.Text = fmt.Sprintf("wrote %s (%d bytes)", change.Path, len(change.After))
		if change.Existed && bytes.Equal(change.Before, change.After) {
			r.Text += "\nnothing changed: this is what the file held"
		}
	case change.Replaced > 1:
		r.Text = fmt.Sprintf("edited %s (%d places)", change.Path, change.Replaced)
	default:
		r.Text = "edited " + change.Path
	}
	var err error
	r.Data, err = json.Marshal(map[string]any{"path": change.Path, "created": !change.Existed, "bytes": len(change.After)})
	if err != nil {
		return tool.Result{}, err
	}
	if c.DryRun {
		r.Sum = change.Sum()
		return r, nil
	}
	if c.Approved != "" && c.Approved != change.Sum() {
		return tool.Result{}, fmt.Errorf("%s changed while you were asked about it; nothing was done. Read it again", change.Path)
	}
	err = s.w.Apply(ctx, change)
	if change.ID != "" {
		r.Changes = []string{change.ID}
	}
	return r, err
}

func plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}
