package tool

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// maxNesting bounds the depth of schemas and of arguments.
const maxNesting = 16

// Schema is the declaration of a value: the part of JSON Schema that tools need.
type Schema struct {
	// Type is "object", "array", "string", "integer", "number" or "boolean".
	Type        string
	Description string
	// Properties of an object, in the order in which they were declared.
	Properties []Property
	// Extra allows an object to have properties that are not declared.
	Extra bool
	// Items is the schema of the elements of an array; nil takes any.
	Items *Schema
	// Enum lists the only values that a string may have.
	Enum []string
	// Minimum and Maximum bound a number, where they are set.
	Minimum, Maximum *float64
	// MinLength and MaxLength bound a string in characters and an array in elements, where they are set.
	MinLength, MaxLength *int
}

// Property is a named part of an object.
type Property struct {
	Name     string
	Required bool
	Schema   *Schema
}

// ParseSchema reads the JSON schema of a tool's parameters: an object with the keywords type (a single one), description,
// properties, required, additionalProperties (true or false; false unless given), items, enum (of strings), minimum,
// maximum, minLength, maxLength, minItems, maxItems, and title, default and examples, which mean nothing here. A schema
// with anything else is refused, so that no promise is made that is not kept.
//
// Errors: [*SchemaError].
func ParseSchema(raw json.RawMessage) (*Schema, error) {
	if len(raw) > MaxParameters {
		return nil, &SchemaError{"parameters", fmt.Sprintf("they take %d bytes, the limit is %d", len(raw), MaxParameters)}
	}
	if len(raw) == 0 {
		return nil, &SchemaError{"parameters", "they are missing"}
	}
	s, err := parseSchema("parameters", raw, 0)
	if err != nil {
		return nil, err
	}
	if s.Type != "object" {
		return nil, &SchemaError{"parameters.type", fmt.Sprintf("it is %q, want \"object\"", s.Type)}
	}
	return s, nil
}

// member is a name and a value of a JSON object, in order.
type member struct {
	name  string
	value json.RawMessage
}

// members reads a JSON object and keeps its order.
func members(raw json.RawMessage) ([]member, error) {
	d := json.NewDecoder(bytes.NewReader(raw))
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return nil, errors.New("it is not a JSON object")
	}
	var list []member
	for d.More() {
		t, err := d.Token()
		if err != nil {
			return nil, err
		}
		m := member{name: t.(string)}
		if err := d.Decode(&m.value); err != nil {
			return nil, err
		}
		if slices.ContainsFunc(list, func(o member) bool { return o.name == m.name }) {
			return nil, fmt.Errorf("%q is there twice", m.name)
		}
		list = append(list, m)
	}
	if _, err := d.Token(); err != nil {
		return nil, err
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("something follows the JSON object")
	}
	return list, nil
}

func parseSchema(path string, raw json.RawMessage, depth int) (*Schema, error) {
	fail := func(at string, err error) error { return &SchemaError{path + at, err.Error()} }
	if depth > maxNesting {
		return nil, fail("", errors.New("it is nested too deeply"))
	}
	keywords, err := members(raw)
	if err != nil {
		return nil, fail("", err)
	}
	s := &Schema{}
	var required []string
	for _, k := range keywords {
		var err error
		switch k.name {
		case "type":
			err = json.Unmarshal(k.value, &s.Type)
		case "description":
			err = json.Unmarshal(k.value, &s.Description)
		case "required":
			err = json.Unmarshal(k.value, &required)
		case "additionalProperties":
			err = json.Unmarshal(k.value, &s.Extra)
		case "enum":
			err = json.Unmarshal(k.value, &s.Enum)
		case "minimum":
			err = json.Unmarshal(k.value, &s.Minimum)
		case "maximum":
			err = json.Unmarshal(k.value, &s.Maximum)
		case "minLength", "minItems":
			err = json.Unmarshal(k.value, &s.MinLength)
		case "maxLength", "maxItems":
			err = json.Unmarshal(k.value, &s.MaxLength)
		case "items":
			if s.Items, err = parseSchema(path+".items", k.value, depth+1); err != nil {
				return nil, err
			}
		case "properties":
			props, err := members(k.value)
			if err != nil {
				return nil, fail(".properties", err)
			}
			for _, p := range props {
				inner, err := parseSchema(path+".properties."+printable(p.name), p.value, depth+1)
				if err != nil {
					return nil, err
				}
				s.Properties = append(s.Properties, Property{Name: p.name, Schema: inner})
			}
		case "title", "default", "examples", "$schema":
		default:
			err = errors.New("this keyword is not supported")
		}
		if err != nil {
			return nil, fail("."+printable(k.name), err)
		}
	}
	if !slices.Contains([]string{"object", "array", "string", "integer", "number", "boolean"}, s.Type) {
		return nil, fail(".type", fmt.Errorf("it is %q, want object, array, string, integer, number or boolean", s.Type))
	}
	for _, name := range required {
		i := slices.IndexFunc(s.Properties, func(p Property) bool { return p.Name == name })
		if i < 0 {
			return nil, fail(".required", fmt.Errorf("%q is not among the properties", name))
		}
		s.Properties[i].Required = true
	}
	return s, nil
}

// printable shortens a name and keeps it on one line.
func printable(s string) string {
	if len(s) > 60 {
		s = strings.ToValidUTF8(s[:60], "") + "…"
	}
	q := strconv.Quote(s)
	return q[1 : len(q)-1]
}

// Usage returns the signature of a tool, such as "read_file(path, offset?, limit?)".
func (s *Schema) Usage(tool string) string {
	var names []string
	for _, p := range s.Properties {
		n := p.Name
		if !p.Required {
			n += "?"
		}
		names = append(names, n)
	}
	return tool + "(" + strings.Join(names, ", ") + ")"
}

// Arguments holds the arguments of a call against the schema and returns them in a plain form, with small slips mended:
// a number or a truth value that was written as a string, a number for a string, null for an optional argument. Nothing
// at all stands for no arguments.
//
// Errors: [*ArgumentError].
func (s *Schema) Arguments(tool string, raw json.RawMessage) (json.RawMessage, error) {
	fail := func(problems ...string) (json.RawMessage, error) {
		return nil, &ArgumentError{Tool: tool, Problems: problems, Usage: s.Usage(tool)}
	}
	if len(raw) > MaxArguments {
		return fail(fmt.Sprintf("the arguments take %d bytes, the limit is %d", len(raw), MaxArguments))
	}
	if len(bytes.TrimSpace(raw)) == 0 || string(bytes.TrimSpace(raw)) == "null" {
		raw = json.RawMessage("{}")
	}
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		return fail("the arguments are not JSON: " + err.Error())
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return fail("something follows the JSON object of the arguments")
	}
	c := checker{}
	v = c.check("", v, s, 0)
	if len(c.problems) > 0 {
		return fail(c.problems...)
	}
	out, err := json.Marshal(v)
	if err != nil {
		return fail(err.Error())
	}
	return out, nil
}

// checker collects problems.
type checker struct{ problems []string }

// maxProblems bounds what is told at once.
const maxProblems = 8

func (c *checker) add(format string, args ...any) {
	if len(c.problems) < maxProblems {
		c.problems = append(c.problems, fmt.Sprintf(format, args...))
	}
}

// check returns v in the form that s asks for. at names it.
func (c *checker) check(at string, v any, s *Schema, depth int) any {
	label := at
	if label == "" {
		label = "the arguments"
	}
	if depth > maxNesting {
		c.add("%s: nested too deeply", label)
		return v
	}
	switch s.Type {
	case "object":
		if o, ok := v.(map[string]any); ok {
			return c.object(at, o, s, depth)
		}
	case "array":
		if a, ok := v.([]any); ok {
			c.length(label, len(a), "elements", s)
			if s.Items != nil {
				for i := range a {
					a[i] = c.check(fmt.Sprintf("%s[%d]", at, i), a[i], s.Items, depth+1)
				}
			}
			return a
		}
	case "string":
		t, ok := v.(string)
		if n, isNumber := v.(json.Number); isNumber {
			t, ok = n.String(), true
		}
		if ok {
			if len(s.Enum) > 0 && !slices.Contains(s.Enum, t) {
				c.add("%s must be one of %s, not %q", label, strings.Join(s.Enum, ", "), printable(t))
			}
			if s.MinLength != nil || s.MaxLength != nil {
				c.length(label, utf8.RuneCountInString(t), "characters", s)
			}
			return t
		}
	case "boolean":
		switch t := v.(type) {
		case bool:
			return t
		case string:
			if b, err := strconv.ParseBool(strings.ToLower(strings.TrimSpace(t))); err == nil {
				return b
			}
		}
	case "integer", "number":
		n, ok := v.(json.Number)
		if t, isText := v.(string); isText {
			n, ok = json.Number(strings.TrimSpace(t)), true
		}
		if ok {
			if x, ok := number(n, s.Type == "integer"); ok {
				c.bounds(label, x, s)
				if s.Type == "integer" {
					return int64(x)
				}
				return x
			}
		}
	}
	c.add("%s must be %s, not %s", label, article[s.Type], shown(v))
	return v
}

var article = map[string]string{
	"object": "an object", "array": "an array", "string": "a string", "boolean": "true or false", "integer": "a whole number", "number": "a number",
}

// number reads a finite number; an integer must be exact.
func number(n json.Number, integer bool) (float64, bool) {
	x, err := strconv.ParseFloat(n.String(), 64)
	if err != nil || math.IsInf(x, 0) || math.IsNaN(x) {
		return 0, false
	}
	return x, !integer || x == math.Trunc(x) && math.Abs(x) <= 1<<53
}

func (c *checker) object(at string, o map[string]any, s *Schema, depth int) any {
	prefix := ""
	if at != "" {
		prefix = at + "."
	}
	for _, p := range s.Properties {
		v, ok := o[p.Name]
		switch {
		case ok && v == nil && !p.Required:
			delete(o, p.Name)
		case ok:
			o[p.Name] = c.check(prefix+p.Name, v, p.Schema, depth+1)
		case p.Required && p.Schema.Description != "":
			c.add("%s is missing (%s)", prefix+p.Name, p.Schema.Description)
		case p.Required:
			c.add("%s is missing", prefix+p.Name)
		}
	}
	if s.Extra {
		return o
	}
	for _, name := range slices.Sorted(maps.Keys(o)) {
		if !slices.ContainsFunc(s.Properties, func(p Property) bool { return p.Name == name }) {
			c.add("there is no argument %q", prefix+printable(name))
		}
	}
	return o
}

func (c *checker) bounds(label string, x float64, s *Schema) {
	if s.Minimum != nil && x < *s.Minimum {
		c.add("%s must be at least %v", label, *s.Minimum)
	}
	if s.Maximum != nil && x > *s.Maximum {
		c.add("%s must be at most %v", label, *s.Maximum)
	}
}

func (c *checker) length(label string, n int, what string, s *Schema) {
	if s.MinLength != nil && n < *s.MinLength {
		c.add("%s must have at least %d %s", label, *s.MinLength, what)
	}
	if s.MaxLength != nil && n > *s.MaxLength {
		c.add("%s must have at most %d %s", label, *s.MaxLength, what)
	}
}

// shown describes a value for a message.
func shown(v any) string {
	switch v := v.(type) {
	case nil:
		return "null"
	case map[string]any:
		return "an object"
	case []any:
		return "an array"
	case string:
		return strconv.Quote(printable(v))
	}
	return printable(fmt.Sprint(v))
}
