package store

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/pooled/pooled/core/gguf"
	"github.com/pooled/pooled/core/tokenizer"
)

// Details is what a model file says about itself, and what is recorded about it.
type Details struct {
	Path         string
	Name         string // general.name
	Architecture string
	Parameters   int64
	Size         int64 // bytes of all parts
	Parts        int
	Layers       int
	Hidden       int // hidden size
	Context      int // tokens that the model was trained for
	Vocabulary   int
	Tokenizer    string
	Template     bool // has a chat template
	Licence      string
	Quantisation string // such as "Q4_K_M"
	Types        []TypeShare
	Record       *Record // nil when the file was not pulled
}

// TypeShare is how much of a model has one tensor type.
type TypeShare struct {
	Type    gguf.Type
	Tensors int
	Elems   int64
	Bytes   int64
}

// Show describes a model, which is named as for [Store.Resolve].
func (s *Store) Show(ref string) (*Details, error) {
	path, err := s.Resolve(ref)
	if err != nil {
		return nil, err
	}
	f, err := gguf.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	d := Describe(f)
	models, err := scan(s.dir)
	if err != nil {
		return nil, err
	}
	for _, m := range models {
		if m.Path != path {
			continue
		}
		if r, ok := s.readRecord(m.Name); ok {
			d.Record = &r
			d.Licence = cmp.Or(d.Licence, r.Licence)
		}
	}
	return d, nil
}

// Describe reads the facts of an open file. Facts that the file does not state are zero.
func Describe(f *gguf.File) *Details {
	text := func(key string) string {
		v, _ := f.Get(key)
		s, _ := v.Str()
		return s
	}
	d := &Details{
		Path: f.Path(), Size: f.Size(), Parts: len(f.Parts()),
		Name: text("general.name"), Architecture: text("general.architecture"),
		Tokenizer: text("tokenizer.ggml.model"), Template: tokenizer.ChatTemplate(f.Get) != "",
		Licence: cmp.Or(text("general.license"), text("general.license.name")),
	}
	number := func(suffix string) int {
		v, _ := f.Get(d.Architecture + "." + suffix)
		n, _ := v.Uint()
		return int(min(n, 1<<31-1))
	}
	d.Layers, d.Hidden, d.Context = number("block_count"), number("embedding_length"), number("context_length")
	if v, ok := f.Get("tokenizer.ggml.tokens"); ok {
		d.Vocabulary = v.Len()
	}
	shares := map[gguf.Type]*TypeShare{}
	for _, t := range f.Tensors() {
		x := shares[t.Type]
		if x == nil {
			x = &TypeShare{Type: t.Type}
			shares[t.Type] = x
		}
		x.Tensors++
		x.Elems += t.Elems()
		x.Bytes += t.Bytes()
		d.Parameters += t.Elems()
	}
	for _, x := range shares {
		d.Types = append(d.Types, *x)
	}
	slices.SortFunc(d.Types, func(a, b TypeShare) int {
		return cmp.Or(cmp.Compare(b.Bytes, a.Bytes), cmp.Compare(a.Type, b.Type))
	})
	d.Quantisation = quantisation(f, d.Types)
	return d
}

// fileTypes are the names of general.file_type. Source: llama_ftype in llama.h.
var fileTypes = map[uint64]string{
	0: "F32", 1: "F16", 2: "Q4_0", 3: "Q4_1", 7: "Q8_0", 8: "Q5_0", 9: "Q5_1", 10: "Q2_K", 11: "Q3_K_S", 12: "Q3_K_M",
	13: "Q3_K_L", 14: "Q4_K_S", 15: "Q4_K_M", 16: "Q5_K_S", 17: "Q5_K_M", 18: "Q6_K", 19: "IQ2_XXS", 20: "IQ2_XS",
	21: "Q2_K_S", 22: "IQ3_XS", 23: "IQ3_XXS", 24: "IQ1_S", 25: "IQ4_NL", 26: "IQ3_S", 27: "IQ3_M", 28: "IQ2_S", 29: "IQ2_M",
	30: "IQ4_XS", 31: "IQ1_M", 32: "BF16", 36: "TQ1_0", 37: "TQ2_0", 38: "MXFP4",
}

// quantisation names the mix: as the file does, or by the type that has most of the bytes.
func quantisation(f *gguf.File, types []TypeShare) string {
	if v, ok := f.Get("general.file_type"); ok {
		if n, ok := v.Uint(); ok {
			if name, ok := fileTypes[n]; ok {
				return name
			}
		}
	}
	if len(types) == 0 {
		return ""
	}
	return types[0].Type.String()
}

// Mix writes the types of a model with their share of the parameters, such as "Q4_K 78 %, Q6_K 22 %".
func (d *Details) Mix() string {
	var out []string
	for _, t := range d.Types {
		share := 100 * float64(t.Elems) / float64(max(d.Parameters, 1))
		if share >= 0.5 {
			out = append(out, fmt.Sprintf("%v %.0f %%", t.Type, share))
		}
	}
	return strings.Join(out, ", ")
}
