package toolcall

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/pooled/pooled/core/tool"
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
func (t *declared) rename(args []member) (repaired []string) {
	given := func(name string) bool {
		return slices.ContainsFunc(args, func(m member) bool { return m.key == name })
	}
	targets := make([]string, len(args))
	for i, m := range args {
		if len(t.Properties) == 0 || t.Property(m.key) != nil {
			continue
		}
		var candidates []string
		plain := plainName(m.key)
		for _, p := range t.Properties {
			if plainName(p.Name) == plain && !given(p.Name) {
				candidates = append(candidates, p.Name)
			}
		}
		if candidates == nil {
			for _, line := range synonyms {
				if !slices.Contains(line, plain) {
					continue
				}
				for _, p := range t.Properties {
					if slices.Contains(line, plainName(p.Name)) && !given(p.Name) && !slices.Contains(candidates, p.Name) {
						candidates = append(candidates, p.Name)
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

// scalar reads text as a number, a boolean or null if the types ask for one.
func scalar(want tool.Types, text string) (json.RawMessage, bool) {
	switch {
	case want&tool.Number != 0 && isNumber(text), want&tool.Integer != 0 && isInteger(text):
		return json.RawMessage(text), true
	case want&tool.Boolean != 0 && (text == "true" || text == "True"):
		return json.RawMessage("true"), true
	case want&tool.Boolean != 0 && (text == "false" || text == "False"):
		return json.RawMessage("false"), true
	case want&tool.Null != 0 && (text == "null" || text == "None"):
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
func (t *declared) fromText(name, text string, repair bool) (value json.RawMessage, repaired []string, reason string) {
	var want tool.Types
	if p := t.Property(name); p != nil {
		want = p.Schema.Types
	}
	if want == 0 {
		return quote(text), nil, ""
	}
	trimmed := strings.TrimSpace(text)
	isText := want&tool.String != 0
	if v, ok := scalar(want, trimmed); ok && (!isText || string(v) == "null") {
		return v, nil, ""
	}
	if want&(tool.Array|tool.Object) != 0 && (!isText || json.Valid([]byte(trimmed))) && trimmed != "" {
		if v, notes, err := mend(trimmed); err == nil && (notes == nil || repair) &&
			(want&tool.Array != 0 && v[0] == '[' || want&tool.Object != 0 && v[0] == '{') {
			return v, within(notes, name), ""
		} else if err != nil && !isText {
			return nil, nil, fmt.Sprintf("parameter %s must be %s: %v", name, want, err)
		}
	}
	if isText {
		return quote(text), nil, ""
	}
	return nil, nil, fmt.Sprintf("parameter %s must be %s, not %q", name, want, clip(trimmed, 40))
}

// keywords are words of schemas that small models copy into calls.
var keywords = []string{"required", "type", "properties", "description", "additionalProperties", "parameters"}

// mendArguments returns renamed arguments with the slips mended that can have meant one thing only: words of the schema
// among them, null for one that may be left out, and values of a wrong type. Nothing behind the parser mends arguments any
// more.
func (t *declared) mendArguments(args []member) (kept []member, repaired []string) {
	for _, m := range args {
		p := t.Property(m.key)
		switch {
		case p == nil && len(t.Properties) > 0 && !t.Extra && slices.Contains(keywords, m.key):
			repaired = append(repaired, "dropped "+m.key+", a word of the schema")
			continue
		case p != nil && leftOut(p, m.value):
			repaired = append(repaired, "read null as no "+m.key)
			continue
		case p != nil:
			var notes []string
			m.value, notes = fit(p.Schema, m.key, m.value, 0)
			repaired = append(repaired, notes...)
		}
		kept = append(kept, m)
	}
	return kept, repaired
}

// leftOut reports whether a value is null where the parameter may be left out and cannot be null.
func leftOut(p *tool.Property, value json.RawMessage) bool {
	want := p.Schema.Types
	return !p.Required && want != 0 && want&tool.Null == 0 && string(value) == "null"
}

// fit turns a JSON value of a wrong type into the declared type where that is the only thing it can have meant. name is what
// notes call it.
func fit(s *tool.Schema, name string, value json.RawMessage, depth int) (json.RawMessage, []string) {
	want := s.Types
	if want == 0 || len(value) == 0 || depth > maxDepth {
		return value, nil
	}
	switch c := value[0]; {
	case c == '"' && want&tool.String == 0:
		var text string
		if json.Unmarshal(value, &text) != nil {
			return value, nil
		}
		text = strings.TrimSpace(text)
		note := []string{"read parameter " + name + " out of a string"}
		if v, ok := scalar(want, text); ok {
			return v, note
		}
		if text == "" || !(want&tool.Array != 0 && text[0] == '[' || want&tool.Object != 0 && text[0] == '{') {
			return value, nil
		}
		v, notes, err := mend(text)
		if err != nil {
			return value, nil
		}
		v, more := fit(s, name, v, depth+1)
		return v, slices.Concat(note, within(notes, name), more)
	case (c == '-' || c >= '0' && c <= '9') && want&(tool.String|tool.Number|tool.Integer) == tool.String:
		return quote(string(value)), []string{"read parameter " + name + " as a string"}
	case c == '[' && want&tool.Array != 0 && s.Items != nil:
		return fitElements(s, name, value, depth)
	case c == '{' && want&tool.Object != 0 && len(s.Properties) > 0:
		return fitMembers(s, name, value, depth)
	}
	return value, nil
}

// fitElements fits the elements of an array. One that fits as it is stays as it was written.
func fitElements(s *tool.Schema, name string, value json.RawMessage, depth int) (json.RawMessage, []string) {
	var list []json.RawMessage
	if json.Unmarshal(value, &list) != nil {
		return value, nil
	}
	var repaired []string
	for i := range list {
		var notes []string
		list[i], notes = fit(s.Items, name+"["+strconv.Itoa(i)+"]", list[i], depth+1)
		repaired = append(repaired, notes...)
	}
	if repaired == nil {
		return value, nil
	}
	return array(list), repaired
}

// fitMembers fits the properties of an object. One that fits as it is stays as it was written.
func fitMembers(s *tool.Schema, name string, value json.RawMessage, depth int) (json.RawMessage, []string) {
	all, err := members(value)
	if err != nil {
		return value, nil
	}
	var kept []member
	var repaired []string
	for _, m := range all {
		p := s.Property(m.key)
		if p != nil && leftOut(p, m.value) {
			repaired = append(repaired, "read null as no "+name+"."+m.key)
			continue
		}
		if p != nil {
			var notes []string
			m.value, notes = fit(p.Schema, name+"."+m.key, m.value, depth+1)
			repaired = append(repaired, notes...)
		}
		kept = append(kept, m)
	}
	if repaired == nil {
		return value, nil
	}
	return object(kept), repaired
}

// within says which parameter repairs belong to.
func within(notes []string, name string) []string {
	out := make([]string, len(notes))
	for i, n := range notes {
		out[i] = n + " in parameter " + name
	}
	return slices.Clip(out)
}
