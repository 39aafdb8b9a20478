package grammar

import (
	"slices"
	"strconv"
	"strings"
)

// maxTries bounds how many schemas Locate compiles.
const maxTries = 200

// Locate returns the JSON pointer of the keyword for which an engine refuses a prepared schema; empty when it cannot tell.
// compiles reports whether the engine takes a schema.
//
// It goes down to the innermost part that is refused on its own, and names the keyword without which that part is taken.
func Locate(g Grammar, compiles func(Grammar) bool) string {
	root, err := parse([]byte(g.Text))
	if err != nil || root.kind != '{' {
		return ""
	}
	l := locator{root: root, compiles: compiles, tries: maxTries}
	return written(g.source, l.inside(root, ""))
}

// written cuts a pointer down to what the schema has as it was written.
func written(v *value, pointer string) string {
	out := ""
	for _, segment := range strings.Split(pointer, "/")[1:] {
		switch i, err := strconv.Atoi(segment); {
		case v == nil:
			return out
		case v.kind == '[' && err == nil && i >= 0 && i < len(v.items):
			v = v.items[i]
		default:
			v = v.get(strings.NewReplacer("~1", "/", "~0", "~").Replace(segment))
		}
		if v != nil {
			out += "/" + segment
		}
	}
	return out
}

type locator struct {
	root     *value
	compiles func(Grammar) bool
	tries    int
}

// inside returns the pointer of the culprit in a schema that is refused.
func (l *locator) inside(v *value, path string) string {
	definitions := func(m member) bool { return m.key == "$defs" || m.key == "definitions" }
	ordered := slices.Clone(v.members)
	slices.SortStableFunc(ordered, func(a, b member) int { // what is referred to before what refers
		switch x, y := definitions(a), definitions(b); {
		case x == y:
			return 0
		case x:
			return -1
		}
		return 1
	})
	for _, m := range ordered {
		at := path + "/" + escape(m.key)
		for _, part := range parts(m, at) {
			if part.value.kind == '{' && !strings.HasPrefix(part.key, "/$defs/"+copyPrefix) && l.refuses(part.value) {
				return l.inside(part.value, part.key)
			}
		}
	}
	for i, m := range v.members {
		if m.key == "x-guidance" || definitions(m) {
			continue
		}
		without := &value{kind: '{', members: slices.Delete(slices.Clone(v.members), i, i+1)}
		if !l.refuses(without) {
			return path + "/" + escape(m.key)
		}
	}
	return path
}

// refuses reports whether a part is refused on its own, with the definitions of the whole. A part that refers to elsewhere
// cannot be judged.
func (l *locator) refuses(v *value) bool {
	if l.tries--; l.tries < 0 {
		return false
	}
	alone := &value{kind: '{', members: slices.Clone(v.members)}
	for _, key := range []string{"$defs", "definitions", "$schema", "x-guidance"} {
		if x := l.root.get(key); x != nil {
			alone.set(key, x)
		}
	}
	var b strings.Builder
	alone.write(&b)
	if refersElsewhere(v) {
		return false
	}
	return !l.compiles(Grammar{Kind: KindSchema, Text: b.String()})
}

// refersElsewhere reports whether a schema refers to something that is not a definition.
func refersElsewhere(v *value) bool {
	for _, m := range v.members {
		if ref, ok := m.value.scalar.(string); ok && m.key == "$ref" {
			if !strings.HasPrefix(ref, "#/$defs/") && !strings.HasPrefix(ref, "#/definitions/") {
				return true
			}
		}
		if refersElsewhere(m.value) {
			return true
		}
	}
	return slices.ContainsFunc(v.items, refersElsewhere)
}

// parts returns the schemas that a keyword holds, by their pointers.
func parts(m member, at string) []member {
	var out []member
	switch {
	case slices.Contains(mapKeywords, m.key) && m.value.kind == '{':
		for _, p := range m.value.members {
			out = append(out, member{at + "/" + escape(p.key), p.value})
		}
	case slices.Contains(listKeywords, m.key) && m.value.kind == '[':
		for i, item := range m.value.items {
			out = append(out, member{at + "/" + strconv.Itoa(i), item})
		}
	case slices.Contains(schemaKeywords, m.key):
		out = append(out, member{at, m.value})
	}
	return out
}
