// Package preview is the set of tools for the app of a project: serve, preview_logs, page_click, page_type and stop_serve.
//
// The app runs twice. For the model it runs in the page guest of the sandbox, which reports errors and takes clicks. For
// a person it is published on a port of this machine, see [server].
//
// Both follow the files: the browser reloads when they change, and a call on a page whose files have changed loads it
// anew first.
package preview

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"sync"
	"time"

	"github.com/pooled/pooled/core/tool"
	"github.com/pooled/pooled/core/workspace"
	"github.com/pooled/pooled/sandbox/js"
	"github.com/pooled/pooled/sandbox/page"
)

const defaultEntry = "index.html"

// prompt is what every model is told of the tools.
var prompt = []string{
	"When an app is written or changed, call serve. If it reports errors, mend them and serve again. page_click and page_type try what the app does.",
}

// Set is the set; its zero value is ready.
type Set struct {
	// Time bounds the loading of a page, and what it does after a click; 0 means the default of package page.
	Time time.Duration
}

// Info implements [tool.Set].
func (Set) Info() tool.Info {
	return tool.Info{Name: "preview", Contract: tool.ContractVersion, Prompt: prompt, Tools: []tool.Spec{
		{
			Name: "serve", Class: tool.Serve, Does: tool.ServesApp, Reports: true,
			Roles:       tool.Roles{Path: "entry", Brief: []string{"entry"}},
			Description: "Open the app and report its errors. entry is index.html if left out.",
			Parameters:  json.RawMessage(`{"type":"object","properties":{"entry":{"type":"string"}}}`),
		},
		{
			Name: "preview_logs", Class: tool.Read, Reports: true,
			Description: "Console output and errors of the served app.",
			Parameters:  json.RawMessage(`{"type":"object","properties":{}}`),
		},
		{
			Name: "page_click", Class: tool.Run, Reports: true, Roles: tool.Roles{Brief: []string{"selector"}},
			Description: "Click in the served app and see what changes.",
			Parameters: json.RawMessage(`{"type":"object","properties":{"selector":{"type":"string","description":"CSS selector or button text"}},` +
				`"required":["selector"]}`),
		},
		{
			Name: "page_type", Class: tool.Run, Reports: true, Roles: tool.Roles{Brief: []string{"selector", "text"}},
			Description: "Type into a field of the served app.",
			Parameters: json.RawMessage(`{"type":"object","properties":{"selector":{"type":"string"},"text":{"type":"string"}},` +
				`"required":["selector","text"]}`),
		},
		{
			Name: "stop_serve", Class: tool.Serve,
			Description: "Close the app.",
			Parameters:  json.RawMessage(`{"type":"object","properties":{}}`),
		},
	}}
}

// Open implements [tool.Set]. The sandbox starts with the first call.
func (s Set) Open(_ context.Context, p tool.Project) (tool.Session, error) {
	w, err := workspace.Open(p.Root, "")
	if err != nil {
		return nil, err
	}
	return &session{w: w, cache: p.Cache, limits: js.Limits{Time: s.Time}}, nil
}

// errNothing is what calls get before serve.
var errNothing = errors.New("nothing is served; call serve first")

// session is an app being worked on. Its calls take turns: a page does one thing at a time.
type session struct {
	w      *workspace.Workspace
	cache  string
	limits js.Limits

	mu     sync.Mutex
	closed bool
	engine *js.Runtime
	pages  *page.Runtime

	entry  string
	page   *page.Page
	end    context.CancelFunc // kills page
	loaded string             // fingerprint of the files that page was loaded from
	shown  seen               // what of page was told already
	server *server
	port   int // of the last server, so that a person's open tab goes on
}

// Close implements [tool.Session].
func (s *session) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil
	}
	s.closed = true
	err := s.stop()
	if s.engine != nil {
		err = errors.Join(err, s.engine.Close(context.Background()))
	}
	return errors.Join(err, s.w.Close())
}

// Call implements [tool.Session].
func (s *session) Call(ctx context.Context, c tool.Call) (tool.Result, error) {
	var a struct{ Entry, Selector, Text string }
	if err := json.Unmarshal(c.Arguments, &a); err != nil {
		return tool.Result{}, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return tool.Result{}, tool.ErrClosed
	}
	switch c.Name {
	case "serve":
		return s.serve(ctx, a.Entry)
	case "stop_serve":
		return s.stopServe()
	}
	if s.server == nil {
		return tool.Result{}, errNothing
	}
	if err := s.refresh(ctx); err != nil {
		return tool.Result{}, err
	}
	switch c.Name {
	case "preview_logs":
		return s.result(logs(s.page.Report()))
	case "page_click":
		return s.act(ctx, page.Action{Verb: "click", Target: a.Selector}, "clicked "+a.Selector)
	case "page_type":
		return s.act(ctx, page.Action{Verb: "type", Target: a.Selector, Text: a.Text}, "typed into "+a.Selector)
	}
	return tool.Result{}, fmt.Errorf("there is no tool %q", c.Name)
}

// serve opens the entry in the sandbox and for the browser.
func (s *session) serve(ctx context.Context, entry string) (tool.Result, error) {
	if entry == "" {
		entry = defaultEntry
	}
	entry, err := workspace.Clean(entry)
	if err != nil {
		return tool.Result{}, err
	}
	if st, err := fs.Stat(s.w.FS(), entry); err != nil || st.IsDir() {
		return tool.Result{}, fmt.Errorf("there is no page %s; write it first, or name another as entry", workspace.Escape(entry))
	}
	s.entry = entry
	if err := s.load(ctx); err != nil {
		return tool.Result{}, err
	}
	if s.server == nil {
		if s.server, err = start(s.w, s.port); err != nil {
			return tool.Result{}, err
		}
		s.port = s.server.port
	}
	s.server.setEntry(entry)
	r := s.page.Report()
	s.shown = told(r)
	return s.result(served(workspace.Escape(entry), r), r)
}

// load opens the page in the sandbox.
func (s *session) load(ctx context.Context) error {
	if s.pages == nil {
		engine, err := js.NewRuntime(context.WithoutCancel(ctx), js.RuntimeOptions{CacheDir: s.cache})
		if err != nil {
			return fmt.Errorf("the sandbox does not start: %w", err)
		}
		if s.pages, err = page.NewRuntime(context.WithoutCancel(ctx), engine); err != nil {
			return errors.Join(fmt.Errorf("the sandbox does not start: %w", err), engine.Close(ctx))
		}
		s.engine = engine
	}
	s.closePage()
	print, err := s.w.Fingerprint(ctx)
	if err != nil {
		return err
	}
	// The page outlives this call, so it has a context of its own, which ends with this call's until it is loaded.
	own, end := context.WithCancel(context.WithoutCancel(ctx))
	release := context.AfterFunc(ctx, end)
	p, err := s.pages.Open(own, s.w.FS(), page.Options{Entry: s.entry, Limits: s.limits})
	if !release() && err == nil {
		p.Close()
		err = ctx.Err()
	}
	if err != nil {
		end()
		return err
	}
	s.page, s.end, s.loaded, s.shown = p, end, print, seen{}
	return nil
}

// refresh loads the page anew when its files have changed, or when it died.
func (s *session) refresh(ctx context.Context) error {
	print, err := s.w.Fingerprint(ctx)
	if err != nil {
		return err
	}
	if s.page != nil && print == s.loaded {
		return nil
	}
	return s.load(ctx)
}

// act does something to the page and tells what came of it.
func (s *session) act(ctx context.Context, a page.Action, did string) (tool.Result, error) {
	release := context.AfterFunc(ctx, s.end)
	err := s.page.Do(ctx, a)
	if !release() {
		// It may have stopped anywhere.
		s.closePage()
		return tool.Result{}, ctx.Err()
	}
	r := s.page.Report()
	if errors.Is(err, page.ErrAction) {
		return tool.Result{}, fmt.Errorf("%w. The page shows: %s", err, clip(r.Text, maxPageText))
	}
	if err != nil && !errors.Is(err, page.ErrStopped) {
		return tool.Result{}, err
	}
	text := acted(did, r, s.shown)
	s.shown = told(r)
	return s.result(text, r)
}

// stopServe closes what serve opened.
func (s *session) stopServe() (tool.Result, error) {
	if s.server == nil {
		return tool.Result{Text: "nothing was served"}, nil
	}
	return tool.Result{Text: "stopped serving " + workspace.Escape(s.entry)}, s.stop()
}

func (s *session) stop() error {
	s.closePage()
	if s.server == nil {
		return nil
	}
	err := s.server.close()
	s.server = nil
	return err
}

func (s *session) closePage() {
	if s.page != nil {
		s.page.Close()
		s.end()
		s.page = nil
	}
}
