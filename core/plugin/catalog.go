package plugin

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/pooled/pooled/core/model"
	"github.com/pooled/pooled/core/tool"
)

// Options tune a [Catalog]; the zero value is fit for use.
type Options struct {
	// Self is the program that serves the built-in families when it is started with "plugin serve models/NAME"; empty
	// means the running one.
	Self string
	// InProcess runs what is built in in this process.
	InProcess bool
	// Tools are the built-in sets of tools.
	Tools []tool.Set
	// Wasm makes a set of tools of a WebAssembly module; without it there are none of that form.
	Wasm WasmLoader
	// StartTimeout bounds the start of a plugin, CallTimeout a call; 0 means 5 s and 10 s. ToolTimeout bounds the call of
	// a tool; 0 means 60 s.
	StartTimeout, CallTimeout, ToolTimeout time.Duration
	// Linger is how long a plugin without work keeps running; 0 means 30 s.
	Linger time.Duration
	// A plugin that fails Restarts times within Window is not started again until the window has passed; 0 means 3 times
	// and 1 minute.
	Restarts int
	Window   time.Duration
	// Now is the clock of the window; nil means [time.Now].
	Now func() time.Time
	// Tell gets what a person must know; nil logs it.
	Tell func(news string)
	// Logger may be nil.
	Logger *slog.Logger
}

func (o Options) withDefaults() Options {
	def := func(d *time.Duration, to time.Duration) {
		if *d == 0 {
			*d = to
		}
	}
	def(&o.StartTimeout, 5*time.Second)
	def(&o.CallTimeout, 10*time.Second)
	def(&o.ToolTimeout, time.Minute)
	def(&o.Linger, 30*time.Second)
	def(&o.Window, time.Minute)
	if o.Restarts == 0 {
		o.Restarts = 3
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.Tell == nil {
		o.Tell = func(news string) { o.Logger.Warn("plugins", "news", news) }
	}
	return o
}

// State says whether a plugin may run.
type State string

// The states.
const (
	// BuiltIn is a family that comes with Pooled.
	BuiltIn State = "built in"
	// Approved is a plugin that the user approved and that has not changed since.
	Approved State = "approved"
	// New is a plugin that waits for the user's approval.
	New State = "not approved"
	// Changed is a plugin that is not the one that was approved.
	Changed State = "changed"
	// Broken is a plugin that cannot be used; [Entry.Err] says why.
	Broken State = "broken"
)

// Entry is one plugin of a catalog.
type Entry struct {
	// Name is the plugin's name: "models/dense" for a built-in one, otherwise that of its file or folder.
	Name  string
	State State
	// Kind is [KindModels] or [KindTools]; it is empty for a program that was not approved and says nothing of it.
	Kind string
	// Info is what the family says about itself; of a plugin that was not approved, only what its manifest says.
	Info model.Info
	// Tools is what a set of tools says about itself, and Rights what it can do; of one that was not approved they are empty.
	Tools  tool.Info
	Rights Rights
	// Path is the program, and SHA256 its sum in hex; both are empty for a built-in one.
	Path, SHA256 string
	// Instead names the built-in families that it takes the place of for some architecture, as far as that is known.
	Instead []string
	// Approved is when the user approved it.
	Approved time.Time
	// Err says why a plugin is broken.
	Err error
}

// Catalog knows every model family and every set of tools, built in and dropped in, and runs them.
//
// Owns: the caller closes it. It is safe for concurrent use.
type Catalog struct {
	dir      string
	builtins model.Families
	options  Options

	mu        sync.Mutex
	instances map[instanceKey]*instance
	sessions  int // opened so far
	closed    bool
}

// instanceKey tells instances apart: a plugin that was changed and approved again is another one, and every session of
// tools has one of its own.
type instanceKey struct {
	name, path, sum string
	session         int
}

// NewCatalog makes a catalog of the built-in families and of the plugins in folder dir; without dir there are none.
// Nothing is started yet.
func NewCatalog(dir string, builtins model.Families, o Options) *Catalog {
	return &Catalog{dir: dir, builtins: builtins, options: o.withDefaults(), instances: map[instanceKey]*instance{}}
}

// Dir returns the plugin folder.
func (c *Catalog) Dir() string { return c.dir }

// Close ends every plugin that runs and waits until it is gone.
func (c *Catalog) Close() error {
	c.mu.Lock()
	c.closed = true
	all := c.instances
	c.instances = nil
	c.mu.Unlock()
	var wg sync.WaitGroup
	for _, i := range all {
		wg.Go(i.close)
	}
	wg.Wait()
	return nil
}

// List returns the built-in families and whatever lies in the plugin folder. It sums every program up.
func (c *Catalog) List() ([]Entry, error) {
	var list []Entry
	for _, k := range kinds {
		for _, b := range k.builtins(c) {
			e := b.entry
			e.Name, e.State, e.Kind = k.BuiltIn(b.name), BuiltIn, k.Name
			list = append(list, e)
		}
	}
	found, approvals, err := c.read()
	if err != nil {
		return list, err
	}
	for _, d := range found {
		e := entry(d, approvals)
		e.Instead = c.instead(e.Info.Architectures)
		list = append(list, e)
	}
	return list, nil
}

// instead names the built-in families that plan one of these architectures.
func (c *Catalog) instead(architectures []string) []string {
	var names []string
	for _, f := range c.builtins {
		info := f.Info()
		if slices.ContainsFunc(info.Architectures, func(a string) bool { return slices.Contains(architectures, a) }) {
			names = append(names, models.BuiltIn(info.Name))
		}
	}
	return names
}

// read returns what lies in the folder and what is approved of it.
func (c *Catalog) read() ([]dropped, map[string]approval, error) {
	found, err := scan(c.dir)
	if err != nil || len(found) == 0 {
		return nil, nil, err
	}
	approvals, note, err := readApprovals(c.dir)
	if note != "" {
		c.options.Tell(note)
	}
	return found, approvals, err
}

// entry compares a plugin with its approval.
func entry(d dropped, approvals map[string]approval) Entry {
	e := Entry{Name: d.name, Path: d.path, State: New, Kind: d.manifest.Kind, Err: d.err}
	e.Info = model.Info{Name: d.name, Architectures: d.manifest.Architectures, Contract: d.manifest.Contract}
	if e.Err == nil {
		e.SHA256, e.Err = d.bundle.sum()
	}
	if e.Err == nil && d.manifest.SHA256 != "" {
		if sum, err := (bundle{root: d.path}).sum(); err != nil || !strings.EqualFold(d.manifest.SHA256, sum) {
			e.Err = fmt.Errorf("plugin %s: %w: %s says SHA-256 %.12s…, the program has %.12s…", d.name, ErrBroken, ManifestFile, d.manifest.SHA256, sum)
		}
	}
	a, ok := approvals[d.name]
	switch {
	case e.Err != nil:
		e.State = Broken
	case ok && a.SHA256 == e.SHA256:
		e.recall(a)
	case ok:
		e.State = Changed
	}
	return e
}

// recall makes e the entry of what was approved.
func (e *Entry) recall(a approval) {
	e.State, e.Kind, e.Approved = Approved, a.kind().Name, a.Time
	a.kind().recall(e, a)
}

// Family returns the family that plans an architecture; a plugin that the user approved comes before a built-in one. The
// program starts with the first plan that is asked for. Every plan is checked against the file.
//
// Errors: [*ArchitectureError], [ErrClosed]; of the family's Plan: [*Error], [ErrChanged], and those of [model.Family].
func (c *Catalog) Family(_ context.Context, architecture string) (model.Family, error) {
	found, approvals, err := c.read()
	if err != nil {
		c.options.Logger.Warn("plugin folder cannot be read", "err", err)
	}
	var known, waiting []string
	for _, d := range found {
		a, ok := approvals[d.name]
		known = append(known, a.Architectures...)
		switch {
		case !ok && (d.manifest.Kind == "" || d.manifest.Kind == KindModels) && (len(d.manifest.Architectures) == 0 || slices.Contains(d.manifest.Architectures, architecture)):
			waiting = append(waiting, d.name)
		case ok && slices.Contains(a.Architectures, architecture):
			if d.err != nil {
				return nil, d.err
			}
			if err := d.manifest.Agrees(a.info()); err != nil {
				return nil, err
			}
			if others := c.instead([]string{architecture}); len(others) > 0 {
				c.options.Tell(fmt.Sprintf("the plugin %s plans %s, instead of %s", d.name, architecture, others[0]))
			}
			return c.instance(c.approved(models, d, a), a.info())
		}
	}
	for _, f := range c.builtins {
		known = append(known, f.Info().Architectures...)
		if !slices.Contains(f.Info().Architectures, architecture) {
			continue
		}
		if c.options.InProcess {
			return model.Checked(f), nil
		}
		s, err := c.builtin(models, f.Info().Name)
		if err != nil {
			return nil, err
		}
		return c.instance(s, f.Info())
	}
	slices.Sort(known)
	known = slices.Compact(known)
	return nil, &ArchitectureError{Architecture: architecture, Known: known, Waiting: waiting}
}

func (c *Catalog) instance(s spec, info model.Info) (model.Family, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return nil, ErrClosed
	}
	key := instanceKey{name: s.name, path: s.path, sum: s.sum}
	i := c.instances[key]
	if i == nil {
		i = newInstance(s, expectFamily(info), c.options)
		c.instances[key] = i
	}
	return model.Checked(family{i, info}), nil
}

// self returns the program that serves the built-in families.
func (c *Catalog) self() (string, error) {
	if c.options.Self != "" {
		return c.options.Self, nil
	}
	if runtime.GOOS == "linux" {
		// This very program, even when the file was replaced by an update since.
		return "/proc/self/exe", nil
	}
	return os.Executable()
}

// Approve records that the user trusts a plugin with this sum, which is its [Entry]'s, and starts it once to learn what it
// plans, or what its tools are.
//
// Errors: [ErrUnknown], [ErrBroken], [ErrChanged], [*Error].
func (c *Catalog) Approve(ctx context.Context, name, sum string) (Entry, error) {
	found, approvals, err := c.read()
	if err != nil {
		return Entry{}, err
	}
	n := slices.IndexFunc(found, func(d dropped) bool { return d.name == name })
	if n < 0 {
		return Entry{}, fmt.Errorf("%q: %w in %s", name, ErrUnknown, c.dir)
	}
	e := entry(found[n], approvals)
	if e.State == Broken {
		return e, e.Err
	}
	if e.SHA256 != sum {
		return e, fmt.Errorf("plugin %s: %w: look at it again (SHA-256 is %.12s…, was %.12s…)", name, errShown, e.SHA256, sum)
	}
	a := approval{SHA256: e.SHA256, Time: time.Now().UTC().Truncate(time.Second)}
	if isWasm(e.Path) {
		err = c.learnWasm(ctx, e, &a)
	} else {
		err = c.learn(ctx, found[n], &a)
	}
	if err == nil && a.kind() == models {
		err = found[n].manifest.Agrees(a.info())
	}
	if admit := a.kind().admit; err == nil && admit != nil {
		err = admit(c, name, a, approvals)
	}
	if err != nil {
		return e, err
	}
	e.recall(a)
	e.Instead = c.instead(e.Info.Architectures)
	approvals[name] = a
	return e, errors.Join(writeApprovals(c.dir, approvals), dropCopies(c.dir, approvals))
}

// approved is what runs of a plugin that was approved.
func (c *Catalog) approved(k *kind, d dropped, a approval) spec {
	return spec{kind: k, name: d.name, path: d.path, sum: a.SHA256, bundle: d.bundle, dir: c.dir}
}

// learn starts a program to find out what it is.
func (c *Catalog) learn(ctx context.Context, d dropped, a *approval) error {
	p, err := start(ctx, c.approved(kindOf(d.manifest.Kind), d, *a), c.options)
	if err != nil {
		return err
	}
	defer p.close()
	k := p.served.kind()
	a.Kind = k.Name
	p.served.learn(a)
	if a.Contract < 1 || a.Contract > k.Contract {
		return &Error{Plugin: d.name, Doing: "start", Err: fmt.Errorf("%w: contract %d, this Pooled has %d",
			ErrVersion, a.Contract, k.Contract)}
	}
	return nil
}

// Remove deletes a plugin from the folder, and its approval.
//
// Errors: [ErrUnknown].
func (c *Catalog) Remove(name string) error {
	found, approvals, err := c.read()
	if err != nil {
		return err
	}
	n := slices.IndexFunc(found, func(d dropped) bool { return d.name == name })
	if n < 0 {
		return fmt.Errorf("%q: %w in %s", name, ErrUnknown, c.dir)
	}
	rel, err := filepath.Rel(c.dir, found[n].path)
	if err != nil || !filepath.IsLocal(rel) {
		return fmt.Errorf("%q: %w", name, ErrBroken)
	}
	top, _, _ := strings.Cut(filepath.ToSlash(rel), "/")
	_, recorded := approvals[name]
	delete(approvals, name)
	if recorded {
		err = errors.Join(writeApprovals(c.dir, approvals), dropCopies(c.dir, approvals))
	}
	return errors.Join(err, os.RemoveAll(filepath.Join(c.dir, top)))
}

// Opened is a plugin that was started by its path.
//
// Owns: the caller closes it.
type Opened struct {
	// Family is nil where the plugin is a set of tools, and Tools where it is a model family.
	model.Family
	Tools tool.Set

	catalog  *Catalog  // runs Tools
	instance *instance // runs Family
}

// Close ends the program and waits until it is gone.
func (o *Opened) Close() error {
	if o.instance != nil {
		o.instance.close()
	}
	return o.catalog.Close()
}

// Open starts the program at path without asking for an approval: for its author, who checks it. Plans and calls of tools
// are not checked.
//
// Errors: [*Error].
func Open(ctx context.Context, path string, args []string, o Options) (*Opened, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	o.Restarts = math.MaxInt // its author wants to see every failure
	opened := &Opened{catalog: NewCatalog("", nil, o)}
	if isWasm(path) {
		opened.Tools, err = opened.catalog.openWasm(ctx, path)
		return opened, err
	}
	program := spec{kind: either, name: strings.TrimSuffix(filepath.Base(path), ".exe"), path: path, args: args}
	i := newInstance(program, func(*process) error { return nil }, opened.catalog.options)
	p, err := i.acquire(ctx)
	if err != nil {
		return nil, err
	}
	s := p.served
	i.release(p, nil)
	s.kind().opened(opened, i, s)
	return opened, nil
}
