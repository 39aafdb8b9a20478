// Command gpubench measures the kernels and the executor on a GPU and checks them against the reference. It makes its own
// synthetic weights, so that one file is all that has to be carried to a machine.
//
//	gpubench [-adapter NAME] [-out FOLDER] [-only PART,…] [-shape 27b|35b-a3b] [-layers N] [-model FILE]
//
// Parts: check, copy, gemv, gemm, attention, small, model. Results go to standard output and to FOLDER/PART.csv.
package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/pooled/pooled/gpu/device"
)

type bench struct {
	adapter device.Adapter
	out     string
	shape   string
	layers  int
	context int
	file    string
	files   map[string]*os.File
	copyGBs float64
}

func main() {
	name := flag.String("adapter", "", "part of the adapter's name; the first real GPU otherwise")
	out := flag.String("out", os.Getenv("OUT"), "folder for CSV files")
	only := flag.String("only", "check,copy,gemv,gemm,attention,small,model", "the parts to run")
	shape := flag.String("shape", "27b", "the shape of the synthetic model: 27b or 35b-a3b")
	layers := flag.Int("layers", 0, "layers of the synthetic model; 0 for those of the shape")
	context := flag.Int("context", 9500, "positions of the synthetic model")
	file := flag.String("model", "", "a GGUF file to measure instead of the synthetic model")
	flag.Parse()
	b := &bench{out: *out, shape: *shape, layers: *layers, context: *context, file: *file, files: map[string]*os.File{}}
	if err := b.run(*name, strings.Split(*only, ",")); err != nil {
		fmt.Fprintln(os.Stderr, "gpubench:", err)
		os.Exit(1)
	}
}

func (b *bench) run(name string, parts []string) error {
	all, err := device.Adapters()
	if err != nil {
		return err
	}
	found := false
	for _, a := range all {
		fmt.Printf("adapter %q, %s, %s, %v, %+v\n", a.Name, a.API, a.Driver, a.Kind, a.Limits)
		if !found && strings.Contains(strings.ToLower(a.Name), strings.ToLower(name)) && (name != "" || !a.Software) {
			b.adapter, found = a, true
		}
	}
	if !found {
		return fmt.Errorf("no adapter whose name contains %q", name)
	}
	for _, p := range []struct {
		name string
		run  func() error
	}{
		{"copy", b.copy},
		{"check", b.check},
		{"gemv", b.gemv},
		{"gemm", b.gemm},
		{"attention", b.attention},
		{"small", b.small},
		{"model", b.model},
	} {
		if !slices.Contains(parts, p.name) {
			continue
		}
		fmt.Printf("\n== %s\n", p.name)
		if err := p.run(); err != nil {
			fmt.Printf("%s: %v\n", p.name, err)
		}
	}
	for _, f := range b.files {
		if err := f.Close(); err != nil {
			return err
		}
	}
	return nil
}

// row prints a line and appends it to the part's CSV file; the first row of a part is its header.
func (b *bench) row(part string, cells ...any) {
	text := make([]string, len(cells))
	for i, c := range cells {
		text[i] = fmt.Sprint(c)
		if f, ok := c.(float64); ok {
			text[i] = fmt.Sprintf("%.4g", f)
		}
	}
	fmt.Println(strings.Join(text, "\t"))
	if b.out == "" {
		return
	}
	f := b.files[part]
	if f == nil {
		var err error
		if f, err = os.Create(filepath.Join(b.out, part+".csv")); err != nil {
			fmt.Fprintln(os.Stderr, "gpubench:", err)
			b.out = ""
			return
		}
		b.files[part] = f
	}
	fmt.Fprintln(f, strings.Join(text, ","))
}
