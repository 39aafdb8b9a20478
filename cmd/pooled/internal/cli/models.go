package cli

import (
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/pooled/pooled/cmd/internal/console"
	"github.com/pooled/pooled/cmd/internal/nano"
	"github.com/pooled/pooled/cmd/internal/terminal"
	"github.com/pooled/pooled/core/hub"
	"github.com/pooled/pooled/core/store"
	"github.com/pooled/pooled/core/units"
)

func (c *commands) pull() *cobra.Command {
	var name bool
	cmd := &cobra.Command{
		Use:   "pull SOURCE",
		Short: "Download a model, or take one in from a file or folder",
		Long: `Brings a model into the model folder. The source is a name of the catalog (see 'pooled pull --catalog'), a URL,
hf:OWNER/REPOSITORY/FILE.gguf, a file or a folder. An interrupted download goes on where it stopped.`,
		Example: `  pooled pull qwen2.5-coder-0.5b
  pooled pull https://example.org/model.gguf#sha256=…
  pooled pull hf:Qwen/Qwen3-0.6B-GGUF/Qwen3-0.6B-Q8_0.gguf
  pooled pull ./model.gguf`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			switch {
			case name && len(args) > 0:
				return console.Usage("--catalog and a source were given; want one of them")
			case name:
				return c.printCatalog()
			case len(args) == 0:
				return console.Usage("name a model to pull; 'pooled pull --catalog' lists those that have a name")
			}
			s, err := c.assembly.Store()
			if err != nil {
				return err
			}
			bar := &progressBar{c: c, status: c.Status(c.Err)}
			m, err := s.Pull(cmd.Context(), args[0], bar.show)
			bar.status.Clear()
			if err != nil {
				return err
			}
			fmt.Fprintf(c.Out, "%s is ready (%s): pooled chat -m %s\n", m.Name, units.Bytes(m.Size), m.Name)
			return nil
		},
	}
	cmd.Flags().BoolVar(&name, "catalog", false, "list the models that can be pulled by name")
	return cmd
}

func (c *commands) printCatalog() error {
	tw := console.NewTable(c.Out)
	tw.Row("NAME", "PARAMETERS", "SIZE", "LICENCE", "DESCRIPTION")
	for _, e := range store.Catalog() {
		size := "?"
		if e.Size > 0 {
			size = units.Bytes(e.Size)
		}
		tw.Row(e.Name, e.Parameters, size, e.Licence, e.Description)
	}
	return tw.Flush()
}

// progressBar shows a pull: one line that is written over for a person, a line every few seconds otherwise.
type progressBar struct {
	c      *commands
	status *console.Status
	last   time.Time
	phase  store.Phase
}

// How often a pull is shown, to a person and to a script.
const (
	everyPerson = 200 * time.Millisecond
	everyScript = 5 * time.Second
)

func (b *progressBar) show(p store.Progress) {
	every := everyPerson
	if !b.c.Terminal {
		every = everyScript
	}
	if p.Phase == b.phase && time.Since(b.last) < every {
		return
	}
	b.last, b.phase = time.Now(), p.Phase
	line := fmt.Sprintf("%s: %s", p.File, p.Phase)
	if p.Parts > 1 {
		line = fmt.Sprintf("%s (part %d of %d): %s", p.File, p.Part, p.Parts, p.Phase)
	}
	if p.Total > 0 {
		line += fmt.Sprintf(" %s of %s (%d%%)", units.Bytes(p.Bytes), units.Bytes(p.Total), 100*p.Bytes/p.Total)
	}
	if p.Rate > 0 {
		line += fmt.Sprintf(", %s/s", units.Bytes(int64(p.Rate)))
	}
	if p.ETA > 0 {
		line += fmt.Sprintf(", %v left", p.ETA.Round(time.Second))
	}
	if p.Note != "" {
		line += " (" + p.Note + ")"
	}
	if b.c.Terminal {
		b.status.Show("%s", line)
		return
	}
	fmt.Fprintln(b.c.Err, terminal.Line(line))
}

func (c *commands) list() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use: "list", Aliases: []string{"ls"},
		Short: "List the models on this machine",
		Example: `  pooled list
  pooled list --json`,
		Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			s, err := c.assembly.Store()
			if err != nil {
				return err
			}
			models, err := s.List()
			if err != nil {
				return err
			}
			if asJSON {
				return c.JSON(listJSON(models))
			}
			tw := console.NewTable(c.Out)
			tw.Row("NAME", "SIZE", "MODIFIED", "NOTE")
			if data := nano.Data(); data != nil {
				tw.Row(nano.Name, units.Bytes(int64(len(data))), "", "built in; very small")
			}
			for _, m := range models {
				tw.Row(m.Name, units.Bytes(m.Size), m.Modified.Format(time.DateOnly), m.Problem)
			}
			unfinished, err := s.Unfinished()
			if err != nil {
				return err
			}
			for _, u := range unfinished {
				if u.Bytes == 0 {
					continue // nothing came
				}
				next := "; pull it again to go on"
				if u.Source != "" {
					next = "; go on with: pooled pull " + u.Source
				}
				tw.Row(u.Name, units.Bytes(u.Bytes), "", "unfinished"+next)
			}
			return tw.Flush()
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

type listRow struct {
	Name    string `json:"name"`
	Path    string `json:"path,omitempty"`
	Size    int64  `json:"size"`
	BuiltIn bool   `json:"built_in,omitempty"`
	Problem string `json:"problem,omitempty"`
}

func listJSON(models []store.Model) []listRow {
	rows := []listRow{}
	if data := nano.Data(); data != nil {
		rows = append(rows, listRow{Name: nano.Name, Size: int64(len(data)), BuiltIn: true})
	}
	for _, m := range models {
		rows = append(rows, listRow{Name: m.Name, Path: m.Path, Size: m.Size, Problem: m.Problem})
	}
	return rows
}

func (c *commands) remove() *cobra.Command {
	return &cobra.Command{
		Use: "rm NAME…", Aliases: []string{"remove"},
		Short:   "Delete models, and what interrupted downloads of them left",
		Example: "  pooled rm qwen2.5-coder-0.5b",
		Args:    cobra.MinimumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			s, err := c.assembly.Store()
			if err != nil {
				return err
			}
			for _, name := range args {
				if name == nano.Name {
					return errors.New("nano is built in and cannot be removed")
				}
				if err := s.Remove(name); err != nil {
					return err
				}
				fmt.Fprintln(c.Out, "removed", name)
			}
			return nil
		},
	}
}

func (c *commands) show() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "show [MODEL]",
		Short: "Say what a model is and what it needs",
		Example: `  pooled show qwen2.5-coder-0.5b
  pooled show ./any-model.gguf --json`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			ref := nano.Name
			if len(args) > 0 {
				ref = args[0]
			}
			f, name, err := c.assembly.Open(ref)
			if err != nil {
				return err
			}
			defer f.Close()
			d := store.Describe(f)
			if asJSON {
				return c.JSON(showJSON(name, d))
			}
			tw := console.NewTable(c.Out)
			tw.Row("model", name)
			tw.Row("name in the file", d.Name)
			tw.Row("architecture", d.Architecture)
			tw.Row("parameters", fmt.Sprintf("%.1f million", float64(d.Parameters)/1e6))
			tw.Row("size", units.Bytes(d.Size))
			tw.Row("types", d.Mix())
			tw.Row("context", d.Context)
			tw.Row("vocabulary", fmt.Sprintf("%d (%s)", d.Vocabulary, d.Tokenizer))
			tw.Row("chat template", yesNo(d.Template))
			tw.Row("licence", or(d.Licence, "not stated in the file"))
			fit, err := c.assembly.Hub().Fit(cmd.Context(), f, hub.LoadOptions{})
			if plan := fit.Plan; plan != nil {
				tw.Row("family", plan.Family+", "+layers(plan))
				kv, rec := plan.StateBytes(wholeRange(plan), plan.Context)
				kv += plan.DraftBytes(plan.Context)
				tw.Row("caches", fmt.Sprintf("%s at its full context", units.Bytes(kv+rec)))
			}
			if err != nil {
				tw.Row("runs here", "no: "+err.Error())
			} else {
				tw.Row("runs here", fmt.Sprintf("on %s, with a context of %d", fit.Parts[0].Device.Name, fit.Context))
			}
			return tw.Flush()
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

type showResult struct {
	Model        string      `json:"model"`
	Path         string      `json:"path,omitempty"`
	Name         string      `json:"name"`
	Architecture string      `json:"architecture"`
	Parameters   int64       `json:"parameters"`
	Size         int64       `json:"size"`
	Parts        int         `json:"parts"`
	Layers       int         `json:"layers"`
	Hidden       int         `json:"hidden"`
	Context      int         `json:"context"`
	Vocabulary   int         `json:"vocabulary"`
	Tokenizer    string      `json:"tokenizer"`
	Template     bool        `json:"template"`
	Licence      string      `json:"licence"`
	Quantisation string      `json:"quantisation"`
	Types        []typeShare `json:"types"`
}

type typeShare struct {
	Type     string `json:"type"`
	Tensors  int    `json:"tensors"`
	Elements int64  `json:"elements"`
	Bytes    int64  `json:"bytes"`
}

func showJSON(name string, d *store.Details) showResult {
	r := showResult{
		Model: name, Path: d.Path, Name: d.Name, Architecture: d.Architecture, Parameters: d.Parameters, Size: d.Size,
		Parts: d.Parts, Layers: d.Layers, Hidden: d.Hidden, Context: d.Context, Vocabulary: d.Vocabulary,
		Tokenizer: d.Tokenizer, Template: d.Template, Licence: d.Licence, Quantisation: d.Quantisation, Types: []typeShare{},
	}
	for _, t := range d.Types {
		r.Types = append(r.Types, typeShare{t.Type.String(), t.Tensors, t.Elems, t.Bytes})
	}
	return r
}

func yesNo(b bool) string {
	if b {
		return "yes"
	}
	return "no (a base model: use 'pooled run --raw')"
}

func or(s, instead string) string {
	if s == "" {
		return instead
	}
	return s
}
