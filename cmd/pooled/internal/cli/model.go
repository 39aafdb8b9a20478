package cli

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/pooled/pooled/cmd/internal/nano"
	"github.com/pooled/pooled/core/gguf"
	"github.com/pooled/pooled/core/hub"
)

// modelFlags are the flags of every command that loads a model.
type modelFlags struct {
	model   string
	backend string
	adapter string
	threads int
	context int
	exact   bool
}

func (f *modelFlags) add(c *cobra.Command) {
	fl := c.Flags()
	fl.StringVarP(&f.model, "model", "m", "", "model: a pulled name, a GGUF file, or nano (built in)")
	fl.StringVar(&f.backend, "backend", "auto", "what computes: cpu, webgpu or auto")
	fl.StringVar(&f.adapter, "adapter", "", "part of the name of the GPU to use")
	fl.IntVar(&f.threads, "threads", 0, "CPU threads; 0 for one a core")
	fl.IntVarP(&f.context, "context", "c", 0, "positions the model has room for; 0 for what it was made for and memory allows")
	fl.BoolVar(&f.exact, "exact", false, "keep activations in float32 on the CPU (slower)")
}

// load opens the model that the flags name.
func (c *commands) load(ctx context.Context, f *modelFlags) (*hub.Model, error) {
	return c.loadFile(ctx, f, func(*gguf.File) {})
}

// loadFile opens the model that the flags name; look may read its file before it is loaded.
func (c *commands) loadFile(ctx context.Context, f *modelFlags, look func(*gguf.File)) (*hub.Model, error) {
	switch f.backend {
	case "auto", "cpu", "webgpu":
	default:
		return nil, usage("--backend is %q, want cpu, webgpu or auto", f.backend)
	}
	if f.threads < 0 {
		return nil, usage("--threads is %d, want 0 or more", f.threads)
	}
	if f.context < 0 {
		return nil, usage("--context is %d, want 0 or more", f.context)
	}
	c.wire.Threads = f.threads
	file, name, err := c.wire.Open(f.model)
	if err != nil {
		return nil, err
	}
	look(file)
	if f.model == "" && c.Terminal {
		fmt.Fprintln(c.Err, nano.Notice)
	}
	return c.wire.Hub().Load(ctx, file, name, hub.LoadOptions{
		Want: hub.Want{Backend: f.backend, Adapter: f.adapter}, Context: f.context, Exact: f.exact, Progress: c.loading(name),
	})
}

// loading shows how a big model loads, to a person; small ones are there at once.
func (c *commands) loading(name string) func(done, total int64) {
	if !c.Terminal {
		return nil
	}
	const slow = 500 << 20
	return func(done, total int64) {
		if total < slow {
			return
		}
		fmt.Fprintf(c.Err, "\rloading %s: %d%%", name, 100*done/total)
		if done == total {
			fmt.Fprint(c.Err, "\r\033[K")
		}
	}
}
