package transcript

import (
	"encoding/json"
	"time"
)

// Outcome is how a turn ended.
type Outcome struct {
	Reason Reason `json:"reason"`
	// Steps, Tokens and Calls count what the turn took: answers, tokens sampled, and calls run.
	Steps  int `json:"steps"`
	Tokens int `json:"tokens"`
	Calls  int `json:"calls"`
	// Broken counts the calls that could not be read, Repaired those that had to be mended.
	Broken   int `json:"broken"`
	Repaired int `json:"repaired"`
	// Problems is what is wrong with what the turn left, if anything is known to be.
	Problems string   `json:"problems,omitempty"`
	Time     Duration `json:"time_ms"`
}

// Reason says why a turn ended.
type Reason string

// The reasons.
const (
	// ReasonStop is the good one: the model had nothing more to do.
	ReasonStop Reason = "stop"
	// ReasonCancelled is a context that ended.
	ReasonCancelled Reason = "cancelled"
	// ReasonDenied is a call that a person did not allow, without a word.
	ReasonDenied Reason = "denied"
	// ReasonLoop is the same call with the same result, over and over.
	ReasonLoop Reason = "loop"
	// ReasonStuck is several steps without anything new, or text that repeats itself.
	ReasonStuck Reason = "stuck"
	// ReasonBroken is too many calls in a row that cannot be read.
	ReasonBroken Reason = "broken calls"
	// ReasonSteps, ReasonTokens and ReasonTime are the limits of a turn.
	ReasonSteps  Reason = "steps"
	ReasonTokens Reason = "tokens"
	ReasonTime   Reason = "time"
	// ReasonLength is an answer without a call that was longer than an answer may be.
	ReasonLength Reason = "length"
	// ReasonContext is a conversation that does not fit the context.
	ReasonContext Reason = "context"
	// ReasonError is any error.
	ReasonError Reason = "error"
)

// explained are the reasons in words, for people.
var explained = map[Reason]string{
	ReasonStop:      "done",
	ReasonCancelled: "stopped",
	ReasonDenied:    "not allowed",
	ReasonLoop:      "stopped: the model repeats the same call",
	ReasonStuck:     "stopped: the model makes no progress",
	ReasonBroken:    "stopped: the model's calls cannot be read",
	ReasonSteps:     "stopped: the limit of steps is reached",
	ReasonTokens:    "stopped: the limit of tokens is reached",
	ReasonTime:      "stopped: the time is up",
	ReasonLength:    "stopped: the answer is too long",
	ReasonContext:   "stopped: the conversation does not fit the context",
	ReasonError:     "failed",
}

// String says it in words.
func (r Reason) String() string { return explained[r] }

// Duration is a time that JSON has in milliseconds.
type Duration time.Duration

// MarshalJSON implements [json.Marshaler].
func (d Duration) MarshalJSON() ([]byte, error) {
	return json.Marshal(float64(time.Duration(d).Microseconds()) / 1000)
}

// UnmarshalJSON implements [json.Unmarshaler].
func (d *Duration) UnmarshalJSON(b []byte) error {
	var ms float64
	err := json.Unmarshal(b, &ms)
	*d = Duration(ms * float64(time.Millisecond))
	return err
}
