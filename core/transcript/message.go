package transcript

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/pooled/pooled/core/chat"
	"github.com/pooled/pooled/core/toolcall"
)

// Message is a part of a conversation, as a session keeps it.
type Message struct {
	// Role is one of package chat's: system, user, assistant or tool.
	Role string `json:"role"`
	// Auto marks a message of the user's role that no person wrote.
	Auto bool `json:"auto,omitempty"`
	// Text is what the user asked, what the assistant said beside its calls, or what a tool answered.
	Text string `json:"text,omitempty"`
	// Reasoning is what the assistant thought before.
	Reasoning string `json:"reasoning,omitempty"`
	// Raw is all that the assistant wrote behind its reasoning, calls included.
	Raw string `json:"raw,omitempty"`
	// Calls are the assistant's.
	Calls []Call `json:"calls,omitempty"`
	// Broken says that Raw holds a call that could not be read, so that only Raw says what was written.
	Broken bool `json:"broken,omitempty"`
	// CallID and Name say which call, and of which tool, a tool's message answers. They are empty where the call could not
	// be read.
	CallID string `json:"call_id,omitempty"`
	Name   string `json:"name,omitempty"`
	// IsError says that a tool could not do what it was asked to.
	IsError bool `json:"is_error,omitempty"`
	// Diff is what a tool changed, for people.
	Diff string `json:"diff,omitempty"`
	// IDs are what Model sampled for the assistant's message.
	IDs   []int32 `json:"ids,omitempty"`
	Model string  `json:"model,omitempty"`
}

// Call is a call of a tool.
type Call struct {
	// ID is unique in the session.
	ID   string `json:"id"`
	Name string `json:"name"`
	// Arguments is a JSON object. Others that a file has are read as an empty one.
	Arguments json.RawMessage `json:"arguments"`
	// Repaired names what had to be mended to read the call.
	Repaired []string `json:"repaired,omitempty"`
}

// mend gives calls that a file has without an object of arguments an empty one.
func (m *Message) mend() {
	for i := range m.Calls {
		var object map[string]json.RawMessage
		if json.Unmarshal(m.Calls[i].Arguments, &object) != nil || object == nil {
			m.Calls[i].Arguments = json.RawMessage("{}")
		}
	}
}

// Argument returns the text of an argument, or nothing.
func (c *Call) Argument(name string) string {
	var args map[string]any
	if json.Unmarshal(c.Arguments, &args) != nil {
		return ""
	}
	text, _ := args[name].(string)
	return text
}

// WithArgument returns a copy of the call with another text for an argument.
func (c *Call) WithArgument(name, text string) Call {
	var args map[string]json.RawMessage
	out := *c
	if json.Unmarshal(c.Arguments, &args) != nil || args == nil {
		return out
	}
	args[name], _ = json.Marshal(text) // a string can always be encoded
	out.Arguments, _ = json.Marshal(args)
	return out
}

// Chat returns the message for the template of a model that writes calls in a format. Ids that were sampled go with it where
// the same model sampled them. Raw writes what the assistant wrote as text, instead of its calls.
func (m *Message) Chat(model string, format toolcall.Format, raw bool) chat.Message {
	c := chat.Message{Role: m.Role, Content: m.Text, Reasoning: m.Reasoning}
	switch m.Role {
	case chat.RoleAssistant:
		if m.Model == model {
			c.IDs = m.IDs
		}
		if m.Raw != "" && (raw || m.Broken) {
			c.Content = m.Raw
			return c
		}
		for _, call := range m.Calls {
			c.ToolCalls = append(c.ToolCalls, chat.ToolCall{ID: call.ID, Name: call.Name, Arguments: call.Arguments})
		}
	case chat.RoleTool:
		c.ToolCallID, c.Name = m.CallID, m.Name
		if m.CallID == "" && (format == toolcall.MistralJSON || format == toolcall.MistralArgs) {
			c.Role, c.Name = chat.RoleUser, "" // these templates refuse an answer without a call
		}
	}
	return c
}

// Answers to calls that were never answered.
const (
	textUnknown = "error: interrupted; it is not known whether this was done"
	textNotRun  = "error: not run, because the turn was stopped"
)

// Level returns the answers that are missing to the last calls of a conversation that was broken off. Those that began are of
// unknown outcome; began tells.
func Level(history []*Message, began func(id string) bool) []*Message {
	at := len(history) - 1
	for at >= 0 && history[at].Role == chat.RoleTool {
		at--
	}
	if at < 0 || history[at].Role != chat.RoleAssistant {
		return nil
	}
	var missing []*Message
	for _, c := range history[at].Calls {
		if slices.ContainsFunc(history[at:], func(m *Message) bool { return m.Role == chat.RoleTool && m.CallID == c.ID }) {
			continue
		}
		m := &Message{Role: chat.RoleTool, CallID: c.ID, Name: c.Name, IsError: true, Text: textNotRun}
		if began(c.ID) {
			m.Text = textUnknown
		}
		missing = append(missing, m)
	}
	return missing
}

// maxBrief is how much of a text [Brief] keeps. Units: bytes.
const maxBrief = 160

// Brief is the beginning of a text on one line.
func Brief(text string) string {
	text = strings.Join(strings.Fields(text), " ")
	if len(text) > maxBrief {
		return strings.ToValidUTF8(text[:maxBrief], "") + "…"
	}
	return text
}
