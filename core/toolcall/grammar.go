package toolcall

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/pooled/pooled/core/grammar"
)

// Need says whether an answer must call a tool.
type Need uint8

const (
	// Auto leaves it to the model.
	Auto Need = iota
	// Required asks for at least one call.
	Required
)

// Choice says which calls an answer may have.
type Choice struct {
	Need Need
	// Name of the only tool that may be called; empty allows all.
	Name string
	// Many allows several calls in a row.
	Many bool
	// Token returns the id of a marker (see Format.Markers) that is a control token of the vocabulary. Nil, and markers
	// that it does not know, are written as text.
	Token func(marker string) (id int32, ok bool)
}

// Constraint is a grammar and when it begins to hold.
type Constraint struct {
	// Trigger is the text behind which the grammar holds; empty means from the first token of the answer on, behind the
	// reasoning. The grammar does not contain the trigger. When its text is complete the answer goes on freely, and the
	// trigger counts again.
	Trigger string
	// First says that the trigger counts only as the first text of the answer, whatever its white space; it may stand in a
	// code fence.
	First   bool
	Grammar grammar.Grammar
}

// Constraints returns the grammars that hold a model to well-formed calls of the declared tools. With Auto there is one for
// every way in which a call can open; with Required there is exactly one, without a trigger.
//
// Arguments come in the order of the tool's schema, as one line with ", " and ": " where they are JSON. Arguments that the
// schema does not name are not allowed, unless it says so with additionalProperties.
//
// Errors: ErrFormat, ErrTool, *grammar.SchemaError with a path such as /tools/0/parameters/properties/n/not.
func Constraints(format Format, tools []Tool, choice Choice) ([]Constraint, error) {
	if !format.Known() {
		return nil, fmt.Errorf("%v: %w", format, ErrFormat)
	}
	set, err := newToolset(tools)
	if err != nil {
		return nil, err
	}
	w := &writer{format: format, choice: choice}
	for i, t := range set.list {
		if choice.Name != "" && t.name != choice.Name {
			continue
		}
		if err := w.tool(i, t); err != nil {
			return nil, err
		}
	}
	switch {
	case len(w.tools) == 0 && choice.Name != "":
		return nil, fmt.Errorf("there is no tool %q; the tools are: %s: %w", choice.Name, set.names(), ErrTool)
	case len(w.tools) == 0:
		return nil, fmt.Errorf("no tools: %w", ErrTool)
	}
	return w.constraints(), nil
}

// ResponseFormat returns the grammar of a response_format as OpenAI's API has it: {"type": "json_schema", "json_schema":
// {"schema": …}} or {"type": "json_object"}. Nothing is constrained (ok is false) for {"type": "text"}.
//
// Errors: *grammar.SchemaError with a path from /response_format on.
func ResponseFormat(format json.RawMessage) (g grammar.Grammar, ok bool, err error) {
	const at = "/response_format"
	var f struct {
		Type       string `json:"type"`
		JSONSchema struct {
			Schema json.RawMessage `json:"schema"`
		} `json:"json_schema"`
	}
	if err := json.Unmarshal(format, &f); err != nil {
		return g, false, &grammar.SchemaError{Path: at, Reason: "it is not an object of the known form"}
	}
	switch f.Type {
	case "text":
		return g, false, nil
	case "json_object":
		g, err = grammar.JSONSchema(json.RawMessage(`{"type":"object"}`), grammar.LayoutFree)
	case "json_schema":
		if f.JSONSchema.Schema == nil {
			return g, false, &grammar.SchemaError{Path: at + "/json_schema/schema", Reason: "it is missing"}
		}
		g, err = grammar.JSONSchema(f.JSONSchema.Schema, grammar.LayoutFree)
	default:
		return g, false, &grammar.SchemaError{Path: at + "/type", Reason: fmt.Sprintf("%q is none of text, json_object, json_schema", f.Type)}
	}
	return g, err == nil, below(err, at+"/json_schema/schema")
}

// below puts a path before the one of a SchemaError.
func below(err error, path string) error {
	var s *grammar.SchemaError
	if errors.As(err, &s) {
		return &grammar.SchemaError{Path: path + s.Path, Reason: s.Reason}
	}
	return err
}

// writer writes the Lark of one set of tools.
type writer struct {
	format Format
	choice Choice
	tools  []string // names of the rules of one call each
	rules  strings.Builder
	text   bool // the rule of free text is needed
}

func (w *writer) rule(name, body string) { fmt.Fprintf(&w.rules, "%s: %s\n", name, body) }

// literal writes text in Lark.
func literal(text string) string { return string(quote(text)) }

// marker writes a marker of the format: as a token if it is one.
func (w *writer) marker(text string) string {
	if w.choice.Token != nil {
		if id, ok := w.choice.Token(text); ok {
			return "<[" + strconv.Itoa(int(id)) + "]>"
		}
	}
	return literal(text)
}

// constraints joins the rules.
func (w *writer) constraints() []Constraint {
	w.rule("tool", strings.Join(w.tools, " | "))
	if w.text {
		w.rules.WriteString("text[suffix=" + literal("\n"+parameterClose+"\n") + "]: /(?s:.*)/\n")
	}
	lark := func(start, call, separator string) grammar.Grammar {
		if w.choice.Many && separator != "" {
			start += " (" + separator + " " + call + ")*"
		}
		return grammar.Lark("start: " + start + "\n" + w.rules.String())
	}
	auto := w.choice.Need == Auto
	switch w.format {
	case QwenXML, HermesJSON:
		open, inside := w.marker(callOpen), literal("\n")+" tool "+literal("\n")+" "+w.marker(callClose)
		if auto {
			// The line break may have come in the same token as the marker's end.
			inside = literal("\n") + "? tool " + literal("\n") + " " + w.marker(callClose)
			all := []Constraint{{Trigger: callOpen, Grammar: lark(inside, "", "")}}
			if w.format == HermesJSON {
				// Small models forget the markers, and then make names up.
				w.named()
				all = append(all, Constraint{Trigger: bareOpen, First: true, Grammar: lark("named", "", "")})
			}
			return all
		}
		return []Constraint{{Grammar: lark(open+" "+inside, open+" "+inside, literal("\n"))}}
	case LlamaJSON:
		if !auto {
			return []Constraint{{Grammar: lark("tool", "tool", literal("; "))}}
		}
		w.named()
		return []Constraint{
			{Trigger: pythonTag, Grammar: lark("tool", "tool", literal("; "))},
			{Trigger: bareOpen, First: true, Grammar: lark("named", "tool", literal("; "))},
		}
	case MistralJSON:
		list := literal("[") + " tool " + literal("]")
		if w.choice.Many {
			list = literal("[") + " tool (" + literal(", ") + " tool)* " + literal("]")
		}
		if auto {
			return []Constraint{{Trigger: mistralTag, Grammar: lark(list, "", "")}}
		}
		return []Constraint{{Grammar: lark(w.marker(mistralTag)+" "+list, "", "")}}
	default:
		if auto {
			return []Constraint{{Trigger: mistralTag, Grammar: lark("tool", "", "")}}
		}
		call := w.marker(mistralTag) + " tool"
		return []Constraint{{Grammar: lark(call, call, literal(""))}}
	}
}

// bareOpen is how a call in JSON begins.
const bareOpen = `{"name": "`

// named writes the rule of a call behind [bareOpen].
func (w *writer) named() {
	w.rule("named", strings.ReplaceAll(strings.Join(w.tools, " | "), "tool_", "named_"))
}

// tool writes the rules of a call of one tool.
func (w *writer) tool(i int, t *declared) error {
	path := "/tools/" + strconv.Itoa(i) + "/parameters"
	root, arguments, err := rootSchema(t.Raw, path)
	if err != nil {
		return err
	}
	name := "tool_" + strconv.Itoa(i)
	w.tools = append(w.tools, name)
	if w.format == QwenXML {
		return w.xml(name, t, root, path)
	}
	prepared, err := grammar.JSONSchema(arguments, grammar.LayoutLine)
	if err != nil {
		return below(err, path)
	}
	b := builder{format: w.format}
	after := fmt.Sprintf(`, "%s": `, b.argumentKey())
	inner := strings.Trim(string(quote(t.name)), `"`)
	args := "%json " + prepared.Text
	switch w.format {
	case HermesJSON, LlamaJSON:
		w.rule(name, literal(bareOpen)+" named_"+strconv.Itoa(i))
		w.rule("named_"+strconv.Itoa(i), literal(inner+`"`+after)+" "+args+" "+literal("}"))
	case MistralJSON:
		id := "(" + literal(`, "id": "`) + " /[a-zA-Z0-9]{9}/ " + literal(`"`) + ")?"
		w.rule(name, literal(`{"name": "`+inner+`"`+after)+" "+args+" "+id+" "+literal("}"))
	default:
		id := "(" + w.marker(mistralID) + " /[a-zA-Z0-9]{9}/)?"
		w.rule(name, literal(t.name)+" "+id+" "+w.marker(mistralArg)+" "+args)
	}
	return nil
}

// rootSchema returns the members of a tool's schema, and the schema for arguments in JSON: an object without further keys,
// unless it says otherwise.
func rootSchema(schema json.RawMessage, path string) (root []member, arguments json.RawMessage, err error) {
	if len(strings.TrimSpace(string(schema))) == 0 {
		schema = json.RawMessage(`{"type":"object","properties":{}}`)
	}
	if _, err := grammar.JSONSchema(schema, grammar.LayoutLine); err != nil {
		return nil, nil, below(err, path)
	}
	if root, err = members(schema); err != nil {
		return nil, nil, &grammar.SchemaError{Path: path, Reason: "the schema of a tool's arguments must be an object"}
	}
	has := map[string]bool{}
	for _, m := range root {
		has[m.key] = true
		if m.key == "type" && string(m.value) != `"object"` {
			return nil, nil, &grammar.SchemaError{Path: path + "/type", Reason: `the arguments of a tool are an object; write "type": "object"`}
		}
	}
	all := root
	if !has["type"] {
		all = append([]member{{"type", json.RawMessage(`"object"`)}}, all...)
	}
	if has["properties"] && !has["additionalProperties"] && !has["patternProperties"] && !has["anyOf"] && !has["oneOf"] && !has["allOf"] && !has["$ref"] {
		all = append(all[:len(all):len(all)], member{"additionalProperties", json.RawMessage("false")})
	}
	return root, object(all), nil
}
