// Package plugincmd holds the commands "pooled plugin": listing, approving and removing plugins for users, checking and
// starting new ones for authors, and serving what is built in, which is how Pooled runs it.
package plugincmd

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/pooled/pooled/cmd/internal/console"
	"github.com/pooled/pooled/cmd/internal/terminal"
	"github.com/pooled/pooled/core/plugin"
	"github.com/pooled/pooled/core/tool"
)

// Deps is what the commands need of the program.
type Deps struct {
	*console.Console
	// Catalog returns the program's plugins; it is called when a command runs.
	Catalog func() *plugin.Catalog
	// Wasm loads WebAssembly tools for "check"; it may be nil.
	Wasm plugin.WasmLoader
}

// New returns the command "plugin".
func New(d Deps) *cobra.Command {
	c := &cobra.Command{
		Use:   "plugin",
		Short: "Manage and write plugins",
		Long: `Plugins add model families and tools. A plugin is a program in the plugin folder (see "pooled plugin list"). It runs in a
process of its own, and only after you approved it; it has to be approved again whenever its program changes.`,
		Example: `  pooled plugin list
  pooled plugin new models mine
  pooled plugin approve mine`,
		Args: cobra.NoArgs,
	}
	c.AddCommand(d.list(), d.check(), d.create(), d.call(), d.approve(), d.remove(), d.serve())
	return c
}

// listed is an entry as "plugin list --json" writes it.
type listed struct {
	Name          string       `json:"name"`
	Kind          string       `json:"kind,omitempty"`
	State         plugin.State `json:"state"`
	Architectures []string     `json:"architectures"`
	Tools         []string     `json:"tools,omitempty"`
	Path          string       `json:"path,omitempty"`
	SHA256        string       `json:"sha256,omitempty"`
	Error         string       `json:"error,omitempty"`
}

func (d Deps) list() *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use:   "list",
		Short: "List the plugins and what they add",
		Example: `  pooled plugin list
  pooled plugin list --json`,
		Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			entries, err := d.Catalog().List()
			if err != nil {
				return err
			}
			if asJSON {
				return writeJSON(d.Out, entries)
			}
			return writeTable(d.Out, d.Catalog().Dir(), entries)
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return c
}

func writeJSON(w io.Writer, entries []plugin.Entry) error {
	all := make([]listed, 0, len(entries))
	for _, e := range entries {
		l := listed{
			Name: e.Name, Kind: e.Kind, State: e.State, Architectures: append([]string{}, e.Info.Architectures...),
			Path: e.Path, SHA256: e.SHA256,
		}
		for _, t := range e.Tools.Tools {
			l.Tools = append(l.Tools, t.Name)
		}
		if e.Err != nil {
			l.Error = e.Err.Error()
		}
		all = append(all, l)
	}
	enc := json.NewEncoder(w)
	enc.SetIndent("", "  ")
	return enc.Encode(all)
}

func writeTable(w io.Writer, dir string, entries []plugin.Entry) error {
	t := console.NewTable(w)
	t.Row("NAME", "STATE", "ADDS")
	for _, e := range entries {
		what := strings.Join(e.Info.Architectures, ", ")
		if e.Kind == plugin.KindTools {
			what = toolNames(e.Tools)
		}
		if what == "" {
			what = "-"
		}
		what += instead(e)
		t.Row(e.Name, e.State, what)
	}
	if err := t.Flush(); err != nil {
		return err
	}
	for _, e := range entries {
		switch e.State {
		case plugin.Broken:
			fmt.Fprintf(w, "\n%s\n", terminal.Text(e.Err.Error()))
		case plugin.New, plugin.Changed:
			fmt.Fprintf(w, "\n%[1]s is %[2]s. If you trust it: pooled plugin approve %[1]s\n", terminal.Line(e.Name), e.State)
		}
	}
	if dir != "" {
		fmt.Fprintf(w, "\nPlugin folder: %s\n", dir)
	}
	return nil
}

func (d Deps) approve() *cobra.Command {
	var yes bool
	c := &cobra.Command{
		Use:   "approve NAME",
		Short: "Allow a plugin to run, as it is now",
		Long: `Approve records the SHA-256 of the plugin: of its program, or of its whole folder, names and modes included. What runs is a
private copy of what has that sum; after any change, the plugin must be approved again. It runs as you: approve only what
you trust.`,
		Example: "  pooled plugin approve gemma3",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			catalog, out := d.Catalog(), d.Out
			e, err := find(catalog, args[0])
			if err != nil {
				return err
			}
			fmt.Fprintf(out, "Program: %s\nSHA-256: %s\n", terminal.Line(e.Path), e.SHA256)
			if e.State == plugin.Changed {
				fmt.Fprintln(out, "It has changed since you approved it.")
			}
			if len(e.Instead) > 0 {
				fmt.Fprintf(out, "It says that it plans %s%s.\n", terminal.Line(strings.Join(e.Info.Architectures, ", ")), instead(e))
			}
			if !yes && !d.Confirm(cmd.Context(), "Allow it to run? [y/N] ") {
				return fmt.Errorf("plugin %s: %w", e.Name, plugin.ErrNotApproved)
			}
			if e, err = catalog.Approve(cmd.Context(), e.Name, e.SHA256); err != nil {
				return err
			}
			if e.Kind == plugin.KindTools {
				fmt.Fprintf(out, "Approved. It adds the tools %s.\n", describeTools(e.Tools))
				return nil
			}
			fmt.Fprintf(out, "Approved. It plans %s%s.\n", strings.Join(e.Info.Architectures, ", "), instead(e))
			return nil
		},
	}
	c.Flags().BoolVarP(&yes, "yes", "y", false, "do not ask")
	return c
}

// instead says which built-in families a plugin takes the place of.
func instead(e plugin.Entry) string {
	if len(e.Instead) == 0 {
		return ""
	}
	return ", instead of " + strings.Join(e.Instead, " and ")
}

// find returns the dropped-in plugin of a name, in order.
func find(catalog *plugin.Catalog, name string) (plugin.Entry, error) {
	entries, err := catalog.List()
	if err != nil {
		return plugin.Entry{}, err
	}
	for _, e := range entries {
		if e.Name == name && e.State != plugin.BuiltIn {
			return e, e.Err
		}
	}
	return plugin.Entry{}, fmt.Errorf("%q: %w in %s", name, plugin.ErrUnknown, catalog.Dir())
}

func (d Deps) remove() *cobra.Command {
	var yes bool
	c := &cobra.Command{
		Use: "remove NAME", Aliases: []string{"rm"},
		Short:   "Delete a plugin and its approval",
		Example: "  pooled plugin remove gemma3",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			catalog := d.Catalog()
			if _, err := find(catalog, args[0]); errors.Is(err, plugin.ErrUnknown) {
				return err
			}
			if !yes && !d.Confirm(cmd.Context(), fmt.Sprintf("Delete plugin %s from %s? [y/N] ", terminal.Line(args[0]), catalog.Dir())) {
				fmt.Fprintln(d.Out, "Kept.")
				return nil
			}
			if err := catalog.Remove(args[0]); err != nil {
				return err
			}
			fmt.Fprintln(d.Out, "Removed.")
			return nil
		},
	}
	c.Flags().BoolVarP(&yes, "yes", "y", false, "do not ask")
	return c
}

func (d Deps) serve() *cobra.Command {
	return &cobra.Command{
		Use:    "serve KIND/NAME",
		Short:  "Serve what is built in; Pooled runs this itself",
		Hidden: true,
		Args:   cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			return d.Catalog().Serve(args[0])
		},
	}
}

// toolNames lists tools.
func toolNames(info tool.Info) string {
	var names []string
	for _, t := range info.Tools {
		names = append(names, t.Name)
	}
	return strings.Join(names, ", ")
}

// describeTools lists tools with what they do to the user's things.
func describeTools(info tool.Info) string {
	var names []string
	for _, t := range info.Tools {
		names = append(names, fmt.Sprintf("%s (%s)", t.Name, t.Class))
	}
	return strings.Join(names, ", ")
}
