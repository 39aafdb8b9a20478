package generate

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// Options say how to sample and when to stop. The zero value samples greedily until the answer or the context ends.
type Options struct {
	// MaxTokens bounds the tokens of the answer; 0 leaves the bound to the context.
	MaxTokens int

	// Temperature divides the logits that the filters leave; 0 takes the largest logit.
	Temperature float64
	// TopK keeps the k largest logits; 0 keeps all.
	TopK int
	// TopP keeps the fewest most likely tokens, at least one, whose probabilities add up to at least p; 1 keeps all, and so
	// does 0, which says nothing. The smallest number above 0 keeps one.
	//
	// Source: Holtzman et al., The Curious Case of Neural Text Degeneration, arXiv 1904.09751.
	TopP float64
	// MinP keeps the tokens at least p times as likely as the likeliest; 0 keeps all, 1 the likeliest and its equals.
	//
	// Source: Nguyen et al., Turning Up the Heat: Min-p Sampling, arXiv 2407.01082.
	MinP float64
	// RepeatPenalty divides positive and multiplies negative logits of the last RepeatLast tokens of prompt and answer;
	// 0 and 1 change nothing.
	//
	// Source: Keskar et al., CTRL, arXiv 1909.05858, section 4.1.
	RepeatPenalty float64
	// RepeatLast is how many tokens RepeatPenalty looks back at; 0 means 64, a negative number all.
	RepeatLast int
	// PresencePenalty is taken off the logit of every token that the answer has.
	PresencePenalty float64
	// FrequencyPenalty is taken off the logit of a token once for each time that the answer has it.
	FrequencyPenalty float64
	// Seed makes sampling repeatable; 0 draws one, which the result names.
	Seed uint64

	// Stop are the strings that end the answer. They and what follows are not part of the text.
	Stop []string
	// StopIDs are tokens that end the answer like an end-of-generation token.
	StopIDs []int32
	// IgnoreEOG treats end-of-generation tokens as any other token.
	IgnoreEOG bool
	// ShowSpecial writes control tokens out as text.
	ShowSpecial bool
	// Logprobs asks for the log probability of each token and of the most likely ones, as many as it says; 0 for none.
	Logprobs int

	// Spec says where drafts come from.
	Spec Spec
	// SpecDepth is how many tokens to draft at most, whatever that costs; 0 leaves it to what is measured.
	SpecDepth int

	// Mask constrains the tokens; nil allows all. It is used by one call at a time.
	Mask Mask
	// Progress is called while the prompt is computed, with the tokens that are done, reused ones included, and their
	// number; it may be nil.
	Progress func(done, total int)
	// Marks are lengths of prefixes of the prompt that a later prompt may go back to, for models whose state cannot be
	// cut anywhere; see [Config.Recurrent]. Nil leaves the choice to the sequence.
	Marks []int
}

// Mask restricts what may be sampled next, as a grammar does.
type Mask interface {
	// Free says that every token is allowed next. It is asked before each pass; while it holds, Next is not called and no
	// more logits are read back than without a mask.
	Free() bool
	// Next sets bit id%32 of dst[id/32] for every token that is allowed next, and clears the others.
	// Shapes: dst [⌈Size/32⌉].
	Next(dst []uint32) error
	// Accept moves past a token; it is called for each token of the answer, the one that ends it included.
	Accept(id int32) error
	// Forced returns the tokens that must come next, or nothing where there is a choice. They are taken without sampling,
	// and then accepted like the others.
	Forced() []int32
}

// FinishReason says why an answer ended.
type FinishReason string

// The reasons.
const (
	// FinishStop is an end-of-generation token, a stop id or a stop string.
	FinishStop FinishReason = "stop"
	// FinishLength is the bound of MaxTokens.
	FinishLength FinishReason = "length"
	// FinishContext is a context without room for the next token.
	FinishContext FinishReason = "context"
	// FinishCancelled is a context.Context that ended.
	FinishCancelled FinishReason = "cancelled"
	// FinishError is any other error.
	FinishError FinishReason = "error"
)

// NoToken is the id of a [Token] that only carries text.
const NoToken int32 = -1

// Token is one step of an answer.
type Token struct {
	// ID is the token, or [NoToken] for text that was held back when the answer was cut off.
	ID int32
	// Text is what became certain with this token. It is empty while a character or what may be a stop string is not
	// complete, and may hold text of earlier tokens.
	Text string
	// Logprob is the natural logarithm of the token's probability, when [Options.Logprobs] asks for it. It is NaN for a
	// token with [NoToken].
	Logprob float64
	// Top are the most likely tokens, likeliest first, when asked for.
	Top []TokenLogprob
}

// TokenLogprob is a token and the natural logarithm of its probability.
type TokenLogprob struct {
	ID      int32
	Logprob float64
}

// Result is an answer.
type Result struct {
	// IDs are the tokens that were sampled or forced, the one that ended the answer included.
	IDs []int32
	// Text is the concatenation of the text of all tokens emitted.
	Text string
	// Finish says why the answer ended.
	Finish FinishReason
	// StopSequence is the stop string that ended it, or empty.
	StopSequence string
	// Prompt is the length of the prompt; Reused is how much of it the session held already.
	Prompt, Reused int
	// Seed is the seed that was used.
	Seed uint64
	// Spec counts what was drafted.
	Spec Speculation
	// Timings says where the time went.
	Timings Timings
}

// Timings are durations and the counts that belong to them.
type Timings struct {
	// PromptTokens is how many tokens of the prompt were computed, and Prompt how long that took.
	PromptTokens int
	Prompt       time.Duration
	// Tokens is the length of the answer, and Decode the time from its first token to its end. Its speed is that of the
	// Tokens − 1 passes in between.
	Tokens int
	Decode time.Duration
	// FirstToken is the time from the call to the first token.
	FirstToken time.Duration
}

// Rate is the speed of the answer in tokens a second, or 0 for one of less than two tokens. The first token is made of the
// prompt.
func (t Timings) Rate() float64 {
	if t.Tokens < 2 || t.Decode <= 0 {
		return 0
	}
	return float64(t.Tokens-1) / t.Decode.Seconds()
}

// Check reports the first option that no model can be asked with.
//
// Errors: [*OptionError].
func (o *Options) Check() error {
	for _, n := range []struct {
		name  string
		value int
	}{{"MaxTokens", o.MaxTokens}, {"TopK", o.TopK}, {"Logprobs", o.Logprobs}} {
		if n.value < 0 {
			return &OptionError{n.name, n.value, "must not be negative"}
		}
	}
	for _, f := range []struct {
		name     string
		value    float64
		min, max float64
		reason   string
	}{
		{"Temperature", o.Temperature, 0, 1e6, "must be between 0 and a million"},
		{"TopP", o.TopP, 0, 1, "must be between 0 and 1"},
		{"MinP", o.MinP, 0, 1, "must be between 0 and 1"},
		{"RepeatPenalty", o.RepeatPenalty, 0, 100, "must be 0 for none, or between 0.01 and 100"},
		{"PresencePenalty", o.PresencePenalty, -1e6, 1e6, "must be within a million"},
		{"FrequencyPenalty", o.FrequencyPenalty, -1e6, 1e6, "must be within a million"},
	} {
		if math.IsNaN(f.value) || f.value < f.min || f.value > f.max {
			return &OptionError{f.name, f.value, f.reason}
		}
	}
	if p := o.RepeatPenalty; p > 0 && p < 0.01 {
		return &OptionError{"RepeatPenalty", p, "must be 0 for none, or between 0.01 and 100"}
	}
	if o.Spec != "" && !slices.Contains(Specs(), string(o.Spec)) {
		return &OptionError{"Spec", strconv.Quote(string(o.Spec)), "must be one of " + strings.Join(Specs(), ", ")}
	}
	if o.SpecDepth < 0 || o.SpecDepth > maxDraft {
		return &OptionError{"SpecDepth", o.SpecDepth, fmt.Sprintf("must be between 0 and %d", maxDraft)}
	}
	for _, s := range o.Stop {
		if s == "" || !utf8.ValidString(s) {
			return &OptionError{"Stop", strconv.Quote(s), "must be text that is not empty"}
		}
	}
	return nil
}

// check reports the first option that a model with a vocabulary of so many tokens cannot be asked with.
func (o *Options) check(size int) error {
	if err := o.Check(); err != nil {
		return err
	}
	for i, id := range o.StopIDs {
		if id < 0 || int(id) >= size {
			return &TokenError{"stop ids", i, id, size}
		}
	}
	return nil
}

// ends says whether a token ends the answer.
func (o *Options) ends(t Tokenizer, id int32) bool {
	return slices.Contains(o.StopIDs, id) || !o.IgnoreEOG && t.IsEOG(id)
}
