package toolcall

import (
	"encoding/json"
	"regexp"
	"strings"
	"testing"
)

// tagPieces are what FuzzTags writes calls of: tags, tags that are nearly right, and what may stand between.
var tagPieces = []string{
	"<tool_call>", "</tool_call>", "<function=write_file>", "<function=run_js>", "</function>", "<parameter=path>", "<parameter=content>",
	"<parameter=code>", "</parameter>", "\n", "\n", "a.txt", "x y", " ",
	"</parameter/>", "</parameter", "</parameter1>", "</parameter_function>", "</param>", "</Parameter>", "</parameter >", "</path>", "</content>",
	"</code>", "<parameter=content: z", "<parameter note=\"z\"/>", "<parameter=path=z>", "<parameter content>", "<parameter name=\"content\">",
	"<parameter>", "</func", "<function=run_js", "</function >", "<function>", "<tool_call >", "</tool_call >", "</tool_calls>", "<", "</", ">", "/parameter>",
	"<b>", "</b>", "<content>", "{\"name\": \"run_js\", \"arguments\": {\"code\": \"w\"}}", "```", "\r\n", "\r",
}

// FuzzTags writes calls out of pieces. Whatever comes of them is the same in every piece size, and each call of Qwen XML can
// be put together again from its arguments, tags of the format and white space, so that no byte was lost or added.
func FuzzTags(f *testing.F) {
	exact := []byte{0, 9, 2, 9, 5, 9, 11, 9, 8, 9, 6, 9, 12, 9, 8, 9, 4, 9, 1}
	f.Add(exact)
	for i := range tagPieces {
		for _, at := range []int{1, 3, 5, 8, 13, 14, 17, 19} {
			f.Add(append(append(append([]byte(nil), exact[:at]...), byte(i)), exact[at:]...))
			if at < len(exact) {
				changed := append([]byte(nil), exact...)
				changed[at] = byte(i)
				f.Add(changed)
			}
		}
	}
	f.Fuzz(func(t *testing.T, pieces []byte) {
		var text strings.Builder
		for _, p := range pieces[:min(len(pieces), 60)] {
			text.WriteString(tagPieces[int(p)%len(tagPieces)])
		}
		for _, e := range checkPieces(t, Options{Format: QwenXML, Tools: coding()}, text.String(), Stopped, 2) {
			if e.Kind == Call && (strings.Contains(e.Raw, "<function=") || strings.Contains(e.Raw, "<function ")) {
				conserved(t, e)
			}
		}
	})
}

// nearMiss finds what may be a broken tag at the end of a value whose end tag is missing.
var nearMiss = regexp.MustCompile(`(?i)(<\s*[/\\]*\s*(param|func|tool_c)|</?$|</[^>\n]*$)[^\n]*$|(?i)[/\[]\s*param[a-z]*[>\]]?$`)

// conserved puts the raw text of a call together again. It knows the tags, and nothing of how they are parsed.
func conserved(t *testing.T, e Event) {
	t.Helper()
	all, err := members(e.Arguments)
	if err != nil {
		t.Fatal(err)
	}
	notes := strings.Join(e.Repaired, "; ")
	if strings.Contains(notes, "word of the schema") || strings.Contains(notes, "read null") {
		return
	}
	want := `(?s)^\s*(?:(?:<[A-Za-z_ ]+>|</parameter>)\s*)*<function[= ][^<>\n]*>\s*(?:(?:</parameter>|<function[= ][^<>\n]*>)\s*)*`
	for _, m := range all {
		var value string
		if json.Unmarshal(m.value, &value) != nil {
			t.Fatalf("%s is no string", m.value)
		}
		ended := strings.Contains(strings.ReplaceAll(strings.ReplaceAll(e.Raw, "\r", ""), "\n", ""),
			strings.ReplaceAll(strings.ReplaceAll(value, "\r", ""), "\n", "")+"</parameter>")
		if strings.Contains(notes, "missing </parameter>") && !ended && nearMiss.MatchString(value) {
			t.Errorf("a value ends in what may be a tag: %q of %q", value, e.Raw)
		}
		want += `<parameter[= ][^<>\n]*>(?:\r?\n)?` + regexp.QuoteMeta(value)
		if !strings.Contains(notes, "missing </parameter>") && !strings.Contains(notes, "as </parameter>") {
			want += `(?:\r?\n)?</parameter>\s*`
		} else {
			want += `\s*(?:</parameter>|</[a-z]+>)?\s*` // the name may be that of the tag, which was another's
		}
	}
	want += `(?:</function>|</parameter>|[\s\]}]|` + "`" + `)*(?:</?[A-Za-z_ ]*>?)?\s*$`
	if !regexp.MustCompile(want).MatchString(e.Raw) {
		t.Errorf("%s %s (%s) is not what %q says", e.Name, e.Arguments, notes, e.Raw)
	}
}

// jsonPieces are what FuzzJSON writes calls of. The words alpha, beta and gamma stand for what must not be lost.
var jsonPieces = []string{
	"<tool_call>", "</tool_call>", "\n", "{\"name\": \"run_js\", \"arguments\": {\"code\": \"alpha\"}}", "{", "}", "[", "]", ",", ":", " ",
	"\"name\": ", "\"run_js\"", "\"arguments\": ", "\"parameters\": ", "{\"code\": \"alpha\"}", "\"code\": ", "\"beta\"", "gamma", "```", "```json\n",
	"\"id\": \"delta\"", "\"type\": \"function\"", "\"function\": ", "\"tool_calls\": ", "[TOOL_CALLS]", "[ARGS]", "[CALL_ID]", "[TOOL_CALL]", "run_js", "<|python_tag|>",
	"</parameter>", "</function>", "<tools>", "</tools>", "<tool_call >", "</tool_call >", "\"", "'", "null", "{}", "[]", ";", "json",
	"\"code\": \"beta\"", "{\"name\": \"serve\", \"arguments\": {}}",
}

// FuzzJSON writes calls in JSON out of pieces, in every format that has them. What comes of them is the same in every piece
// size, and of the words that stand in a call's text none but those of its form is missing from its arguments.
func FuzzJSON(f *testing.F) {
	for _, exact := range [][]byte{{0, 2, 3, 2, 1}, {25, 6, 3, 8, 3, 7}, {25, 28, 26, 15}, {29, 3}, {3, 31, 3}, {19, 20, 3, 19}, {0, 4, 11, 12, 8, 13, 15, 5, 1}} {
		f.Add(exact)
		for i := range jsonPieces {
			for at := range exact {
				f.Add(append(append(append([]byte(nil), exact[:at]...), byte(i)), exact[at:]...))
			}
		}
	}
	f.Fuzz(func(t *testing.T, pieces []byte) {
		var text strings.Builder
		for _, p := range pieces[:min(len(pieces), 40)] {
			text.WriteString(jsonPieces[int(p)%len(jsonPieces)])
		}
		for _, format := range []Format{HermesJSON, LlamaJSON, MistralJSON, MistralArgs} {
			var group []Event
			for _, e := range checkPieces(t, Options{Format: format, Tools: coding()}, text.String(), Stopped, 2) {
				switch {
				case e.Kind != Call && e.Kind != Malformed:
					continue
				case e.Raw != "":
					noWordLost(t, group)
					group = nil
				}
				group = append(group, e)
			}
			noWordLost(t, group)
		}
	})
}

var (
	word     = regexp.MustCompile(`[A-Za-z_]+`)
	language = regexp.MustCompile("```[A-Za-z0-9_-]*") // of a code fence
	form     = map[string]bool{
		"tool_call": true, "tool_calls": true, "tools": true, "function": true, "parameter": true, "name": true, "arguments": true, "parameters": true,
		"id": true, "type": true, "delta": true, "TOOL_CALLS": true, "TOOL_CALL": true, "ARGS": true, "CALL_ID": true, "python_tag": true, "json": true, "null": true,
		"run_js": true, "serve": true,
	}
)

// noWordLost compares the words of the raw text of some calls, which the first of them has, with those of their arguments.
func noWordLost(t *testing.T, group []Event) {
	t.Helper()
	var kept []string
	for _, e := range group {
		if e.Kind == Malformed {
			return
		}
		kept = append(kept, word.FindAllString(string(e.Arguments), -1)...)
	}
	if len(group) == 0 {
		return
	}
	for _, w := range word.FindAllString(language.ReplaceAllString(group[0].Raw, ""), -1) {
		switch {
		case len(kept) > 0 && kept[0] == w:
			kept = kept[1:]
		case !form[w]:
			t.Errorf("%q is not in the arguments of %+v", w, group)
			return
		}
	}
	if len(kept) > 0 {
		t.Errorf("%q are in the arguments and not in the text of %+v", kept, group)
	}
}
