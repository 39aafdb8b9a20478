package page

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"time"

	"github.com/pooled/pooled/sandbox/js"
	"github.com/pooled/pooled/sandbox/js/qjs"
)

// Options open a page. The zero value is ready to use.
type Options struct {
	// Entry is the page in the tree; empty means index.html.
	Entry string
	// Limits cap the page; zero fields mean those of DefaultLimits. Time applies to
	// loading and again to every action.
	Limits js.Limits
	// Capabilities grant a real clock or randomness.
	Capabilities js.Capabilities
	// Settle is how far the clock runs after loading and after each action, so that
	// timers and fetches come to pass. Zero means 2 s.
	Settle time.Duration
	// LocalStorage and SessionStorage are what the page finds stored.
	LocalStorage, SessionStorage map[string]string
	// Console, if set, receives every console line as it is written.
	Console func(js.Line)
}

// DefaultLimits are generous for a page with a framework.
func DefaultLimits() js.Limits {
	l := js.DefaultLimits()
	l.Time = 10 * time.Second
	l.Memory = 192 << 20
	l.HostCalls = 200_000
	return l
}

const (
	defaultSettle = 2 * time.Second
	// viewTime is what looking at the page may take after it was stopped.
	viewTime = 2 * time.Second
	// maxErrors bounds the error list; a page that throws on every frame says so once each.
	maxErrors = 100
	// maxSteps bounds scripts that insert scripts, maxNested those that run one inside the other.
	maxSteps  = 10_000
	maxNested = 8
	// maxReported bounds an error as the guest hands it over. Units: bytes.
	maxReported = 256 << 10
)

// Page is a loaded page.
//
// Owns: its machine, until Close. Not safe for concurrent use.
type Page struct {
	s       *js.Session
	o       Options
	tree    *tree
	errors  []Error
	known   map[Error]bool // those of errors
	dropped int
	modules []qjs.Handle // promises of module scripts that still wait
	calls   int
	nested  int  // how many scripts run inside another's host call
	memory  bool // the page ran out of memory
	stopped js.Stop
	crash   *js.Error
	began   time.Time
}

// Open loads a page from a file tree and lets it settle.
//
// Errors: ErrEntry, js.ErrLimits, the context's. What the page does wrong is
// in its Report.
// Owns: the caller closes the page.
func (rt *Runtime) Open(ctx context.Context, files fs.FS, o Options) (*Page, error) {
	if o.Entry == "" {
		o.Entry = "index.html"
	}
	if o.Settle == 0 {
		o.Settle = defaultSettle
	}
	merge(&o.Limits, DefaultLimits())
	html, err := js.ReadText(files, o.Entry, maxMarkup)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrEntry, err)
	}
	nodes, err := markup(html, true)
	if err != nil {
		nodes = nil // the guest's own parser is more patient
	}
	p := &Page{o: o, tree: &tree{fs: files, entry: o.Entry}, began: time.Now()}
	p.s, err = rt.engine.NewSession(ctx, rt.image, js.SessionOptions{
		Limits: o.Limits, Capabilities: o.Capabilities, Console: o.Console,
		Host: p.host, Normalize: p.tree.normalize, Load: p.tree.load,
	})
	if err != nil {
		return nil, err
	}
	request, err := json.Marshal(map[string]any{
		"html": html, "nodes": nodes, "file": o.Entry, "url": origin + "/" + (&url.URL{Path: o.Entry}).EscapedPath(),
		"localStorage": o.LocalStorage, "sessionStorage": o.SessionStorage,
	})
	if err == nil {
		_, err = p.s.Control("load", string(request))
	}
	if err = p.check(err); err == nil {
		err = p.settle(o.Settle)
	}
	if err != nil && !errors.Is(err, ErrStopped) {
		p.Close()
		return nil, err
	}
	return p, nil
}

func merge(l *js.Limits, d js.Limits) {
	if l.Time == 0 {
		l.Time = d.Time
	}
	if l.Memory == 0 {
		l.Memory = d.Memory
	}
	if l.HostCalls == 0 {
		l.HostCalls = d.HostCalls
	}
}

// Close releases the page.
func (p *Page) Close() { p.s.Close() }

// host answers what the guest asks beyond the prelude.
func (p *Page) host(name string, args []string) (string, error) {
	switch {
	case name == "read" && len(args) == 2:
		return p.tree.read(args[0], args[1]), nil
	case name == "error" && len(args) == 1:
		p.report(args[0])
		return "", nil
	case name == "importmap" && len(args) == 1:
		return "", p.tree.setImportMap(args[0])
	case name == "parse" && len(args) == 2:
		nodes, err := fragment(args[0], args[1])
		if err != nil {
			return "", nil // the guest parses it itself
		}
		b, err := json.Marshal(nodes)
		return string(b), err
	case name == "parseDocument" && len(args) == 1:
		if len(args[0]) > maxFragment {
			return "", nil // the guest parses it itself
		}
		nodes, err := markup(args[0], false)
		if err != nil {
			return "", nil
		}
		b, err := json.Marshal(nodes)
		return string(b), err
	case name == "run" && len(args) == 3:
		return p.runNow(step{Handler: args[0], Code: args[1], File: args[2]})
	}
	return "", fmt.Errorf("there is no host function %q", name)
}

// runNow evaluates code while other code of the page runs: a script that a script
// inserted, or a handler when it is first needed. It answers "later" when too many are under way.
func (p *Page) runNow(st step) (string, error) {
	if p.nested == maxNested {
		return "later", nil
	}
	p.nested++
	defer func() { p.nested-- }()
	if st.Handler != "" {
		return "", p.compileHandler(st)
	}
	value, err := p.s.VM.Eval(st.Code, st.File, qjs.EvalScript)
	if err := p.check(err); err != nil {
		return "", err
	}
	p.s.VM.Free(value)
	return "", nil
}

func (p *Page) report(text string) {
	var e Error
	if len(text) > maxReported || json.Unmarshal([]byte(text), &e) != nil {
		p.dropped++
		return
	}
	e.Bound()
	e.Locate()
	p.memory = p.memory || e.Stop() == js.Memory || p.s.LacksMemory(&e.Error)
	if p.known[e] || len(p.errors) >= maxErrors {
		p.dropped++
		return
	}
	if p.known == nil {
		p.known = map[Error]bool{}
	}
	p.known[e] = true
	p.errors = append(p.errors, e)
}

// check sorts an error of the machine: an exception becomes the page's uncaught error
// and nil; a cap ends the page with ErrStopped.
func (p *Page) check(err error) error {
	if p.stopped != js.None {
		return ErrStopped // inside a host call; the script around it ran on
	}
	if p.s.Stopped() == js.None {
		if err == nil {
			return nil
		}
		var x *qjs.Exception
		if errors.As(err, &x) {
			value := x.Value
			_, err = p.s.WithSpareMemory("uncaught", value)
			p.s.VM.Free(value)
			if p.memory {
				p.stopped = js.Memory
				return ErrStopped
			}
			if err == nil && p.s.Stopped() == js.None {
				return nil
			}
			if p.nested > 0 && p.s.Stopped() == js.None && errors.As(err, &x) {
				p.s.VM.Free(x.Value)
				return errDeep
			}
		}
	}
	stop, crash, ctxErr := p.s.Failure(err)
	if ctxErr != nil {
		return ctxErr
	}
	p.stopped = stop
	if stop == js.None {
		p.crash = crash
	}
	return ErrStopped
}

// step is a piece of code that the guest wants evaluated.
type step struct {
	Code, File string
	Module     bool
	Handler    string
	Jobs       bool
}

// advance runs scripts until the guest has none left for now.
func (p *Page) advance() error {
	for range maxSteps {
		if err := p.due(); err != nil {
			return err
		}
		text, err := p.s.Control("step", "")
		if err := p.check(err); err != nil {
			return err
		}
		if text == "" {
			return p.jobs()
		}
		var st step
		if err := json.Unmarshal([]byte(text), &st); err != nil {
			return err
		}
		if err := p.evaluate(st); err != nil {
			return err
		}
	}
	return nil
}

func (p *Page) evaluate(st step) error {
	switch {
	case st.Handler != "":
		return p.compileHandler(st)
	case st.Module:
		code := js.WithImportMeta(st.Code, origin+"/"+(&url.URL{Path: st.File}).EscapedPath())
		promise, err := p.s.VM.Eval(code, st.File, qjs.EvalModule)
		if err == nil {
			p.s.VM.MarkHandled(promise)
			p.modules = append(p.modules, promise)
		}
		if err := p.check(err); err != nil {
			return err
		}
	case st.Code != "":
		value, err := p.s.VM.Eval(st.Code, st.File, qjs.EvalScript)
		if err := p.check(err); err != nil {
			return err
		}
		p.s.VM.Free(value)
	}
	if err := p.jobs(); err != nil {
		return err
	}
	if st.Jobs {
		return nil
	}
	_, err := p.s.Control("ran", "")
	return p.check(err)
}

func (p *Page) compileHandler(st step) error {
	f, err := p.s.VM.Eval(st.Code, st.File, qjs.EvalScript)
	if err != nil {
		return p.check(err)
	}
	defer p.s.VM.Free(f)
	if _, err := p.s.Control("handlerKey", st.Handler); err != nil {
		return p.check(err)
	}
	_, err = p.s.ControlValue("handler", f)
	return p.check(err)
}

// due ends a page whose time is over between two pieces of its work, where no code of it runs that would be interrupted.
func (p *Page) due() error {
	if p.s.Over() {
		return p.check(qjs.ErrInterrupted)
	}
	return nil
}

// jobs runs promise jobs, then reports failed modules and unheard rejections.
func (p *Page) jobs() error {
	for {
		if err := p.check(p.s.VM.RunJobs()); err != nil {
			return err
		}
		reported, err := p.settledModules()
		if err != nil {
			return err
		}
		reason, ok := p.s.Rejection()
		if !ok && !reported {
			return nil
		}
		for ; ok; reason, ok = p.s.Rejection() {
			if err := p.due(); err != nil {
				p.s.VM.Free(reason)
				return err
			}
			_, err := p.s.ControlValue("rejected", reason)
			p.s.VM.Free(reason)
			if err := p.check(err); err != nil {
				return err
			}
		}
	}
}

// settledModules reports the modules that failed since, and forgets those that are done. It says whether there were any.
func (p *Page) settledModules() (bool, error) {
	var waiting, failed []qjs.Handle
	for _, m := range p.modules {
		switch p.s.VM.State(m) {
		case qjs.Pending:
			waiting = append(waiting, m)
		case qjs.Rejected:
			failed = append(failed, m)
		default:
			p.s.VM.Free(m)
		}
	}
	some := len(waiting) < len(p.modules)
	p.modules = waiting
	for _, m := range failed {
		reason, err := p.s.VM.Result(m)
		p.s.VM.Free(m)
		if err == nil {
			err = &qjs.Exception{Value: reason}
		}
		if err := p.check(err); err != nil {
			return true, err
		}
	}
	return some, nil
}

// settle runs scripts and timers until the clock has gone d further.
func (p *Page) settle(d time.Duration) error {
	horizon := p.s.Elapsed() + d
	limit := js.DefaultLimits().TimerCalls
	if p.o.Limits.TimerCalls != 0 {
		limit = p.o.Limits.TimerCalls
	}
	for {
		if err := p.due(); err != nil {
			return err
		}
		if err := p.advance(); err != nil {
			return err
		}
		if p.calls >= limit {
			return nil
		}
		fired, err := p.s.NextTimer(horizon)
		if err := p.check(err); err != nil {
			return err
		}
		if !fired {
			return p.check(p.s.Advance(horizon))
		}
		p.calls++
	}
}
