package wasmtool

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"sync"
	"time"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"

	"github.com/pooled/pooled/core/tool"
	"github.com/pooled/pooled/core/workspace"
	"github.com/pooled/pooled/sandbox/wasmhost"
)

const pageSize = 65536

// maxAnswer bounds the JSON of an answer. Units: bytes.
const maxAnswer = 2*tool.MaxText + tool.MaxData + 1<<20

// Errors of a module. Those of calls also wrap [tool.ErrFault].
var (
	// ErrModule says that a module is not one of tools.
	ErrModule = errors.New("it is not a WebAssembly module with tools for Pooled")
	// ErrTime says that a call ran too long.
	ErrTime = errors.New("it ran too long")
	// ErrTrap says that the module failed.
	ErrTrap = errors.New("it failed")
)

// Options bound a module; zero fields mean the defaults.
type Options struct {
	// Memory bounds the memory of a call; 0 means 64 MiB. Units: bytes.
	Memory uint64
	// Time bounds a call; 0 means 10 s.
	Time time.Duration
	// CacheDir keeps compiled code between processes, if others cannot write to it; empty means no cache.
	CacheDir string
}

// Set is a module with tools. It implements [tool.Set].
//
// Owns: the compiled module; the caller closes it, after its sessions.
type Set struct {
	options Options
	info    tool.Info
	runtime wazero.Runtime
	module  wazero.CompiledModule
	cache   *wasmhost.Cache
}

// Load compiles a module and asks it what it is.
//
// Errors: [ErrModule], [ErrTime], [ErrTrap].
func Load(ctx context.Context, module []byte, o Options) (*Set, error) {
	if o.Memory == 0 {
		o.Memory = 64 << 20
	}
	if o.Time == 0 {
		o.Time = 10 * time.Second
	}
	config := wazero.NewRuntimeConfig().WithMemoryLimitPages(uint32(o.Memory / pageSize)).WithCloseOnContextDone(true).
		WithDebugInfoEnabled(false)
	s := &Set{options: o}
	if o.CacheDir != "" {
		s.cache, _ = wasmhost.OpenCache(o.CacheDir) // without one, compiling takes longer
	}
	module, err := boundTables(module)
	if err != nil {
		return nil, errors.Join(err, s.Close())
	}
	if s.runtime, s.module, err = wasmhost.Build(ctx, s.cache, config, nil, module); err != nil {
		first, _, _ := strings.Cut(err.Error(), "\n")
		return nil, errors.Join(fmt.Errorf("%w: %s", ErrModule, first), s.Close())
	}
	if err := s.load(ctx); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

func (s *Set) load(ctx context.Context) error {
	if err := checkExports(s.module); err != nil {
		return err
	}
	if err := s.provide(ctx); err != nil {
		return err
	}
	answer, err := s.run(ctx, nil, "pooled_info", nil)
	if err != nil {
		return err
	}
	if s.info, err = decodeInfo(answer); err != nil {
		return fmt.Errorf("%w: %w", ErrModule, err)
	}
	return nil
}

// checkExports requires the functions of the contract.
func checkExports(m wazero.CompiledModule) error {
	const i32, i64 = api.ValueTypeI32, api.ValueTypeI64
	functions := m.ExportedFunctions()
	for name, want := range map[string]struct{ params, results []api.ValueType }{
		"pooled_alloc": {[]api.ValueType{i32}, []api.ValueType{i32}},
		"pooled_info":  {nil, []api.ValueType{i64}},
		"pooled_call":  {[]api.ValueType{i32, i32}, []api.ValueType{i64}},
	} {
		f := functions[name]
		if f == nil {
			return fmt.Errorf("%w: it does not export %s", ErrModule, name)
		}
		if string(f.ParamTypes()) != string(want.params) || string(f.ResultTypes()) != string(want.results) {
			return fmt.Errorf("%w: %s has other parameters or results", ErrModule, name)
		}
	}
	if len(m.ExportedMemories()) != 1 {
		return fmt.Errorf("%w: it does not export its memory", ErrModule)
	}
	return nil
}

// Close releases the compiled module.
func (s *Set) Close() error {
	var err error
	if s.runtime != nil {
		err = s.runtime.Close(context.Background())
	}
	if s.cache != nil {
		err = errors.Join(err, s.cache.Close())
	}
	return err
}

// Info implements [tool.Set].
func (s *Set) Info() tool.Info { return s.info }

// Open implements [tool.Set].
func (s *Set) Open(_ context.Context, p tool.Project) (tool.Session, error) {
	w, err := workspace.Open(p.Root, "")
	if err != nil {
		return nil, err
	}
	return &session{set: s, w: w}, nil
}

type session struct {
	set *Set
	w   *workspace.Workspace

	mu     sync.Mutex
	closed bool
	calls  sync.WaitGroup
}

// Close implements [tool.Session].
func (s *session) Close() error {
	s.mu.Lock()
	again := s.closed
	s.closed = true
	s.mu.Unlock()
	s.calls.Wait()
	if again {
		return nil
	}
	return s.w.Close()
}

// Call implements [tool.Session].
func (s *session) Call(ctx context.Context, c tool.Call) (tool.Result, error) {
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		return tool.Result{}, tool.ErrClosed
	}
	s.calls.Add(1)
	s.mu.Unlock()
	defer s.calls.Done()
	if len(c.Arguments) == 0 {
		c.Arguments = json.RawMessage("{}")
	}
	question, err := json.Marshal(struct {
		Tool      string          `json:"tool"`
		Arguments json.RawMessage `json:"arguments"`
		DryRun    bool            `json:"dry_run"`
	}{c.Name, c.Arguments, c.DryRun})
	if err != nil {
		return tool.Result{}, err
	}
	fault := func(err error) (tool.Result, error) {
		if ctx.Err() != nil {
			err = ctx.Err()
		}
		return tool.Result{}, &tool.FaultError{Set: s.set.info.Name, Err: err}
	}
	answer, err := s.set.run(ctx, s.w, "pooled_call", question)
	if err != nil {
		return fault(err)
	}
	var r struct {
		Text    *string         `json:"text"`
		IsError bool            `json:"is_error"`
		Diff    string          `json:"diff"`
		Data    json.RawMessage `json:"data"`
		Health  *healthForm     `json:"health"`
	}
	if err := json.Unmarshal(answer, &r); err != nil {
		return fault(fmt.Errorf("%w: its answer is not as it must be: %w", ErrTrap, err))
	}
	if r.Text == nil {
		return fault(fmt.Errorf("%w: its answer has no text", ErrTrap))
	}
	return tool.Result{Text: *r.Text, IsError: r.IsError, Diff: r.Diff, Data: r.Data, Health: r.Health.decode()}, nil
}

// run calls a function of a fresh instance with a question, if there is one, and returns the answer. w is what the module
// may read; it may be nil.
func (s *Set) run(ctx context.Context, w *workspace.Workspace, function string, question []byte) ([]byte, error) {
	g := &guest{w: w}
	if w != nil {
		g.files = w.FS()
	}
	within, cancel := context.WithTimeout(context.WithValue(ctx, guestKey{}, g), s.options.Time)
	defer cancel()
	failed := func(err error) error {
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case within.Err() != nil:
			return fmt.Errorf("%w: more than %v", ErrTime, s.options.Time)
		}
		text, _, _ := strings.Cut(err.Error(), "\n")
		if said := strings.TrimSpace(strings.ToValidUTF8(string(g.said), "\uFFFD")); said != "" {
			text += ": " + said
		}
		return fmt.Errorf("%w: %s", ErrTrap, text)
	}
	m, err := s.runtime.InstantiateModule(within, s.module, wazero.NewModuleConfig().WithName("").WithStartFunctions("_initialize"))
	if err != nil {
		return nil, failed(err)
	}
	defer m.Close(context.WithoutCancel(ctx))
	var params []uint64
	if question != nil {
		at, err := m.ExportedFunction("pooled_alloc").Call(within, uint64(len(question)))
		if err != nil {
			return nil, failed(err)
		}
		if !m.Memory().Write(uint32(at[0]), question) {
			return nil, fmt.Errorf("%w: pooled_alloc(%d) gave a place outside of its memory", ErrTrap, len(question))
		}
		params = []uint64{uint64(uint32(at[0])), uint64(len(question))}
	}
	result, err := m.ExportedFunction(function).Call(within, params...)
	if err != nil {
		return nil, failed(err)
	}
	n := uint32(result[0])
	if n > maxAnswer {
		return nil, fmt.Errorf("%w: its answer takes %d bytes, the limit is %d", ErrTrap, n, maxAnswer)
	}
	view, ok := m.Memory().Read(uint32(result[0]>>32), n)
	if !ok {
		return nil, fmt.Errorf("%w: its answer lies outside of its memory", ErrTrap)
	}
	return append([]byte(nil), view...), nil
}

// guest is what a running instance has to do with the host; it travels in the context of a call.
type guest struct {
	w     *workspace.Workspace
	files fs.FS
	said  []byte
	ticks uint64
}

type guestKey struct{}

func guestOf(ctx context.Context) *guest { return ctx.Value(guestKey{}).(*guest) }
