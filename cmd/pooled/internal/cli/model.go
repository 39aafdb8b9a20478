package cli

import (
	"context"
	"fmt"

	"github.com/pooled/pooled/cmd/internal/nano"
	"github.com/pooled/pooled/cmd/internal/options"
	"github.com/pooled/pooled/core/gguf"
	"github.com/pooled/pooled/core/hub"
)

// load opens the model that the flags name.
func (c *commands) load(ctx context.Context, f *options.Model) (*hub.Model, error) {
	return c.loadFile(ctx, f, func(*gguf.File) {})
}

// loadFile opens the model that the flags name; look may read its file before it is loaded.
func (c *commands) loadFile(ctx context.Context, f *options.Model, look func(*gguf.File)) (*hub.Model, error) {
	if err := f.Check(); err != nil {
		return nil, err
	}
	c.assembly.Threads = f.Threads
	file, name, err := c.assembly.Open(f.Ref)
	if err != nil {
		return nil, err
	}
	look(file)
	if f.Ref == "" && c.Terminal {
		fmt.Fprintln(c.Err, nano.Notice)
	}
	status := c.Status(c.Err)
	defer status.Clear()
	return c.assembly.Hub().Load(ctx, file, name, f.Load(func(done, total int64) {
		if total >= slowLoad {
			status.Show("loading %s: %d%%", name, 100*done/total)
		}
	}))
}

// slowLoad is how big a model must be for its loading to be shown; smaller ones are there at once. Units: bytes.
const slowLoad = 500 << 20
