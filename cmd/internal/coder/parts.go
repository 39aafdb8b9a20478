package coder

import (
	"context"
	"errors"
	"sync"

	"github.com/pooled/pooled/cmd/internal/folders"
	"github.com/pooled/pooled/core/agent"
	coregrammar "github.com/pooled/pooled/core/grammar"
	"github.com/pooled/pooled/core/plugin"
	"github.com/pooled/pooled/core/tokenizer"
	"github.com/pooled/pooled/sandbox/grammar"
	"github.com/pooled/pooled/sandbox/wasmhost"
)

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
		if dir := folders.Compiled(); dir != "" {
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
