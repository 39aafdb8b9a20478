package grammar

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
)

// sample is a random schema with a source of instances that it allows.
type sample struct {
	schema string
	draw   func() string
}

// generator makes random schemas of the kind that is claimed.
type generator struct {
	*rand.Rand
	defs []sample
}

// root makes a schema with its definitions.
func (g *generator) root() sample {
	g.defs = []sample{g.scalar()}
	tree := sample{schema: `{"type":"object","properties":{"v":` + g.defs[0].schema + `,"next":{"$ref":"#/$defs/d1"}},"required":["v"],"additionalProperties":false}`}
	leaf := g.defs[0].draw
	tree.draw = func() string {
		if g.IntN(2) == 0 {
			return `{"v":` + leaf() + `}`
		}
		return `{"v":` + leaf() + `,"next":{"v":` + leaf() + `}}`
	}
	g.defs = append(g.defs, tree)
	s := g.any(3)
	defs := make([]string, len(g.defs))
	for i, d := range g.defs {
		defs[i] = fmt.Sprintf(`"d%d":%s`, i, d.schema)
	}
	s.schema = strings.TrimSuffix(s.schema, "}") + `,"$defs":{` + strings.Join(defs, ",") + `}}`
	return s
}

func (g *generator) any(depth int) sample {
	if depth == 0 {
		return g.scalar()
	}
	switch g.IntN(10) {
	case 0, 1, 2:
		return g.object(depth)
	case 3, 4:
		return g.array(depth)
	case 5:
		return g.anyOf(depth)
	case 6:
		return g.tagged(depth)
	case 7:
		i := g.IntN(len(g.defs))
		return sample{fmt.Sprintf(`{"$ref":"#/$defs/d%d"}`, i), g.defs[i].draw}
	case 8:
		return g.merged()
	default:
		return g.scalar()
	}
}

func (g *generator) pick(all ...string) string { return all[g.IntN(len(all))] }

// fixed returns a sample that draws from a list.
func (g *generator) fixed(schema string, all ...string) sample {
	return sample{schema, func() string { return g.pick(all...) }}
}

// letters returns text of n characters.
func (g *generator) letters(n int) string {
	var b strings.Builder
	for range n {
		b.WriteString(g.pick("a", "b", " ", "x1", "é", "日", "😀", "/", "{", "Z", "_", "\\", "\"", "\n")[0:])
	}
	return string([]rune(b.String())[:n])
}

func (g *generator) scalar() sample {
	switch g.IntN(12) {
	case 0:
		return g.fixed(`{"type":"null"}`, "null")
	case 1:
		return g.fixed(`{"type":"boolean"}`, "true", "false")
	case 2:
		return g.fixed(`{"enum":["red","dark green",7,null,[1,"x"],-0.5]}`, `"red"`, `"dark green"`, "7", "null", `[1,"x"]`, "-0.5")
	case 3:
		return g.fixed(`{"const":"it's \"quoted\" é"}`, `"it's \"quoted\" é"`)
	case 4:
		low := g.IntN(4000) - 2000
		high := low + g.IntN(3000)
		return sample{fmt.Sprintf(`{"type":"integer","minimum":%d,"maximum":%d}`, low, high), func() string { return strconv.Itoa(low + g.IntN(high-low+1)) }}
	case 5:
		low, high := g.IntN(1000)-500, g.IntN(500)+501
		return sample{fmt.Sprintf(`{"type":"number","exclusiveMinimum":%d.25,"exclusiveMaximum":%d.5}`, low, high), func() string {
			return fmt.Sprintf("%d.%d", low+1+g.IntN(high-low-1), g.IntN(5))
		}}
	case 6:
		step := 1 + g.IntN(40)
		return sample{fmt.Sprintf(`{"type":"integer","multipleOf":%d}`, step), func() string { return strconv.Itoa(step * (g.IntN(2000) - 1000)) }}
	case 7:
		return g.fixed(`{"type":"number"}`, "0", "-1.5e+30", "1E5", "3.25", "12345678901234567890", "-7")
	case 8:
		low := g.IntN(4)
		high := low + g.IntN(12)
		return sample{fmt.Sprintf(`{"type":"string","minLength":%d,"maxLength":%d}`, low, high), func() string { return compactJSON(g.letters(low + g.IntN(high-low+1))) }}
	case 9:
		return sample{`{"type":"string","pattern":"^[a-z]{2,5}-[0-9]+$"}`, func() string {
			return fmt.Sprintf(`"%s-%d"`, g.pick("ab", "xyz", "hello"), g.IntN(1000))
		}}
	case 10:
		if g.IntN(2) == 0 {
			return g.fixed(`{"type":"string","format":"date"}`, `"2024-02-29"`, `"1999-12-31"`, `"2025-04-30"`)
		}
		return g.fixed(`{"type":"string","format":"ipv6"}`, `"::1"`, `"fe80::1:2"`, `"1:2:3:4:5:6:7:8"`, `"::ffff:10.0.0.1"`)
	default:
		return sample{`{"type":"string"}`, func() string { return compactJSON(g.letters(g.IntN(15))) }}
	}
}

func (g *generator) array(depth int) sample {
	item, first := g.any(depth-1), g.any(depth-1)
	low := g.IntN(3)
	high := low + g.IntN(3)
	list := func(head []string, n int) string {
		for range n {
			head = append(head, item.draw())
		}
		return "[" + strings.Join(head, ",") + "]"
	}
	if g.IntN(3) == 0 {
		return sample{fmt.Sprintf(`{"type":"array","prefixItems":[%s],"items":%s,"minItems":1}`, first.schema, item.schema), func() string {
			return list([]string{first.draw()}, g.IntN(3))
		}}
	}
	return sample{fmt.Sprintf(`{"type":"array","items":%s,"minItems":%d,"maxItems":%d}`, item.schema, low, high), func() string {
		return list(nil, low+g.IntN(high-low+1))
	}}
}

// object makes one that is closed, open, or open with a schema or a pattern for the rest.
func (g *generator) object(depth int) sample {
	type field struct {
		name     string
		value    sample
		required bool
	}
	names := []string{"id", "name", "a b", "é", "x\"y", "path", "list"}
	g.Shuffle(len(names), func(i, j int) { names[i], names[j] = names[j], names[i] })
	var fields []field
	var properties, required []string
	for _, name := range names[:1+g.IntN(4)] {
		f := field{name, g.any(depth - 1), g.IntN(2) == 0}
		fields = append(fields, f)
		properties = append(properties, compactJSON(name)+":"+f.value.schema)
		if f.required {
			required = append(required, compactJSON(name))
		}
	}
	schema := fmt.Sprintf(`{"type":"object","properties":{%s},"required":[%s]`, strings.Join(properties, ","), strings.Join(required, ","))
	rest := sample{"", func() string { return g.pick("1", `"s"`, "[]", `{"k":null}`) }}
	prefix := "other"
	switch g.IntN(5) {
	case 0, 1:
		schema += `,"additionalProperties":false`
		prefix = ""
	case 2:
		rest = g.scalar()
		schema += `,"additionalProperties":` + rest.schema
	case 3:
		rest = g.scalar()
		schema += `,"patternProperties":{"^p_":` + rest.schema + `},"additionalProperties":false`
		prefix = "p_"
	}
	return sample{schema + "}", func() string {
		var all []string
		for _, f := range fields {
			if f.required || g.IntN(2) == 0 {
				all = append(all, compactJSON(f.name)+":"+f.value.draw())
			}
		}
		for i := range g.IntN(3) {
			if prefix != "" {
				all = append(all, fmt.Sprintf(`"%s%d":%s`, prefix, i, rest.draw()))
			}
		}
		return "{" + strings.Join(all, ",") + "}"
	}}
}

func (g *generator) anyOf(depth int) sample {
	a, b := g.any(depth-1), g.any(depth-1)
	return sample{`{"anyOf":[` + a.schema + `,` + b.schema + `]}`, func() string {
		if g.IntN(2) == 0 {
			return a.draw()
		}
		return b.draw()
	}}
}

// tagged makes a oneOf whose alternatives are told apart by a constant.
func (g *generator) tagged(depth int) sample {
	a, b := g.any(depth-1), g.any(depth-1)
	option := func(tag string, s sample) string {
		return `{"type":"object","properties":{"kind":{"const":"` + tag + `"},"value":` + s.schema + `},"required":["kind","value"],"additionalProperties":false}`
	}
	return sample{`{"oneOf":[` + option("a", a) + `,` + option("b", b) + `]}`, func() string {
		if g.IntN(2) == 0 {
			return `{"kind":"a","value":` + a.draw() + `}`
		}
		return `{"kind":"b","value":` + b.draw() + `}`
	}}
}

// merged makes schemas of several parts.
func (g *generator) merged() sample {
	a, b := g.scalar(), g.scalar()
	if g.IntN(2) == 0 {
		return sample{`{"type":"object","allOf":[{"properties":{"a":` + a.schema + `},"required":["a"]},{"properties":{"b":` + b.schema + `}}]}`, func() string {
			return `{"a":` + a.draw() + g.pick("", `,"b":`+b.draw()) + `}`
		}}
	}
	return sample{`{"type":"object","properties":{"a":` + a.schema + `,"b":` + b.schema + `},"dependentRequired":{"a":["b"]},"additionalProperties":false}`, func() string {
		return g.pick("{}", `{"b":`+b.draw()+`}`, `{"a":`+a.draw()+`,"b":`+b.draw()+`}`)
	}}
}
