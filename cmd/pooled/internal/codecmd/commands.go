package codecmd

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/pooled/pooled/cmd/internal/console"
	"github.com/pooled/pooled/cmd/internal/terminal"
	"github.com/pooled/pooled/core/agent"
	"github.com/pooled/pooled/core/export"
	"github.com/pooled/pooled/core/transcript"
	"github.com/pooled/pooled/core/workspace"
)

// help lists the commands of a conversation.
const help = `/files              the project's files
/undo               take the last change back (/undo force: even if somebody changed the file since)
/open [PAGE]        serve the app and print its address
/export [FILE]      the project as a .zip, or as one .html file that needs no other
/mode [MODE]        what runs without asking: ask, edits or all
/model [NAME]       go on with another model
/tools              the tools, what they may do, and which are left out
/new                start a new session
/sessions           the sessions of this project
/resume [SESSION]   go on with a session, the last one if none is named
/bye                end (Ctrl-D does, too)
\ at the end of a line goes on in the next one. Ctrl-C stops what runs.`

// command runs a command of a conversation.
func (w *work) command(ctx context.Context, text string) (bye bool, err error) {
	name, arg, _ := strings.Cut(text, " ")
	arg = strings.TrimSpace(arg)
	switch name {
	case "help", "?":
		fmt.Fprintln(w.Out, help)
	case "bye", "exit", "quit":
		return true, nil
	case "files":
		return false, w.files(ctx)
	case "undo":
		return false, w.undo(ctx, arg == "force")
	case "open":
		return false, w.openApp(ctx, arg)
	case "export":
		return false, w.export(ctx, arg)
	case "mode":
		return false, w.setMode(arg)
	case "model":
		return false, w.setModel(ctx, arg)
	case "tools":
		w.listTools()
	case "new":
		return false, w.newSession()
	case "sessions":
		return false, w.listSessions()
	case "resume":
		return false, w.resume(arg)
	default:
		return false, fmt.Errorf("there is no command /%s; /help lists them", name)
	}
	return false, nil
}

func (w *work) files(ctx context.Context) error {
	const most = 200
	list, more, err := w.ws.Files(ctx, most)
	if err != nil {
		return err
	}
	for _, f := range list {
		fmt.Fprintf(w.Out, "%8d  %s\n", f.Size, f.Name)
	}
	switch {
	case len(list) == 0:
		w.say("the project is empty")
	case more:
		w.say("and more")
	}
	return nil
}

func (w *work) undo(ctx context.Context, force bool) error {
	c, err := w.ws.Undo(ctx, force)
	switch {
	case errors.Is(err, workspace.ErrNothing):
		w.say("there is nothing to take back")
		return nil
	case errors.Is(err, workspace.ErrConflict):
		return fmt.Errorf("%w; /undo force does it all the same", err)
	case err != nil:
		return err
	}
	w.screen.diff(c.Diff())
	w.say("took the last change of %s back", c.Path)
	w.notes = append(w.notes, fmt.Sprintf("The user took the last change of %s back.", c.Path))
	return nil
}

// openApp serves the app for the browser.
func (w *work) openApp(ctx context.Context, entry string) error {
	r, err := w.tools.ServeApp(ctx, entry)
	if err != nil {
		return err
	}
	if r.IsError {
		return errors.New(strings.TrimPrefix(r.Text, "error: "))
	}
	if r.Health == nil || r.Health.URL == "" {
		return errors.New("the app has no address")
	}
	w.say("%s", r.Text)
	fmt.Fprintln(w.Out, terminal.Exact(r.Health.URL))
	return nil
}

// export writes the project to a file, outside of it unless a place inside is named.
func (w *work) export(ctx context.Context, name string) error {
	if name == "" {
		name = filepath.Base(w.project.Root)
		if w.project.Scratch {
			name = w.project.ID
		}
		var err error
		if name, err = export.Place(w.project.Root, name+".zip"); err != nil {
			return err
		}
	}
	size, left, err := export.File(ctx, name, w.ws.FS())
	if err != nil {
		return err
	}
	w.say("wrote %s (%d bytes)", name, size)
	for _, l := range left {
		w.say("not in it: %s", l)
	}
	return nil
}

func (w *work) setMode(arg string) error {
	if arg == "" {
		w.say("%s", w.agent.Mode())
		return nil
	}
	m := agent.Mode(arg)
	if !m.Valid() {
		return fmt.Errorf("%q is none of ask, edits and all", arg)
	}
	w.agent.SetMode(m)
	return nil
}

func (w *work) setModel(ctx context.Context, ref string) error {
	if ref == "" {
		w.say("%s, context %d, calls written as %s", w.model.Name(), w.model.Context(), w.model.Format())
		return nil
	}
	m, loaded, err := w.Load(ctx, ref)
	if err != nil {
		return err
	}
	if err := w.agent.SetModel(m); err != nil {
		return errors.Join(err, loaded.Close())
	}
	old := w.loaded
	w.model, w.loaded = m, loaded
	w.say("%s works from now on", m.Name())
	return old.Close()
}

// listTools lists the sets of tools.
func (w *work) listTools() {
	for _, s := range w.tools.Sets() {
		if s.Err != nil {
			fmt.Fprintf(w.Out, "%s: left out: %s\n", terminal.Line(s.Name), terminal.Line(s.Err.Error()))
			continue
		}
		where := "does what you can"
		if s.Sandboxed {
			where = "reaches nothing but the project"
		}
		fmt.Fprintf(w.Out, "%s: %s\n", terminal.Line(s.Name), where)
		for _, t := range s.Set.Info().Tools {
			asks := ""
			if w.agent.Asks(t.Name) {
				asks = ", asks first"
			}
			fmt.Fprintf(w.Out, "  %-14s %s%s: %s\n", t.Name, t.Class, asks, terminal.Line(t.Description))
		}
	}
}

func (w *work) newSession() error {
	s, err := w.project.NewSession(w.model.Name())
	if err != nil {
		return err
	}
	if err := w.agent.Clear(s); err != nil {
		return err
	}
	old := w.session
	w.session, w.notes = s, nil
	w.say("a new session")
	return old.Close()
}

func (w *work) listSessions() error {
	list, err := w.project.Sessions()
	if err != nil {
		return err
	}
	if len(list) == 0 {
		w.say("there is none yet")
	}
	for _, s := range list {
		fmt.Fprintln(w.Out, sessionLine(s))
	}
	return nil
}

// sessionLine describes a session that is kept.
func sessionLine(s transcript.SessionInfo) string {
	title := terminal.Exact(s.Title)
	switch {
	case errors.Is(s.Err, transcript.ErrVersion):
		title += " (of a newer version of Pooled)"
	case s.Err != nil:
		title += " (damaged, cannot be gone on with)"
	}
	return fmt.Sprintf("%s  %s  %s  %s", terminal.Exact(s.ID), s.Used.Local().Format("2006-01-02 15:04"), console.Count(s.Turns, "request"), title)
}

func (w *work) resume(id string) error {
	if w.session != nil && id == w.session.ID {
		w.say("this is that session")
		return nil
	}
	s, history, note, err := w.project.Resume(id)
	if err != nil {
		return err
	}
	if note != "" {
		w.say("%s", note)
	}
	old := w.session
	w.session, w.mode = s, w.agent.Mode()
	if err := w.start(history); err != nil {
		return err
	}
	w.greet()
	return old.Close()
}
