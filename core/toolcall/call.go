package toolcall

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/pooled/pooled/core/tool"
)

// Names under which models put a call's parts in JSON.
var (
	nameKeys     = []string{"name", "tool_name", "tool", "function", "function_name"}
	argumentKeys = []string{"arguments", "parameters", "args", "params", "input", "kwargs"}
	wrapperKeys  = []string{"tool_calls", "tool_call", "calls", "function_call"}
	otherKeys    = []string{"type", "id", "index"}
)

// builder turns what a scanner found into events.
type builder struct {
	format Format
	tools  *toolset
	repair bool
}

// malformed is a Malformed event.
func malformed(name, raw, reason string) Event {
	return Event{Kind: Malformed, Name: name, Raw: raw, Reason: reason}
}

// json reads a body that should be a call, or a list of calls, in JSON.
func (b *builder) json(body, raw string, repaired []string) []Event {
	if strings.TrimSpace(body) == "" {
		return []Event{malformed("", raw, "the tool call is empty; write it as "+b.example())}
	}
	value, notes, err := mend(body)
	if err == nil && notes != nil && !b.repair {
		_, _, err = strict(body)
	}
	if err != nil {
		return []Event{malformed("", raw, fmt.Sprintf("the tool call is not valid JSON %v; write it as %s", err, b.example()))}
	}
	repaired = append(repaired, notes...)
	var out []Event
	if value[0] == '[' {
		var list []json.RawMessage
		_ = json.Unmarshal(value, &list) // valid
		if len(list) == 0 {
			return []Event{malformed("", raw, "the list of tool calls is empty")}
		}
		if b.format != MistralJSON {
			repaired = append(repaired, "read a list of calls")
			if !b.repair {
				return []Event{malformed("", raw, "a list is no tool call; write each call as "+b.example())}
			}
		}
		for _, v := range list {
			out = append(out, b.one(v, repaired, 0))
		}
	} else {
		out = append(out, b.one(value, repaired, 0))
	}
	out[0].Raw = raw
	return out
}

// strict says where text stops being JSON.
func strict(text string) (json.RawMessage, []string, error) {
	var v any
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		return nil, nil, fmt.Errorf("(%w)", err)
	}
	return json.RawMessage(text), nil, nil
}

// one reads a call that is one JSON value.
func (b *builder) one(value json.RawMessage, repaired []string, depth int) Event {
	all, err := members(value)
	if err != nil || depth > 3 {
		return malformed("", "", "a tool call must be a JSON object; write it as "+b.example())
	}
	repaired = append([]string(nil), repaired...)
	var name string
	var args json.RawMessage
	var rest, ids []member
	for _, m := range all {
		switch {
		case isOneOf(m.key, nameKeys) && name == "":
			if json.Unmarshal(m.value, &name) == nil {
				if m.key != "name" {
					repaired = append(repaired, fmt.Sprintf("read %q as \"name\"", m.key))
				}
				continue
			}
			if inner, err := members(m.value); err == nil && len(inner) > 0 && b.repair && alone(all) {
				return b.one(m.value, append(repaired, fmt.Sprintf("took the call out of %q", m.key)), depth+1)
			}
			rest = append(rest, m)
		case isOneOf(m.key, argumentKeys) && args == nil:
			args = m.value
			if m.key != b.argumentKey() {
				repaired = append(repaired, fmt.Sprintf("read %q as %q", m.key, b.argumentKey()))
			}
		case isOneOf(m.key, otherKeys):
			ids = append(ids, m)
		case isOneOf(m.key, wrapperKeys) && len(all) == 1 && b.repair:
			var list []json.RawMessage
			if json.Unmarshal(m.value, &list) == nil && len(list) == 1 {
				return b.one(list[0], append(repaired, fmt.Sprintf("took the call out of %q", m.key)), depth+1)
			}
			return b.one(m.value, append(repaired, fmt.Sprintf("took the call out of %q", m.key)), depth+1)
		default:
			rest = append(rest, m)
		}
	}
	if args == nil {
		rest = append(rest, b.meant(name, ids)...)
	}
	switch {
	case name == "" && len(rest) == 1 && args == nil && b.tools.byName[rest[0].key] != nil:
		name, args, rest = rest[0].key, rest[0].value, nil
		repaired = append(repaired, "read the only key as the tool's name")
	case name == "":
		return malformed("", "", `the tool call has no "name"; write it as `+b.example())
	case args == nil && len(rest) > 0:
		args, rest = object(rest), nil
		repaired = append(repaired, "took the arguments from beside the name")
	case len(rest) > 0:
		return malformed(name, "", fmt.Sprintf("the tool call has the stray key %q; all arguments go into %q", rest[0].key, b.argumentKey()))
	case args == nil:
		args = json.RawMessage("{}")
		repaired = append(repaired, "added empty arguments")
	}
	return b.finish(name, args, repaired)
}

// alone reports whether all members but one say nothing of the arguments.
func alone(all []member) bool {
	others := 0
	for _, m := range all {
		if !isOneOf(m.key, otherKeys) {
			others++
		}
	}
	return others == 1
}

// meant returns those members beside a name, of a call without arguments, that are arguments: what the tool declares. A
// type of "function" is that of the call.
func (b *builder) meant(name string, ids []member) []member {
	t, _ := b.tools.find(name, b.repair)
	if t == nil {
		return nil
	}
	var out []member
	for _, m := range ids {
		if t.Property(m.key) != nil && (m.key != "type" || string(m.value) != `"function"`) {
			out = append(out, m)
		}
	}
	return out
}

// finish checks name and arguments of a call that came as JSON.
func (b *builder) finish(name string, args json.RawMessage, repaired []string) Event {
	t, event := b.tool(name, &repaired)
	if event.Kind != 0 {
		return event
	}
	name = t.name
	args = json.RawMessage(strings.TrimSpace(string(args)))
	var text string
	if json.Unmarshal(args, &text) == nil && string(args) != "null" {
		inner, notes, err := mend(text)
		switch {
		case strings.TrimSpace(text) == "":
			inner = json.RawMessage("{}")
		case err != nil:
			return malformed(name, "", fmt.Sprintf("the arguments of %s must be a JSON object, not a string", name))
		}
		args = inner
		repaired = append(append(repaired, "read the arguments out of a string"), notes...)
	} else if string(args) == "null" {
		args = json.RawMessage("{}")
		repaired = append(repaired, "read null as no arguments")
	}
	all, err := members(args)
	if err != nil {
		return malformed(name, "", fmt.Sprintf("the arguments of %s must be a JSON object", name))
	}
	if seen := duplicate(all); seen != "" {
		return malformed(name, "", fmt.Sprintf("%s has the parameter %s twice", name, seen))
	}
	if b.repair {
		notes := t.rename(all)
		all, more := t.mendArguments(all)
		if notes = append(notes, more...); notes != nil {
			args, repaired = object(all), append(repaired, notes...)
		}
	}
	if repaired != nil && !b.repair {
		return malformed(name, "", "the tool call is not in the right form; write it as "+b.example())
	}
	return Event{Kind: Call, Name: name, Arguments: args, Repaired: repaired}
}

// tool finds the tool that a call names. An event of a kind says why there is none.
func (b *builder) tool(name string, repaired *[]string) (*declared, Event) {
	if b.tools.none() {
		return &declared{name, &tool.Schema{}}, Event{}
	}
	t, mended := b.tools.find(name, b.repair)
	if t == nil {
		return nil, malformed(name, "", fmt.Sprintf("there is no tool %q; the tools are: %s", clip(name, 60), b.tools.names()))
	}
	if mended {
		*repaired = append(*repaired, fmt.Sprintf("read tool %s as %s", name, t.name))
	}
	return t, Event{}
}

// pair is a parameter of a Qwen XML call.
type pair struct{ name, text string }

// xml reads the parts of a Qwen XML call.
func (b *builder) xml(name string, pairs []pair, raw string, repaired []string) Event {
	t, event := b.tool(name, &repaired)
	if event.Kind != 0 {
		event.Raw = raw
		return event
	}
	all := make([]member, len(pairs))
	for i, p := range pairs {
		all[i].key = p.name
	}
	if b.repair {
		repaired = append(repaired, t.rename(all)...)
	}
	if seen := duplicate(all); seen != "" {
		return malformed(t.name, raw, fmt.Sprintf("%s has the parameter %s twice", t.name, seen))
	}
	for i := range all {
		v, notes, reason := t.fromText(all[i].key, pairs[i].text, b.repair)
		if reason != "" {
			return malformed(t.name, raw, reason)
		}
		all[i].value = v
		repaired = append(repaired, notes...)
	}
	if b.repair {
		var notes []string
		all, notes = t.mendArguments(all)
		repaired = append(repaired, notes...)
	}
	return Event{Kind: Call, Name: t.name, Arguments: object(all), Raw: raw, Repaired: repaired}
}

func duplicate(all []member) string {
	seen := make(map[string]bool, len(all))
	for _, m := range all {
		if seen[m.key] {
			return m.key
		}
		seen[m.key] = true
	}
	return ""
}

func isOneOf(key string, list []string) bool {
	for _, k := range list {
		if k == key {
			return true
		}
	}
	return false
}

// argumentKey is what the format calls the arguments.
func (b *builder) argumentKey() string {
	if b.format == LlamaJSON {
		return "parameters"
	}
	return "arguments"
}

// example shows the model its own format.
func (b *builder) example() string {
	switch b.format {
	case QwenXML:
		return "<tool_call>\n<function=NAME>\n<parameter=KEY>\nvalue\n</parameter>\n</function>\n</tool_call>"
	case LlamaJSON:
		return `{"name": "NAME", "parameters": {…}}`
	case MistralJSON:
		return `[TOOL_CALLS][{"name": "NAME", "arguments": {…}}]`
	case MistralArgs:
		return `[TOOL_CALLS]NAME[ARGS]{…}`
	}
	return "<tool_call>\n{\"name\": \"NAME\", \"arguments\": {…}}\n</tool_call>"
}
