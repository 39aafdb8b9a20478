package grammar

import (
	"fmt"
	"slices"
	"strings"
)

// maxDependents bounds the dependent keywords of one schema, each of which doubles its alternatives.
const maxDependents = 6

// applicators are the keywords whose schemas say more about the same value.
var applicators = []string{"allOf", "anyOf", "oneOf", "$ref", "not", "if", "then", "else", "dependentSchemas", "dependencies", "$dynamicRef", "$recursiveRef", "contains"}

// isTrue reports whether a schema allows everything.
func isTrue(v *value) bool { return v.scalar == true || v.kind == '{' && len(v.members) == 0 }

// drop removes a keyword.
func (v *value) drop(key string) {
	v.members = slices.DeleteFunc(v.members, func(m member) bool { return m.key == key })
}

// has reports whether a schema has one of the keywords.
func (v *value) has(keys ...string) bool {
	return slices.ContainsFunc(v.members, func(m member) bool { return slices.Contains(keys, m.key) })
}

// also makes a schema require another one too.
func (v *value) also(other *value) {
	all := v.get("allOf")
	if all == nil {
		all = &value{kind: '['}
		v.set("allOf", all)
	}
	all.items = append(all.items, other)
}

// simplify removes what has no effect, and says nothing with simpler keywords.
func (d *document) simplify(v *value, path string) {
	v.members = slices.DeleteFunc(v.members, func(m member) bool {
		switch m.key {
		case "uniqueItems", "not":
			return m.value.scalar == false
		case "format":
			return !forStrings(v) || m.value.scalar == "password"
		case "then", "else":
			return !v.has("if")
		case "if":
			return !v.has("then", "else")
		case "minContains", "maxContains":
			return !v.has("contains")
		case "propertyNames", "unevaluatedItems", "unevaluatedProperties":
			return isTrue(m.value)
		case "dependentRequired", "dependentSchemas":
			return m.value.kind == '{' && len(m.value.members) == 0
		case "$schema":
			return path != ""
		case "additionalItems": // known to older drafts only; its presence would hide prefixItems from the engine
			items := v.get("items")
			return items == nil || items.kind != '['
		}
		return slices.Contains(dropped, m.key)
	})
	if not := v.get("not"); not != nil && isTrue(not) {
		v.drop("not")
		v.also(&value{scalar: false})
	}
	if contains := v.get("contains"); contains != nil && isTrue(contains) && !v.has("minContains", "maxContains", "unevaluatedItems") {
		v.drop("contains")
		v.also(mustParse(`{"minItems":1}`))
	}
}

// convertible reports whether convert can say a keyword that is refused otherwise with others.
func convertible(v *value, key string) bool {
	switch key {
	case "unevaluatedProperties":
		return !v.has(applicators...)
	case "unevaluatedItems":
		items := v.get("items")
		return !v.has(applicators...) && (items == nil || items.kind != '[')
	case "propertyNames":
		return !v.has("properties", "patternProperties", "required") && namesConvertible(v.get("propertyNames"))
	}
	return false
}

// namesConvertible reports whether a schema of names is a pattern, a list, or bounds of the length.
func namesConvertible(v *value) bool {
	kinds := 0
	for _, keys := range [][]string{{"pattern"}, {"enum"}, {"minLength", "maxLength"}} {
		if v.has(keys...) {
			kinds++
		}
	}
	return kinds == 1 && !slices.ContainsFunc(v.members, func(m member) bool {
		switch m.key {
		case "type":
			return m.value.scalar != "string"
		case "enum":
			return !slices.ContainsFunc(m.value.items, func(v *value) bool { _, ok := v.scalar.(string); return ok })
		}
		return !slices.Contains([]string{"pattern", "minLength", "maxLength"}, m.key)
	})
}

// describeNames says what propertyNames says with properties or a pattern.
func describeNames(v, names *value) {
	rest := v.get("additionalProperties")
	if rest == nil {
		rest = &value{scalar: true}
	}
	v.drop("propertyNames")
	v.set("additionalProperties", &value{scalar: false})
	if list := names.get("enum"); list != nil {
		properties := &value{kind: '{'}
		for _, item := range list.items {
			if name, ok := item.scalar.(string); ok {
				properties.set(name, rest.clone())
			}
		}
		v.set("properties", properties)
		return
	}
	pattern, bounds := "", [2]string{"0", ""}
	if p := names.get("pattern"); p != nil {
		pattern, _ = p.scalar.(string)
	} else {
		for i, key := range []string{"minLength", "maxLength"} {
			if n := names.get(key); n != nil {
				bounds[i] = fmt.Sprint(n.scalar)
			}
		}
		pattern = "^(?s:.{" + bounds[0] + "," + bounds[1] + "})$"
	}
	v.set("patternProperties", &value{kind: '{', members: []member{{pattern, rest}}})
}

// convert says keywords that the engine does not know with others.
func (d *document) convert(v *value, path string) error {
	for _, k := range [][2]string{{"unevaluatedProperties", "additionalProperties"}, {"unevaluatedItems", "items"}} {
		if rest := v.get(k[0]); rest != nil {
			v.drop(k[0])
			if !v.has(k[1]) {
				v.set(k[1], rest)
			}
		}
	}
	if names := v.get("propertyNames"); names != nil {
		describeNames(v, names)
	}
	return d.dependents(v, path)
}

// dependents says "if there is a property a, then …" as "there is no a, or …".
func (d *document) dependents(v *value, path string) error {
	type dependent struct {
		name string
		then *value
	}
	var all []dependent
	if required := v.get("dependentRequired"); required != nil {
		at := path + "/dependentRequired"
		if required.kind != '{' {
			return errorf(at, "this must be an object")
		}
		for _, m := range required.members {
			if m.value.kind != '[' {
				return errorf(at+"/"+escape(m.key), "this must be a list of names")
			}
			if len(m.value.items) > 0 {
				all = append(all, dependent{m.key, &value{kind: '{', members: []member{{"required", m.value}}}})
			}
		}
		v.drop("dependentRequired")
	}
	if schemas := v.get("dependentSchemas"); schemas != nil {
		for _, m := range schemas.members {
			all = append(all, dependent{m.key, m.value})
		}
		v.drop("dependentSchemas")
	}
	if len(all) > maxDependents {
		return errorf(path, "more than %d properties depend on others here, which makes too many alternatives", maxDependents)
	}
	for _, a := range all {
		without := &value{kind: '{', members: []member{{"properties", &value{kind: '{', members: []member{{a.name, &value{scalar: false}}}}}}}
		if err := d.names(without, path); err != nil {
			return err
		}
		with := &value{kind: '{', members: []member{{"required", &value{kind: '[', items: []*value{{scalar: a.name}}}}}}
		with.also(a.then)
		v.also(&value{kind: '{', members: []member{{"anyOf", &value{kind: '[', items: []*value{without, with}}}}})
	}
	return nil
}

// names sees to it that a property cannot be given twice, or with a value that is not meant for it, by spelling its name in
// another way ("\u0061" for "a"): the engine compares the spelling of a name that is not listed with those that are. It reads a
// name that a pattern describes in one spelling only, so an object that takes any other properties takes them by a pattern
// that every name matches. Where that cannot be said, because there are other patterns or another schema for the rest, no text
// of the schema may have \u escapes.
func (d *document) names(v *value, path string) error {
	properties, patterns, rest := v.get("properties"), v.get("patternProperties"), v.get("additionalProperties")
	closed := rest != nil && rest.scalar == false
	if patterns != nil && len(patterns.members) > 0 {
		d.oneSpelling = true
	}
	if properties != nil && len(properties.members) > 0 && !closed {
		if rest != nil && !isTrue(rest) {
			d.oneSpelling = true
		}
		for _, m := range properties.members {
			if strings.ContainsFunc(m.key, func(r rune) bool { return r < ' ' || r == 0x7f }) {
				d.oneSpelling = true
			}
		}
		d.open = append(d.open, v)
	}
	v.gather("properties", "patternProperties", "additionalProperties")
	return d.checkMinimum(v, path, closed && patterns == nil)
}

// checkMinimum refuses a number of properties that a name given twice would reach.
func (d *document) checkMinimum(v *value, path string, closed bool) error {
	least := v.get("minProperties")
	if least == nil || closed {
		return nil
	}
	required := map[any]bool{}
	if names := v.get("required"); names != nil {
		for _, name := range names.items {
			required[name.scalar] = true
		}
	}
	if n, _ := count(least); n > len(required)+1 {
		return errorf(path+"/minProperties", "it cannot be enforced when it is above the number of required properties + 1 and other names are free")
	}
	return nil
}

// gather puts keywords side by side, where the first of them is: the engine does not take them together with one between them
// that says more about the same value.
func (v *value) gather(keys ...string) {
	if !v.has(applicators...) && !v.has("const", "enum") {
		return
	}
	var group, out []member
	for _, m := range v.members {
		if slices.Contains(keys, m.key) {
			group = append(group, m)
		}
	}
	for _, m := range v.members {
		if !slices.Contains(keys, m.key) {
			out = append(out, m)
		} else {
			out = append(out, group...)
			group = nil
		}
	}
	v.members = out
}

// takeAnyName takes properties without names of their own by a pattern.
func takeAnyName(v *value) {
	v.set("patternProperties", mustParse(`{"":true}`))
	v.set("additionalProperties", &value{scalar: false})
	v.gather("properties", "patternProperties", "additionalProperties")
}
