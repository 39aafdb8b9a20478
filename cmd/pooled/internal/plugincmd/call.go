package plugincmd

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/pooled/pooled/cmd/internal/console"
	"github.com/pooled/pooled/cmd/internal/terminal"
	"github.com/pooled/pooled/core/plugin"
	"github.com/pooled/pooled/core/tool"
)

// callFlags are those of "plugin call".
type callFlags struct {
	dir       string
	yes, json bool
}

func (d Deps) call() *cobra.Command {
	f := callFlags{}
	c := &cobra.Command{
		Use:   "call NAME TOOL [JSON]",
		Short: "Run one tool, as a model would",
		Long: `Call runs a tool of a set that is built in or approved, in a project folder, with the confinement and the questions that it has
under an agent: what changes the project or leaves the sandbox is shown first. JSON are the arguments; - reads them from standard
input. Changes are not recorded, so they cannot be taken back with /undo. The exit code is 1 where the tool could not do it.`,
		Example: `  pooled plugin call tools/files read_file '{"path": "README.md"}'
  pooled plugin call weather weather '{"place": "Zürich"}' --json`,
		Args: cobra.MaximumNArgs(3),
		RunE: func(cmd *cobra.Command, args []string) error { return d.doCall(cmd.Context(), &f, args) },
	}
	c.Flags().StringVarP(&f.dir, "dir", "C", ".", "the project `folder`")
	c.Flags().BoolVarP(&f.yes, "yes", "y", false, "do not ask")
	c.Flags().BoolVar(&f.json, "json", false, "print the whole result as JSON")
	return c
}

// called is a result as "plugin call --json" writes it.
type called struct {
	Text    string          `json:"text"`
	IsError bool            `json:"is_error"`
	Diff    string          `json:"diff,omitempty"`
	Data    json.RawMessage `json:"data,omitempty"`
	Health  *tool.Health    `json:"health,omitempty"`
}

func (d Deps) doCall(ctx context.Context, f *callFlags, args []string) error {
	arguments := []byte("{}")
	switch {
	case len(args) == 3 && args[2] == "-":
		var err error
		if arguments, err = d.Input(); err != nil {
			return err
		}
	case len(args) == 3:
		arguments = []byte(args[2])
	}
	if !json.Valid(arguments) {
		return console.Usage("the arguments are not JSON: %.80q", arguments)
	}
	root, err := filepath.Abs(f.dir)
	if err != nil {
		return err
	}
	args = append(args, "", "")[:2] // what is missing is answered with what there is
	offer, spec, err := d.offered(ctx, args[0], args[1])
	if err != nil {
		return err
	}
	state, err := os.MkdirTemp("", "pooled-call-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(state)
	s, err := offer.Open(ctx, tool.Project{Root: root, State: state})
	if err != nil {
		return err
	}
	defer s.Close()
	c := tool.Call{Name: spec.Name, Arguments: arguments, Progress: func(line string) { d.Note("%s", line) }}
	if !f.yes && (spec.Class == tool.Edit || spec.Class != tool.Read && !offer.Rights.Sandboxed) {
		shown, err := d.allow(ctx, s, spec, c)
		if err != nil {
			return err
		}
		if shown.IsError { // it cannot be done, so nobody is asked
			return d.printResult(f, shown)
		}
		c.Approved = shown.Sum
	}
	r, err := s.Call(ctx, c)
	if err != nil {
		return err
	}
	return d.printResult(f, r)
}

// offered finds a tool by the names of its set and its own.
func (d Deps) offered(ctx context.Context, set, name string) (plugin.Offer, *tool.Spec, error) {
	offers, err := d.Catalog().Tools(ctx)
	if err != nil {
		return plugin.Offer{}, nil, err
	}
	var known []string
	for _, o := range offers {
		known = append(known, o.Name)
		if o.Name != set && (!o.BuiltIn || o.Info().Name != set) {
			continue
		}
		if spec := o.Info().Tool(name); spec != nil {
			return o, spec, nil
		}
		if name == "" {
			return o, nil, console.Usage("which tool of %s? It has %s", set, toolNames(o.Info()))
		}
		return o, nil, console.Usage("%s has no tool %.80q; it has %s", set, name, toolNames(o.Info()))
	}
	if set == "" {
		return plugin.Offer{}, nil, console.Usage("which tools? There are %s", strings.Join(known, ", "))
	}
	if e, err := find(d.Catalog(), set); err == nil {
		if e.State != plugin.Approved {
			return plugin.Offer{}, nil, fmt.Errorf("plugin %s: %w; run: pooled plugin approve %[1]s", e.Name, plugin.ErrNotApproved)
		}
		return plugin.Offer{}, nil, console.Usage("%s is no set of tools", e.Name)
	} else if !errors.Is(err, plugin.ErrUnknown) {
		return plugin.Offer{}, nil, err
	}
	return plugin.Offer{}, nil, console.Usage("there are no tools %.80q; there are %s", set, strings.Join(known, ", "))
}

// allow shows what a call would do and asks for it. It returns the dry run that was shown, empty of a tool without one.
func (d Deps) allow(ctx context.Context, s tool.Session, spec *tool.Spec, c tool.Call) (shown tool.Result, err error) {
	what := fmt.Sprintf("%s (%s) with %s", spec.Name, spec.Class, c.Arguments)
	if spec.Previews {
		c.DryRun = true
		if shown, err = s.Call(ctx, c); err != nil || shown.IsError {
			return shown, err
		}
		if shown.Diff != "" {
			what = strings.TrimSuffix(shown.Diff, "\n")
		}
	}
	for line := range strings.SplitSeq(what, "\n") {
		fmt.Fprintln(d.Err, terminal.Plainly(line))
	}
	if !d.Confirm(ctx, "Allow it? [y/N] ") {
		return shown, errors.New("it was not allowed; --yes allows it without a question")
	}
	return shown, nil
}

func (d Deps) printResult(f *callFlags, r tool.Result) error {
	if f.json {
		if err := d.JSON(called{r.Text, r.IsError, r.Diff, r.Data, r.Health}); err != nil {
			return err
		}
	} else {
		fmt.Fprintln(d.Out, d.Shown(strings.TrimSuffix(r.Text, "\n")))
	}
	if r.IsError {
		return console.Exit(console.ExitFailed)
	}
	return nil
}
