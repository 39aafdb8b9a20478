package plugin

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"sync"

	"github.com/pooled/pooled/core/plugin/protocol"
	"github.com/pooled/pooled/core/tool"
)

// Offer is a set of tools that may be used, with what is known of it.
type Offer struct {
	// Set is checked: see [tool.Checked].
	tool.Set
	// Name is that of its [Entry].
	Name string
	// BuiltIn says that it comes with Pooled.
	BuiltIn bool
	Rights  Rights
}

// Tools returns every set of tools that may be used: the built-in ones, then those that the user approved, by name. Every
// session has a process of its own, which ends with the session; it starts with the first call where the set is built in, else when
// the session is opened, which fails where it does not work or where the files of the plugin are not in order. When it fails
// later, the call gets an error that says so, and the next call starts it again. Calls and answers are checked: see [tool.Checked].
//
// Errors: [ErrClosed]; of sessions [*Error], [ErrChanged], [ErrBroken], and those of [tool.Session].
func (c *Catalog) Tools(context.Context) ([]Offer, error) {
	c.mu.Lock()
	closed := c.closed
	c.mu.Unlock()
	if closed {
		return nil, ErrClosed
	}
	var offers []Offer
	for _, t := range c.options.Tools {
		o := Offer{Set: t, Name: tools.BuiltIn(t.Info().Name), BuiltIn: true, Rights: confinedRights(t.Info())}
		if !c.options.InProcess {
			s, err := c.builtin(tools, t.Info().Name)
			if err != nil {
				return nil, err
			}
			o.Set = &toolSet{catalog: c, spec: s, info: t.Info()}
		}
		offers = append(offers, o)
	}
	found, approvals, err := c.read()
	if err != nil {
		c.options.Logger.Warn("plugin folder cannot be read", "err", err)
	}
	for _, d := range found {
		a, ok := approvals[d.name]
		if !ok || a.kind() != tools {
			continue
		}
		s := c.approved(tools, d, a)
		o := Offer{Set: &toolSet{catalog: c, spec: s, info: a.Tools}, Name: d.name, Rights: droppedRights(d.path)}
		switch {
		case d.err != nil:
			o.Set = brokenSet{info: a.Tools, err: d.err}
		case isWasm(d.path):
			o.Set = wasmSet{catalog: c, spec: s, info: a.Tools}
		}
		offers = append(offers, o)
	}
	for i := range offers {
		offers[i].Set = tool.Checked(offers[i].Set)
	}
	return offers, nil
}

// clash refuses tools whose names others have: a model could not tell them apart.
func clash(c *Catalog, name string, a approval, approvals map[string]approval) error {
	others := map[string]tool.Info{}
	for _, t := range c.options.Tools {
		others[protocol.Tools.BuiltIn(t.Info().Name)] = t.Info()
	}
	for n, other := range approvals {
		if n != name {
			others[n] = other.Tools // a family has none
		}
	}
	for other, o := range others {
		for _, t := range a.Tools.Tools {
			if o.Tool(t.Name) != nil {
				return fmt.Errorf("plugin %s: %w: it has a tool %s, as %s has", name, ErrBroken, t.Name, other)
			}
		}
	}
	return nil
}

// compact returns info in the form in which two can be compared: a file of approvals indents schemas.
func compact(info tool.Info) tool.Info {
	info.Tools = slices.Clone(info.Tools)
	for i, t := range info.Tools {
		var b bytes.Buffer
		if json.Compact(&b, t.Parameters) == nil {
			info.Tools[i].Parameters = b.Bytes()
		}
	}
	return info
}

// brokenSet is a set that was approved and whose files are not in order any more.
type brokenSet struct {
	info tool.Info
	err  error
}

// Info implements [tool.Set].
func (b brokenSet) Info() tool.Info { return b.info }

// Open implements [tool.Set].
func (b brokenSet) Open(context.Context, tool.Project) (tool.Session, error) { return nil, b.err }

// toolSet is a set of tools that a program serves.
type toolSet struct {
	catalog *Catalog
	spec    spec
	info    tool.Info
}

// Info implements [tool.Set].
func (t *toolSet) Info() tool.Info { return t.info }

// Open implements [tool.Set]. A program that comes with Pooled starts with the first call; another at once, so that one that
// does not work is not offered to a model.
func (t *toolSet) Open(ctx context.Context, p tool.Project) (tool.Session, error) {
	if err := checkProject(p); err != nil {
		return nil, err
	}
	s := t.spec
	if s.self {
		s.rights = confinedRights(t.info).reach(p)
	}
	session, err := t.session(s, p)
	if err != nil || s.self {
		return session, err
	}
	if _, err := session.connect(ctx); err != nil {
		return nil, errors.Join(err, session.Close())
	}
	return session, nil
}

// session makes a session whose program is not started yet.
func (t *toolSet) session(s spec, p tool.Project) (*toolSession, error) {
	c := t.catalog
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return nil, ErrClosed
	}
	c.sessions++
	key := instanceKey{name: s.name, session: c.sessions}
	c.instances[key] = newInstance(s, t.expect, c.options)
	return &toolSession{catalog: c, key: key, instance: c.instances[key], project: p}, nil
}

// checkProject requires a folder, by an absolute path: a plugin has another working folder.
func checkProject(p tool.Project) error {
	if !filepath.IsAbs(p.Root) {
		return fmt.Errorf("project folder: %s is not an absolute path", p.Root)
	}
	st, err := os.Stat(p.Root)
	if err == nil && !st.IsDir() {
		err = fmt.Errorf("%s is not a folder", p.Root)
	}
	if err != nil {
		return fmt.Errorf("project folder: %w", err)
	}
	for _, dir := range []string{p.State, p.Cache} {
		// They must be there before a process is confined to them.
		if dir == "" {
			continue
		}
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return fmt.Errorf("project folder: %w", err)
		}
	}
	return nil
}

// expect takes a program that says that it is what was approved.
func (t *toolSet) expect(p *process) error {
	set, err := servedAs[servedTools](p, tools)
	if err == nil && !reflect.DeepEqual(compact(set.Info()), compact(t.info)) {
		err = p.fault("start", fmt.Errorf("%w: its tools are not those that were approved", ErrProtocol))
	}
	return err
}

// toolSession is a session that a program serves; it survives the program.
type toolSession struct {
	catalog  *Catalog
	key      instanceKey
	instance *instance
	project  tool.Project

	mu     sync.Mutex
	conn   *toolConn // nil while no program runs
	closed bool
}

// toolConn is the session as one process knows it.
type toolConn struct {
	process *process
	session tool.Session
}

// Call implements [tool.Session].
func (s *toolSession) Call(ctx context.Context, c tool.Call) (tool.Result, error) {
	conn, err := s.connect(ctx)
	if err != nil {
		return tool.Result{}, err
	}
	within, cancel := context.WithTimeout(ctx, s.instance.options.ToolTimeout)
	defer cancel()
	r, err := conn.session.Call(within, c)
	if err = conn.process.sort(ctx, within, c.Name, err); err == nil {
		return r, nil
	}
	if fault := faultOf(err); fault != nil && !s.drop(conn, fault) {
		return tool.Result{}, tool.ErrClosed
	}
	return tool.Result{}, err
}

// connect starts the program, unless it runs, and opens the project there.
func (s *toolSession) connect(ctx context.Context) (*toolConn, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil, tool.ErrClosed
	}
	if s.conn != nil {
		return s.conn, nil
	}
	p, err := s.instance.acquire(ctx)
	if err != nil {
		return nil, err
	}
	within, cancel := context.WithTimeout(ctx, s.instance.options.CallTimeout)
	defer cancel()
	set, err := servedAs[servedTools](p, tools)
	var opened tool.Session
	if err == nil {
		opened, err = set.Open(within, s.project)
		err = p.sort(ctx, within, doingOpen, err)
	}
	if err != nil {
		s.instance.release(p, faultOf(err))
		return nil, err
	}
	s.conn = &toolConn{p, opened}
	return s.conn, nil
}

// drop ends a process for its fault. It reports whether the session is still open.
func (s *toolSession) drop(conn *toolConn, fault error) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.conn == conn {
		s.conn = nil
		s.instance.release(conn.process, fault)
	}
	return !s.closed
}

// Close implements [tool.Session].
func (s *toolSession) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil
	}
	s.closed = true
	if s.conn != nil {
		// The process ends anyway; this lets it end what it started in order.
		if err := s.conn.session.Close(); err != nil {
			s.instance.log.Warn("tools did not close in order", "err", err)
		}
		s.instance.release(s.conn.process, nil)
		s.conn = nil
	}
	s.instance.close()
	s.catalog.mu.Lock()
	delete(s.catalog.instances, s.key)
	s.catalog.mu.Unlock()
	return nil
}
