package js

import (
	"regexp"
	"strings"
)

// A module has no completion value, a script has: so a program whose only module
// syntax is a row of imports at its top is run as a strict script that imports
// dynamically. Its last expression is then its result, as people expect of a snippet.

var (
	space = regexp.MustCompile(`^(?:\s+|;|//[^\n]*|/\*(?s:.*?)\*/)+`)
	// import default, {names} | * as ns from "module" with {…}
	importFrom = regexp.MustCompile(`^import\s*([A-Za-z_$][\w$]*)?\s*,?\s*(\{[^{}]*\}|\*\s*as\s+[A-Za-z_$][\w$]*)?\s*from\s*("[^"\\\n]*"|'[^'\\\n]*')(?:\s*with\s*(\{[^{}]*\}))?`)
	importOnly = regexp.MustCompile(`^import\s*("[^"\\\n]*"|'[^'\\\n]*')`)
	importName = regexp.MustCompile(`^([A-Za-z_$][\w$]*)(?:\s+as\s+([A-Za-z_$][\w$]*))?$`)
)

// dynamicImports rewrites the leading imports of a program, line for line. It
// reports false when there are none or when one is beyond it.
func dynamicImports(code string) (string, bool) {
	var out strings.Builder
	rest, found := code, false
	for {
		skipped := space.FindString(rest)
		out.WriteString(skipped)
		rest = rest[len(skipped):]
		if m := importFrom.FindStringSubmatch(rest); m != nil && (m[1] != "" || m[2] != "") {
			text, ok := dynamicImport(m[1], m[2], m[3], m[4])
			if !ok {
				return "", false
			}
			out.WriteString(text + strings.Repeat("\n", strings.Count(m[0], "\n")))
			rest = rest[len(m[0]):]
		} else if m := importOnly.FindStringSubmatch(rest); m != nil {
			out.WriteString("await import(" + m[1] + "); void 0;")
			rest = rest[len(m[0]):]
		} else {
			break
		}
		found = true
	}
	out.WriteString(rest)
	return out.String(), found
}

// dynamicImport is the statement for one import. An absent name is an error, as
// in a module.
func dynamicImport(whole, clause, module, with string) (string, bool) {
	call := "await import(" + module
	if with != "" {
		call += ", {with: " + with + "}"
	}
	call += ")"
	if namespace, ok := strings.CutPrefix(clause, "*"); ok {
		name := strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(namespace), "as"))
		text := "const " + name + " = " + call + ";"
		if whole != "" {
			text += " const " + whole + " = " + name + ".default;"
		}
		return text, true
	}
	var names, bindings []string
	add := func(from, to string) {
		names = append(names, "'"+from+"'")
		bindings = append(bindings, from+": "+to)
	}
	if whole != "" {
		add("default", whole)
	}
	for part := range strings.SplitSeq(strings.Trim(clause, "{}"), ",") {
		part = strings.TrimSpace(part)
		if part == "" {
			continue
		}
		m := importName.FindStringSubmatch(part)
		if m == nil {
			return "", false
		}
		if m[2] == "" {
			m[2] = m[1]
		}
		add(m[1], m[2])
	}
	return "const {" + strings.Join(bindings, ", ") + "} = ((m) => { for (const k of [" + strings.Join(names, ", ") +
		"]) if (!(k in m)) throw new SyntaxError(" + module + " + ' has no export named ' + k); return m; })(" + call + ");", true
}
