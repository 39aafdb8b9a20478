package cli

import (
	"github.com/spf13/cobra"

	"github.com/pooled/pooled/cmd/internal/wire"
	"github.com/pooled/pooled/cmd/pooled/internal/jscmd"
	"github.com/pooled/pooled/cmd/pooled/internal/plugincmd"
)

func (c *commands) plugin() *cobra.Command {
	return plugincmd.New(plugincmd.Deps{Catalog: c.wire.Catalog, Wasm: wire.LoadWasm})
}

func (c *commands) js() *cobra.Command { return jscmd.NewJS() }

func (c *commands) page() *cobra.Command { return jscmd.NewPage() }
