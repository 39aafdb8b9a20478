package cli

import (
	"context"
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"strings"

	"github.com/spf13/cobra"

	"github.com/pooled/pooled/cmd/internal/folders"
	"github.com/pooled/pooled/cmd/internal/terminal"
	"github.com/pooled/pooled/core/engine"
	"github.com/pooled/pooled/core/hub"
	"github.com/pooled/pooled/core/model"
	"github.com/pooled/pooled/core/plugin"
	"github.com/pooled/pooled/core/store"
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
	Projects string        `json:"project_folder"`
	Plugins  string        `json:"plugin_folder"`
	Compiled string        `json:"compiled_folder"`
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
				return c.JSON(r)
			}
			c.printReport(r)
			return nil
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

func (c *commands) examine(ctx context.Context) *report {
	r := &report{
		Version: versionText(), System: fmt.Sprintf("%s/%s, %d cores", runtime.GOOS, runtime.GOARCH, runtime.NumCPU()),
		Problems: []problemJSON{}, Compiled: folders.Compiled(),
	}
	r.examineDevices(c.assembly.Devices(ctx, hub.Want{Backend: engine.WebGPU}))
	r.Models = r.place(folders.Models())
	r.Projects = r.place(folders.Projects())
	r.examineModels()
	r.examinePlugins(c.assembly.Catalog())
	return r
}

// problem adds what is wrong and, where there is one, the command that mends it.
func (r *report) problem(fix, format string, args ...any) {
	r.Problems = append(r.Problems, problemJSON{fmt.Sprintf(format, args...), fix})
}

func (r *report) examineDevices(devices []hub.Available) {
	gpus := 0
	for _, d := range devices {
		r.Devices = append(r.Devices, deviceJSON{d.Device.Backend, d.Device.Name, d.Device.Detail, d.Device.Memory, d.Device.Software})
		if d.Device.Backend == engine.WebGPU && !d.Device.Software {
			gpus++
		}
	}
	if choice, err := hub.Pick(devices, hub.Want{}); err == nil {
		r.Chosen, r.Reason = choice.Device.Name+" ("+choice.Device.Backend+")", choice.Reason
	}
	switch _, err := device.Adapters(); {
	case err != nil:
		r.problem(vulkanFix(), "WebGPU does not work: %v", err)
	case gpus == 0 && len(devices) > 1:
		// The loader and the drivers that come with it are there: they emulate a GPU.
		r.problem("", "no GPU was found, so models run on the CPU; if there is one, its vendor's driver is missing")
	case gpus == 0:
		r.problem(vulkanFix(), "no GPU was found, so models run on the CPU; if there is one, its driver is missing")
	}
}

// place returns the folder that things are in, and notes what is odd about it.
func (r *report) place(p folders.Place, err error) string {
	switch {
	case err != nil:
		r.problem("", "%v", err)
	case p.Other != "":
		r.problem("move what you need to "+p.Dir+" and delete the old folder",
			"%s also lie in %s, where they were kept before; those are not used", p.What, p.Other)
	case p.News() != "":
		r.problem("", "%s", p.News())
	}
	return p.Dir
}

func (r *report) examineModels() {
	if r.Models == "" {
		return
	}
	s, err := store.NewStore(store.Options{Dir: r.Models})
	if err != nil {
		r.problem("", "the model folder cannot be found: %v", err)
		return
	}
	models, err := s.List()
	switch {
	case err != nil:
		r.problem("", "the model folder cannot be read: %v", err)
	case len(models) == 0:
		r.problem("pooled pull qwen2.5-coder-0.5b", "no model was pulled; only the very small model that is built in is there")
	}
	for _, m := range models {
		if m.Problem != "" {
			r.problem("pooled pull "+m.Name, "model %s: %s", m.Name, m.Problem)
		}
	}
}

func (r *report) examinePlugins(catalog *plugin.Catalog) {
	r.Plugins = catalog.Dir()
	entries, err := catalog.List()
	if err != nil {
		r.problem("", "the plugin folder cannot be read: %v", err)
	}
	for _, e := range entries {
		switch {
		case e.Err != nil:
			r.problem("pooled plugin check "+e.Path, "plugin %s: %v", e.Name, e.Err)
		case e.Kind == plugin.KindTools:
			r.Tools = append(r.Tools, fmt.Sprintf("%s (%s)", e.Name, e.State))
		default:
			r.Families = append(r.Families, fmt.Sprintf("%s (%s): %s", e.Name, e.State, strings.Join(e.Info.Architectures, ", ")))
		}
	}
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

func (c *commands) printReport(r *report) {
	p := func(format string, args ...any) { fmt.Fprintln(c.Out, terminal.Text(fmt.Sprintf(format, args...))) }
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
	p("  models         %s", r.Models)
	p("  projects       %s", r.Projects)
	p("  plugins        %s", r.Plugins)
	p("  compiled code  %s", r.Compiled)
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
