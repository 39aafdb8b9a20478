package event

import (
	"encoding/json"

	"github.com/pooled/pooled/core/tool"
	"github.com/pooled/pooled/core/transcript"
)

// Event is something that happened while a model answered.
type Event interface {
	// Type names the event in JSON.
	Type() string
}

// Lossy reports whether a consumer that falls behind may drop an event. All others must be delivered.
func Lossy(e Event) bool {
	switch e.(type) {
	case Queued, Reading, CallDelta, Progress:
		return true
	}
	return false
}

// The events that must be delivered, in the order in which a turn has them.
type (
	// Session begins a stream of events: it says what is worked on.
	Session struct {
		// ID names the session, and Project is the folder that is worked on; both are empty where there is none.
		ID      string `json:"id,omitempty"`
		Project string `json:"project,omitempty"`
		Model   string `json:"model"`
	}
	// Step begins a step: the prompt is made.
	Step struct {
		// N counts from 1 in a turn.
		N int `json:"n"`
		// Prompt is the length of the prompt in tokens, of Context that there is room for.
		Prompt  int `json:"prompt"`
		Context int `json:"context"`
	}
	// Compacted says that the conversation was shortened to fit.
	Compacted struct {
		// Rule says what was left out.
		Rule string `json:"rule"`
		// Before and After are the length of the prompt in tokens.
		Before int `json:"before"`
		After  int `json:"after"`
	}
	// Reasoning is more of what the model thinks.
	Reasoning struct {
		Text string `json:"text"`
	}
	// Text is more of what the model says.
	Text struct {
		Text string `json:"text"`
	}
	// CallStarted says that the model writes a call of the tool Name.
	CallStarted struct {
		Name string `json:"name"`
	}
	// CallBroken is a call that cannot be run; the model is told the reason.
	CallBroken struct {
		// Name may be empty.
		Name   string `json:"name,omitempty"`
		Reason string `json:"reason"`
		// Unfinished says that the answer's limit cut the call off.
		Unfinished bool `json:"unfinished,omitempty"`
	}
	// Answered ends the model's part of a step.
	Answered struct {
		// Tokens is the length of the answer; Reused is how much of the prompt was computed before.
		Tokens int `json:"tokens"`
		Reused int `json:"reused"`
		// PromptTime and DecodeTime say how long prompt and answer took.
		PromptTime transcript.Duration `json:"prompt_ms"`
		DecodeTime transcript.Duration `json:"decode_ms"`
	}
	// Approval says that a call waits for a person.
	Approval struct {
		Call transcript.Call `json:"call"`
		// Set is the set of tools that the call goes to.
		Set   string     `json:"set"`
		Class tool.Class `json:"class"`
		// Diff is what the call would change.
		Diff string `json:"diff,omitempty"`
		// Shown are the arguments whose effect Diff shows; a person has to see the others, too.
		Shown []string `json:"-"`
	}
	// CallRunning says that a call begins to run.
	CallRunning struct {
		Call transcript.Call `json:"call"`
	}
	// CallDone is what came of a call.
	CallDone struct {
		Call transcript.Call `json:"call"`
		// Result is what the model reads.
		Result  string `json:"result"`
		IsError bool   `json:"is_error"`
		// Denied says that it was not run because a person did not allow it.
		Denied bool `json:"denied,omitempty"`
		// Diff is what was changed.
		Diff string `json:"diff,omitempty"`
		// Health is how the tool found the page that it served or looked at, if it did.
		Health *tool.Health `json:"health,omitempty"`
		// Data is more for programs; it may be nil.
		Data json.RawMessage `json:"data,omitempty"`
	}
	// Retried says that the last change left an app with errors, so that it was taken back, with all that was said since,
	// and the model tries again.
	Retried struct {
		// Try counts from 1 in a turn.
		Try    int    `json:"try"`
		Reason string `json:"reason"`
	}
	// Restored says that an earlier try was put back, its files and what was said in it, because what came after was no
	// better.
	Restored struct {
		// Problems is what is wrong with it.
		Problems string `json:"problems"`
	}
	// Note tells a person of something that the agent did on its own.
	Note struct {
		Text string `json:"text"`
	}
	// Error is what broke a turn.
	Error struct {
		Message string `json:"message"`
	}
	// Done ends a turn.
	Done transcript.Outcome
)

// The events that may be dropped: each only shows that something moves.
type (
	// Queued says that the model still answers others: so many answers come before this one. The next one takes its place.
	Queued struct {
		Position int `json:"position"`
	}
	// Reading says how far the prompt is computed, in tokens. The next one takes its place.
	Reading struct {
		Done  int `json:"done"`
		Total int `json:"total"`
	}
	// CallDelta is more of the raw text of a call.
	CallDelta struct {
		Name string `json:"name"`
		Text string `json:"text"`
	}
	// Progress is a line that a running tool prints.
	Progress struct {
		ID   string `json:"id"`
		Line string `json:"line"`
	}
)

// Type implements [Event].
func (Session) Type() string { return "session" }

// Type implements [Event].
func (Queued) Type() string { return "queued" }

// Type implements [Event].
func (Step) Type() string { return "step" }

// Type implements [Event].
func (Compacted) Type() string { return "compacted" }

// Type implements [Event].
func (Reading) Type() string { return "reading" }

// Type implements [Event].
func (Reasoning) Type() string { return "reasoning" }

// Type implements [Event].
func (Text) Type() string { return "text" }

// Type implements [Event].
func (CallStarted) Type() string { return "call_started" }

// Type implements [Event].
func (CallDelta) Type() string { return "call_delta" }

// Type implements [Event].
func (CallBroken) Type() string { return "call_broken" }

// Type implements [Event].
func (Answered) Type() string { return "answered" }

// Type implements [Event].
func (Approval) Type() string { return "approval" }

// Type implements [Event].
func (CallRunning) Type() string { return "call_running" }

// Type implements [Event].
func (Progress) Type() string { return "progress" }

// Type implements [Event].
func (CallDone) Type() string { return "call_done" }

// Type implements [Event].
func (Retried) Type() string { return "retried" }

// Type implements [Event].
func (Restored) Type() string { return "restored" }

// Type implements [Event].
func (Note) Type() string { return "note" }

// Type implements [Event].
func (Error) Type() string { return "error" }

// Type implements [Event].
func (Done) Type() string { return "done" }
