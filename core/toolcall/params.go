package toolcall

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// synonyms are names that models use for one another. A name stands for another of its line only where the tool declares
// exactly one of them.
var synonyms = [][]string{
	{"path", "file", "filename", "filepath", "filename", "targetfile", "name"},
	{"path", "dir", "directory", "folder"},
	{"content", "contents", "text", "body", "filecontent", "filecontents", "newcontent", "data", "code", "html"},
	{"old", "oldstr", "oldstring", "oldtext", "search", "find", "before", "original"},
	{"new", "newstr", "newstring", "newtext", "replace", "replacement", "replacewith", "after"},
	{"code", "script", "js", "javascript", "source", "expression", "content"},
	{"query", "pattern", "q", "search", "searchterm", "term", "regex", "keyword"},
	{"all", "replaceall", "global"},
	{"selector", "sel", "element", "css"},
	{"text", "value", "content"},
	{"entry", "entrypoint", "path", "file"},
	{"limit", "maxlines", "lines", "count"},
	{"offset", "startline", "start", "line"},
	{"url", "uri", "link", "href"},
	{"city", "location", "place"},
}

// rename gives arguments the names that the tool declares.
func (t *tool) rename(args []member) (repaired []string) {
	given := func(name string) bool {
		return slices.ContainsFunc(args, func(m member) bool { return m.key == name })
	}
	targets := make([]string, len(args))
	for i, m := range args {
		if len(t.params) == 0 || t.has(m.key) {
			continue
		}
		var candidates []string
		plain := plainName(m.key)
		for _, p := range t.params {
			if plainName(p.name) == plain && !given(p.name) {
				candidates = append(candidates, p.name)
			}
		}
		if candidates == nil {
			for _, line := range synonyms {
				if !slices.Contains(line, plain) {
					continue
				}
				for _, p := range t.params {
					if slices.Contains(line, plainName(p.name)) && !given(p.name) && !slices.Contains(candidates, p.name) {
						candidates = append(candidates, p.name)
					}
				}
			}
		}
		if len(candidates) == 1 {
			targets[i] = candidates[0]
		}
	}
	for i, target := range targets {
		if target == "" || slices.Contains(targets[:i], target) || slices.Contains(targets[i+1:], target) {
			continue // two names for one parameter
		}
		repaired = append(repaired, fmt.Sprintf("read parameter %s as %s", args[i].key, target))
		args[i].key = target
	}
	return repaired
}

// types is a set of JSON types.
type types struct {
	text, number, integer, boolean, null, array, object, any bool
}

// types reads which types a schema allows. A schema that does not say allows any.
func (t *tool) types(schema json.RawMessage, depth int) types {
	var s struct {
		Type  json.RawMessage   `json:"type"`
		Ref   string            `json:"$ref"`
		AnyOf []json.RawMessage `json:"anyOf"`
		OneOf []json.RawMessage `json:"oneOf"`
		AllOf []json.RawMessage `json:"allOf"`
		Enum  []any             `json:"enum"`
		Const json.RawMessage   `json:"const"`
	}
	if json.Unmarshal(schema, &s) != nil || depth > 8 {
		return types{any: true}
	}
	var out types
	var one string
	var many []string
	switch {
	case json.Unmarshal(s.Type, &one) == nil:
		out.add(one)
	case json.Unmarshal(s.Type, &many) == nil:
		for _, name := range many {
			out.add(name)
		}
	case s.Ref != "":
		if def, ok := t.defs[s.Ref]; ok {
			return t.types(def, depth+1)
		}
		out.any = true
	case s.Enum != nil:
		for _, v := range s.Enum {
			out.of(v)
		}
	case s.Const != nil:
		var v any
		_ = json.Unmarshal(s.Const, &v) // part of a valid document
		out.of(v)
	case len(s.AllOf) == 1:
		return t.types(s.AllOf[0], depth+1)
	case len(s.AnyOf)+len(s.OneOf) > 0:
		for _, option := range append(s.AnyOf, s.OneOf...) {
			out.join(t.types(option, depth+1))
		}
	default:
		out.any = true
	}
	return out
}

func (t *types) add(name string) {
	switch name {
	case "string":
		t.text = true
	case "number":
		t.number = true
	case "integer":
		t.integer = true
	case "boolean":
		t.boolean = true
	case "null":
		t.null = true
	case "array":
		t.array = true
	case "object":
		t.object = true
	default:
		t.any = true
	}
}

func (t *types) of(v any) {
	switch v.(type) {
	case string:
		t.text = true
	case float64:
		t.number = true
	case bool:
		t.boolean = true
	case nil:
		t.null = true
	case []any:
		t.array = true
	case map[string]any:
		t.object = true
	}
}

func (t *types) join(o types) {
	t.text, t.number, t.integer = t.text || o.text, t.number || o.number, t.integer || o.integer
	t.boolean, t.null = t.boolean || o.boolean, t.null || o.null
	t.array, t.object, t.any = t.array || o.array, t.object || o.object, t.any || o.any
}

// String names the types for the model.
func (t types) String() string {
	var names []string
	for _, n := range []struct {
		is   bool
		name string
	}{
		{t.text, "a string"},
		{t.number, "a number"},
		{t.integer && !t.number, "a whole number"},
		{t.boolean, "true or false"},
		{t.null, "null"},
		{t.array, "a JSON array"},
		{t.object, "a JSON object"},
	} {
		if n.is {
			names = append(names, n.name)
		}
	}
	return strings.Join(names, " or ")
}

// scalar reads text as a number, a boolean or null if the types ask for one.
func (t types) scalar(text string) (json.RawMessage, bool) {
	switch {
	case t.number && isNumber(text), t.integer && isInteger(text):
		return json.RawMessage(text), true
	case t.boolean && (text == "true" || text == "True"):
		return json.RawMessage("true"), true
	case t.boolean && (text == "false" || text == "False"):
		return json.RawMessage("false"), true
	case t.null && (text == "null" || text == "None"):
		return json.RawMessage("null"), true
	}
	return nil, false
}

func isNumber(s string) bool {
	return s != "" && (s[0] == '-' || s[0] >= '0' && s[0] <= '9') && json.Valid([]byte(s))
}

func isInteger(s string) bool {
	if !isNumber(s) {
		return false
	}
	f, err := strconv.ParseFloat(s, 64)
	return err == nil && f == float64(int64(f))
}

// fromText turns the text of a Qwen XML value into JSON of the parameter's type.
func (t *tool) fromText(name, text string, repair bool) (value json.RawMessage, repaired []string, reason string) {
	want := t.types(t.schema(name), 0)
	if want.any {
		return quote(text), nil, ""
	}
	trimmed := strings.TrimSpace(text)
	if v, ok := want.scalar(trimmed); ok && (!want.text || want.null && string(v) == "null") {
		return v, nil, ""
	}
	if (want.array || want.object) && (!want.text || json.Valid([]byte(trimmed))) && trimmed != "" {
		if v, notes, err := mend(trimmed); err == nil && (notes == nil || repair) &&
			(want.array && v[0] == '[' || want.object && v[0] == '{') {
			return v, prefix(notes, name), ""
		} else if err != nil && !want.text {
			return nil, nil, fmt.Sprintf("parameter %s must be %s: %v", name, want, err)
		}
	}
	if want.text {
		return quote(text), nil, ""
	}
	return nil, nil, fmt.Sprintf("parameter %s must be %s, not %q", name, want, clip(trimmed, 40))
}

// fit turns a JSON value of a wrong type into the parameter's type where that is the only thing it can have meant.
func (t *tool) fit(name string, value json.RawMessage) (json.RawMessage, []string) {
	want := t.types(t.schema(name), 0)
	if want.any || len(value) == 0 {
		return value, nil
	}
	switch c := value[0]; {
	case c == '"' && !want.text:
		var text string
		if json.Unmarshal(value, &text) != nil {
			return value, nil
		}
		text = strings.TrimSpace(text)
		if v, ok := want.scalar(text); ok {
			return v, []string{"read parameter " + name + " out of a string"}
		}
		if text == "" || !(want.array && text[0] == '[' || want.object && text[0] == '{') {
			return value, nil
		}
		if v, notes, err := mend(text); err == nil {
			return v, append([]string{"read parameter " + name + " out of a string"}, prefix(notes, name)...)
		}
	case c == '-' || c >= '0' && c <= '9':
		if want.text && !want.number && !want.integer {
			return quote(string(value)), []string{"read parameter " + name + " as a string"}
		}
	}
	return value, nil
}

// prefix says which parameter repairs belong to.
func prefix(notes []string, name string) []string {
	out := make([]string, len(notes))
	for i, n := range notes {
		out[i] = n + " in parameter " + name
	}
	return slices.Clip(out)
}
