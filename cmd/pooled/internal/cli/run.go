package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/pooled/pooled/cmd/internal/console"
	"github.com/pooled/pooled/cmd/internal/options"
	"github.com/pooled/pooled/core/chat"
	"github.com/pooled/pooled/core/generate"
	"github.com/pooled/pooled/core/hub"
	"github.com/pooled/pooled/core/tokenizer"
)

// runFlags are those of run alone.
type runFlags struct {
	options.Model
	sampling    generate.Options
	raw, json   bool
	ids, system string
}

func (c *commands) run() *cobra.Command {
	f := runFlags{Model: options.DefaultModel(), sampling: options.DefaultSampling()}
	cmd := &cobra.Command{
		Use:   "run [PROMPT]",
		Short: "Answer one prompt, from the argument or from standard input",
		Example: `  pooled run "Why is the sky blue?"
  git diff | pooled run -m qwen2.5-coder-0.5b --system "Review this change." -n 300
  pooled run --raw --temp 0 --json "The capital of France is"`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 1 {
				return console.Usage("the prompt is %d arguments; put it in quotes", len(args))
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			return c.doRun(cmd.Context(), &f, args)
		},
	}
	f.Add(cmd.Flags())
	options.AddSampling(cmd.Flags(), &f.sampling)
	cmd.Flags().StringVar(&f.system, "system", "", "system prompt")
	cmd.Flags().BoolVar(&f.raw, "raw", false, "continue the prompt as it is, without the chat template")
	cmd.Flags().StringVar(&f.ids, "ids", "", "the prompt as token ids: 1,2,3 (implies --raw)")
	cmd.Flags().BoolVar(&f.json, "json", false, "print one JSON object when done")
	cmd.Flags().IntVar(&f.sampling.Logprobs, "logprobs", 0, "with --json: also the `K` likeliest tokens of each step")
	cmd.Flags().BoolVar(&f.sampling.IgnoreEOG, "ignore-end", false, "do not stop at an end token")
	return cmd
}

func (c *commands) doRun(ctx context.Context, f *runFlags, args []string) error {
	if f.sampling.Logprobs > 0 && !f.json {
		return console.Usage("--logprobs is for --json, which was not given")
	}
	if err := options.CheckSampling(&f.sampling); err != nil {
		return err
	}
	text, err := c.promptText(f, args)
	if err != nil {
		return err
	}
	m, err := c.load(ctx, &f.Model)
	if err != nil {
		return err
	}
	defer m.Close()
	prompt, err := f.prompt(ctx, m, text)
	if err != nil {
		return err
	}
	var top [][]generate.TokenLogprob
	r, err := m.NewSlot().Generate(ctx, prompt, f.sampling, nil, func(t generate.Token) error {
		if f.sampling.Logprobs > 0 && t.ID != generate.NoToken {
			top = append(top, t.Top)
		}
		if f.json {
			return nil
		}
		_, err := io.WriteString(c.Out, c.Shown(t.Text))
		return err
	})
	err = options.FlagError(err)
	if f.json {
		if err != nil && r.Finish != generate.FinishCancelled {
			return err
		}
		return errors.Join(c.JSON(runJSON(m, prompt, r, top)), err)
	}
	if r.Text != "" && !strings.HasSuffix(r.Text, "\n") {
		fmt.Fprintln(c.Out)
	}
	if err == nil && r.Finish != generate.FinishStop {
		c.Note("%s", finishText(r, m))
	}
	return err
}

// promptText returns the prompt as it was given: nothing when ids were.
func (c *commands) promptText(f *runFlags, args []string) (string, error) {
	switch {
	case f.ids != "" && len(args) > 0:
		return "", console.Usage("--ids and a prompt were given; want one of them")
	case f.ids != "":
		return "", nil
	case len(args) > 0 && f.blank(args[0]):
		return "", console.Usage("the prompt is empty")
	case len(args) > 0:
		return args[0], nil
	case c.Terminal:
		return "", console.Usage("no prompt: give it as an argument or through a pipe, or use 'pooled chat'")
	}
	b, err := c.Input()
	if err != nil {
		return "", err
	}
	if f.blank(string(b)) {
		return "", console.Usage("the prompt is empty")
	}
	return string(b), nil
}

// blank reports whether a prompt says nothing; one that is to be continued may be white space.
func (f *runFlags) blank(text string) bool {
	return text == "" || !f.raw && strings.TrimSpace(text) == ""
}

// prompt turns the prompt into ids.
func (f *runFlags) prompt(ctx context.Context, m *hub.Model, text string) ([]int32, error) {
	if f.ids != "" {
		return parseIDs(f.ids)
	}
	if f.raw {
		return m.Tokenizer.Encode(text, tokenizer.Options{ParseSpecial: true, AddSpecial: true}), nil
	}
	var msgs []chat.Message
	if f.system != "" {
		msgs = append(msgs, chat.Message{Role: "system", Content: f.system})
	}
	msgs = append(msgs, chat.Message{Role: "user", Content: text})
	p, err := m.Prompt(ctx, chat.Request{Messages: msgs})
	if err != nil {
		return nil, err
	}
	return p.IDs, nil
}

func parseIDs(list string) ([]int32, error) {
	var ids []int32
	for _, part := range strings.Split(list, ",") {
		n, err := strconv.ParseInt(strings.TrimSpace(part), 10, 32)
		if err != nil || n < 0 {
			return nil, console.Usage("--ids: %q is no token id", part)
		}
		ids = append(ids, int32(n))
	}
	return ids, nil
}

// finishText says for people why an answer ended.
func finishText(r generate.Result, m *hub.Model) string {
	switch r.Finish {
	case generate.FinishLength:
		return fmt.Sprintf("ended after %d tokens, the limit", len(r.IDs))
	case generate.FinishContext:
		return fmt.Sprintf("ended because the context of %d positions is full", m.Context)
	case generate.FinishCancelled:
		return "stopped"
	}
	return string(r.Finish)
}

type runResult struct {
	Model        string                `json:"model"`
	Family       string                `json:"family"`
	Backend      string                `json:"backend"`
	Device       string                `json:"device"`
	PromptIDs    []int32               `json:"prompt_ids"`
	IDs          []int32               `json:"ids"`
	Text         string                `json:"text"`
	FinishReason generate.FinishReason `json:"finish_reason"`
	Seed         uint64                `json:"seed"`
	Top          [][][2]any            `json:"top,omitempty"`
	Spec         spec                  `json:"spec"`
	Timings      timings               `json:"timings"`
}

// spec counts the tokens that were drafted, by their place in the drafts and by where they came from.
type spec struct {
	Drafted  int     `json:"drafted"`
	Accepted int     `json:"accepted"`
	ByDepth  []depth `json:"by_depth"`
	Source   sources `json:"source"`
}

type depth struct {
	Drafted  int `json:"drafted"`
	Accepted int `json:"accepted"`
}

type sources struct {
	Draft  int `json:"draft"`
	Lookup int `json:"lookup"`
}

func specJSON(s generate.Speculation) spec {
	out := spec{Drafted: s.Drafted, Accepted: s.Accepted, ByDepth: []depth{}, Source: sources{Draft: s.Draft, Lookup: s.Lookup}}
	for _, d := range s.ByDepth {
		out.ByDepth = append(out.ByDepth, depth(d))
	}
	return out
}

type timings struct {
	PromptTokens int     `json:"prompt_tokens"`
	PromptMS     float64 `json:"prompt_ms"`
	Tokens       int     `json:"tokens"`
	DecodeMS     float64 `json:"decode_ms"`
}

func runJSON(m *hub.Model, prompt []int32, r generate.Result, top [][]generate.TokenLogprob) runResult {
	out := runResult{
		Model: m.Name, Family: m.Plan.Family, Backend: m.Device.Backend, Device: m.Device.Name,
		PromptIDs: prompt, IDs: r.IDs, Text: r.Text, FinishReason: r.Finish, Seed: r.Seed,
		Spec: specJSON(r.Spec),
		Timings: timings{
			PromptTokens: r.Timings.PromptTokens, PromptMS: ms(r.Timings.Prompt),
			Tokens: r.Timings.Tokens, DecodeMS: ms(r.Timings.Decode),
		},
	}
	if out.IDs == nil {
		out.IDs = []int32{}
	}
	for _, step := range top {
		row := [][2]any{}
		for _, t := range step {
			row = append(row, [2]any{t.ID, t.Logprob})
		}
		out.Top = append(out.Top, row)
	}
	return out
}

func ms(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
