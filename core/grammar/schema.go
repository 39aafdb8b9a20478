package grammar

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// refused are the keywords that the engine knows and cannot honour.
var refused = map[string]bool{
	"not": true, "if": true, "then": true, "else": true,
	"dependencies": true, "dependentRequired": true, "dependentSchemas": true,
	"contains": true, "minContains": true, "maxContains": true,
	"propertyNames": true, "unevaluatedItems": true, "unevaluatedProperties": true,
	"$dynamicRef": true, "$recursiveRef": true,
	// The engine's own switches, some of which would loosen a schema.
	"x-guidance": true,
}

// dropped are keywords without an effect on what is valid, which the engine would refuse.
var dropped = map[string]bool{
	"$dynamicAnchor": true, "$recursiveAnchor": true, "$vocabulary": true, "deprecated": true, "contentSchema": true,
}

// formats are the string formats that the engine enforces.
var formats = []string{"date", "date-time", "duration", "email", "hostname", "ipv4", "ipv6", "time", "uri", "uuid"}

// Where keywords hold schemas.
var (
	schemaKeywords = []string{"items", "additionalItems", "additionalProperties"}
	listKeywords   = []string{"anyOf", "oneOf", "allOf", "prefixItems", "items"}
	mapKeywords    = []string{"properties", "patternProperties", "$defs", "definitions"}
)

// layouts are the engine's switches for white space. Free white space is bounded, or a model could fill its answer with it.
var layouts = map[Layout]string{
	LayoutFree: `{"json_allow_general_unicode_escapes":true,"whitespace_pattern":"[ \\t\\r]{1,40}|[ \\t\\r]{0,8}\\n[ \\t\\r]{0,120}"}`,
	LayoutLine: `{"json_allow_general_unicode_escapes":true,"whitespace_flexible":false,"item_separator":", ","key_separator":": "}`,
}

// prepare checks a schema and returns its text for the engine.
func prepare(schema json.RawMessage, layout Layout) (string, error) {
	v, err := parse(schema)
	if err != nil {
		return "", &SchemaError{Reason: "it is not JSON: " + err.Error()}
	}
	if err := check(v, ""); err != nil {
		return "", err
	}
	if v.kind == '{' {
		v.set("x-guidance", mustParse(layouts[layout]))
	}
	var b strings.Builder
	v.write(&b)
	return b.String(), nil
}

func mustParse(text string) *value {
	v, err := parse([]byte(text))
	if err != nil {
		panic("grammar: " + err.Error())
	}
	return v
}

// check refuses what cannot be honoured in a schema and its parts, and drops what has no effect.
func check(v *value, path string) error {
	if _, ok := v.scalar.(bool); ok {
		return nil
	}
	if v.kind != '{' {
		return &SchemaError{Path: path, Reason: "a schema must be an object or a boolean"}
	}
	v.members = slices.DeleteFunc(v.members, func(m member) bool {
		return dropped[m.key] || m.key == "uniqueItems" && m.value.scalar == false || m.key == "format" && !forStrings(v)
	})
	for _, m := range v.members {
		at := path + "/" + escape(m.key)
		switch {
		case refused[m.key], m.key == "uniqueItems":
			return &SchemaError{Path: at, Reason: "this keyword cannot be enforced while a text is written; remove it and check the answer instead"}
		case m.key == "format":
			if err := checkFormat(m.value, at); err != nil {
				return err
			}
		case m.key == "$ref":
			if err := checkRef(m.value, at); err != nil {
				return err
			}
		}
		if err := checkParts(m, at); err != nil {
			return err
		}
	}
	return nil
}

// checkParts checks the schemas that a keyword holds.
func checkParts(m member, at string) error {
	if slices.Contains(mapKeywords, m.key) && m.value.kind != '{' {
		return &SchemaError{Path: at, Reason: "this must be an object"}
	}
	for _, p := range parts(m, at) {
		if err := check(p.value, p.key); err != nil {
			return err
		}
	}
	return nil
}

// forStrings reports whether a schema may describe strings, to which alone formats apply.
func forStrings(v *value) bool {
	types := v.get("type")
	if types == nil {
		return true
	}
	if types.kind == '[' {
		return slices.ContainsFunc(types.items, func(t *value) bool { return t.scalar == "string" })
	}
	return types.scalar == "string"
}

func checkFormat(v *value, at string) error {
	name, ok := v.scalar.(string)
	if !ok {
		return &SchemaError{Path: at, Reason: "a format is a string"}
	}
	if !slices.Contains(formats, name) {
		return &SchemaError{Path: at, Reason: fmt.Sprintf("the format %q cannot be enforced; remove it, use a pattern, or one of %s", name, strings.Join(formats, ", "))}
	}
	return nil
}

func checkRef(v *value, at string) error {
	ref, ok := v.scalar.(string)
	if !ok || ref != "#" && !strings.HasPrefix(ref, "#/") {
		return &SchemaError{Path: at, Reason: fmt.Sprintf("only references into the schema itself (#/…) can be followed, not %q", fmt.Sprint(v.scalar))}
	}
	return nil
}

// escape makes a key a part of a JSON pointer.
// Source: RFC 6901, section 3.
func escape(key string) string {
	return strings.NewReplacer("~", "~0", "/", "~1").Replace(key)
}
