package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"strings"

	"github.com/spf13/cobra"

	"github.com/pooled/pooled/core/hub"
	"github.com/pooled/pooled/core/model"
	"github.com/pooled/pooled/core/plugin"
	"github.com/pooled/pooled/core/units"
	"github.com/pooled/pooled/gpu/device"
)

// report is what doctor finds.
type report struct {
	Version  string        `json:"version"`
	System   string        `json:"system"`
	Devices  []deviceJSON  `json:"devices"`
	Chosen   string        `json:"chosen"`
	Reason   string        `json:"reason"`
	Models   string        `json:"model_folder"`
	Plugins  string        `json:"plugin_folder"`
	Families []string      `json:"families"`
	Tools    []string      `json:"tools"`
	Problems []problemJSON `json:"problems"`
}

type deviceJSON struct {
	Backend  string `json:"backend"`
	Name     string `json:"name"`
	Detail   string `json:"detail,omitempty"`
	Memory   int64  `json:"memory,omitempty"`
	Software bool   `json:"software,omitempty"`
}

type problemJSON struct {
	What string `json:"what"`
	Fix  string `json:"fix,omitempty"`
}

func (c *commands) doctor() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "doctor",
		Short: "Say what this machine has, what is missing and how to get it",
		Example: `  pooled doctor
  pooled doctor --json`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			r := c.examine(cmd.Context())
			if asJSON {
				return json.NewEncoder(c.Out).Encode(r)
			}
			c.printReport(r)
			return nil
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

func (c *commands) examine(ctx context.Context) report {
	r := report{
		Version: versionText(), System: fmt.Sprintf("%s/%s, %d cores", runtime.GOOS, runtime.GOARCH, runtime.NumCPU()),
		Problems: []problemJSON{},
	}
	problem := func(fix, format string, args ...any) {
		r.Problems = append(r.Problems, problemJSON{fmt.Sprintf(format, args...), fix})
	}
	devices := c.wire.Devices(ctx, hub.Want{})
	gpus := 0
	for _, d := range devices {
		r.Devices = append(r.Devices, deviceJSON{d.Device.Backend, d.Device.Name, d.Device.Detail, d.Device.Memory, d.Device.Software})
		if d.Device.Backend == "webgpu" && !d.Device.Software {
			gpus++
		}
	}
	if choice, err := hub.Pick(devices, hub.Want{}); err == nil {
		r.Chosen, r.Reason = choice.Device.Name+" ("+choice.Device.Backend+")", choice.Reason
	}
	if _, err := device.Adapters(); err != nil {
		problem(vulkanFix(), "WebGPU does not work: %v", err)
	} else if gpus == 0 {
		problem(vulkanFix(), "no GPU was found, so models run on the CPU; if there is one, its driver is missing:")
	}
	if s, err := c.wire.Store(); err != nil {
		problem("set POOLED_HOME to a folder of your own", "there is no model folder: %v", err)
	} else {
		r.Models = s.Dir()
		if models, err := s.List(); err != nil {
			problem("", "the model folder cannot be read: %v", err)
		} else if len(models) == 0 {
			problem("pooled pull qwen2.5-coder-0.5b", "no model was pulled; only the very small model that is built in is there")
		} else {
			for _, m := range models {
				if m.Problem != "" {
					problem("pooled pull "+m.Name, "model %s: %s", m.Name, m.Problem)
				}
			}
		}
	}
	catalog := c.wire.Catalog()
	r.Plugins = catalog.Dir()
	entries, err := catalog.List()
	if err != nil {
		problem("", "the plugin folder cannot be read: %v", err)
	}
	for _, e := range entries {
		if e.Err != nil {
			problem("pooled plugin check "+e.Path, "plugin %s: %v", e.Name, e.Err)
			continue
		}
		if e.Kind == plugin.KindTools {
			r.Tools = append(r.Tools, fmt.Sprintf("%s (%s)", e.Name, e.State))
			continue
		}
		r.Families = append(r.Families, fmt.Sprintf("%s (%s): %s", e.Name, e.State, strings.Join(e.Info.Architectures, ", ")))
	}
	return r
}

// vulkanFix is the command that brings what a GPU needs on this system.
func vulkanFix() string {
	if runtime.GOOS != "linux" {
		return ""
	}
	if _, err := os.Stat("/etc/debian_version"); err == nil {
		return "apt-get install libvulkan1 mesa-vulkan-drivers (AMD, Intel) or your vendor's driver (NVIDIA)"
	}
	return "install the Vulkan loader and your GPU's Vulkan driver"
}

func (c *commands) printReport(r report) {
	p := func(format string, args ...any) { fmt.Fprintf(c.Out, format+"\n", args...) }
	p("pooled %s on %s", r.Version, r.System)
	p("\nDevices")
	for _, d := range r.Devices {
		note := ""
		if d.Memory > 0 {
			note = ", " + units.Bytes(d.Memory)
		}
		if d.Software {
			note += ", emulated on the CPU: only used when asked for"
		}
		p("  %-7s %s (%s%s)", d.Backend, d.Name, d.Detail, note)
	}
	p("  chosen: %s, because %s", r.Chosen, r.Reason)
	p("\nFolders")
	p("  models   %s", r.Models)
	p("  plugins  %s", r.Plugins)
	p("\nModel families")
	for _, f := range r.Families {
		p("  %s", f)
	}
	p("\nTools for 'pooled code'")
	for _, t := range r.Tools {
		p("  %s", t)
	}
	if len(r.Problems) == 0 {
		p("\nNothing is missing.")
		return
	}
	p("\nNotes")
	for _, x := range r.Problems {
		p("  - %s", x.What)
		if x.Fix != "" {
			p("    %s", x.Fix)
		}
	}
}

// versionText is the version that the Go tool recorded in the program.
func versionText() string {
	b, ok := debug.ReadBuildInfo()
	if !ok || b.Main.Version == "" || b.Main.Version == "(devel)" {
		return "development build"
	}
	return b.Main.Version
}

func (c *commands) version() *cobra.Command {
	return &cobra.Command{
		Use:     "version",
		Short:   "Print the version",
		Example: "  pooled version",
		Args:    cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			_, err := fmt.Fprintf(c.Out, "pooled %s (%s, %s/%s)\n", versionText(), runtime.Version(), runtime.GOOS, runtime.GOARCH)
			return err
		},
	}
}

func wholeRange(p *model.Plan) model.LayerRange { return model.LayerRange{End: len(p.Layers)} }
