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

	"github.com/pooled/pooled/core/plain"
)

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

// Arguments holds the arguments of a call against the schema and returns them in a plain form: names in order, whole numbers
// without a fraction. Nothing at all stands for no arguments. Nothing is mended here: what a model wrote almost right,
// core/toolcall mends where it reads the call.
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
	if s.Types == 0 {
		return v
	}
	switch t := v.(type) {
	case map[string]any:
		if s.Types&Object != 0 {
			return c.object(at, t, s, depth)
		}
	case []any:
		if s.Types&Array != 0 {
			c.length(label, len(t), "elements", s)
			for i := range t {
				if s.Items != nil {
					t[i] = c.check(fmt.Sprintf("%s[%d]", at, i), t[i], s.Items, depth+1)
				}
			}
			return t
		}
	case string:
		if s.Types&String != 0 {
			if len(s.Enum) > 0 && !slices.Contains(s.Enum, t) {
				c.add("%s must be one of %s, not %q", label, strings.Join(s.Enum, ", "), plain.Line(t, maxShown))
			}
			if s.MinLength != nil || s.MaxLength != nil {
				c.length(label, utf8.RuneCountInString(t), "characters", s)
			}
			return t
		}
	case bool:
		if s.Types&Boolean != 0 {
			return t
		}
	case json.Number:
		whole := s.Types&Number == 0
		if x, ok := number(t, whole); ok && s.Types&(Number|Integer) != 0 {
			c.bounds(label, x, s)
			if whole {
				return int64(x)
			}
			return x
		}
	case nil:
		if s.Types&Null != 0 {
			return nil
		}
	}
	c.add("%s must be %v, not %s", label, s.Types, shown(v))
	return v
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
		if s.Property(name) == nil {
			c.add("there is no argument %q", prefix+plain.Line(name, maxShown))
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
		return strconv.Quote(plain.Line(v, maxShown))
	}
	return plain.Line(fmt.Sprint(v), maxShown)
}
