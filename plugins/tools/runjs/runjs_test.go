package runjs_test

import (
	"context"
	"encoding/json"
	"os"
	"testing"
	"time"

	"github.com/pooled/pooled/core/plugin/tooltest"
	"github.com/pooled/pooled/core/tool"
	"github.com/pooled/pooled/plugins/tools/runjs"
)

func code(s string) string {
	b, _ := json.Marshal(map[string]string{"code": s})
	return string(b)
}

var cases = []tooltest.Case{
	{
		Name: "what was printed, in the words that the embedded model knows",
		Steps: []tooltest.Step{
			{Tool: "run_js", Arguments: code("console.log(123 * 45)"), Text: "5535"},
			{Tool: "run_js", Arguments: code("123 * 45"), Text: "5535"},
			{Tool: "run_js", Arguments: code("console.log('a'); console.warn('b'); 1 + 1"), Text: "a\nwarn: b\n=> 2"},
			{Tool: "run_js", Arguments: code("let x = 1;"), Text: "nothing was printed; use console.log"},
			{Tool: "run_js", Arguments: code("await new Promise(r => setTimeout(r, 20e3)); console.log('late')"), Text: "late"},
		},
	},
	{
		Name:  "the project's files can be imported, and nothing else",
		Files: map[string]string{"sum.js": "export const sum = (a, b) => a + b;\n", ".git/x.js": "export default 1\n"},
		Steps: []tooltest.Step{
			{Tool: "run_js", Arguments: code("import {sum} from './sum.js'; console.log(sum(2, 3))"), Text: "5"},
			{Tool: "run_js", Arguments: code("import x from './.git/x.js'; console.log(x)"), IsError: true, Part: true, Text: "error:"},
			{Tool: "run_js", Arguments: code("import x from '../x.js'; console.log(x)"), IsError: true, Part: true, Text: "error:"},
		},
	},
	{
		Name: "what goes wrong is said",
		Steps: []tooltest.Step{
			{Tool: "run_js", Arguments: code("console.log('first');\nnull.x"), IsError: true, Part: true, Text: "first\nerror: TypeError: "},
			{Tool: "run_js", Arguments: code("null.x"), IsError: true, Part: true, Text: "(run.js:1:"},
			{Tool: "run_js", Arguments: code("let ="), IsError: true, Part: true, Text: "error: SyntaxError: "},
			{Tool: "run_js", Arguments: code("for(;;) console.log('x'.repeat(1000))"), IsError: true, Part: true, Text: "it printed too much"},
			{Tool: "run_js", Arguments: code("(function f() { f() })()"), IsError: true, Part: true, Text: "error: "},
			{Tool: "run_js", Arguments: code("console.log(2)"), Text: "2"},
		},
	},
}

// cached is the set with a folder for compiled code.
type cached struct {
	runjs.Set
	dir string
}

func (c cached) Open(ctx context.Context, p tool.Project) (tool.Session, error) {
	p.Cache = c.dir
	return c.Set.Open(ctx, p)
}

func TestConformance(t *testing.T) {
	dir := t.TempDir()
	if err := os.Chmod(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	set := cached{dir: dir}
	through, stop, err := tooltest.Wire(t.Context(), set)
	if err != nil {
		t.Fatal(err)
	}
	defer stop()
	for name, set := range map[string]tool.Set{"direct": set, "gRPC": through} {
		t.Run(name, func(t *testing.T) {
			for _, r := range tooltest.Run(t.Context(), set, cases) {
				if r.Err != nil {
					t.Errorf("%s: %v", r.Name, r.Err)
				}
			}
		})
	}
}

// TestEndless stops a program at its limit, and another when its call is cancelled.
func TestEndless(t *testing.T) {
	s, err := tool.Checked(runjs.Set{}).Open(t.Context(), tool.Project{Root: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	endless := tool.Call{Name: "run_js", Arguments: json.RawMessage(code("for(;;);"))}
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	if _, err := s.Call(ctx, endless); err != context.DeadlineExceeded {
		t.Errorf("cancelled: %v, want %v", err, context.DeadlineExceeded)
	}
	begin := time.Now()
	r, err := s.Call(t.Context(), endless)
	if want := "error: the program was stopped: it ran longer than 5s"; err != nil || r.Text != want || !r.IsError {
		t.Errorf("got %q, %v; want %q", r.Text, err, want)
	}
	if d := time.Since(begin); d > 7*time.Second {
		t.Errorf("it took %v", d)
	}
}
