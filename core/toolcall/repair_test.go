package toolcall

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
)

func TestMisses(t *testing.T) {
	for _, m := range misses {
		t.Run(m.name, func(t *testing.T) {
			events := checkPieces(t, Options{Format: m.format, Tools: coding()}, m.text, m.end, 8)
			var got []string
			var shown strings.Builder
			for _, e := range events {
				switch e.Kind {
				case Text:
					shown.WriteString(e.Text)
				case Call:
					got = append(got, "call "+e.Name+" "+string(e.Arguments))
				case Unfinished:
					got = append(got, "unfinished "+e.Name)
				case Malformed:
					got = append(got, "malformed "+e.Reason)
				}
			}
			if len(got) != len(m.want) {
				t.Fatalf("got %q, want %q", got, m.want)
			}
			for i, want := range m.want {
				part, malformed := strings.CutPrefix(want, "malformed ")
				if malformed && (!strings.HasPrefix(got[i], "malformed ") || !strings.Contains(got[i], part)) || !malformed && got[i] != want {
					t.Errorf("got  %s\nwant %s", got[i], want)
				}
			}
			if made := calls(events); len(made) > 0 {
				if repaired := strings.Join(made[0].Repaired, "; "); !strings.Contains(repaired, m.repaired) || m.repaired == "" && repaired != "" {
					t.Errorf("repaired %q, want %q", repaired, m.repaired)
				}
			}
			if got := strings.TrimRight(shown.String(), "\n"); got != m.shown {
				t.Errorf("shown %q, want %q", got, m.shown)
			}
		})
	}
}

// TestExact checks that without repairs no call comes out as the repaired one would, and that the others stay.
func TestExact(t *testing.T) {
	for _, m := range misses {
		t.Run(m.name, func(t *testing.T) {
			repaired := calls(parse(t, Options{Format: m.format, Tools: coding()}, m.text, m.end, whole))
			exact := calls(checkPieces(t, Options{Format: m.format, Tools: coding(), NoRepair: true}, m.text, m.end, 3))
			for _, r := range repaired {
				found := slices.ContainsFunc(exact, func(e Event) bool {
					return e.Name == r.Name && string(e.Arguments) == string(r.Arguments)
				})
				if found != (r.Repaired == nil) {
					t.Errorf("%s %s, repaired %q: found %v without repairs", r.Name, r.Arguments, r.Repaired, found)
				}
			}
		})
	}
}

// TestProgress checks what is told while a call is open.
func TestProgress(t *testing.T) {
	p, err := NewParser(Options{Format: QwenXML, Tools: coding()})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, piece := range []string{"Hi <", "b> ", "<tool_", "call>\n<function=Write", "_File>\n<para", "meter=path>\na", "</parameter>\n</function>\n</tool_call>"} {
		for _, e := range p.Push(piece) {
			got = append(got, strings.TrimSpace(e.Kind.String()+" "+e.Name+" "+e.Text))
		}
	}
	got = append(got, fmt.Sprint(len(p.Finish(Stopped))))
	want := []string{
		"text  Hi", "text   <b>", "call-start write_file", "call-delta write_file \n<para", "call-delta write_file meter=path>\na",
		"call write_file", "0",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}

// TestSpecial checks markers that come as control tokens.
func TestSpecial(t *testing.T) {
	p, err := NewParser(Options{Format: MistralArgs})
	if err != nil {
		t.Fatal(err)
	}
	all := p.Push("Now. [TOOL")
	all = append(all, p.Special("[TOOL_CALLS]")...)
	all = append(all, p.Push("serve")...)
	all = append(all, p.Special("[ARGS]")...)
	all = append(all, p.Push("{}")...)
	all = append(all, p.Special("</s>")...)
	all = normal(append(all, p.Finish(Stopped)...))
	if len(all) != 3 || all[0].Text != "Now. [TOOL" || all[2].Kind != Call || all[2].Name != "serve" {
		t.Errorf("got %+v", all)
	}
}

// TestTools checks definitions that cannot be used.
func TestTools(t *testing.T) {
	for _, tools := range [][]Tool{
		{{Name: ""}},
		{{Name: "a\"b"}},
		{{Name: "a"}, {Name: "a"}},
	} {
		if _, err := NewParser(Options{Format: QwenXML, Tools: tools}); !errors.Is(err, ErrTool) {
			t.Errorf("%+v: got %v", tools, err)
		}
	}
	if _, err := NewParser(Options{Format: 99}); !errors.Is(err, ErrFormat) {
		t.Errorf("got %v", err)
	}
}
