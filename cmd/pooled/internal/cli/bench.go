package cli

import (
	"context"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/pooled/pooled/cmd/internal/console"
	"github.com/pooled/pooled/cmd/internal/options"
	"github.com/pooled/pooled/cmd/internal/terminal"
	"github.com/pooled/pooled/core/engine"
	"github.com/pooled/pooled/core/model"
	"github.com/pooled/pooled/core/units"
)

type benchFlags struct {
	options.Model
	prompt, tokens int
	depths         []int
	reps           int
	json           bool
}

func (c *commands) bench() *cobra.Command {
	f := benchFlags{Model: options.DefaultModel()}
	cmd := &cobra.Command{
		Use:   "bench",
		Short: "Measure how fast a model reads and writes on this machine",
		Long: `Measures prefill (reading a prompt) and decode (writing an answer) in tokens a second, at several depths: with so
many positions held before. Prompts are random tokens. The numbers are medians.`,
		Example: `  pooled bench -m my.gguf
  pooled bench --json --depths 0,1024,4096`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return c.doBench(cmd.Context(), &f) },
	}
	f.Add(cmd.Flags())
	cmd.Flags().IntVarP(&f.prompt, "prompt", "p", 512, "tokens of the prompt")
	cmd.Flags().IntVarP(&f.tokens, "tokens", "n", 64, "tokens to decode")
	cmd.Flags().IntSliceVar(&f.depths, "depths", []int{0}, "positions held before each measurement")
	cmd.Flags().IntVarP(&f.reps, "repeat", "r", 3, "measurements to take the median of")
	cmd.Flags().BoolVar(&f.json, "json", false, "print JSON")
	return cmd
}

// benchResult is what bench prints.
type benchResult struct {
	Model    string     `json:"model"`
	Family   string     `json:"family"`
	Backend  string     `json:"backend"`
	Device   string     `json:"device"`
	Detail   string     `json:"detail"`
	LoadMS   float64    `json:"load_ms"`
	Weights  int64      `json:"weights_bytes"`
	State    int64      `json:"state_bytes"`
	Resident int64      `json:"resident_bytes"`
	Rows     []benchRow `json:"rows"`
	Passes   []pass     `json:"passes"`
}

// pass is what a pass over several tokens takes, in milliseconds and in plain steps: the price of drafts.
type pass struct {
	Columns int     `json:"columns"`
	MS      float64 `json:"ms"`
	Steps   float64 `json:"steps"`
}

// benchRow is one depth; speeds are in tokens a second.
type benchRow struct {
	Depth   int     `json:"depth"`
	Prompt  int     `json:"prompt"`
	Prefill float64 `json:"prefill"`
	Tokens  int     `json:"tokens"`
	Decode  float64 `json:"decode"`
}

func (c *commands) doBench(ctx context.Context, f *benchFlags) error {
	if f.prompt < 1 || f.tokens < 1 || f.reps < 1 {
		return console.Usage("--prompt, --tokens and --repeat must be at least 1")
	}
	deepest := 0
	for _, d := range f.depths {
		if d < 0 {
			return console.Usage("--depths: %d is below 0", d)
		}
		deepest = max(deepest, d)
	}
	if f.Context == 0 {
		f.Context = deepest + max(f.prompt, f.tokens+1, slices.Max(passWidths))
	}
	start := time.Now()
	m, err := c.load(ctx, &f.Model)
	if err != nil {
		return err
	}
	defer m.Close()
	out := benchResult{
		Model: m.Name, Family: m.Plan.Family, Backend: m.Device.Backend, Device: m.Device.Name, Detail: m.Device.Detail,
		Weights: m.Weights, State: m.State, LoadMS: ms(time.Since(start)),
	}
	err = m.Use(ctx, func(ctx context.Context, s engine.Session) error {
		b := &bench{session: s, vocab: m.Plan.Vocab, rng: rand.New(rand.NewPCG(1, 2))}
		for _, depth := range f.depths {
			row, err := b.measure(ctx, f, depth)
			if err != nil {
				return fmt.Errorf("depth %d: %w", depth, err)
			}
			out.Rows = append(out.Rows, row)
		}
		var err error
		out.Passes, err = b.passes(ctx, f)
		return err
	})
	if err != nil {
		return err
	}
	out.Resident = resident()
	if f.json {
		return c.JSON(out)
	}
	fmt.Fprintf(c.Out, "%s (%s) on %s: %s, %s\n", terminal.Exact(out.Model), out.Family, out.Backend,
		terminal.Exact(out.Device), terminal.Exact(out.Detail))
	fmt.Fprintf(c.Out, "weights %s, state %s, resident %s, loaded in %.0f ms\n\n",
		units.Bytes(out.Weights), units.Bytes(out.State), units.Bytes(out.Resident), out.LoadMS)
	tw := console.NewNumbers(c.Out)
	tw.Row("depth", "prompt", "prefill tok/s", "tokens", "decode tok/s")
	for _, r := range out.Rows {
		tw.Row(r.Depth, r.Prompt, fmt.Sprintf("%.1f", r.Prefill), r.Tokens, fmt.Sprintf("%.1f", r.Decode))
	}
	if err := tw.Flush(); err != nil {
		return err
	}
	fmt.Fprintf(c.Out, "\nA pass over several tokens, as a draft needs it, at depth %d:\n\n", f.depths[0])
	tw = console.NewNumbers(c.Out)
	tw.Row("tokens", "ms", "plain steps")
	for _, p := range out.Passes {
		tw.Row(p.Columns, fmt.Sprintf("%.2f", p.MS), fmt.Sprintf("%.2f", p.Steps))
	}
	return tw.Flush()
}

// bench measures a session directly, without sampling.
type bench struct {
	session engine.Session
	vocab   int
	rng     *rand.Rand
}

// measure takes the medians at one depth.
func (b *bench) measure(ctx context.Context, f *benchFlags, depth int) (benchRow, error) {
	row := benchRow{Depth: depth, Prompt: f.prompt, Tokens: f.tokens}
	var prefill, decode []float64
	for range f.reps {
		if err := b.hold(ctx, depth); err != nil {
			return row, err
		}
		t := time.Now()
		if _, err := b.forward(ctx, f.prompt, engine.Output{Top: 1}); err != nil {
			return row, err
		}
		prefill = append(prefill, float64(f.prompt)/time.Since(t).Seconds())
		if err := b.hold(ctx, depth); err != nil {
			return row, err
		}
		if _, err := b.forward(ctx, 1, engine.Output{Top: 1}); err != nil {
			return row, err
		}
		t = time.Now()
		for range f.tokens {
			if _, err := b.forward(ctx, 1, engine.Output{Top: 1}); err != nil {
				return row, err
			}
		}
		decode = append(decode, float64(f.tokens)/time.Since(t).Seconds())
	}
	row.Prefill, row.Decode = median(prefill), median(decode)
	return row, nil
}

// passWidths are those of a plain step and of drafts.
var passWidths = []int{1, 2, 3, 4, 6, 8, 12, 16}

// passes measures passes of several columns that can be gone back into, at the first depth. Widths take turns, so that a machine
// that becomes slower or faster does so for all.
func (b *bench) passes(ctx context.Context, f *benchFlags) ([]pass, error) {
	took := make([][]float64, len(passWidths))
	if err := b.hold(ctx, f.depths[0]); err != nil {
		return nil, err
	}
	for range max(8, f.reps*f.tokens/16) {
		for i, n := range passWidths {
			batch := engine.Batch{Pos: f.depths[0], Tokens: b.tokens(n), Output: engine.Output{Top: 1, TopOf: engine.AllColumns}}
			for k := range n - 1 {
				batch.Keep = append(batch.Keep, f.depths[0]+k+1)
			}
			t := time.Now()
			if _, err := b.session.Forward(ctx, batch); err != nil {
				return nil, err
			}
			took[i] = append(took[i], float64(time.Since(t).Microseconds())/1000)
		}
	}
	out := make([]pass, len(passWidths))
	for i, n := range passWidths {
		out[i] = pass{Columns: n, MS: median(took[i])}
		out[i].Steps = out[i].MS / out[0].MS
	}
	return out, nil
}

// hold brings the session to exactly depth positions, where it can come back to.
func (b *bench) hold(ctx context.Context, depth int) error {
	if b.session.Len() >= depth {
		_, err := b.session.Forward(ctx, engine.Batch{Pos: depth})
		return err
	}
	_, err := b.session.Forward(ctx, engine.Batch{Tokens: b.tokens(depth), Keep: []int{depth}})
	return err
}

func (b *bench) forward(ctx context.Context, n int, o engine.Output) (engine.Result, error) {
	return b.session.Forward(ctx, engine.Batch{Pos: b.session.Len(), Tokens: b.tokens(n), Output: o})
}

func (b *bench) tokens(n int) []int32 {
	ids := make([]int32, n)
	for i := range ids {
		ids[i] = int32(b.rng.IntN(b.vocab))
	}
	return ids
}

func median(x []float64) float64 {
	slices.Sort(x)
	return x[len(x)/2]
}

// resident returns the bytes of main memory that the process holds, or what the Go runtime has where the system does
// not say.
func resident() int64 {
	if n := residentOS(); n > 0 {
		return n
	}
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.Sys)
}

// layers describes a plan for people: "12 layers, 3 with attention".
func layers(p *model.Plan) string {
	attention := 0
	for _, l := range p.Layers {
		if l.State.KV != nil {
			attention++
		}
	}
	if attention == len(p.Layers) {
		return strconv.Itoa(attention) + " layers"
	}
	return fmt.Sprintf("%d layers, %d with attention", len(p.Layers), attention)
}
