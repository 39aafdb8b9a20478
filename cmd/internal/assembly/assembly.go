// Package assembly puts the parts of the program together, for the command line and for the window: it is the only place
// that knows every implementation. Nothing is started before it is needed.
package assembly

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"

	"github.com/pooled/pooled/cmd/internal/folders"
	"github.com/pooled/pooled/cmd/internal/nano"
	"github.com/pooled/pooled/core/chat"
	"github.com/pooled/pooled/core/engine"
	"github.com/pooled/pooled/core/gguf"
	coregrammar "github.com/pooled/pooled/core/grammar"
	"github.com/pooled/pooled/core/hub"
	"github.com/pooled/pooled/core/plugin"
	"github.com/pooled/pooled/core/store"
	"github.com/pooled/pooled/core/tool"
	"github.com/pooled/pooled/gpu/cpu"
	"github.com/pooled/pooled/gpu/device"
	"github.com/pooled/pooled/gpu/exec"
	"github.com/pooled/pooled/sandbox/grammar"
	"github.com/pooled/pooled/sandbox/template"
	"github.com/pooled/pooled/sandbox/wasmhost"
	"github.com/pooled/pooled/sandbox/wasmtool"
)

// Options configure a [Assembly].
type Options struct {
	// Log gets what happens; nil discards it.
	Log *slog.Logger
	// Tell is called with what a person must know, such as that folders were moved; nil logs it.
	Tell func(news string)
}

// Assembly makes each part at its first use. Owns: what it made, until Close. Safe for concurrent use.
type Assembly struct {
	log      *slog.Logger
	tell     func(string)
	compiled func() *wasmhost.Cache // of guests; nil where no folder can be used

	mu       sync.Mutex
	catalog  *plugin.Catalog
	hub      *hub.Hub
	store    *store.Store
	renderer *template.Renderer
	grammar  *grammar.Host
	grammars *coregrammar.Cache
}

// New returns an assembly of nothing so far.
func New(o Options) *Assembly {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Tell == nil {
		o.Tell = func(news string) { o.Log.Warn("folders", "news", news) }
	}
	asm := &Assembly{log: o.Log, tell: o.Tell}
	asm.compiled = sync.OnceValue(asm.openCompiled)
	return asm
}

// Close ends everything: models, plugin processes, guests.
func (asm *Assembly) Close() error {
	asm.mu.Lock()
	defer asm.mu.Unlock()
	var errs []error
	if asm.hub != nil {
		errs = append(errs, asm.hub.Close())
	}
	if asm.catalog != nil {
		errs = append(errs, asm.catalog.Close())
	}
	if asm.renderer != nil {
		errs = append(errs, asm.renderer.Close())
	}
	if asm.grammars != nil {
		errs = append(errs, asm.grammars.Close(), asm.grammar.Close())
	}
	asm.hub, asm.catalog, asm.renderer, asm.grammars, asm.grammar = nil, nil, nil, nil, nil
	return errors.Join(errs...)
}

// Catalog returns the model families.
func (asm *Assembly) Catalog() *plugin.Catalog {
	asm.mu.Lock()
	defer asm.mu.Unlock()
	return asm.catalogLocked()
}

func (asm *Assembly) catalogLocked() *plugin.Catalog {
	if asm.catalog == nil {
		asm.catalog = plugin.NewCatalog(folders.Plugins(), builtins, plugin.Options{
			Logger: asm.log, Tell: asm.tell, Tools: builtinTools, Wasm: LoadWasm,
		})
	}
	return asm.catalog
}

// LoadWasm loads tools that are a WebAssembly module.
func LoadWasm(ctx context.Context, module []byte) (tool.Set, error) {
	return wasmtool.Load(ctx, module, wasmtool.Options{CacheDir: folders.Compiled()})
}

// Projects returns the folder for projects and their sessions.
//
// Errors: [folders.ErrNone].
func (asm *Assembly) Projects() (string, error) { return asm.settled(folders.Projects()) }

// settled passes on what there is to say of a place.
func (asm *Assembly) settled(p folders.Place, err error) (string, error) {
	if news := p.News(); news != "" {
		asm.tell(news)
	}
	return p.Dir, err
}

// Hub returns the hub.
func (asm *Assembly) Hub() *hub.Hub {
	asm.mu.Lock()
	defer asm.mu.Unlock()
	if asm.hub == nil {
		asm.hub = hub.New(hub.Options{
			Families: asm.catalogLocked(), Devices: asm.Devices, Log: asm.log, Renderer: asm.Renderer,
		})
	}
	return asm.hub
}

// Store returns the folder of pulled models.
func (asm *Assembly) Store() (*store.Store, error) {
	asm.mu.Lock()
	defer asm.mu.Unlock()
	if asm.store == nil {
		dir, err := asm.settled(folders.Models())
		if err != nil {
			return nil, err
		}
		s, err := store.NewStore(store.Options{Dir: dir, Taken: []string{nano.Name}, Logger: asm.log})
		if err != nil {
			return nil, err
		}
		asm.store = s
	}
	return asm.store, nil
}

// Renderer returns what runs chat templates.
func (asm *Assembly) Renderer() chat.Renderer {
	asm.mu.Lock()
	defer asm.mu.Unlock()
	if asm.renderer == nil {
		asm.renderer = template.New(template.Options{Cache: asm.compiled()})
	}
	return asm.renderer
}

// Grammars returns what holds tool calls to their form.
func (asm *Assembly) Grammars() *coregrammar.Cache {
	asm.mu.Lock()
	defer asm.mu.Unlock()
	if asm.grammars == nil {
		asm.grammar = grammar.New(grammar.Options{Cache: asm.compiled()})
		asm.grammars = coregrammar.NewCache(asm.grammar.Open)
	}
	return asm.grammars
}

// openCompiled opens the folder that keeps the compiled code of guests between runs.
func (asm *Assembly) openCompiled() *wasmhost.Cache {
	dir := folders.Compiled()
	if dir == "" {
		return nil
	}
	c, err := wasmhost.OpenCache(dir)
	if err != nil {
		asm.log.Warn("compiled guests are not kept", "err", err)
		return nil
	}
	return c
}

// Open opens the model that ref names, where "nano" is the embedded one, and returns what to call it.
func (asm *Assembly) Open(ref string) (*gguf.File, string, error) {
	if ref == nano.Name {
		data := nano.Data()
		if data == nil {
			return nil, "", fmt.Errorf("this build has no embedded model; name one with --model")
		}
		f, err := gguf.ReadBytes(data)
		return f, nano.Name, err
	}
	path, ok, err := store.LocalPath(ref) // which needs no folder of ours
	if err == nil && !ok {
		var s *store.Store
		if s, err = asm.Store(); err == nil {
			path, err = s.Resolve(ref)
		}
	}
	if err != nil {
		return nil, "", err
	}
	f, err := gguf.Open(path)
	return f, ref, err
}

// Devices lists what there is to compute on. GPUs are not looked for where the CPU was asked for, or where nothing was and the
// system shows no GPU: drivers take time and memory to load, those that only emulate one, too.
func (asm *Assembly) Devices(_ context.Context, want hub.Want) []hub.Available {
	all := []hub.Available{{
		Device: cpu.Describe(want.Threads),
		Open:   func(context.Context) (engine.Backend, error) { return cpu.New(want.Threads), nil },
	}}
	if want.Backend == engine.CPU || want.Backend != engine.WebGPU && want.Adapter == "" && !device.Hardware() {
		return all
	}
	adapters, err := device.Adapters()
	if err != nil {
		asm.log.Info("no WebGPU", "err", err)
	}
	for _, a := range adapters {
		all = append(all, hub.Available{
			Device: exec.Describe(a),
			Open:   func(ctx context.Context) (engine.Backend, error) { return exec.New(ctx, a) },
		})
	}
	return all
}
