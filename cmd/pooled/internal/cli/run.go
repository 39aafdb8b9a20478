package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/pooled/pooled/core/chat"
	"github.com/pooled/pooled/core/generate"
	"github.com/pooled/pooled/core/hub"
	"github.com/pooled/pooled/core/tokenizer"
)

// samplingFlags are the flags of every command that generates.
type samplingFlags struct {
	max              int
	temp, topP, minP float64
	topK             int
	repeatPenalty    float64
	seed             uint64
	stop             []string
	system           string
	logprobs         int
}

func (f *samplingFlags) add(c *cobra.Command) {
	fl := c.Flags()
	fl.IntVarP(&f.max, "max-tokens", "n", 0, "end the answer after so many tokens; 0 for no limit but the context")
	fl.Float64Var(&f.temp, "temp", 0.7, "temperature; 0 always takes the likeliest token")
	fl.IntVar(&f.topK, "top-k", 40, "sample among the k likeliest tokens; 0 for all")
	fl.Float64Var(&f.topP, "top-p", 0.95, "sample among the likeliest tokens that make up this probability")
	fl.Float64Var(&f.minP, "min-p", 0, "leave out tokens below this share of the likeliest token's probability")
	fl.Float64Var(&f.repeatPenalty, "repeat-penalty", 1, "divide the logits of the last 64 tokens by this, against repetition; 1 for not at all")
	fl.Uint64Var(&f.seed, "seed", 0, "make sampling repeatable; 0 draws a seed")
	fl.StringArrayVar(&f.stop, "stop", nil, "text that ends the answer (may be given several times)")
}

// forToy gives the toy model what keeps it from going round in circles, where the person said nothing else.
func (f *samplingFlags) forToy(fl *pflag.FlagSet) {
	unset := func(name string) bool { return fl.Lookup(name) == nil || !fl.Changed(name) }
	if unset("temp") {
		f.temp = 0
	}
	if unset("repeat-penalty") {
		f.repeatPenalty = 1.1
	}
	if unset("max-tokens") {
		f.max = 400
	}
}

func (f *samplingFlags) options() generate.Options {
	return generate.Options{
		MaxTokens: f.max, Temperature: f.temp, TopK: f.topK, TopP: f.topP, MinP: f.minP,
		RepeatPenalty: f.repeatPenalty, Seed: f.seed, Stop: f.stop, Logprobs: f.logprobs,
	}
}

// optionFlags are the flags of the options of an answer.
var optionFlags = map[string]string{
	"MaxTokens": "--max-tokens", "Temperature": "--temp", "TopK": "--top-k", "TopP": "--top-p", "MinP": "--min-p",
	"RepeatPenalty": "--repeat-penalty", "Seed": "--seed", "Stop": "--stop", "Logprobs": "--logprobs",
}

// flagError turns a complaint about an option into one about the flag that set it.
func flagError(err error) error {
	var bad *generate.OptionError
	if !errors.As(err, &bad) || optionFlags[bad.Option] == "" {
		return err
	}
	return usage("%s is %v; it %s", optionFlags[bad.Option], bad.Value, bad.Reason)
}

// runFlags are those of run alone.
type runFlags struct {
	modelFlags
	samplingFlags
	raw, json, ignoreEOG bool
	ids                  string
}

func (c *commands) run() *cobra.Command {
	var f runFlags
	cmd := &cobra.Command{
		Use:   "run [PROMPT]",
		Short: "Answer one prompt, from the argument or from standard input",
		Example: `  pooled run "Why is the sky blue?"
  git diff | pooled run -m qwen2.5-coder-0.5b --system "Review this change." -n 300
  pooled run --raw --temp 0 --json "The capital of France is"`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 1 {
				return usage("the prompt is %d arguments; put it in quotes", len(args))
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			return c.doRun(cmd.Context(), &f, args)
		},
	}
	f.modelFlags.add(cmd)
	f.samplingFlags.add(cmd)
	cmd.Flags().StringVar(&f.system, "system", "", "system prompt")
	cmd.Flags().BoolVar(&f.raw, "raw", false, "continue the prompt as it is, without the chat template")
	cmd.Flags().StringVar(&f.ids, "ids", "", "the prompt as token ids: 1,2,3 (implies --raw)")
	cmd.Flags().BoolVar(&f.json, "json", false, "print one JSON object when done")
	cmd.Flags().IntVar(&f.logprobs, "logprobs", 0, "with --json: also the `K` likeliest tokens of each step")
	cmd.Flags().BoolVar(&f.ignoreEOG, "ignore-end", false, "do not stop at an end token")
	return cmd
}

func (c *commands) doRun(ctx context.Context, f *runFlags, args []string) error {
	if f.logprobs > 0 && !f.json {
		return usage("--logprobs is for --json, which was not given")
	}
	text, err := c.promptText(f, args)
	if err != nil {
		return err
	}
	m, err := c.load(ctx, &f.modelFlags)
	if err != nil {
		return err
	}
	defer m.Close()
	prompt, err := f.prompt(ctx, m, text)
	if err != nil {
		return err
	}
	opt := f.options()
	opt.IgnoreEOG = f.ignoreEOG
	var top [][]generate.TokenLogprob
	r, err := m.NewSlot().Generate(ctx, prompt, opt, nil, func(t generate.Token) error {
		if f.logprobs > 0 && t.ID != generate.NoToken {
			top = append(top, t.Top)
		}
		if f.json {
			return nil
		}
		_, err := io.WriteString(c.Out, c.shown(t.Text))
		return err
	})
	err = flagError(err)
	if f.json {
		if err != nil && r.Finish != generate.FinishCancelled {
			return err
		}
		return errors.Join(json.NewEncoder(c.Out).Encode(runJSON(m, prompt, r, top)), err)
	}
	if r.Text != "" && !strings.HasSuffix(r.Text, "\n") {
		fmt.Fprintln(c.Out)
	}
	if err == nil && r.Finish != generate.FinishStop && c.Terminal {
		fmt.Fprintf(c.Err, "[%s]\n", finishText(r, m))
	}
	return err
}

// promptText returns the prompt as it was given: nothing when ids were.
func (c *commands) promptText(f *runFlags, args []string) (string, error) {
	switch {
	case f.ids != "" && len(args) > 0:
		return "", usage("--ids and a prompt were given; want one of them")
	case f.ids != "":
		return "", nil
	case len(args) > 0:
		return args[0], nil
	case c.Terminal:
		return "", usage("no prompt: give it as an argument or through a pipe, or use 'pooled chat'")
	}
	b, err := c.input()
	if err != nil {
		return "", err
	}
	if len(b) == 0 {
		return "", usage("the prompt is empty")
	}
	return string(b), nil
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
			return nil, usage("--ids: %q is no token id", part)
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
	Timings      timings               `json:"timings"`
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
