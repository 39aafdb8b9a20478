package answer

import (
	"encoding/json"
	"fmt"
	"strings"
)

// unknown recognises an answer that is nothing but a call, in JSON, of a tool that does not exist. The parser takes it for
// text, since it has no markers.
func (r *Reader) unknown(text string) (Call, bool) {
	text = strings.TrimSpace(text)
	if rest, ok := strings.CutPrefix(text, "```"); ok {
		text = strings.TrimSpace(strings.TrimSuffix(strings.TrimPrefix(rest, "json"), "```"))
	}
	var call struct {
		Name                  string
		Arguments, Parameters json.RawMessage
	}
	// Only the beginning must be JSON: there may be several calls.
	if json.NewDecoder(strings.NewReader(text)).Decode(&call) != nil || call.Name == "" || call.Arguments == nil && call.Parameters == nil {
		return Call{}, false
	}
	var names []string
	for _, t := range r.opt.Tools {
		names = append(names, t.Name)
	}
	return Call{
		Index: -1, Name: call.Name,
		Reason: fmt.Sprintf("there is no tool %.60q; the tools are: %s", call.Name, strings.Join(names, ", ")),
	}, true
}
