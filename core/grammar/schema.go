package grammar

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// refused are the keywords that cannot be honoured, but for the simple cases that rewrite turns into others first.
var refused = []string{
	"not", "if", "then", "else", "contains", "minContains", "maxContains", "propertyNames", "uniqueItems",
	"unevaluatedItems", "unevaluatedProperties", "dependencies", "$dynamicRef", "$recursiveRef",
	// The engine's own switches, some of which would loosen a schema.
	"x-guidance",
}

// dropped are keywords without an effect on what is valid, which the engine would refuse.
var dropped = []string{"$dynamicAnchor", "$recursiveAnchor", "$vocabulary", "deprecated", "contentSchema"}

// Where keywords hold schemas.
var (
	schemaKeywords = []string{"items", "additionalItems", "additionalProperties", "unevaluatedItems", "unevaluatedProperties", "propertyNames"}
	listKeywords   = []string{"anyOf", "oneOf", "allOf", "prefixItems", "items"}
	mapKeywords    = []string{"properties", "patternProperties", "$defs", "definitions", "dependentSchemas"}
)

// What keywords hold otherwise.
var (
	countKeywords  = []string{"minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties"}
	numberKeywords = []string{"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf", "const", "enum"}
)

// layouts are the engine's switches for white space. Free white space is bounded, or a model could fill its answer with it.
var layouts = map[Layout]string{
	LayoutFree: `{"whitespace_pattern":"[ \\t\\r]{1,40}|[ \\t\\r]{0,8}\\n[ \\t\\r]{0,120}"}`,
	LayoutLine: `{"whitespace_flexible":false,"item_separator":", ","key_separator":": "}`,
}

// prepare checks a schema and returns its text for the engine, and the schema as it was written.
func prepare(schema json.RawMessage, layout Layout) (text string, source *value, err error) {
	v, err := parse(schema)
	if err != nil {
		return "", nil, &SchemaError{Reason: "it is not JSON: " + err.Error()}
	}
	source = v.clone()
	d, err := newDocument(v)
	if err != nil {
		return "", nil, err
	}
	if err := d.rewrite(); err != nil {
		return "", nil, err
	}
	if v.kind == '{' {
		switches := mustParse(layouts[layout])
		if d.oneSpelling {
			switches.set("json_allowed_escapes", &value{scalar: `nrbtf\"`})
		}
		switches.set("json_allow_general_unicode_escapes", &value{scalar: true})
		v.set("x-guidance", switches)
	}
	var b strings.Builder
	v.write(&b)
	return b.String(), source, nil
}

func mustParse(text string) *value {
	v, err := parse([]byte(text))
	if err != nil {
		panic("grammar: " + err.Error())
	}
	return v
}

// check refuses what cannot be honoured in a schema and puts what can into the engine's form. Its parts are checked before it
// is rewritten, so that an error has the path of the keyword as it was written.
func (d *document) check(v *value, path string) error {
	if _, ok := v.scalar.(bool); ok {
		return nil
	}
	if v.kind != '{' {
		return &SchemaError{Path: path, Reason: "a schema must be an object or a boolean"}
	}
	d.simplify(v, path)
	for _, m := range slices.Clone(v.members) {
		at := path + "/" + escape(m.key)
		if slices.Contains(refused, m.key) && !convertible(v, m.key) {
			return &SchemaError{Path: at, Reason: "this keyword cannot be enforced while a text is written; remove it and check the answer instead"}
		}
		if err := d.checkParts(m, at); err != nil {
			return err
		}
		if err := d.checkValue(v, m, at); err != nil {
			return err
		}
	}
	if err := d.convert(v, path); err != nil {
		return err
	}
	return d.names(v, path)
}

// checkValue checks the value of a keyword that holds no schemas.
func (d *document) checkValue(v *value, m member, at string) error {
	switch {
	case m.key == "format":
		return checkFormat(v, m.value, at)
	case m.key == "pattern":
		return translateMember(m.value, at)
	case m.key == "patternProperties":
		return translateKeys(m.value, at)
	case slices.Contains(countKeywords, m.key):
		return checkCount(m.value, at)
	case slices.Contains(numberKeywords, m.key):
		if m.key == "multipleOf" {
			d.multiples = append(d.multiples, at)
		}
		return d.checkNumbers(m, at)
	}
	return nil
}

// checkParts checks the schemas that a keyword holds.
func (d *document) checkParts(m member, at string) error {
	if slices.Contains(mapKeywords, m.key) && m.value.kind != '{' {
		return &SchemaError{Path: at, Reason: "this must be an object"}
	}
	for _, p := range parts(m, at) {
		if err := d.check(p.value, p.key); err != nil {
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

// escape makes a key a part of a JSON pointer.
// Source: RFC 6901, section 3.
func escape(key string) string {
	return strings.NewReplacer("~", "~0", "/", "~1").Replace(key)
}

// errorf returns a SchemaError.
func errorf(path, format string, args ...any) error {
	return &SchemaError{Path: path, Reason: fmt.Sprintf(format, args...)}
}
