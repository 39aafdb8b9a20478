package event_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/pooled/pooled/core/event"
	"github.com/pooled/pooled/core/tool"
	"github.com/pooled/pooled/core/transcript"
)

// TestLines holds the form of every event, and whether it may be dropped, to what scripts rely on.
func TestLines(t *testing.T) {
	call := transcript.Call{ID: "call00001", Name: "echo", Arguments: json.RawMessage(`{"text":"x"}`)}
	const callLine = `{"id":"call00001","name":"echo","arguments":{"text":"x"}}`
	for _, c := range []struct {
		event event.Event
		line  string
		lossy bool
	}{
		{event.Session{ID: "a", Project: "/p", Model: "m"}, `{"type":"session","version":1,"id":"a","project":"/p","model":"m"}`, false},
		{event.Session{Model: "m"}, `{"type":"session","version":1,"model":"m"}`, false},
		{event.Queued{Position: 2}, `{"type":"queued","position":2}`, true},
		{event.Step{N: 1, Prompt: 2, Context: 3}, `{"type":"step","n":1,"prompt":2,"context":3}`, false},
		{event.Compacted{Rule: "r", Before: 2, After: 1}, `{"type":"compacted","rule":"r","before":2,"after":1}`, false},
		{event.Reading{Done: 1, Total: 2}, `{"type":"reading","done":1,"total":2}`, true},
		{event.Reasoning{Text: "a\nb"}, `{"type":"reasoning","text":"a\nb"}`, false},
		{event.Text{Text: "<"}, `{"type":"text","text":"\u003c"}`, false},
		{event.CallStarted{Name: "echo"}, `{"type":"call_started","name":"echo"}`, false},
		{event.CallDelta{Name: "echo", Text: "x"}, `{"type":"call_delta","name":"echo","text":"x"}`, true},
		{event.CallBroken{Reason: "r", Unfinished: true}, `{"type":"call_broken","reason":"r","unfinished":true}`, false},
		{
			event.Answered{Tokens: 1, Reused: 2, PromptTime: transcript.Duration(1500 * time.Microsecond)},
			`{"type":"answered","tokens":1,"reused":2,"prompt_ms":1.5,"decode_ms":0}`, false,
		},
		{event.Approval{Call: call, Set: "toys", Class: tool.Edit, Diff: "d"}, `{"type":"approval","call":` + callLine + `,"set":"toys","class":"edit","diff":"d"}`, false},
		{event.CallRunning{Call: call}, `{"type":"call_running","call":` + callLine + `}`, false},
		{event.Progress{ID: "call00001", Line: "l"}, `{"type":"progress","id":"call00001","line":"l"}`, true},
		{
			event.CallDone{Call: call, Result: "r", Data: json.RawMessage(`{"ok":true}`)},
			`{"type":"call_done","call":` + callLine + `,"result":"r","is_error":false,"data":{"ok":true}}`, false,
		},
		{
			event.CallDone{Call: call, Result: "r", Health: &tool.Health{Page: "index.html", Problems: []string{"p"}, URL: "http://127.0.0.1:1/"}},
			`{"type":"call_done","call":` + callLine + `,"result":"r","is_error":false,"health":{"page":"index.html","problems":["p"],"url":"http://127.0.0.1:1/"}}`, false,
		},
		{event.Retried{Try: 1, Reason: "r"}, `{"type":"retried","try":1,"reason":"r"}`, false},
		{event.Restored{Problems: "p"}, `{"type":"restored","problems":"p"}`, false},
		{event.Note{Text: "n"}, `{"type":"note","text":"n"}`, false},
		{event.Error{Message: "m"}, `{"type":"error","message":"m"}`, false},
		{
			event.Done{Reason: transcript.ReasonStop, Steps: 1, Tokens: 2, Calls: 3, Problems: "p"},
			`{"type":"done","reason":"stop","steps":1,"tokens":2,"calls":3,"broken":0,"repaired":0,"problems":"p","time_ms":0}`, false,
		},
	} {
		got, err := event.Marshal(c.event)
		if err != nil || string(got) != c.line {
			t.Errorf("%T: got %s, %v, want %s", c.event, got, err, c.line)
		}
		if got := event.Lossy(c.event); got != c.lossy {
			t.Errorf("%T may be dropped: %t, want %t", c.event, got, c.lossy)
		}
	}
}
