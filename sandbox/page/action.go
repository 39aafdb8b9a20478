package page

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/pooled/pooled/sandbox/js"
)

// Action is something a person does to the page.
type Action struct {
	// Verb is click, dblclick, hover, type, key, submit or wait.
	Verb string
	// Target is a CSS selector; for click also the text of a button or link, for
	// type also a field's name, for key the key ("Enter", "a"), for wait a time.
	Target string
	// Text is what type writes; it replaces what the field holds.
	Text string
}

// verbs are the actions and what follows their colon.
var verbs = [][2]string{
	{"click", "SELECTOR or button text"},
	{"dblclick", "SELECTOR"},
	{"hover", "SELECTOR"},
	{"type", "SELECTOR=TEXT"},
	{"key", "NAME, such as Enter, ArrowLeft or a"},
	{"submit", "SELECTOR of a form"},
	{"wait", "TIME, such as 500ms or 2s"},
}

// Verbs lists the actions, each with the form of its argument.
func Verbs() [][2]string { return verbs }

// ParseAction reads the form VERB:TARGET, and type:SELECTOR=TEXT.
//
// Errors: ErrAction, with the known verbs.
func ParseAction(text string) (Action, error) {
	verb, target, ok := strings.Cut(text, ":")
	a := Action{Verb: verb, Target: target}
	known := false
	for _, v := range verbs {
		known = known || v[0] == verb
	}
	if !ok || !known || target == "" {
		names := make([]string, len(verbs))
		for i, v := range verbs {
			names[i] = v[0] + ":…"
		}
		return Action{}, fmt.Errorf("%w: %q is none of %s", ErrAction, text, strings.Join(names, ", "))
	}
	if verb == "type" {
		// The last "=" outside brackets splits: input[name="x"]=hello.
		at := splitAt(target)
		if at < 0 {
			return Action{}, fmt.Errorf("%w: %q needs the form type:SELECTOR=TEXT", ErrAction, text)
		}
		a.Target, a.Text = target[:at], target[at+1:]
	}
	if verb == "wait" {
		if _, err := waitTime(target); err != nil {
			return Action{}, err
		}
	}
	return a, nil
}

// splitAt finds the first "=" outside square brackets.
func splitAt(s string) int {
	depth := 0
	for i, r := range s {
		switch r {
		case '[':
			depth++
		case ']':
			depth--
		case '=':
			if depth <= 0 {
				return i
			}
		}
	}
	return -1
}

func waitTime(text string) (time.Duration, error) {
	d, err := time.ParseDuration(text)
	if err != nil {
		ms, merr := strconv.Atoi(text)
		if merr != nil {
			return 0, fmt.Errorf("%w: %q is not a time such as 500ms", ErrAction, text)
		}
		d = time.Duration(ms) * time.Millisecond
	}
	if d < 0 || d > time.Hour {
		return 0, fmt.Errorf("%w: cannot wait for %v", ErrAction, d)
	}
	return d, nil
}

// Do acts on the page and lets it settle. What the page's own handlers throw is
// in the Report.
//
// Errors: ErrAction when the page has nothing to act on, ErrStopped, the context's.
func (p *Page) Do(ctx context.Context, a Action) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if p.stopped != js.None || p.crash != nil {
		return ErrStopped
	}
	p.s.Extend(p.limit())
	p.calls = 0
	if a.Verb == "wait" {
		d, err := waitTime(a.Target)
		if err != nil {
			return err
		}
		return p.settle(d)
	}
	request, err := json.Marshal(map[string]string{"verb": a.Verb, "target": a.Target, "text": a.Text})
	if err != nil {
		return err
	}
	problem, err := p.s.Control("act", string(request))
	if err := p.check(err); err != nil {
		return err
	}
	if err := p.settle(p.o.Settle); err != nil {
		return err
	}
	if problem != "" {
		return fmt.Errorf("%w: %s %s: %s", ErrAction, a.Verb, a.Target, problem)
	}
	return nil
}

func (p *Page) limit() time.Duration { return p.o.Limits.Time }
