package toolcall

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"github.com/pooled/pooled/core/grammar"
	"github.com/pooled/pooled/core/tool"
)

// plainRoot are the keywords that a schema of arguments in Qwen XML may have.
var plainRoot = map[string]bool{
	"type": true, "properties": true, "required": true, "additionalProperties": true, "$defs": true, "definitions": true,
	"title": true, "description": true, "$schema": true, "$id": true, "id": true, "$comment": true, "default": true, "examples": true,
	"strict": true, "deprecated": true,
}

// maxText bounds minLength and maxLength of a value that is text.
const maxText = 4096

// xml writes the rules of a call in Qwen XML: the parameters in the order of the schema, of which those that are not
// required may be left out.
func (w *writer) xml(name string, t *declared, root []member, path string) error {
	required := map[string]bool{}
	var order []string
	for _, m := range root {
		if !plainRoot[m.key] {
			return &grammar.SchemaError{Path: path + "/" + m.key, Reason: "this keyword cannot be enforced on a call whose arguments are not JSON"}
		}
		if m.key == "required" && json.Unmarshal(m.value, &order) != nil {
			return &grammar.SchemaError{Path: path + "/required", Reason: "this must be a list of names"}
		}
	}
	params := t.Properties
	for _, r := range order {
		required[r] = true
		if t.Property(r) == nil {
			params = append(params[:len(params):len(params)], tool.Property{Name: r, Schema: &tool.Schema{Raw: json.RawMessage("{}")}})
		}
	}
	body := literal(functionOpen + "=" + t.name + ">\n")
	for i, p := range params {
		if strings.ContainsAny(p.Name, "\n<>") {
			return &grammar.SchemaError{Path: path + "/properties/" + escape(p.Name), Reason: "a parameter's name may not have line breaks or angle brackets"}
		}
		rule := name + "_" + strconv.Itoa(i)
		value, err := w.value(rule, p, root, path+"/properties/"+escape(p.Name))
		if err != nil {
			return err
		}
		w.rule(rule, literal(parameterOpen+"="+p.Name+">\n")+" "+value)
		body += " " + rule
		if !required[p.Name] {
			body += "?"
		}
	}
	w.rule(name, body+" "+literal(functionClose))
	return nil
}

// value writes a parameter's value with what closes it.
func (w *writer) value(rule string, p tool.Property, root []member, path string) (string, error) {
	end := literal("\n" + parameterClose + "\n")
	if want := p.Schema.Types; want != 0 && want&tool.String == 0 {
		text, err := part(p.Schema.Raw, root, path)
		return "%json " + text + " " + end, err
	}
	schema := p.Schema.Raw
	for range maxDepth {
		var ref struct {
			Ref string `json:"$ref"`
		}
		def, ok := json.RawMessage(nil), false
		if json.Unmarshal(schema, &ref) == nil && ref.Ref != "" {
			def, ok = definition(root, ref.Ref)
		}
		if !ok {
			break
		}
		schema = def
	}
	var s struct {
		Enum      []json.RawMessage `json:"enum"`
		Const     json.RawMessage   `json:"const"`
		MinLength *int              `json:"minLength"`
		MaxLength *int              `json:"maxLength"`
		Pattern   *string           `json:"pattern"`
		Format    *string           `json:"format"`
	}
	if string(schema) != "true" && json.Unmarshal(schema, &s) != nil {
		return "", &grammar.SchemaError{Path: path, Reason: "the schema of this parameter cannot be read"}
	}
	if s.Const != nil {
		s.Enum = []json.RawMessage{s.Const}
	}
	switch {
	case s.Pattern != nil:
		return "", &grammar.SchemaError{Path: path + "/pattern", Reason: "a pattern cannot be enforced on a value that is not JSON; remove it and check the argument instead"}
	case s.Format != nil:
		return "", &grammar.SchemaError{Path: path + "/format", Reason: "a format cannot be enforced on a value that is not JSON; remove it and check the argument instead"}
	case s.Enum != nil:
		var options []string
		for _, v := range s.Enum {
			text := string(v)
			if v[0] == '"' {
				_ = json.Unmarshal(v, &text) // valid
			}
			options = append(options, literal(text))
		}
		return "(" + strings.Join(options, " | ") + ") " + end, nil
	case s.MinLength != nil || s.MaxLength != nil:
		return w.limited(rule, s.MinLength, s.MaxLength, path)
	}
	w.text = true
	return "text", nil
}

// definition returns what a reference into the definitions of a schema leads to.
func definition(root []member, ref string) (json.RawMessage, bool) {
	for _, m := range root {
		if m.key != "$defs" && m.key != "definitions" {
			continue
		}
		defs, _ := members(m.value) // what is no object defines nothing
		for _, d := range defs {
			if "#/"+m.key+"/"+d.key == ref {
				return d.value, true
			}
		}
	}
	return nil, false
}

// limited writes a text of a limited length.
func (w *writer) limited(rule string, low, high *int, path string) (string, error) {
	from, to := 0, ""
	if low != nil {
		from = *low
	}
	if high != nil {
		to = strconv.Itoa(*high)
	}
	switch {
	case from < 0 || from > maxText:
		return "", &grammar.SchemaError{Path: path + "/minLength", Reason: fmt.Sprintf("it must be from 0 to %d", maxText)}
	case high != nil && (*high < from || *high > maxText):
		return "", &grammar.SchemaError{Path: path + "/maxLength", Reason: fmt.Sprintf("it must be from minLength to %d", maxText)}
	}
	w.rule(rule+"_text[suffix="+literal("\n"+parameterClose+"\n")+"]", fmt.Sprintf("/(?s:.{%d,%s})/", from, to))
	return rule + "_text", nil
}

// part prepares the schema of one parameter, with the definitions that it may refer to.
func part(schema json.RawMessage, root []member, path string) (string, error) {
	all, err := members(schema)
	if err != nil {
		return "", &grammar.SchemaError{Path: path, Reason: "the schema of this parameter cannot be read"}
	}
	for _, m := range root {
		if (m.key == "$defs" || m.key == "definitions") && strings.Contains(string(schema), "$ref") {
			all = append(all, m)
		}
	}
	whole := object(all)
	if ref := foreign(whole); ref != "" {
		return "", &grammar.SchemaError{Path: path, Reason: fmt.Sprintf("the reference %q must lead into $defs", ref)}
	}
	g, err := grammar.JSONSchema(whole, grammar.LayoutLine)
	return g.Text, below(err, path)
}

// foreign returns a reference in a schema that leads elsewhere than into its definitions.
func foreign(schema json.RawMessage) string {
	var v any
	_ = json.Unmarshal(schema, &v) // valid
	var find func(v any) string
	find = func(v any) string {
		switch v := v.(type) {
		case map[string]any:
			if ref, ok := v["$ref"].(string); ok && !strings.HasPrefix(ref, "#/$defs/") && !strings.HasPrefix(ref, "#/definitions/") {
				return ref
			}
			for _, inner := range v {
				if ref := find(inner); ref != "" {
					return ref
				}
			}
		case []any:
			for _, inner := range v {
				if ref := find(inner); ref != "" {
					return ref
				}
			}
		}
		return ""
	}
	return find(v)
}

// escape makes a key a part of a JSON pointer.
// Source: RFC 6901, section 3.
func escape(key string) string { return strings.NewReplacer("~", "~0", "/", "~1").Replace(key) }
