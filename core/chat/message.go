package chat

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// Roles that templates know.
const (
	RoleSystem    = "system"
	RoleUser      = "user"
	RoleAssistant = "assistant"
	RoleTool      = "tool"
	RoleDeveloper = "developer"
)

// Message is one turn of a conversation.
type Message struct {
	Role    string
	Content string
	// Parts replaces Content when it is not nil.
	Parts []Part
	// Reasoning is what an assistant thought before its Content.
	Reasoning string
	ToolCalls []ToolCall
	// ToolCallID and Name say which call a message of the tool role answers.
	ToolCallID, Name string
	// IDs are the exact ids that were sampled for an assistant's message, reasoning and tool calls included; the closing
	// control token may be among them.
	IDs []int32
}

// Part is a piece of a content that is a list.
type Part struct {
	// Type is "text" for text.
	Type string
	Text string
}

// ToolCall is a call that the assistant made.
type ToolCall struct {
	ID, Name string
	// Arguments is a JSON object; anything else is handed to the template as a string.
	Arguments json.RawMessage
}

// writer builds JSON for a template, with marks in untrusted strings.
type writer struct {
	bytes.Buffer
	marks *marks
}

// key starts a member of an object.
func (w *writer) key(name string) {
	if b := w.Bytes(); len(b) > 0 && b[len(b)-1] != '{' {
		w.WriteByte(',')
	}
	w.quote(name)
	w.WriteByte(':')
}

// quote writes a string literal as it is.
func (w *writer) quote(s string) {
	e := json.NewEncoder(&w.Buffer)
	e.SetEscapeHTML(false)
	_ = e.Encode(s) // a string can always be encoded
	w.Truncate(w.Len() - 1)
}

// text writes an untrusted string.
func (w *writer) text(s string) { w.quote(w.marks.mark(s)) }

// member writes an untrusted string as a member unless it is empty.
func (w *writer) member(name, s string) {
	if s != "" {
		w.key(name)
		w.text(s)
	}
}

// message writes one message.
func (w *writer) message(m *Message) error {
	if m.Role == "" {
		return ErrRole
	}
	w.WriteByte('{')
	w.key("role")
	if usualRoles[m.Role] {
		w.quote(m.Role)
	} else {
		w.text(m.Role)
	}
	w.key("content")
	if m.Parts == nil {
		w.text(m.Content)
	} else {
		w.WriteByte('[')
		for i, p := range m.Parts {
			if i > 0 {
				w.WriteByte(',')
			}
			w.WriteByte('{')
			w.key("type")
			w.text(p.Type)
			w.key("text")
			w.text(p.Text)
			w.WriteByte('}')
		}
		w.WriteByte(']')
	}
	w.member("reasoning_content", m.Reasoning)
	if err := w.toolCalls(m.ToolCalls); err != nil {
		return err
	}
	w.member("name", m.Name)
	w.member("tool_call_id", m.ToolCallID)
	w.WriteByte('}')
	return nil
}

func (w *writer) toolCalls(calls []ToolCall) error {
	if len(calls) == 0 {
		return nil
	}
	w.key("tool_calls")
	w.WriteByte('[')
	for i, c := range calls {
		if i > 0 {
			w.WriteByte(',')
		}
		w.WriteByte('{')
		w.key("type")
		w.quote("function")
		w.member("id", c.ID)
		w.key("function")
		w.WriteByte('{')
		w.key("name")
		w.text(c.Name)
		w.key("arguments")
		switch trimmed := bytes.TrimSpace(c.Arguments); {
		case len(trimmed) == 0:
			w.WriteString("{}")
		case trimmed[0] == '{' && json.Valid(trimmed):
			if err := w.json(trimmed, false); err != nil {
				return fmt.Errorf("arguments of %s: %w", c.Name, err)
			}
		default:
			w.text(string(c.Arguments))
		}
		w.WriteString("}}")
	}
	w.WriteByte(']')
	return nil
}

// json writes a JSON text with marks in all of its strings, keys included; everything else stays as it is. The keys of
// variables, the outermost ones, are names that the template looks up and stay too.
func (w *writer) json(text []byte, variables bool) error {
	if !json.Valid(text) {
		return fmt.Errorf("not JSON: %.40q", text)
	}
	depth := 0
	for len(text) > 0 {
		start := bytes.IndexByte(text, '"')
		if start < 0 {
			break
		}
		for _, b := range text[:start] {
			switch b {
			case '{', '[':
				depth++
			case '}', ']':
				depth--
			}
		}
		w.Write(text[:start])
		text = text[start:]
		end := 1
		for text[end] != '"' {
			if text[end] == '\\' {
				end++
			}
			end++
		}
		var s string
		if err := json.Unmarshal(text[:end+1], &s); err != nil {
			return fmt.Errorf("not JSON: %w", err)
		}
		literal, rest := text[:end+1], text[end+1:]
		marked := s
		switch after := bytes.TrimLeft(rest, " \t\r\n"); {
		case len(after) == 0 || after[0] != ':':
			marked = w.marks.mark(s)
		case depth > 1 || !variables:
			marked = w.marks.anchored(s) // a template must find the key
		}
		if marked != s {
			w.quote(marked)
		} else {
			w.Write(literal)
		}
		text = rest
	}
	w.Write(text)
	return nil
}
