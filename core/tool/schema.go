package tool

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/pooled/pooled/core/plain"
)

// maxNesting bounds the depth of schemas and of arguments.
const maxNesting = 16

// maxShown bounds what a message shows of a name or a text. Units: characters.
const maxShown = 60

// Schema is the declaration of a value: the part of JSON Schema that tools need. It is read once, by [ParseSchema] or
// [ReadSchema], and carried along to whoever writes, reads, mends or judges arguments.
type Schema struct {
	// Raw is the JSON that it was read from.
	Raw json.RawMessage
	// Types are those that the value may have.
	Types       Types
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

// Property returns the property of an object that has a name, or nil.
func (s *Schema) Property(name string) *Property {
	i := slices.IndexFunc(s.Properties, func(p Property) bool { return p.Name == name })
	if i < 0 {
		return nil
	}
	return &s.Properties[i]
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
	if s.Types != Object {
		return nil, &SchemaError{"parameters.type", fmt.Sprintf("it is %v, want an object", s.Types)}
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

// unique refuses a JSON object that has a name twice.
func unique(list []member) error {
	seen := map[string]bool{}
	for _, m := range list {
		if seen[m.name] {
			return fmt.Errorf("%.60q is there twice", m.name)
		}
		seen[m.name] = true
	}
	return nil
}

func parseSchema(path string, raw json.RawMessage, depth int) (*Schema, error) {
	fail := func(at string, err error) error { return &SchemaError{path + at, err.Error()} }
	if depth > maxNesting {
		return nil, fail("", errors.New("it is nested too deeply"))
	}
	keywords, err := members(raw)
	if err == nil {
		err = unique(keywords)
	}
	if err != nil {
		return nil, fail("", err)
	}
	s := &Schema{Raw: raw}
	var required []string
	var of string
	for _, k := range keywords {
		var err error
		switch k.name {
		case "type":
			err = json.Unmarshal(k.value, &of)
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
			if err == nil {
				err = unique(props)
			}
			if err != nil {
				return nil, fail(".properties", err)
			}
			for _, p := range props {
				inner, err := parseSchema(path+".properties."+plain.Line(p.name, maxShown), p.value, depth+1)
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
			return nil, fail("."+plain.Line(k.name, maxShown), err)
		}
	}
	if s.Types = typeNames[of]; s.Types == 0 || s.Types == Null {
		return nil, fail(".type", fmt.Errorf("it is %.60q, want object, array, string, integer, number or boolean", of))
	}
	for _, name := range required {
		p := s.Property(name)
		if p == nil {
			return nil, fail(".required", fmt.Errorf("%.60q is not among the properties", name))
		}
		p.Required = true
	}
	return s, nil
}
