// Package wire puts the parts of the program together, for the command line and for the window: it is the only place
// that knows every implementation. Nothing is started before it is needed.
package wire

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/pooled/pooled/cmd/internal/nano"
	"github.com/pooled/pooled/core/chat"
	"github.com/pooled/pooled/core/engine"
	"github.com/pooled/pooled/core/gguf"
	"github.com/pooled/pooled/core/hub"
	"github.com/pooled/pooled/core/plugin"
	"github.com/pooled/pooled/core/tool"
	"github.com/pooled/pooled/core/weights"
	"github.com/pooled/pooled/gpu/cpu"
	"github.com/pooled/pooled/gpu/device"
	"github.com/pooled/pooled/gpu/exec"
	"github.com/pooled/pooled/sandbox/template"
	"github.com/pooled/pooled/sandbox/wasmhost"
	"github.com/pooled/pooled/sandbox/wasmtool"
)

// Options configure a [Wire].
type Options struct {
	// Log gets what happens; nil discards it.
	Log *slog.Logger
}

// Wire makes each part at its first use. Owns: what it made, until Close. Safe for concurrent use, but for Threads.
type Wire struct {
	// Threads is the number of CPU threads, 0 for one a core. It counts until the CPU backend starts.
	Threads int

	log      *slog.Logger
	mu       sync.Mutex
	catalog  *plugin.Catalog
	hub      *hub.Hub
	store    *weights.Store
	renderer *template.Renderer
}

// New returns a wire with nothing on it.
func New(o Options) *Wire {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	return &Wire{log: o.Log}
}

// Close ends everything: models, plugin processes, guests.
func (w *Wire) Close() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	var errs []error
	if w.hub != nil {
		errs = append(errs, w.hub.Close())
	}
	if w.catalog != nil {
		errs = append(errs, w.catalog.Close())
	}
	if w.renderer != nil {
		errs = append(errs, w.renderer.Close())
	}
	w.hub, w.catalog, w.renderer = nil, nil, nil
	return errors.Join(errs...)
}

// Catalog returns the model families.
func (w *Wire) Catalog() *plugin.Catalog {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.catalogLocked()
}

func (w *Wire) catalogLocked() *plugin.Catalog {
	if w.catalog == nil {
		w.catalog = plugin.NewCatalog(PluginDir(), builtins, plugin.Options{
			Logger: w.log, Tools: builtinTools, Wasm: LoadWasm,
		})
	}
	return w.catalog
}

// LoadWasm loads tools that are a WebAssembly module.
func LoadWasm(ctx context.Context, module []byte) (tool.Set, error) {
	return wasmtool.Load(ctx, module, wasmtool.Options{CacheDir: CacheDir()})
}

// PluginDir returns the folder for plugins: $POOLED_HOME/plugins, else pooled/plugins in the user's configuration
// folder; empty where there is none.
func PluginDir() string { return dir("plugins", os.UserConfigDir) }

// CacheDir returns the folder for compiled guests: $POOLED_HOME/wasm, else pooled/wasm in the user's cache folder;
// empty where there is none.
func CacheDir() string { return dir("wasm", os.UserCacheDir) }

func dir(name string, base func() (string, error)) string {
	if home := os.Getenv("POOLED_HOME"); home != "" {
		return filepath.Join(home, name)
	}
	d, err := base()
	if err != nil {
		return ""
	}
	return filepath.Join(d, "pooled", name)
}

// Hub returns the hub.
func (w *Wire) Hub() *hub.Hub {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.hub == nil {
		w.hub = hub.New(hub.Options{
			Families: w.catalogLocked(), Devices: w.Devices, Log: w.log,
			Renderer: func() (chat.Renderer, error) { return w.Renderer() },
		})
	}
	return w.hub
}

// Store returns the folder of pulled models.
func (w *Wire) Store() (*weights.Store, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.store == nil {
		s, err := weights.NewStore(weights.Options{Taken: []string{nano.Name}, Logger: w.log})
		if err != nil {
			return nil, err
		}
		w.store = s
	}
	return w.store, nil
}

// Renderer returns what runs chat templates. Compiled code is kept between runs where there is a folder for it.
func (w *Wire) Renderer() (chat.Renderer, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.renderer == nil {
		var cache *wasmhost.Cache
		if d := CacheDir(); d != "" {
			c, err := wasmhost.OpenCache(d)
			if err != nil {
				w.log.Warn("compiled guests are not kept", "err", err)
			} else {
				cache = c
			}
		}
		w.renderer = template.New(template.Options{Cache: cache})
	}
	return w.renderer, nil
}

// Open opens the model that ref names: empty or "nano" is the embedded one.
func (w *Wire) Open(ref string) (*gguf.File, string, error) {
	if ref == "" || ref == nano.Name {
		data := nano.Data()
		if data == nil {
			return nil, "", fmt.Errorf("this build has no embedded model; name one with --model")
		}
		f, err := gguf.ReadBytes(data)
		return f, nano.Name, err
	}
	s, err := w.Store()
	if err != nil {
		return nil, "", err
	}
	path, err := s.Resolve(ref)
	if err != nil {
		return nil, "", err
	}
	f, err := gguf.Open(path)
	return f, ref, err
}

// Devices lists what there is to compute on. GPUs are not looked for where the CPU was asked for: their drivers take time
// and memory to load.
func (w *Wire) Devices(_ context.Context, want hub.Want) []hub.Candidate {
	all := []hub.Candidate{{
		Device: cpu.Describe(w.Threads),
		Open:   func(context.Context) (engine.Backend, error) { return cpu.New(w.Threads), nil },
	}}
	if want.Backend == "cpu" {
		return all
	}
	adapters, err := device.Adapters()
	if err != nil {
		w.log.Info("no WebGPU", "err", err)
	}
	for _, a := range adapters {
		all = append(all, hub.Candidate{
			Device: describe(a),
			Open:   func(ctx context.Context) (engine.Backend, error) { return exec.New(ctx, a) },
		})
	}
	return all
}

func describe(a device.Adapter) engine.Device {
	return engine.Device{
		Backend: "webgpu", Name: a.Name, Software: a.Software, Memory: a.Memory, Detail: strings.TrimSuffix(a.API+", "+a.Driver, ", "),
	}
}
