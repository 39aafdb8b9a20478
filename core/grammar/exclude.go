package grammar

import (
	"encoding/json"
	"slices"
	"strings"
)

const (
	// maxExclusion bounds the schemas that are compared to show that the alternatives of a document's oneOf exclude each other.
	maxExclusion = 20_000
	// maxExclusionDepth bounds how deeply properties are followed for it.
	maxExclusionDepth = 12
)

// exclude says oneOf with anyOf where no value can meet two alternatives. The engine does so too, but does not follow references
// and does not compare numbers.
func (d *document) exclude(v *value) {
	e := excluder{d, maxExclusion}
	e.schema(v)
}

type excluder struct {
	*document
	left int
}

func (e *excluder) schema(v *value) {
	for _, m := range v.members {
		for _, p := range parts(m, "") {
			e.schema(p.value)
		}
	}
	one := v.get("oneOf")
	if one == nil || one.kind != '[' || !e.pairwise(one.items) {
		return
	}
	if v.has("anyOf") {
		v.drop("oneOf")
		v.also(&value{kind: '{', members: []member{{"anyOf", one}}})
		return
	}
	for i := range v.members {
		if v.members[i].key == "oneOf" {
			v.members[i].key = "anyOf"
		}
	}
}

func (e *excluder) pairwise(all []*value) bool {
	for i, a := range all {
		for _, b := range all[i+1:] {
			if !e.disjoint(a, b, 0) {
				return false
			}
		}
	}
	return true
}

// disjoint reports whether no value meets two schemas; false when that is not plain to see.
func (e *excluder) disjoint(a, b *value, depth int) bool {
	if depth > maxExclusionDepth {
		return false
	}
	for _, x := range e.all(a, nil) {
		for _, y := range e.all(b, nil) {
			if e.left--; e.left < 0 {
				return false
			}
			if x.scalar == false || y.scalar == false || e.apart(x, y, depth) || e.apart(y, x, depth) {
				return true
			}
		}
	}
	return false
}

// all returns a schema and those that it requires to be met too, but for those that are known.
func (e *excluder) all(v *value, known []*value) []*value {
	if slices.Contains(known, v) || len(known) > maxDepth {
		return known
	}
	known = append(known, v)
	if ref := v.get("$ref"); ref != nil {
		if target := e.target(ref); target != nil {
			known = e.all(target, known)
		}
	}
	if list := v.get("allOf"); list != nil {
		for _, part := range list.items {
			known = e.all(part, known)
		}
	}
	return known
}

// target returns the definition that a reference in the engine's form leads to, or nil.
func (d *document) target(ref *value) *value {
	text, _ := ref.scalar.(string)
	segments := strings.Split(text, "/")
	if len(segments) != 3 {
		return nil
	}
	return d.root.get(segments[1]).get(segments[2])
}

// apart reports whether a asks for a type, a constant or a property that b excludes.
func (e *excluder) apart(a, b *value, depth int) bool {
	if x, y := constants(a), constants(b); x != nil && y != nil {
		if e.left -= len(x) * len(y); e.left < 0 {
			return false
		}
		return !slices.ContainsFunc(x, func(key any) bool { return slices.Contains(y, key) })
	}
	common := types(a) & types(b)
	if common == 0 {
		return true
	}
	required := a.get("required")
	if common != typeObject || required == nil {
		return false
	}
	rest := b.get("additionalProperties")
	closed := rest != nil && rest.scalar == false && !b.has("patternProperties")
	for _, item := range required.items {
		name, _ := item.scalar.(string)
		own, other := a.get("properties").get(name), b.get("properties").get(name)
		if other == nil && closed || own != nil && other != nil && e.disjoint(own, other, depth+1) {
			return true
		}
	}
	return false
}

// constants returns the values that a schema allows, in a form to compare; nil when they are not plain ones.
func constants(v *value) []any {
	var out []any
	for _, c := range listed(v) {
		if c.kind != 0 {
			return nil
		}
		key := c.scalar
		if n, ok := numeral(c); ok {
			key = json.Number(n)
		}
		out = append(out, key)
	}
	return out
}

// listed returns the values of const or enum.
func listed(v *value) []*value {
	if c := v.get("const"); c != nil {
		return []*value{c}
	}
	if list := v.get("enum"); list != nil {
		return list.items
	}
	return nil
}

// Types of values, as a set.
const (
	typeNull = 1 << iota
	typeBoolean
	typeNumber
	typeString
	typeArray
	typeObject
	typeAny = 1<<iota - 1
)

// types returns the types that a schema allows.
func types(v *value) int {
	set := typeAny
	if t := v.get("type"); t != nil {
		set = 0
		for _, item := range append(slices.Clone(t.items), t) {
			name, _ := item.scalar.(string)
			set |= map[string]int{
				"null": typeNull, "boolean": typeBoolean, "number": typeNumber, "integer": typeNumber,
				"string": typeString, "array": typeArray, "object": typeObject,
			}[name]
		}
	}
	values := listed(v)
	if values == nil {
		return set
	}
	allowed := 0
	for _, c := range values {
		allowed |= typeOf(c)
	}
	return set & allowed
}

func typeOf(v *value) int {
	switch v.kind {
	case '{':
		return typeObject
	case '[':
		return typeArray
	}
	switch v.scalar.(type) {
	case bool:
		return typeBoolean
	case json.Number:
		return typeNumber
	case string:
		return typeString
	}
	return typeNull
}
