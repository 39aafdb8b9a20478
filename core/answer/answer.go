package answer

import (
	"strings"

	"github.com/pooled/pooled/core/chat"
	"github.com/pooled/pooled/core/event"
	"github.com/pooled/pooled/core/generate"
	"github.com/pooled/pooled/core/tokenizer"
	"github.com/pooled/pooled/core/toolcall"
	"github.com/pooled/pooled/core/transcript"
)

// Options say what is read.
type Options struct {
	// Model is the name of the model that answers, and Tokenizer its own.
	Model     string
	Tokenizer *tokenizer.Tokenizer
	// Prompt is what it answers.
	Prompt *chat.Prompt
	// Tools are what it may call, and Format is how it writes calls. Without tools everything is text.
	Tools  []toolcall.Tool
	Format toolcall.Format
	// NoRepair reads calls as they are written: near misses are no calls.
	NoRepair bool
	// Emit gets what happens: reading and queued, then reasoning, text, and calls as they are begun and written. After its
	// first error it is not called again.
	Emit func(event.Event) error
}

// Answer is what was read.
type Answer struct {
	// Message is the answer as the conversation keeps it. Its calls have no ids yet.
	Message *transcript.Message
	// Calls are all calls in order, those that cannot be read too.
	Calls []Call
	// Finish says why the answer ended.
	Finish generate.FinishReason
}

// Call is a call in an answer.
type Call struct {
	// Index is its place in the calls of the message; -1 for one that cannot be read.
	Index int
	// Name is the tool's; it may be empty where the call cannot be read.
	Name string
	// Reason says to the model why the call cannot be read, unless it is unfinished: cut off by the end of the answer.
	Reason     string
	Unfinished bool
}

// Reader takes one answer apart. Queued, Progress and Token are the callbacks of whatever generates it.
//
// Owns: one answer; not safe for concurrent use.
type Reader struct {
	opt    Options
	split  *chat.Splitter
	parser *toolcall.Parser // nil without tools
	answer Answer
	// What was written so far. Raw is all behind the reasoning, calls included.
	reasoning, text, raw strings.Builder
	err                  error // of Emit
}

// NewReader returns a reader for one answer.
//
// Errors: those of [toolcall.NewParser].
func NewReader(o Options) (*Reader, error) {
	r := &Reader{
		opt: o, split: chat.NewSplitter(o.Prompt.Tags, o.Prompt.Reasoning),
		answer: Answer{Message: &transcript.Message{Role: chat.RoleAssistant, Model: o.Model}},
	}
	if len(o.Tools) > 0 {
		var err error
		if r.parser, err = toolcall.NewParser(toolcall.Options{Format: o.Format, Tools: o.Tools, NoRepair: o.NoRepair}); err != nil {
			return nil, err
		}
	}
	return r, nil
}

// InReasoning reports whether the answer so far ends within the reasoning.
func (r *Reader) InReasoning() bool { return r.split.InReasoning() }

// Queued notes that so many answers come before this one.
func (r *Reader) Queued(ahead int) { r.emit(event.Queued{Position: ahead}) }

// Progress notes how far the prompt is computed, in tokens.
func (r *Reader) Progress(done, total int) { r.emit(event.Reading{Done: done, Total: total}) }

// Token takes the next token.
//
// Errors: the first of Emit.
func (r *Reader) Token(t generate.Token) error {
	r.take(r.split.Push(t.Text))
	if tok := r.opt.Tokenizer; r.parser != nil && t.ID != generate.NoToken && tok.IsControl(t.ID) && !tok.IsEOG(t.ID) && !r.split.InReasoning() {
		text := tok.Decode([]int32{t.ID}, true)
		if found := r.parser.Special(text); found != nil || r.isMarker(text) {
			r.raw.WriteString(text)
			r.found(found)
		}
	}
	return r.err
}

// Finish reads the end of the answer and returns all of it.
//
// Errors: the first of Emit; the answer is whole all the same.
func (r *Reader) Finish(res generate.Result) (*Answer, error) {
	r.take(r.split.Flush())
	if r.parser != nil {
		how := toolcall.Stopped
		if res.Finish != generate.FinishStop {
			how = toolcall.Cut
		}
		r.found(r.parser.Finish(how))
	}
	a, m := &r.answer, r.answer.Message
	a.Finish = res.Finish
	m.Reasoning, m.Text, m.Raw, m.IDs = r.reasoning.String(), r.text.String(), r.raw.String(), r.kept(res)
	if len(a.Calls) == 0 && r.parser != nil && !r.opt.NoRepair {
		if c, ok := r.unknown(m.Text); ok {
			a.Calls, m.Broken, m.Text = []Call{c}, true, ""
		}
	}
	return a, r.err
}

func (r *Reader) emit(e event.Event) {
	if r.err == nil {
		r.err = r.opt.Emit(e)
	}
}

func (r *Reader) isMarker(text string) bool {
	for _, m := range r.opt.Format.Markers() {
		if m == text {
			return true
		}
	}
	return false
}

func (r *Reader) take(reasoning, content string) {
	if reasoning != "" {
		r.reasoning.WriteString(reasoning)
		r.emit(event.Reasoning{Text: reasoning})
	}
	if content == "" {
		return
	}
	r.raw.WriteString(content)
	if r.parser == nil {
		r.say(content)
		return
	}
	r.found(r.parser.Push(content))
}

func (r *Reader) say(text string) {
	r.text.WriteString(text)
	r.emit(event.Text{Text: text})
}

func (r *Reader) found(list []toolcall.Event) {
	m := r.answer.Message
	for _, e := range list {
		switch e.Kind {
		case toolcall.Text:
			r.say(e.Text)
		case toolcall.CallStart:
			r.emit(event.CallStarted{Name: e.Name})
		case toolcall.CallDelta:
			r.emit(event.CallDelta{Name: e.Name, Text: e.Text})
		case toolcall.Call:
			r.answer.Calls = append(r.answer.Calls, Call{Index: len(m.Calls), Name: e.Name})
			m.Calls = append(m.Calls, transcript.Call{Name: e.Name, Arguments: e.Arguments, Repaired: e.Repaired})
		case toolcall.Unfinished, toolcall.Malformed:
			m.Broken = true
			r.answer.Calls = append(r.answer.Calls, Call{Index: -1, Name: e.Name, Reason: e.Reason, Unfinished: e.Kind == toolcall.Unfinished})
		}
	}
}

// kept returns the ids that stand for what is kept of an answer: without those of a stop string.
func (r *Reader) kept(res generate.Result) []int32 {
	if res.StopSequence == "" {
		return res.IDs
	}
	for n := len(res.IDs); n > 0; n-- {
		if text := r.opt.Tokenizer.Decode(res.IDs[:n], false); len(text) <= len(res.Text) {
			if text != res.Text {
				return nil
			}
			return res.IDs[:n]
		}
	}
	return nil
}
