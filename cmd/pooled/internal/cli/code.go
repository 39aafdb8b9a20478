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
	"github.com/pooled/pooled/core/gguf"
)

// code makes the command of the coding agent.
func (c *commands) code() *cobra.Command {
	f := options.DefaultModel()
	var grammars coder.Grammars
	cmd := codecmd.New(codecmd.Deps{
		Console: c.Console,
		Load: func(ctx context.Context, ref string) (agent.Model, io.Closer, error) {
			own := f
			if ref != "" {
				own.Ref = ref
			}
			template := ""
			m, err := c.loadFile(ctx, &own, func(file *gguf.File) { template = coder.TemplateOf(file) })
			if err != nil {
				return nil, nil, err
			}
			return coder.Model(m, template), m, nil
		},
		Tools: func(ctx context.Context) ([]agent.Source, error) {
			sets, err := c.assembly.Catalog().Tools(ctx)
			return coder.Sources(sets), err
		},
		Grammar: &grammars, Home: c.assembly.Projects, Cache: folders.Tools(),
	})
	f.Add(cmd.Flags())
	return cmd
}
