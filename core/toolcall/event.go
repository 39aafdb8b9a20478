package toolcall

import "encoding/json"

// Kind says what an Event is.
type Kind uint8

// Kinds of events.
const (
	// Text is text to show.
	Text Kind = iota + 1
	// CallStart says that a call of the tool Name has begun.
	CallStart
	// CallDelta carries more of a running call's raw text, for showing progress. It may be dropped: the call's last event
	// has all of it.
	CallDelta
	// Call is a whole call.
	Call
	// Unfinished is a call that the end of the output cut off.
	Unfinished
	// Malformed is a call that cannot be read without guessing.
	Malformed
)

var kindNames = [...]string{"", "text", "call-start", "call-delta", "call", "unfinished", "malformed"}

func (k Kind) String() string {
	if int(k) < len(kindNames) {
		return kindNames[k]
	}
	return "invalid"
}

// Event is something that a Parser found.
type Event struct {
	Kind Kind
	// Text of Text and CallDelta.
	Text string
	// Name of the tool; empty where the output did not get as far as naming one.
	Name string
	// Arguments of a Call: a JSON object whose keys stand in the order in which the model wrote them.
	Arguments json.RawMessage
	// Raw is what the model wrote for a Call, Unfinished or Malformed, with its markers and the white space before it.
	// Where one pair of markers holds several calls, the first event has all of it.
	Raw string
	// Reason says to the model why a call is Malformed and how to write it.
	Reason string
	// Repaired names each repair that a Call needed.
	Repaired []string
}

// End says how an output ended.
type End uint8

const (
	// Stopped is an output that the model ended itself.
	Stopped End = iota
	// Cut is an output that ended at a token limit or was cancelled.
	Cut
)
