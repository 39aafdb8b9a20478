package grammar

import (
	"bytes"
	"encoding/json"
	"io"
	"maps"
	"math/big"
	"net/netip"
	"reflect"
	"regexp"
	"strings"
	"time"
	"unicode/utf8"
)

// decodeJSON reads one JSON value; ok is false when the text is not exactly one.
func decodeJSON(text string) (v any, ok bool) {
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	if !utf8.ValidString(text) || d.Decode(&v) != nil {
		return nil, false
	}
	_, err := d.Token()
	return v, err == io.EOF
}

// valid is a small validator for the keywords that the property tests use, written from the specification and without a thought
// of the engine. schema and instance come from decodeJSON.
func valid(root, schema, v any) bool {
	if yes, ok := schema.(bool); ok {
		return yes
	}
	s := schema.(map[string]any)
	for key, arg := range s {
		if !keyword(root, s, key, arg, v) {
			return false
		}
	}
	return true
}

func keyword(root any, s map[string]any, key string, arg, v any) bool {
	switch key {
	case "$ref":
		name := strings.TrimPrefix(arg.(string), "#/$defs/")
		return valid(root, root.(map[string]any)["$defs"].(map[string]any)[name], v)
	case "type":
		return hasType(arg, v)
	case "const":
		return equal(arg, v)
	case "enum", "anyOf", "oneOf", "allOf":
		all, matches := arg.([]any), 0
		for _, option := range all {
			if key == "enum" && equal(option, v) || key != "enum" && valid(root, option, v) {
				matches++
			}
		}
		return map[string]bool{"enum": matches > 0, "anyOf": matches > 0, "oneOf": matches == 1, "allOf": matches == len(all)}[key]
	}
	switch v := v.(type) {
	case json.Number:
		return numberKeyword(key, arg, v)
	case string:
		return stringKeyword(key, arg, v)
	case []any:
		return arrayKeyword(root, s, key, arg, v)
	case map[string]any:
		return objectKeyword(root, s, key, arg, v)
	}
	return true
}

func rational(n any) *big.Rat {
	r, ok := new(big.Rat).SetString(string(n.(json.Number)))
	if !ok {
		panic(n)
	}
	return r
}

func equal(a, b any) bool {
	switch a := a.(type) {
	case json.Number:
		n, ok := b.(json.Number)
		return ok && rational(a).Cmp(rational(n)) == 0
	case []any:
		list, ok := b.([]any)
		if !ok || len(a) != len(list) {
			return false
		}
		for i := range a {
			if !equal(a[i], list[i]) {
				return false
			}
		}
		return true
	case map[string]any:
		m, ok := b.(map[string]any)
		return ok && maps.EqualFunc(a, m, equal)
	}
	return reflect.DeepEqual(a, b)
}

func hasType(arg, v any) bool {
	switch arg {
	case "null":
		return v == nil
	case "integer":
		n, ok := v.(json.Number)
		return ok && rational(n).IsInt()
	}
	ok := false
	switch v.(type) {
	case bool:
		ok = arg == "boolean"
	case json.Number:
		ok = arg == "number"
	case string:
		ok = arg == "string"
	case []any:
		ok = arg == "array"
	case map[string]any:
		ok = arg == "object"
	}
	return ok
}

func numberKeyword(key string, arg any, v json.Number) bool {
	switch key {
	case "minimum":
		return rational(v).Cmp(rational(arg)) >= 0
	case "maximum":
		return rational(v).Cmp(rational(arg)) <= 0
	case "exclusiveMinimum":
		return rational(v).Cmp(rational(arg)) > 0
	case "exclusiveMaximum":
		return rational(v).Cmp(rational(arg)) < 0
	case "multipleOf":
		return new(big.Rat).Quo(rational(v), rational(arg)).IsInt()
	}
	return true
}

func integer(n any) int {
	i, _ := n.(json.Number).Int64()
	return int(i)
}

func stringKeyword(key string, arg any, v string) bool {
	switch key {
	case "minLength":
		return utf8.RuneCountInString(v) >= integer(arg)
	case "maxLength":
		return utf8.RuneCountInString(v) <= integer(arg)
	case "pattern":
		return regexp.MustCompile(arg.(string)).MatchString(v)
	case "format":
		switch arg {
		case "date":
			_, err := time.Parse(time.DateOnly, v)
			return err == nil
		case "ipv6":
			a, err := netip.ParseAddr(v)
			return err == nil && a.Is6() && a.Zone() == ""
		}
	}
	return true
}

func arrayKeyword(root any, s map[string]any, key string, arg any, v []any) bool {
	prefix, _ := s["prefixItems"].([]any)
	switch key {
	case "minItems":
		return len(v) >= integer(arg)
	case "maxItems":
		return len(v) <= integer(arg)
	case "prefixItems":
		for i := range min(len(prefix), len(v)) {
			if !valid(root, prefix[i], v[i]) {
				return false
			}
		}
	case "items":
		for _, item := range v[min(len(prefix), len(v)):] {
			if !valid(root, arg, item) {
				return false
			}
		}
	}
	return true
}

func objectKeyword(root any, s map[string]any, key string, arg any, v map[string]any) bool {
	switch key {
	case "required":
		for _, name := range arg.([]any) {
			if _, ok := v[name.(string)]; !ok {
				return false
			}
		}
	case "minProperties":
		return len(v) >= integer(arg)
	case "maxProperties":
		return len(v) <= integer(arg)
	case "dependentRequired":
		for name, others := range arg.(map[string]any) {
			if _, ok := v[name]; ok && !objectKeyword(root, s, "required", others, v) {
				return false
			}
		}
	case "properties":
		for name, schema := range arg.(map[string]any) {
			if x, ok := v[name]; ok && !valid(root, schema, x) {
				return false
			}
		}
	case "patternProperties":
		for pattern, schema := range arg.(map[string]any) {
			for name, x := range v {
				if regexp.MustCompile(pattern).MatchString(name) && !valid(root, schema, x) {
					return false
				}
			}
		}
	case "additionalProperties":
		for name, x := range v {
			if !described(s, name) && !valid(root, arg, x) {
				return false
			}
		}
	}
	return true
}

// described reports whether properties or patternProperties speak of a name.
func described(s map[string]any, name string) bool {
	properties, _ := s["properties"].(map[string]any)
	if _, ok := properties[name]; ok {
		return true
	}
	patterns, _ := s["patternProperties"].(map[string]any)
	for pattern := range patterns {
		if regexp.MustCompile(pattern).MatchString(name) {
			return true
		}
	}
	return false
}

// compactJSON writes v without escapes that are not needed.
func compactJSON(v any) string {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		panic(err)
	}
	return strings.NewReplacer(`\u2028`, "\u2028", `\u2029`, "\u2029").Replace(strings.TrimSuffix(b.String(), "\n"))
}
