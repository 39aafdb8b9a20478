package agent

import (
	"context"
	"errors"

	"github.com/pooled/pooled/core/answer"
	"github.com/pooled/pooled/core/chat"
	"github.com/pooled/pooled/core/event"
	"github.com/pooled/pooled/core/generate"
	"github.com/pooled/pooled/core/toolcall"
	"github.com/pooled/pooled/core/transcript"
)

// toolResponse is what small models write when they go on after a call as if they were the tool.
const toolResponse = "<tool_response>"

// How the next answer is drawn after one that led nowhere: warmer with each time, and, where nothing is said of it, from the
// likeliest tokens alone.
const (
	warmBase, warmStep, warmMost = 0.5, 0.2, 1.1
	warmTopK, warmTopP           = 40, 0.95
)

// errRepeats ends an answer whose text repeats itself.
var errRepeats = errors.New("the text repeats itself")

// oneStep asks the model once and runs what it calls. It reports whether the turn goes on.
func (t *turn) oneStep(ctx context.Context) (more bool, err error) {
	p, err := t.fit(ctx)
	if err != nil {
		return false, err
	}
	t.emit(event.Step{N: t.done.Steps, Prompt: len(p.IDs), Context: t.agent.model.Context()})
	t.asked, t.before = len(t.agent.history), t.done.Tokens
	ans, err := t.ask(ctx, p)
	t.warm, t.doubled, t.repeated = false, false, errors.Is(err, errRepeats)
	if ans != nil {
		if err == nil {
			t.writePrinted(ans)
		}
		m := ans.Message
		t.agent.number(m)
		if m.Raw != "" || m.Reasoning != "" || len(m.Calls) > 0 {
			if aerr := t.agent.add(m); aerr != nil {
				return false, errors.Join(err, aerr)
			}
		}
	}
	switch {
	case t.repeated:
		return false, end{transcript.ReasonStuck}
	case err != nil:
		return false, err
	case len(ans.Calls) == 0 && ans.Finish == generate.FinishLength:
		return false, end{transcript.ReasonLength}
	case len(ans.Calls) == 0 && ans.Finish == generate.FinishContext:
		return false, end{transcript.ReasonContext}
	case len(ans.Calls) == 0:
		return false, nil
	}
	return true, t.runCalls(ctx, ans)
}

// ask generates one answer. What came of it is returned also beside an error.
//
// Errors: [errRepeats], those of the model.
func (t *turn) ask(ctx context.Context, p *chat.Prompt) (*answer.Answer, error) {
	model := t.agent.model
	r, err := answer.NewReader(answer.Options{
		Model: model.Name(), Tokenizer: model.Tokenizer(), Prompt: p,
		Tools: t.agent.opt.Tools.declared(), Format: model.Format(), NoRepair: t.agent.opt.NoRepair,
		Emit: func(e event.Event) error {
			t.emit(e)
			return nil
		},
	})
	if err != nil {
		return nil, err
	}
	opt := t.sampling(len(p.IDs))
	opt.Progress = r.Progress
	if mask := t.mask(ctx, r.InReasoning); mask != nil {
		opt.Mask = mask
		defer func() {
			if err := mask.close(); err != nil {
				t.emit(event.Note{Text: "a call was not held to its form: " + err.Error()})
			}
		}()
	}
	var repeat repetition
	res, err := model.Generate(ctx, p.IDs, opt, r.Queued, func(tk generate.Token) error {
		if err := r.Token(tk); err != nil {
			return err
		}
		if repeat.push(tk.Text) {
			return errRepeats
		}
		return nil
	})
	t.done.Tokens += len(res.IDs)
	ans, emitErr := r.Finish(res)
	if err == nil {
		err = emitErr
	}
	t.emit(event.Answered{
		Tokens: len(res.IDs), Reused: res.Reused,
		PromptTime: transcript.Duration(res.Timings.Prompt), DecodeTime: transcript.Duration(res.Timings.Decode),
	})
	return ans, err
}

// sampling returns the options of the next answer.
func (t *turn) sampling(prompt int) generate.Options {
	opt := t.agent.opt.Sampling
	opt.MaxTokens = min(t.limits.AnswerTokens, max(t.agent.model.Context()-prompt, 1))
	if t.limits.Tokens > 0 {
		opt.MaxTokens = min(opt.MaxTokens, max(t.limits.Tokens-t.done.Tokens, 1))
	}
	if f := t.agent.model.Format(); f == toolcall.QwenXML || f == toolcall.HermesJSON {
		opt.Stop = append(opt.Stop[:len(opt.Stop):len(opt.Stop)], toolResponse)
	}
	if t.warm {
		// What is likeliest led nowhere; the same prompt must not give the same answer again.
		opt.Temperature = max(opt.Temperature, min(warmBase+warmStep*float64(t.circles), warmMost))
		if opt.TopK == 0 && opt.TopP == 0 {
			opt.TopK, opt.TopP = warmTopK, warmTopP
		}
		opt.Seed += uint64(t.done.Steps)
	}
	return opt
}

// mask returns what holds the answer's calls to their form, or nil.
func (t *turn) mask(ctx context.Context, thinking func() bool) *armed {
	if t.engine == nil {
		return nil
	}
	tok := t.agent.model.Tokenizer()
	cs, err := toolcall.Constraints(t.agent.model.Format(), t.agent.opt.Tools.declared(), toolcall.Choice{Many: true, Token: func(marker string) (int32, bool) {
		id, ok := tok.ID(marker)
		return id, ok && tok.IsControl(id)
	}})
	if err != nil {
		t.engine = nil
		t.emit(event.Note{Text: "calls are not held to their form: " + err.Error()})
		return nil
	}
	return newArmed(ctx, t.engine, tok, cs, thinking)
}
