package tool

import (
	"encoding/json"
	"strings"
)

// Types is a set of JSON types; the empty one stands for every type.
type Types uint8

// The types. Number holds Integer.
const (
	String Types = 1 << iota
	Number
	Integer
	Boolean
	Null
	Array
	Object
)

// typeNames are the types as JSON Schema calls them.
var typeNames = map[string]Types{
	"string": String, "number": Number, "integer": Integer, "boolean": Boolean, "null": Null, "array": Array, "object": Object,
}

// String names the types in words for a model, such as "a string or null".
func (t Types) String() string {
	if t == 0 {
		return "anything"
	}
	var words []string
	for _, n := range []struct {
		is   bool
		word string
	}{
		{t&String != 0, "a string"},
		{t&Number != 0, "a number"},
		{t&(Integer|Number) == Integer, "a whole number"},
		{t&Boolean != 0, "true or false"},
		{t&Null != 0, "null"},
		{t&Array != 0, "a JSON array"},
		{t&Object != 0, "a JSON object"},
	} {
		if n.is {
			words = append(words, n.word)
		}
	}
	return strings.Join(words, " or ")
}

// ReadSchema reads any JSON schema of a tool's parameters as far as calls can be read and mended by it: the names of
// properties and the types that they may have, also through references and alternatives. What it does not understand it
// leaves open; [ParseSchema] refuses that instead.
//
// Errors: [*SchemaError] for what is no object, or has properties that are none.
func ReadSchema(raw json.RawMessage) (*Schema, error) {
	root, err := members(raw)
	if err != nil {
		return nil, &SchemaError{"parameters", err.Error()}
	}
	r := schemaReader{defs: map[string]json.RawMessage{}, known: map[string]Types{}}
	for _, m := range root {
		switch m.name {
		case "$defs", "definitions":
			defs, _ := members(m.value) // what is no object defines nothing
			for _, d := range defs {
				r.defs["#/"+m.name+"/"+d.name] = d.value
			}
		case "properties":
			if _, err := members(m.value); err != nil {
				return nil, &SchemaError{"parameters.properties", err.Error()}
			}
		}
	}
	return r.schema(raw, 0), nil
}

// maxReferences bounds how far references and alternatives are followed.
const maxReferences = 8

// schemaReader reads schemas of any kind.
type schemaReader struct {
	defs map[string]json.RawMessage
	// known are the types of definitions, each read once: references to references could double with every step.
	known map[string]Types
}

// schema reads what is declared in place; references count for their types only, so that time is bounded by the length.
func (r *schemaReader) schema(raw json.RawMessage, depth int) *Schema {
	s := &Schema{Raw: raw, Types: r.types(raw, 0)}
	keywords, err := members(raw)
	if err != nil || depth > maxNesting {
		return s
	}
	var required []string
	for _, k := range keywords {
		switch k.name {
		case "required":
			_ = json.Unmarshal(k.value, &required) // what is no list requires nothing
		case "additionalProperties":
			s.Extra = string(k.value) != "false"
		case "items":
			s.Items = r.schema(k.value, depth+1)
		case "properties":
			all, _ := members(k.value) // what is no object declares nothing
			for _, p := range all {
				s.Properties = append(s.Properties, Property{Name: p.name, Schema: r.schema(p.value, depth+1)})
			}
		}
	}
	for _, name := range required {
		if p := s.Property(name); p != nil {
			p.Required = true
		}
	}
	return s
}

// types reads which types a schema allows.
func (r *schemaReader) types(schema json.RawMessage, depth int) Types {
	var s struct {
		Type  json.RawMessage   `json:"type"`
		Ref   string            `json:"$ref"`
		AnyOf []json.RawMessage `json:"anyOf"`
		OneOf []json.RawMessage `json:"oneOf"`
		AllOf []json.RawMessage `json:"allOf"`
		Enum  []any             `json:"enum"`
		Const json.RawMessage   `json:"const"`
	}
	if depth > maxReferences || json.Unmarshal(schema, &s) != nil {
		return 0
	}
	var one string
	var many []string
	switch {
	case json.Unmarshal(s.Type, &one) == nil:
		return typeNames[one]
	case json.Unmarshal(s.Type, &many) == nil:
		return union(many, func(name string) Types { return typeNames[name] })
	case s.Ref != "":
		known, ok := r.known[s.Ref]
		if !ok {
			r.known[s.Ref] = 0 // what refers to itself may be anything
			known = r.types(r.defs[s.Ref], depth+1)
			r.known[s.Ref] = known
		}
		return known
	case s.Enum != nil:
		return union(s.Enum, typeOf)
	case s.Const != nil:
		var v any
		_ = json.Unmarshal(s.Const, &v) // part of a valid document
		return typeOf(v)
	case len(s.AllOf) == 1:
		return r.types(s.AllOf[0], depth+1)
	}
	return union(append(s.AnyOf, s.OneOf...), func(option json.RawMessage) Types { return r.types(option, depth+1) })
}

// union joins the types of alternatives. One that may be anything lets all be anything.
func union[T any](list []T, of func(T) Types) Types {
	var all Types
	for _, v := range list {
		t := of(v)
		if t == 0 {
			return 0
		}
		all |= t
	}
	return all
}

// typeOf returns the type of a JSON value.
func typeOf(v any) Types {
	switch v.(type) {
	case string:
		return String
	case float64:
		return Number
	case bool:
		return Boolean
	case nil:
		return Null
	case []any:
		return Array
	}
	return Object
}
