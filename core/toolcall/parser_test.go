package toolcall

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/pooled/pooled/core/tool"
)

// formats by the names that testdata uses.
var formats = map[string]Format{
	"none": None, "unknown": Unknown, "qwen-xml": QwenXML, "hermes-json": HermesJSON,
	"llama-json": LlamaJSON, "mistral-json": MistralJSON, "mistral-args": MistralArgs,
}

func TestDetect(t *testing.T) {
	packed, err := os.ReadFile("testdata/templates.json.gz")
	if err != nil {
		t.Fatal(err)
	}
	unpack, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		t.Fatal(err)
	}
	var templates map[string]string
	if err := json.NewDecoder(unpack).Decode(&templates); err != nil {
		t.Fatal(err)
	}
	want := map[string]Format{
		"deepseek-r1-qwen": Unknown, "deepseek-v3.1": Unknown, "gemma-2": None, "gemma-4": Unknown, "gpt-oss": Unknown,
		"hermes-3": HermesJSON, "llama-3.1": LlamaJSON, "llama-3.2": LlamaJSON, "llama-3.3": LlamaJSON,
		"mistral-nemo": MistralJSON, "mistral-small-3.2": MistralArgs, "phi-3.5": None, "qwen2.5": HermesJSON,
		"qwen2.5-coder": HermesJSON, "qwen3": HermesJSON, "qwen3-coder": QwenXML, "qwen3.5": QwenXML, "qwq": HermesJSON,
		"smollm2": None, "smollm3": None, "nano": QwenXML,
	}
	if len(templates) != len(want) {
		t.Errorf("got %d templates, want %d", len(templates), len(want))
	}
	for name, text := range templates {
		if got := Detect(text); got != want[name] {
			t.Errorf("%s: got %v, want %v", name, got, want[name])
		}
	}
}

// rendered is an assistant's answer as a model's own template renders it.
type rendered struct {
	Template, Case, Format, Text string
	Tools                        []struct {
		Name       string
		Parameters json.RawMessage
	}
	Calls []struct {
		Name      string
		Arguments any
	}
}

func renderedAnswers(t testing.TB) []rendered {
	text, err := os.ReadFile("testdata/rendered.json")
	if err != nil {
		t.Fatal(err)
	}
	var all []rendered
	if err := json.Unmarshal(text, &all); err != nil {
		t.Fatal(err)
	}
	return all
}

// schemaOf reads the schema of a tool of the tests, where there is one.
func schemaOf(raw string) *tool.Schema {
	if raw == "" {
		return nil
	}
	s, err := tool.ReadSchema(json.RawMessage(raw))
	if err != nil {
		panic(err)
	}
	return s
}

func (r *rendered) options() Options {
	o := Options{Format: formats[r.Format]}
	for _, t := range r.Tools {
		o.Tools = append(o.Tools, Tool{t.Name, schemaOf(string(t.Parameters))})
	}
	return o
}

// parse feeds an answer in pieces whose ends cut returns.
func parse(t testing.TB, o Options, text string, end End, cut func(left int) int) []Event {
	t.Helper()
	p, err := NewParser(o)
	if err != nil {
		t.Fatal(err)
	}
	var all []Event
	for rest := text; rest != ""; {
		n := cut(len(rest))
		all = append(all, p.Push(rest[:n])...)
		rest = rest[n:]
	}
	return normal(append(all, p.Finish(end)...))
}

func whole(left int) int { return left }

func bytewise(int) int { return 1 }

// normal joins texts and leaves progress out.
func normal(all []Event) []Event {
	var out []Event
	for _, e := range all {
		if n := len(out); e.Kind == Text && n > 0 && out[n-1].Kind == Text {
			out[n-1].Text += e.Text
		} else if e.Kind != CallDelta {
			out = append(out, e)
		}
	}
	return out
}

// joined is the input again.
func joined(all []Event) string {
	var b strings.Builder
	for _, e := range all {
		switch e.Kind {
		case Text:
			b.WriteString(e.Text)
		case Call, Unfinished, Malformed:
			b.WriteString(e.Raw)
		}
	}
	return b.String()
}

// checkPieces checks that pieces of any size give the same events, and that no text is lost.
func checkPieces(t testing.TB, o Options, text string, end End, rounds int) []Event {
	t.Helper()
	want := parse(t, o, text, end, whole)
	if got := joined(want); got != text {
		t.Errorf("text lost:\n got %q\nwant %q", got, text)
	}
	random := rand.New(rand.NewPCG(7, 11))
	for i := range rounds {
		cut := bytewise
		if i > 0 {
			cut = func(left int) int { return 1 + random.IntN(min(left, 1+8*i)) }
		}
		if got := parse(t, o, text, end, cut); !reflect.DeepEqual(got, want) {
			t.Errorf("in pieces:\n got %+v\nwant %+v\nof %q", got, want, text)
			break
		}
	}
	return want
}

func calls(all []Event) (out []Event) {
	for _, e := range all {
		if e.Kind == Call {
			out = append(out, e)
		}
	}
	return out
}

// TestRendered reads what the models' own templates render.
func TestRendered(t *testing.T) {
	all := renderedAnswers(t)
	if len(all) < 80 {
		t.Fatalf("only %d answers", len(all))
	}
	for _, r := range all {
		for _, exact := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s/%s/exact=%v", r.Template, r.Case, exact), func(t *testing.T) {
				o := r.options()
				o.NoRepair = exact
				untyped := o.Format == QwenXML && len(o.Tools) == 0
				stringly := strings.Contains(r.Text, `"{\"`)
				events := checkPieces(t, o, r.Text, Stopped, 6)
				got := calls(events)
				if exact && stringly {
					if len(got) != 0 {
						t.Errorf("arguments in a string were repaired: %+v", got)
					}
					return
				}
				if len(got) != len(r.Calls) {
					t.Fatalf("got %d calls, want %d: %+v", len(got), len(r.Calls), events)
				}
				for i, c := range got {
					var arguments any
					if err := json.Unmarshal(c.Arguments, &arguments); err != nil {
						t.Fatalf("%s: %v", c.Arguments, err)
					}
					if c.Name != r.Calls[i].Name || !untyped && !reflect.DeepEqual(arguments, r.Calls[i].Arguments) {
						t.Errorf("got %s %s, want %s %v", c.Name, c.Arguments, r.Calls[i].Name, r.Calls[i].Arguments)
					}
					if (c.Repaired != nil) != stringly {
						t.Errorf("repaired %q", c.Repaired)
					}
				}
			})
		}
	}
}

// coding are the tools of Code mode.
func coding() []Tool {
	schema := func(properties, required string) *tool.Schema {
		return schemaOf(`{"type":"object","properties":{` + properties + `},"required":[` + required + `]}`)
	}
	return []Tool{
		{"list_dir", schema(`"path":{"type":"string"}`, ``)},
		{"read_file", schema(`"path":{"type":"string"},"offset":{"type":"integer"},"limit":{"type":"integer"}`, `"path"`)},
		{"search", schema(`"query":{"type":"string"},"path":{"type":"string"}`, `"query"`)},
		{"edit_file", schema(`"path":{"type":"string"},"old":{"type":"string"},"new":{"type":"string"},"all":{"type":"boolean"}`, `"path","old","new"`)},
		{"write_file", schema(`"path":{"type":"string"},"content":{"type":"string"}`, `"path","content"`)},
		{"run_js", schema(`"code":{"type":"string"}`, `"code"`)},
		{"serve", schema(`"entry":{"type":"string"}`, ``)},
		{"preview_logs", schema(``, ``)},
		{"tag", schema(`"names":{"type":"array","items":{"type":"string"}},"weight":{"type":"number"},"meta":{"type":["object","null"]}`, `"names"`)},
	}
}

// TestLinear reads much of what is hard. Time that grew with the square of the length would be minutes.
func TestLinear(t *testing.T) {
	const size = 1 << 16
	limit := time.Second
	if testing.Short() { // as under the race detector, which makes everything some twenty times slower
		limit = 20 * time.Second
	}
	for _, piece := range []string{
		"word ", "\n", "<", "<tool_", "<tool_call>", "</tool_call>", "`", "```\n", "```json\n{\"name\":\n", "{", "\n{\"name\": ", "[", "[TOOL_CALLS]",
		"<tool_call>{\"", "<tool_call>{\"\\\"</tool_call>x", "<tool_call>{\"\\\"</tool_call>", "\"</tool_call>x<tool_call>{",
		"<tool_call>\n<function=write_file>\n<parameter=content>\n</tool_call>x", "<parameter=", "</parameter>", "</parameter> ", "</parameter>x\n",
		"<tool_call>\n<function=run_js>\n<parameter=code>\n1\n</parameter>\n</function>\n</tool_call>\n", "<function=run_js>",
		"\n{\"name\": \"serve\", \"arguments\": {}}", "{\"name\": \"serve\", \"arguments\": {}} x\n", "\n<tools>\n", "<|python_tag|>{}",
	} {
		for prefixed, before := range []string{"", "<tool_call>", "<tool_call>{\"name\": \"serve\", \"arguments\": {}}", "<tool_call>{\"a\": \"", "<tool_call><function=write_file><parameter=content>\n", "[TOOL_CALLS]["} {
			text := before + strings.Repeat(piece, size/len(piece))
			for _, format := range []Format{QwenXML, LlamaJSON, MistralJSON} {
				var got []Event
				took := limit + 1
				for try := 0; try < 5 && took > limit; try++ { // a busy machine is slow now and then, squares always
					start := time.Now()
					got = parse(t, Options{Format: format, Tools: coding()}, text, Stopped, func(left int) int { return min(left, 1000) })
					took = time.Since(start)
				}
				if took > limit {
					t.Errorf("%v: %d bytes of %q after %d took %v", format, len(text), piece, prefixed, took)
				}
				if joined(got) != text {
					t.Errorf("%v: %q after %d: text lost", format, piece, prefixed)
				}
			}
		}
	}
}

func FuzzParser(f *testing.F) {
	for _, r := range renderedAnswers(f) {
		f.Add(r.Text, byte(formats[r.Format]), false)
	}
	for _, m := range misses {
		f.Add(m.text, byte(m.format), m.end == Cut)
	}
	f.Fuzz(func(t *testing.T, text string, format byte, cut bool) {
		o := Options{Format: Format(format % byte(MistralArgs+1)), Tools: coding(), NoRepair: format&0x80 != 0}
		end := Stopped
		if cut {
			end = Cut
		}
		for _, e := range checkPieces(t, o, text, end, 3) {
			var arguments map[string]any
			if e.Kind == Call && json.Unmarshal(e.Arguments, &arguments) != nil {
				t.Errorf("arguments %s", e.Arguments)
			}
			if e.Kind == Call && o.NoRepair && e.Repaired != nil {
				t.Errorf("repaired %q", e.Repaired)
			}
			if e.Kind == Malformed && e.Reason == "" {
				t.Error("malformed without a reason")
			}
		}
	})
}

func BenchmarkParser(b *testing.B) {
	page := strings.Repeat("<div class=\"a\">some text & more</div>\n", 25_000)
	call := "Here it is.\n<tool_call>\n<function=write_file>\n<parameter=path>\na.html\n</parameter>\n<parameter=content>\n" + page + "\n</parameter>\n</function>\n</tool_call>"
	for _, c := range []struct {
		name, text string
		piece      int
	}{{"text", strings.Repeat(page, 1), 4}, {"call", call, 4}, {"call-whole", call, 1 << 20}} {
		b.Run(c.name, func(b *testing.B) {
			b.SetBytes(int64(len(c.text)))
			for b.Loop() {
				p, err := NewParser(Options{Format: QwenXML, Tools: coding()})
				if err != nil {
					b.Fatal(err)
				}
				for rest := c.text; rest != ""; {
					n := min(len(rest), c.piece)
					p.Push(rest[:n])
					rest = rest[n:]
				}
				p.Finish(Stopped)
			}
		})
	}
}
