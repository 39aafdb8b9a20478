package coder

import (
	"context"
	"errors"
	"path/filepath"
	"sync"

	"github.com/pooled/pooled/cmd/internal/wire"
	"github.com/pooled/pooled/core/agent"
	coregrammar "github.com/pooled/pooled/core/grammar"
	"github.com/pooled/pooled/core/plugin"
	"github.com/pooled/pooled/core/tokenizer"
	"github.com/pooled/pooled/sandbox/grammar"
	"github.com/pooled/pooled/sandbox/wasmhost"
)

// errHome says that there is nowhere to keep projects.
var errHome = errors.New("this user has no configuration folder to keep projects in; set POOLED_HOME to a folder")

// Home returns the folder for projects and their sessions, beside the one for plugins.
func Home() (string, error) {
	plugins := wire.PluginDir()
	if plugins == "" {
		return "", errHome
	}
	return filepath.Join(filepath.Dir(plugins), "projects"), nil
}

// CacheDir returns the folder for the compiled code of tools; empty where there is none. It is not the one of this
// process: what runs tools must not be able to give this process code.
func CacheDir() string {
	own := wire.CacheDir()
	if own == "" {
		return ""
	}
	return filepath.Join(filepath.Dir(own), "tools")
}

// Sources makes sets of tools ready for an agent. What their rights keep in the sandbox needs no approval.
func Sources(offers []plugin.Offer) []agent.Source {
	var list []agent.Source
	for _, o := range offers {
		list = append(list, agent.Source{Set: o.Set, Sandboxed: o.Rights.Sandboxed})
	}
	return list
}

// Grammars makes grammar engines.
//
// Owns: the caller closes it. Safe for concurrent use.
type Grammars struct {
	mu    sync.Mutex
	host  *grammar.Host
	cache *coregrammar.Cache
}

// engines returns what makes engines, started at the first call. Compiled code is kept between runs where there is a
// folder for it.
func (g *Grammars) engines() *coregrammar.Cache {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.cache == nil {
		var kept *wasmhost.Cache
		if dir := wire.CacheDir(); dir != "" {
			kept, _ = wasmhost.OpenCache(dir) // without one, compiling takes longer
		}
		g.host = grammar.New(grammar.Options{Cache: kept})
		g.cache = coregrammar.NewCache(g.host.Open)
	}
	return g.cache
}

// Engine returns the engine of a tokenizer and waits until it is made.
func (g *Grammars) Engine(ctx context.Context, t *tokenizer.Tokenizer) (coregrammar.Engine, error) {
	return g.engines().Engine(ctx, t)
}

// Warm starts to make the engine of a tokenizer.
func (g *Grammars) Warm(t *tokenizer.Tokenizer) { g.engines().Warm(t) }

// Close closes the engines.
func (g *Grammars) Close() error {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.cache == nil {
		return nil
	}
	err := errors.Join(g.cache.Close(), g.host.Close())
	g.cache, g.host = nil, nil
	return err
}
