package cli

import (
	"context"
	"fmt"

	"github.com/pooled/pooled/cmd/internal/nano"
	"github.com/pooled/pooled/cmd/internal/options"
	"github.com/pooled/pooled/core/hub"
)

// load loads the model that the flags name.
func (c *commands) load(ctx context.Context, f *options.Model) (*hub.Model, error) {
	return c.loadInstead(ctx, f, nil)
}

// loadInstead loads the model that the flags name in the place of another, or of none.
func (c *commands) loadInstead(ctx context.Context, f *options.Model, instead *hub.Model) (*hub.Model, error) {
	if err := f.Check(); err != nil {
		return nil, err
	}
	file, name, err := c.assembly.Open(f.Ref)
	if err != nil {
		return nil, err
	}
	if name == nano.Name && c.Terminal {
		fmt.Fprintln(c.Err, nano.Notice)
	}
	status := c.Status(c.Err)
	defer status.Clear()
	return c.assembly.Hub().Load(ctx, file, name, f.Load(instead, func(done, total int64) {
		if total >= slowLoad {
			status.Show("loading %s: %d%%", name, 100*done/total)
		}
	}))
}

// slowLoad is how big a model must be for its loading to be shown; smaller ones are there at once. Units: bytes.
const slowLoad = 500 << 20
