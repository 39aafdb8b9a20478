package plugincmd

import (
	"bytes"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"runtime/debug"
	"slices"
	"strings"
	"text/template"

	"github.com/spf13/cobra"
)

// modulePath is the module that a plugin builds against.
const modulePath = "github.com/pooled/pooled"

//go:embed all:scaffold all:scaffold-tools all:scaffold-wasm
var scaffolds embed.FS

// newPlugin fills the scaffold in.
type newPlugin struct {
	// scaffold is the folder of what is filled in.
	scaffold string
	// Name is the plugin's name, and Arch the value of general.architecture that it plans.
	Name, Arch string
	// Tool is the name of its tool.
	Tool string
	// Version is the version of Pooled that it requires, and Go that of Go.
	Version, Go string
	// Source is a checkout of Pooled to build against, or empty.
	Source string
	// Requires are the versions of other modules that the checkout requires, as lines of a go.mod.
	Requires []string
}

func (d Deps) create() *cobra.Command {
	c := &cobra.Command{
		Use: "new", Short: "Start a plugin: a small Go module that works",
		Example: `  pooled plugin new models mine
  pooled plugin new tools weather --wasm`,
		Args: cobra.NoArgs,
	}
	c.AddCommand(d.createModels(), d.createTools())
	return c
}

var validName = regexp.MustCompile(`^[a-z][a-z0-9-]{0,62}$`)

func (d Deps) createModels() *cobra.Command {
	p := newPlugin{scaffold: "scaffold"}
	c := &cobra.Command{
		Use:   "models NAME [DIR]",
		Short: "Start a model family",
		Long: `New writes a Go module into DIR (NAME when left out) that plans a plain decoder and passes "pooled plugin check".
Change it into the family that you need.`,
		Example: `  pooled plugin new models mine
  pooled plugin new models mine ~/mine --pooled ~/src/pooled`,
		Args: cobra.RangeArgs(1, 2),
		RunE: func(_ *cobra.Command, args []string) error {
			p.Name = args[0]
			dir := args[len(args)-1]
			if p.Arch == "" {
				p.Arch = p.Name
			}
			if !validName.MatchString(p.Name) || !validName.MatchString(p.Arch) {
				return fmt.Errorf("%q: a name is made of lower-case letters, digits and dashes", p.Name)
			}
			if err := p.fill(dir); err != nil {
				return err
			}
			d.next(dir, p.Source, p.steps()...)
			return nil
		},
	}
	c.Flags().StringVar(&p.Arch, "architecture", "", "the GGUF `architecture` that it plans (default NAME)")
	c.Flags().StringVar(&p.Source, "pooled", "", "build against the checkout of Pooled in this `folder` (default: the one that DIR, this folder or this program lies in)")
	return c
}

func (d Deps) createTools() *cobra.Command {
	p := newPlugin{}
	var wasm bool
	c := &cobra.Command{
		Use:   "tools NAME [DIR]",
		Short: "Start a set of tools",
		Long: `New writes a Go module into DIR (NAME when left out) that has one tool and passes "pooled plugin check". With --wasm it
builds to WebAssembly, which Pooled runs in its sandbox: such a tool reads the project's files and reaches nothing else.`,
		Example: `  pooled plugin new tools weather --wasm
  pooled plugin new tools weather --pooled ~/src/pooled`,
		Args: cobra.RangeArgs(1, 2),
		RunE: func(_ *cobra.Command, args []string) error {
			p.Name, p.Tool = args[0], strings.ReplaceAll(args[0], "-", "_")
			dir := args[len(args)-1]
			if !validName.MatchString(p.Name) {
				return fmt.Errorf("%q: a name is made of lower-case letters, digits and dashes", p.Name)
			}
			if wasm {
				p.scaffold = "scaffold-wasm"
				if err := p.write(dir, nil); err != nil {
					return err
				}
				d.next(dir, "", "GOOS=wasip1 GOARCH=wasm go build -buildmode=c-shared -o "+p.Name+".wasm .")
				return nil
			}
			p.scaffold = "scaffold-tools"
			if err := p.fill(dir); err != nil {
				return err
			}
			d.next(dir, p.Source, p.steps()...)
			return nil
		},
	}
	c.Flags().StringVar(&p.Source, "pooled", "", "build against the checkout of Pooled in this `folder` (default: the one that DIR, this folder or this program lies in)")
	c.Flags().BoolVar(&wasm, "wasm", false, "make a WebAssembly module")
	return c
}

// next says how an author goes on, with commands in the folder that was written.
func (d Deps) next(dir, source string, steps ...string) {
	fmt.Fprintf(d.Out, "Wrote %s", dir)
	if source != "" {
		fmt.Fprintf(d.Out, ", which builds against the checkout %s", source)
	}
	fmt.Fprintf(d.Out, ". Next:\n\n  cd %s\n", dir)
	for _, s := range append(steps, "pooled plugin check .") {
		fmt.Fprintln(d.Out, "  "+s)
	}
}

// steps are the commands that make and try a module that was filled in.
func (p *newPlugin) steps() []string {
	steps := []string{"go test .", "go build ."}
	if p.Source == "" {
		steps = slices.Insert(steps, 0, "go mod tidy")
	}
	return steps
}

// fill writes the scaffold of a module that requires Pooled.
func (p *newPlugin) fill(dir string) (err error) {
	var sums []byte
	if p.Source == "" && !p.fromRelease() {
		program, _ := os.Executable() // bin/pooled lies in the checkout that it was built from
		if p.Source = checkoutAbove(dir, ".", filepath.Dir(program)); p.Source == "" {
			return errors.New("this Pooled was built from a checkout, has no version to build against, and finds no checkout around; name it with --pooled FOLDER")
		}
	}
	if p.Source != "" {
		if sums, err = p.fromSource(); err != nil {
			return err
		}
	}
	return p.write(dir, sums)
}

// fromRelease requires the version of the running program; one that was built in a checkout has none.
func (p *newPlugin) fromRelease() bool {
	info, ok := debug.ReadBuildInfo()
	if !ok || info.Main.Path != modulePath || !strings.HasPrefix(info.Main.Version, "v") {
		return false
	}
	p.Version, p.Go = info.Main.Version, strings.TrimPrefix(info.GoVersion, "go")
	return true
}

var requireLine = regexp.MustCompile(`(?m)^(?:require )?\s*([\w.\-/~]+\.[\w.\-/~]+ v[^\s]+)`)

var goLine = regexp.MustCompile(`(?m)^go (\S+)$`)

// checkoutAbove returns the checkout of Pooled that the first possible one of the folders lies in; empty for none.
func checkoutAbove(folders ...string) string {
	for _, from := range folders {
		from, err := filepath.Abs(from)
		for ; err == nil && filepath.Dir(from) != from; from = filepath.Dir(from) {
			if mod, err := os.ReadFile(filepath.Join(from, "go.mod")); err == nil && isPooled(mod) {
				return from
			}
		}
	}
	return ""
}

// isPooled reports whether a go.mod is that of Pooled.
func isPooled(mod []byte) bool { return bytes.HasPrefix(mod, []byte("module "+modulePath+"\n")) }

// fromSource takes the required versions over from the checkout, so that the module builds without a network.
func (p *newPlugin) fromSource() (sums []byte, err error) {
	if p.Source, err = filepath.Abs(p.Source); err != nil {
		return nil, err
	}
	mod, err := os.ReadFile(filepath.Join(p.Source, "go.mod"))
	if err != nil {
		return nil, err
	}
	if !isPooled(mod) {
		return nil, fmt.Errorf("%s is not a checkout of Pooled", p.Source)
	}
	for _, m := range requireLine.FindAllSubmatch(mod, -1) {
		p.Requires = append(p.Requires, string(m[1]))
	}
	slices.Sort(p.Requires)
	if m := goLine.FindSubmatch(mod); m != nil {
		p.Go = string(m[1])
	}
	p.Version = "v0.0.0"
	return os.ReadFile(filepath.Join(p.Source, "go.sum"))
}

// write makes the folder and fills it; it never replaces a file.
func (p *newPlugin) write(dir string, sums []byte) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	if len(sums) > 0 {
		if err := create(filepath.Join(dir, "go.sum"), sums); err != nil {
			return err
		}
	}
	root, err := fs.Sub(scaffolds, p.scaffold)
	if err != nil {
		return err
	}
	return fs.WalkDir(root, ".", func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		to := filepath.Join(dir, strings.TrimSuffix(filepath.FromSlash(path), ".tmpl"))
		if e.IsDir() {
			return os.MkdirAll(to, 0o755)
		}
		text, err := fs.ReadFile(root, path)
		if err != nil {
			return err
		}
		t, err := template.New(path).Parse(string(text))
		if err != nil {
			return err
		}
		var b bytes.Buffer
		if err := t.Execute(&b, p); err != nil {
			return err
		}
		return create(to, b.Bytes())
	})
}

// create writes a file that must not be there yet.
func create(path string, data []byte) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if errors.Is(err, os.ErrExist) {
		return fmt.Errorf("%w; name a new or empty folder", err)
	}
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	return errors.Join(err, f.Close())
}
