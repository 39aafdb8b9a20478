package grammar

import (
	"maps"
	"slices"
	"strings"
)

// Parts of the patterns of formats.
const (
	dayPattern = `(?:[0-9]{4}-(?:(?:0[13578]|1[02])-(?:0[1-9]|[12][0-9]|3[01])|(?:0[469]|11)-(?:0[1-9]|[12][0-9]|30)|02-(?:0[1-9]|1[0-9]|2[0-8]))|` +
		`(?:[0-9]{2}(?:0[48]|[2468][048]|[13579][26])|(?:[02468][048]|[13579][26])00)-02-29)`
	timePattern = `(?:(?:[01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](?:\.[0-9]+)?(?:[zZ]|[+-](?:[01][0-9]|2[0-3]):[0-5][0-9])|` +
		`23:59:60(?:\.[0-9]+)?(?:[zZ]|[+-]00:00))`
	pointerPattern = `(?:/(?:[^~/]|~[01])*)*`
	bytePattern    = `(?:25[0-5]|2[0-4][0-9]|1[0-9]{2}|[1-9]?[0-9])`
	ipv4Pattern    = `(?:` + bytePattern + `\.){3}` + bytePattern
	hexPattern     = `[0-9a-fA-F]{1,4}`
	lastPattern    = `(?:` + hexPattern + `:` + hexPattern + `|` + ipv4Pattern + `)`
)

// formats are the string formats that are enforced: by the pattern here, or by the engine's own where it is empty.
//
// Source: RFC 3339 (leap days and leap seconds), RFC 3986 for IPv6 addresses, RFC 6901, draft-bhutton-relative-json-pointer-00.
var formats = map[string]string{
	"duration": "", "email": "", "hostname": "", "uri": "", "uuid": "",
	"date":                  `^` + dayPattern + `$`,
	"time":                  `^` + timePattern + `$`,
	"date-time":             `^` + dayPattern + `[tT]` + timePattern + `$`,
	"ipv4":                  `^` + ipv4Pattern + `$`,
	"ipv6":                  ipv6Pattern(),
	"json-pointer":          `^` + pointerPattern + `$`,
	"relative-json-pointer": `^(?:0|[1-9][0-9]*)(?:#|` + pointerPattern + `)$`,
}

func ipv6Pattern() string {
	group := hexPattern + `:`
	before := func(n string) string { return `(?:(?:` + group + `){0,` + n + `}` + hexPattern + `)?::` }
	after := func(n string) string { return `(?:` + group + `){` + n + `}` + lastPattern }
	return `^(?:` + strings.Join([]string{
		after("6"), `::` + after("5"), `(?:` + hexPattern + `)?::` + after("4"), before("1") + after("3"), before("2") + after("2"),
		before("3") + after("1"), before("4") + lastPattern, before("5") + hexPattern, before("6"),
	}, "|") + `)$`
}

// checkFormat puts a format into the engine's form.
func checkFormat(v, format *value, at string) error {
	name, ok := format.scalar.(string)
	if !ok {
		return errorf(at, "a format is a string")
	}
	pattern, known := formats[name]
	if !known {
		return errorf(at, "the format %q cannot be enforced; remove it, use a pattern, or one of %s", name, strings.Join(slices.Sorted(maps.Keys(formats)), ", "))
	}
	if pattern != "" {
		v.drop("format")
		v.also(&value{kind: '{', members: []member{{"pattern", &value{scalar: pattern}}}})
	}
	return nil
}
