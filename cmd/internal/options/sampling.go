package options

import (
	"errors"
	"math"
	"strconv"

	"github.com/spf13/pflag"

	"github.com/pooled/pooled/cmd/internal/console"
	"github.com/pooled/pooled/core/generate"
)

// DefaultSampling is how answers are drawn unless a person says otherwise.
func DefaultSampling() generate.Options {
	return generate.Options{Temperature: 0.7, TopK: 40, TopP: 0.95, RepeatPenalty: 1, Spec: generate.SpecAuto}
}

// AddSampling adds the flags of all that generates; what o holds are their defaults.
func AddSampling(fl *pflag.FlagSet, o *generate.Options) {
	fl.IntVarP(&o.MaxTokens, "max-tokens", "n", o.MaxTokens, "end the answer after so many tokens; 0 for no limit but the context")
	AddDraw(fl, o)
	fl.IntVar(&o.TopK, "top-k", o.TopK, "sample among the k likeliest tokens; 0 for all")
	fl.Var((*topP)(&o.TopP), "top-p", "sample among the fewest likeliest tokens that make up this probability; 0 for the likeliest alone, 1 for all")
	fl.Float64Var(&o.MinP, "min-p", o.MinP, "leave out tokens below this share of the likeliest token's probability; 0 for none, 1 for all but the likeliest")
	fl.Float64Var(&o.RepeatPenalty, "repeat-penalty", o.RepeatPenalty, "divide the logits of the last 64 tokens by this, against repetition; 1 (or 0) for not at all")
	fl.StringArrayVar(&o.Stop, "stop", o.Stop, "text that ends the answer (may be given several times)")
}

// AddDraw adds the flags of [AddSampling] that say how freely to draw and whether to draft, for commands that decide on the rest.
func AddDraw(fl *pflag.FlagSet, o *generate.Options) {
	fl.Float64Var(&o.Temperature, "temp", o.Temperature, "temperature; 0 always takes the likeliest token")
	fl.Uint64Var(&o.Seed, "seed", o.Seed, "make sampling repeatable; 0 draws a seed")
	fl.StringVar((*string)(&o.Spec), "spec", string(o.Spec), "where drafts come from, which make answers faster and never others: "+console.Either(generate.Specs()...))
	fl.IntVar(&o.SpecDepth, "spec-depth", o.SpecDepth, "draft so many tokens at most, whatever that costs; 0 for what is measured to be the fastest")
}

// topP is the value of --top-p. Its 0 keeps the likeliest token, as it does in other programs and as the definition has it;
// that of [generate.Options] means that nothing was said.
type topP float64

// Set implements [pflag.Value].
func (p *topP) Set(text string) error {
	v, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return err
	}
	if v == 0 {
		v = math.SmallestNonzeroFloat64
	}
	*p = topP(v)
	return nil
}

// String implements [pflag.Value].
func (p *topP) String() string {
	if *p == math.SmallestNonzeroFloat64 {
		return "0"
	}
	return strconv.FormatFloat(float64(*p), 'g', -1, 64)
}

// Type implements [pflag.Value].
func (*topP) Type() string { return "float" }

// flags are those of the options of an answer, by the names that [generate.OptionError] has for them.
var flags = map[string]string{
	"MaxTokens": "--max-tokens", "Temperature": "--temp", "TopK": "--top-k", "TopP": "--top-p", "MinP": "--min-p",
	"RepeatPenalty": "--repeat-penalty", "Seed": "--seed", "Stop": "--stop", "Logprobs": "--logprobs",
	"Spec": "--spec", "SpecDepth": "--spec-depth",
}

// CheckSampling complains about a flag that no model can be asked with, before one is loaded.
func CheckSampling(o *generate.Options) error { return FlagError(o.Check()) }

// FlagError turns a complaint about an option into one about the flag that set it.
func FlagError(err error) error {
	bad, ok := errors.AsType[*generate.OptionError](err)
	if !ok || flags[bad.Option] == "" {
		return err
	}
	return console.Usage("%s is %v; it %s", flags[bad.Option], bad.Value, bad.Reason)
}
