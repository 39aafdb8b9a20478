package plugincmd

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/pooled/pooled/cmd/internal/terminal"
	"github.com/pooled/pooled/core/gguf"
	"github.com/pooled/pooled/core/model"
	"github.com/pooled/pooled/core/model/ggufmeta"
	"github.com/pooled/pooled/core/plugin"
	"github.com/pooled/pooled/core/plugin/modeltest"
	"github.com/pooled/pooled/core/plugin/tooltest"
)

func (d Deps) check() *cobra.Command {
	var models []string
	c := &cobra.Command{
		Use:   "check PATH",
		Short: "Hold a plugin against the contract, for its author",
		Long: `Check starts the program at PATH (or the one that PATH/plugin.json names) and runs the conformance suite on it, without
asking for an approval. What a plan must hold is checked on models: those of --model, and those in PATH/testdata. Every tool
is called with the least that it asks for, in an empty project.`,
		Example: "  pooled plugin check ./gemma3 --model gemma-3-270m.gguf",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			program, m, files, err := inspect(args[0])
			if err != nil {
				return err
			}
			if _, err := os.Stat(program); errors.Is(err, os.ErrNotExist) {
				return fmt.Errorf("%s is not there; build it first", program)
			}
			for _, path := range models {
				more, err := readModels(path)
				if err != nil {
					return err
				}
				files = append(files, more...)
			}
			opened, err := plugin.Open(cmd.Context(), program, nil, plugin.Options{Wasm: d.Wasm})
			if err != nil {
				return err
			}
			defer opened.Close()
			out := d.Out
			failed := 0
			report := func(name string, err error) {
				if err == nil {
					fmt.Fprintf(out, "ok    %s\n", name)
					return
				}
				failed++
				fmt.Fprintf(out, "FAIL  %s\n      %s\n", name, terminal.Text(err.Error()))
			}
			kind := plugin.KindModels
			if opened.Tools != nil {
				kind = plugin.KindTools
			}
			if m.Kind != "" && m.Kind != kind {
				return fmt.Errorf("%s says kind %q, and the program serves %q", plugin.ManifestFile, m.Kind, kind)
			}
			if opened.Tools != nil {
				info := opened.Tools.Info()
				fmt.Fprintf(out, "%s has the tools %s (contract %d)\n\n", info.Name, describeTools(info), info.Contract)
				for _, r := range tooltest.Run(cmd.Context(), opened.Tools, nil) {
					report(r.Name, r.Err)
				}
			} else {
				info := opened.Info()
				fmt.Fprintf(out, "%s plans %s (contract %d)\n\n", info.Name, strings.Join(info.Architectures, ", "), info.Contract)
				if len(m.Architectures) > 0 {
					report("the manifest lists the architectures that it plans", m.Agrees(info))
				}
				for _, r := range modeltest.Run(cmd.Context(), opened, files) {
					report(r.Name, r.Err)
				}
			}
			switch {
			case failed > 0:
				return fmt.Errorf("%d requirements do not hold", failed)
			case len(files) == 0 && opened.Tools == nil:
				fmt.Fprintln(out, "\nNo plan was checked: check the folder with its testdata, or give a model with --model FILE.gguf.")
			default:
				fmt.Fprintln(out, "\nAll requirements hold.")
			}
			return nil
		},
	}
	c.Flags().StringArrayVarP(&models, "model", "m", nil, "a GGUF `file`, metadata as JSON, or a folder of these (repeatable)")
	return c
}

// inspect finds the program that path means and the models that lie beside it.
func inspect(path string) (program string, m plugin.Manifest, files []modeltest.File, err error) {
	st, err := os.Stat(path)
	if err != nil {
		return "", m, nil, err
	}
	if !st.IsDir() {
		return path, m, nil, nil
	}
	if m, err = plugin.ReadManifest(path); err != nil {
		if errors.Is(err, os.ErrNotExist) {
			err = fmt.Errorf("%s is no plugin: it has no %s", path, plugin.ManifestFile)
		}
		return "", m, nil, err
	}
	files, err = readModels(filepath.Join(path, "testdata"))
	if errors.Is(err, os.ErrNotExist) {
		err = nil
	}
	return filepath.Join(path, m.Binary), m, files, err
}

// readModels reads the metadata of a model, or of those in a folder.
func readModels(path string) ([]modeltest.File, error) {
	st, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if st.IsDir() {
		files, err := modeltest.ReadDir(path)
		if err != nil {
			return nil, err
		}
		more, err := filepath.Glob(filepath.Join(path, "*.gguf"))
		for _, p := range more {
			var f []modeltest.File
			if f, err = readModels(p); err != nil {
				return nil, err
			}
			files = append(files, f...)
		}
		return files, err
	}
	var md *model.Metadata
	if filepath.Ext(path) == ".json" {
		f, err := os.Open(path)
		if err != nil {
			return nil, err
		}
		defer f.Close()
		if md, err = modeltest.ReadMetadata(f); err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
	} else {
		f, err := gguf.Open(path)
		if err != nil {
			return nil, err
		}
		defer f.Close()
		md = ggufmeta.Of(f)
	}
	return []modeltest.File{{Name: filepath.Base(path), Metadata: md}}, nil
}
