package agent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/pooled/pooled/core/chat"
	"github.com/pooled/pooled/core/generate"
	"github.com/pooled/pooled/core/toolcall"
)

// toolResponse is what small models write when they go on after a call as if they were the tool.
const toolResponse = "<tool_response>"

// answer is one answer of the model.
type answer struct {
	message  *Message
	found    []toolcall.Event // the calls, those that cannot be read too
	finish   generate.FinishReason
	repeated bool
}

// oneStep asks the model once and runs what it calls. It reports whether the turn goes on.
func (t *turn) oneStep(ctx context.Context) (more bool, err error) {
	p, err := t.fit(ctx)
	if err != nil {
		return false, err
	}
	t.opt.Emit(Step{N: t.done.Steps, Prompt: len(p.IDs), Context: t.model.Context()})
	t.asked, t.before = len(t.history), t.done.Tokens
	ans, err := t.ask(ctx, p)
	t.warm, t.doubled, t.repeated = false, false, ans != nil && ans.repeated
	if ans != nil && (ans.message.Raw != "" || ans.message.Reasoning != "") {
		if aerr := t.add(ans.message); aerr != nil {
			return false, errors.Join(err, aerr)
		}
	}
	switch {
	case err != nil:
		return false, err
	case ans.repeated:
		return false, end{ReasonStuck}
	case len(ans.found) == 0 && ans.finish == generate.FinishLength:
		return false, end{ReasonLength}
	case len(ans.found) == 0 && ans.finish == generate.FinishContext:
		return false, end{ReasonContext}
	case len(ans.found) == 0:
		return false, nil
	}
	return true, t.runCalls(ctx, ans)
}

// errRepeats ends an answer whose text repeats itself.
var errRepeats = errors.New("the text repeats itself")

// ask generates one answer. What came of it is returned also beside an error.
func (t *turn) ask(ctx context.Context, p *chat.Prompt) (*answer, error) {
	format := t.model.Format()
	parser, err := toolcall.NewParser(toolcall.Options{Format: format, Tools: t.opt.Tools.declared(), Exact: t.opt.Exact})
	if err != nil {
		return nil, err
	}
	r := &reader{
		turn: t, parser: parser, split: chat.NewSplitter(p.Tags, p.Reasoning),
		answer: &answer{message: &Message{Role: chat.RoleAssistant, Model: t.model.Name()}},
	}
	opt := t.sampling(len(p.IDs))
	if mask := t.mask(ctx, r.split); mask != nil {
		opt.Mask = mask
		defer func() {
			if err := mask.close(); err != nil {
				t.opt.Emit(Note{Text: "a call was not held to its form: " + err.Error()})
			}
		}()
	}
	res, err := t.model.Generate(ctx, p.IDs, opt, r.token)
	t.done.Tokens += len(res.IDs)
	if errors.Is(err, errRepeats) {
		r.answer.repeated, err = true, nil
	}
	r.finish(res)
	t.opt.Emit(Answered{
		Tokens: len(res.IDs), Reused: res.Reused,
		PromptTime: Duration(res.Timings.Prompt), DecodeTime: Duration(res.Timings.Decode),
	})
	return r.answer, err
}

// sampling returns the options of the next answer.
func (t *turn) sampling(prompt int) generate.Options {
	opt := t.opt.Sampling
	opt.MaxTokens = min(t.limits.AnswerTokens, max(t.model.Context()-prompt, 1))
	if t.limits.Tokens > 0 {
		opt.MaxTokens = min(opt.MaxTokens, max(t.limits.Tokens-t.done.Tokens, 1))
	}
	if f := t.model.Format(); f == toolcall.QwenXML || f == toolcall.HermesJSON {
		opt.Stop = append(opt.Stop[:len(opt.Stop):len(opt.Stop)], toolResponse)
	}
	if t.warm {
		// What is likeliest led nowhere; the same prompt must not give the same answer again.
		opt.Temperature = max(opt.Temperature, min(0.5+0.2*float64(t.circles), 1.1))
		if opt.TopK == 0 && opt.TopP == 0 {
			opt.TopK, opt.TopP = 40, 0.95
		}
		opt.Seed += uint64(t.done.Steps)
	}
	opt.Progress = func(done, total int) { t.opt.Emit(Reading{Done: done, Total: total}) }
	return opt
}

// mask returns what holds the answer's calls to their form, or nil.
func (t *turn) mask(ctx context.Context, split *chat.Splitter) *armed {
	if t.engine == nil {
		return nil
	}
	tok := t.model.Tokenizer()
	cs, err := toolcall.Constraints(t.model.Format(), t.opt.Tools.declared(), toolcall.Choice{Many: true, Token: func(marker string) (int32, bool) {
		id, ok := tok.ID(marker)
		return id, ok && tok.IsControl(id)
	}})
	if err != nil {
		t.engine = nil
		t.opt.Emit(Note{Text: "calls are not held to their form: " + err.Error()})
		return nil
	}
	return newArmed(ctx, t.engine, tok, cs, split.InReasoning)
}

// reader takes an answer apart while it comes.
type reader struct {
	*turn
	parser *toolcall.Parser
	split  *chat.Splitter
	repeat repetition
	raw    strings.Builder
	answer *answer
}

// token takes the next token.
func (r *reader) token(tk generate.Token) error {
	r.take(r.split.Push(tk.Text))
	if tok := r.model.Tokenizer(); tk.ID != generate.NoToken && tok.IsControl(tk.ID) && !tok.IsEOG(tk.ID) && !r.split.InReasoning() {
		text := tok.Decode([]int32{tk.ID}, true)
		if events := r.parser.Special(text); events != nil || r.isMarker(text) {
			r.raw.WriteString(text)
			r.events(events)
		}
	}
	if r.repeat.push(tk.Text) {
		return errRepeats
	}
	return nil
}

func (r *reader) isMarker(text string) bool {
	for _, m := range r.model.Format().Markers() {
		if m == text {
			return true
		}
	}
	return false
}

func (r *reader) take(reasoning, content string) {
	if reasoning != "" {
		r.answer.message.Reasoning += reasoning
		r.opt.Emit(Reasoning{Text: reasoning})
	}
	if content != "" {
		r.raw.WriteString(content)
		r.events(r.parser.Push(content))
	}
}

func (r *reader) events(list []toolcall.Event) {
	m := r.answer.message
	for _, e := range list {
		switch e.Kind {
		case toolcall.Text:
			m.Text += e.Text
			r.opt.Emit(Text{Text: e.Text})
		case toolcall.CallStart:
			r.opt.Emit(CallStarted{Name: e.Name})
		case toolcall.CallDelta:
			r.opt.Emit(CallDelta{Name: e.Name, Text: e.Text})
		case toolcall.Call, toolcall.Unfinished, toolcall.Malformed:
			m.Broken = m.Broken || e.Kind != toolcall.Call
			r.answer.found = append(r.answer.found, e)
		}
	}
}

// finish reads the end of the answer and completes its message.
func (r *reader) finish(res generate.Result) {
	r.take(r.split.Flush())
	how := toolcall.Stopped
	if res.Finish != generate.FinishStop {
		how = toolcall.Cut
	}
	r.events(r.parser.Finish(how))
	a, m := r.answer, r.answer.message
	a.finish = res.Finish
	if len(a.found) == 0 && !r.opt.Exact {
		if e, ok := r.unknownCall(m.Text); ok {
			a.found, m.Broken, m.Text = []toolcall.Event{e}, true, ""
		}
	}
	m.Raw = r.raw.String()
	for i, e := range a.found {
		if e.Kind != toolcall.Call {
			continue
		}
		r.mu.Lock()
		r.calls++
		id := fmt.Sprintf("call%05d", r.calls) // nine letters and digits: some templates insist
		r.mu.Unlock()
		m.Calls = append(m.Calls, Call{ID: id, Name: e.Name, Arguments: e.Arguments, Repaired: e.Repaired})
		a.found[i].Text = id
	}
	m.IDs = r.exact(res)
}

// unknownCall recognises an answer that is nothing but a call, in JSON, of a tool that does not exist. The parser takes it
// for text, since it has no markers.
func (r *reader) unknownCall(text string) (toolcall.Event, bool) {
	text = strings.TrimSpace(text)
	if rest, ok := strings.CutPrefix(text, "```"); ok {
		text = strings.TrimSpace(strings.TrimSuffix(strings.TrimPrefix(rest, "json"), "```"))
	}
	var call struct {
		Name                  string
		Arguments, Parameters json.RawMessage
	}
	// Only the beginning must be JSON: there may be several calls.
	if json.NewDecoder(strings.NewReader(text)).Decode(&call) != nil || call.Name == "" || call.Arguments == nil && call.Parameters == nil {
		return toolcall.Event{}, false
	}
	var names []string
	for _, s := range r.opt.Tools.Specs() {
		names = append(names, s.Name)
	}
	return toolcall.Event{
		Kind: toolcall.Malformed, Name: call.Name,
		Reason: fmt.Sprintf("there is no tool %.60q; the tools are: %s", call.Name, strings.Join(names, ", ")),
	}, true
}

// exact returns the ids that stand for what is kept of an answer: without those of a stop string.
func (r *reader) exact(res generate.Result) []int32 {
	if res.StopSequence == "" {
		return res.IDs
	}
	tok := r.model.Tokenizer()
	for n := len(res.IDs); n > 0; n-- {
		if text := tok.Decode(res.IDs[:n], false); len(text) <= len(res.Text) {
			if text != res.Text {
				return nil
			}
			return res.IDs[:n]
		}
	}
	return nil
}
