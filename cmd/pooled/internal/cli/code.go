package cli

import (
	"context"
	"io"

	"github.com/spf13/cobra"

	"github.com/pooled/pooled/cmd/internal/coder"
	"github.com/pooled/pooled/cmd/internal/folders"
	"github.com/pooled/pooled/cmd/internal/options"
	"github.com/pooled/pooled/cmd/pooled/internal/codecmd"
	"github.com/pooled/pooled/core/agent"
	"github.com/pooled/pooled/core/hub"
)

// code makes the command of the coding agent.
func (c *commands) code() *cobra.Command {
	f := options.DefaultModel()
	var loaded *hub.Model
	cmd := codecmd.New(codecmd.Deps{
		Console: c.Console,
		Load: func(ctx context.Context, ref string) (agent.Model, io.Closer, error) {
			own := f
			if ref != "" {
				own.Ref = ref
			}
			m, err := c.loadInstead(ctx, &own, loaded)
			if err != nil {
				return nil, nil, err
			}
			loaded = m
			return coder.Model(m), m, nil
		},
		Tools: func(ctx context.Context) ([]agent.Source, error) {
			sets, err := c.assembly.Catalog().Tools(ctx)
			return coder.Sources(sets), err
		},
		Grammars: c.assembly.Grammars, Home: c.assembly.Projects, Cache: folders.Tools(),
	})
	f.Add(cmd.Flags())
	return cmd
}
