package generate

import (
	"context"
	crand "crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/pooled/pooled/core/engine"
)

// Generate answers a prompt. Emit gets each token as it comes and may be nil; its error ends the answer.
//
// The result is filled in as far as the answer came, also beside an error, and its finish reason agrees with the error:
// nil for [FinishStop], [FinishLength] and [FinishContext], the context's for [FinishCancelled]. Text that was held back
// when the answer was cut off is emitted with [NoToken]. After an error of emit nothing more is emitted; the text it got
// last counts as delivered.
//
// Errors: [ErrEmptyPrompt], [*PromptTooLongError], [*TokenError], [*OptionError], [*LogitError], [ErrNoToken],
// [ErrSession], those of the session, the mask, emit and ctx.
func (q *Sequence) Generate(ctx context.Context, prompt []int32, opt Options, emit func(Token) error) (Result, error) {
	res := Result{Finish: FinishError, Prompt: len(prompt)}
	if err := q.check(prompt, &opt); err != nil {
		return res, err
	}
	seed, err := seedOf(opt.Seed)
	if err != nil {
		return res, err
	}
	res.Seed = seed
	a := &answer{
		sequence: q,
		opt:      &opt,
		sampler:  newSampler(&opt, q.tokens.Size(), seed, prompt, &q.scratch),
		text:     text{decoder: q.tokens.Decode(opt.ShowSpecial), stopper: newStopper(opt.Stop)},
		emit:     emit,
		res:      &res,
		begin:    time.Now(),
	}
	err = a.run(ctx, prompt)
	a.finish(ctx, err)
	if res.Finish == FinishContext {
		err = nil
	}
	return res, err
}

// check reports what is wrong with a request before anything is computed.
func (q *Sequence) check(prompt []int32, opt *Options) error {
	size := q.tokens.Size()
	if err := opt.check(size); err != nil {
		return err
	}
	if len(prompt) == 0 {
		return ErrEmptyPrompt
	}
	if len(prompt) > q.config.Context {
		return &PromptTooLongError{Tokens: len(prompt), Context: q.config.Context}
	}
	for i, id := range prompt {
		if id < 0 || int(id) >= size {
			return &TokenError{"prompt", i, id, size}
		}
	}
	for _, n := range opt.Marks {
		if n < 1 || n > len(prompt) {
			return &OptionError{"Marks", n, fmt.Sprintf("must be between 1 and the %d tokens of the prompt", len(prompt))}
		}
	}
	return nil
}

// seedOf returns the seed to use. One that is drawn has 53 bits, so that every JSON reader gets it right.
func seedOf(seed uint64) (uint64, error) {
	for seed == 0 {
		var b [8]byte
		if _, err := crand.Read(b[:]); err != nil {
			return 0, fmt.Errorf("drawing a seed: %w", err)
		}
		seed = binary.LittleEndian.Uint64(b[:]) >> 11
	}
	return seed, nil
}

// answer is one call of Generate.
type answer struct {
	sequence *Sequence
	opt      *Options
	sampler  *sampler
	text     text
	emit     func(Token) error
	res      *Result
	begin    time.Time
	first    time.Time // when the first token was picked
	pending  []int32   // tokens of the answer that are not computed yet
	seen     lookup    // prompt and answer, but for the last tokens that are pending
	deaf     bool      // emit returned an error
}

// errFull ends an answer whose next token has no room.
var errFull = errors.New("no room for the next token")

// run goes through the prompt and the answer. It returns nil when the answer ended by itself, with the reason set.
func (a *answer) run(ctx context.Context, prompt []int32) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	r, reused, computed, err := a.sequence.prefill(ctx, prompt, a.opt, a.sampler.output())
	a.res.Reused = reused
	a.res.Timings.Prompt = time.Since(a.begin)
	a.res.Timings.PromptTokens = computed
	if err != nil {
		return err
	}
	if a.opt.Spec != SpecOff {
		a.seen.add(prompt...)
	}
	var d draft
	for {
		done, err := a.take(ctx, r, d)
		if done || err != nil {
			return err
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		if d, err = a.draft(ctx); err != nil {
			return err
		}
		begin := time.Now()
		r, err = a.sequence.forward(ctx, a.pending, d.ids, a.sampler.outputOf(1+len(d.ids)))
		if err != nil {
			if errors.Is(err, engine.ErrContextFull) {
				return errFull
			}
			return err
		}
		if len(a.pending) == 1 {
			a.sequence.pace.measured(1+len(d.ids), time.Since(begin))
		}
		a.pending = a.pending[:0]
	}
}

// draft returns tokens that may come behind those that are pending.
func (a *answer) draft(ctx context.Context) (d draft, err error) {
	if a.opt.Spec == SpecOff {
		return draft{}, nil
	}
	q := a.sequence
	a.seen.add(a.pending...)
	left := math.MaxInt
	if a.opt.MaxTokens > 0 {
		left = a.opt.MaxTokens - len(a.res.IDs) - 1 // a token always comes besides
	}
	room := q.room(len(a.pending), left, a.opt.Spec)
	if room.lookup > 0 {
		d.ids, d.found = a.seen.find()
		d.ids = a.upToEnd(d.ids[:min(room.lookup, len(d.ids))])
	}
	lookup, chained := len(d.ids), 0
	if a.opt.SpecDepth == 0 {
		lookup, chained = q.pace.choose(d.found, lookup, room.block)
	} else if lookup = min(lookup, a.opt.SpecDepth); room.block > 0 && d.found < likely {
		lookup, chained = 0, min(room.block, a.opt.SpecDepth)
	}
	if chained == 0 {
		d.ids = d.ids[:lookup]
		return d, nil
	}
	ids, err := q.guess(ctx, a.pending[0], chained)
	return draft{ids: a.upToEnd(ids)}, err
}

// likely is how much of a text must be found again for what followed to be a better draft than one of the draft block, where a
// depth is given.
const likely = 6

// upToEnd cuts a draft before the token that would end the answer, which is never computed.
func (a *answer) upToEnd(ids []int32) []int32 {
	if i := slices.IndexFunc(ids, func(id int32) bool { return a.opt.ends(a.sequence.tokens, id) }); i >= 0 {
		return ids[:i]
	}
	return ids
}

// take adds the tokens that the columns of the last pass give, as long as the draft is what comes.
func (a *answer) take(ctx context.Context, r engine.Result, d draft) (done bool, err error) {
	accepted, rest := 0, d.ids
	defer func() {
		if len(d.ids) > 0 {
			a.res.Spec.count(d, accepted)
			a.sequence.pace.came(d, accepted)
		}
	}()
	for {
		done, err := a.step(columnOf(r, accepted, 1+len(d.ids)))
		if errors.Is(err, errNoLogits) { // the mask restricts this token, which was not known before the pass
			if r, err = a.sequence.again(ctx, a.sampler.output()); err != nil {
				return false, err
			}
			rest = nil // the session holds no more of it
			done, err = a.step(r)
		}
		if err != nil {
			return false, err
		}
		for len(a.pending) > 0 && len(rest) > 0 && a.pending[0] == rest[0] {
			a.sequence.confirm(rest[0])
			a.seen.add(rest[0])
			a.pending, rest = a.pending[1:], rest[1:]
			accepted++
		}
		if done || len(a.pending) > 0 {
			return done, nil
		}
	}
}

// step adds the tokens that come next: those the mask forces, or else one that is sampled from r and those forced then.
func (a *answer) step(r engine.Result) (done bool, err error) {
	forced := a.forced()
	if len(forced) == 0 {
		c, err := a.sampler.pick(r, len(a.sequence.ids)-1)
		if err != nil {
			return false, err
		}
		if done, err := a.add(c); done || err != nil {
			return done, err
		}
		forced = a.forced()
	}
	for ; len(forced) > 0; forced = a.forced() {
		for i, id := range forced {
			if id < 0 || int(id) >= a.sequence.tokens.Size() {
				return false, &TokenError{"mask", i, id, a.sequence.tokens.Size()}
			}
			if done, err := a.add(choice{id: id}); done || err != nil {
				return done, err
			}
		}
	}
	return false, nil
}

// forced returns the tokens that the mask leaves no choice about. Where log probabilities are asked for they are sampled
// all the same, since those need a pass each.
func (a *answer) forced() []int32 {
	if a.opt.Mask == nil || a.opt.Logprobs > 0 {
		return nil
	}
	return a.opt.Mask.Forced()
}

// add adds a token to the answer and emits it. It says whether the answer ended by it.
func (a *answer) add(c choice) (done bool, err error) {
	if len(a.res.IDs) == 0 {
		a.first = time.Now()
	}
	if m := a.opt.Mask; m != nil {
		if err := m.Accept(c.id); err != nil {
			return false, fmt.Errorf("mask: token %d: %w", c.id, err)
		}
	}
	a.res.IDs = append(a.res.IDs, c.id)
	a.sampler.accept(c.id)
	token := Token{ID: c.id}
	if a.opt.Logprobs > 0 {
		token.Logprob, token.Top = c.logprob, c.top
	}

	var reason FinishReason
	if a.opt.ends(a.sequence.tokens, c.id) {
		reason = FinishStop
	} else {
		token.Text, a.res.StopSequence = a.text.push(c.id)
		a.pending = append(a.pending, c.id)
		switch {
		case a.res.StopSequence != "":
			reason = FinishStop
		case len(a.res.IDs) == a.opt.MaxTokens:
			reason = FinishLength
		case len(a.sequence.ids)+len(a.pending) > a.sequence.config.Context:
			reason = FinishContext
		}
	}
	if reason != "" && a.res.StopSequence == "" {
		var rest string
		if rest, a.res.StopSequence = a.text.end(); a.res.StopSequence != "" {
			reason = FinishStop
		}
		token.Text += rest
	}
	if err := a.send(token); err != nil {
		return false, err
	}
	if reason != "" {
		a.res.Finish = reason
		return true, nil
	}
	return false, nil
}

// send emits a token.
func (a *answer) send(t Token) error {
	if a.emit == nil {
		return nil
	}
	if err := a.emit(t); err != nil {
		a.deaf = true
		return fmt.Errorf("emitting a token: %w", err)
	}
	return nil
}

// finish sets what is left of the result. Err is what cut the answer off.
func (a *answer) finish(ctx context.Context, err error) {
	if err != nil {
		a.res.Finish = FinishError
		cancelled := ctx.Err()
		switch {
		case errors.Is(err, errFull):
			a.res.Finish = FinishContext
		case cancelled != nil && !a.deaf && (errors.Is(err, cancelled) || errors.Is(err, context.Cause(ctx))):
			a.res.Finish = FinishCancelled
		}
		a.cutOff()
	}
	a.res.Text = a.text.all.String()
	a.res.Timings.Tokens = len(a.res.IDs)
	if !a.first.IsZero() {
		a.res.Timings.FirstToken = a.first.Sub(a.begin)
		a.res.Timings.Decode = time.Since(a.first)
	}
}

// cutOff hands over the text that was held back. It is text of the answer like any other, since no more comes that could
// make a stop string of it.
func (a *answer) cutOff() {
	if a.deaf {
		return
	}
	rest, _ := a.text.end()
	if rest == "" || a.emit == nil {
		return
	}
	a.deaf = a.emit(Token{ID: NoToken, Text: rest, Logprob: math.NaN()}) != nil
}
