package agent

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/pooled/pooled/core/tool"
	"github.com/pooled/pooled/core/transcript"
)

// guard notices that a turn leads nowhere.
//
// A call counts as a repetition when its tool, its arguments and its result were there before, or when it is an edit that
// changes nothing. What looks at the project or
// runs it counts anew after each edit that changed something: serving an app again after a change is no repetition.
type guard struct {
	seen   map[[sha256.Size]byte]int
	edits  int // that changed something
	step   int // the step that runs
	fresh  int // the last step that brought something new
	broken int // answers in a row whose calls could not be read
}

func newGuard() *guard { return &guard{seen: map[[sha256.Size]byte]int{}} }

// maxIdle is how many steps in a row may bring nothing new.
const maxIdle = 4

// note records a call and returns how often it was made with this result.
func (g *guard) note(c *transcript.Call, class tool.Class, r tool.Result) int {
	epoch, changed := g.edits, ""
	if class == tool.Edit {
		epoch, changed = 0, r.Diff
	}
	key := sha256.Sum256(fmt.Appendf(nil, "%d\x00%s\x00%s\x00%s\x00%s", epoch, c.Name, canonical(c.Arguments), r.Text, changed))
	g.seen[key]++
	n := g.seen[key]
	if class == tool.Edit && !r.IsError && r.Diff == "" {
		n++ // what it asks for was there already
	}
	if n == 1 {
		g.fresh, g.broken = g.step, 0
	}
	if class == tool.Edit && !r.IsError && r.Diff != "" && n == 1 {
		g.edits++
	}
	return n
}

// idle reports whether nothing new came for too long.
func (g *guard) idle() bool { return g.step-g.fresh >= maxIdle }

// canonical writes arguments in a form that does not depend on order and space.
func canonical(args json.RawMessage) string {
	var v any
	if json.Unmarshal(args, &v) != nil {
		return string(args)
	}
	b, _ := json.Marshal(v) // what was read can be written
	return string(b)
}

// Limits of a text that repeats itself. A board of 64 equal cells is no such text.
const (
	maxPeriod  = 400
	repeated   = 3072 // bytes
	minRepeats = 24
	checkEvery = 512 // bytes
)

// repetition notices a text that repeats itself without end.
type repetition struct {
	tail    []byte
	checked int
}

// push adds text and reports whether it has become a repetition.
func (r *repetition) push(text string) bool {
	r.tail = append(r.tail, text...)
	if n := len(r.tail) - 4*repeated; n > 0 {
		r.tail = append(r.tail[:0], r.tail[len(r.tail)-2*repeated:]...)
		r.checked = 0
	}
	if len(r.tail) < repeated || len(r.tail)-r.checked < checkEvery {
		return false
	}
	r.checked = len(r.tail)
	for period := 1; period <= maxPeriod; period++ {
		need := max(repeated, period*minRepeats)
		if need+period > len(r.tail) {
			continue
		}
		end := r.tail[len(r.tail)-need:]
		before := r.tail[len(r.tail)-need-period : len(r.tail)-period]
		if string(end) == string(before) {
			return strings.TrimSpace(string(end)) != "" || need >= repeated
		}
	}
	return false
}
