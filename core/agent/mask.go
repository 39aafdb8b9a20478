package agent

import (
	"context"
	"errors"
	"strings"

	"github.com/pooled/pooled/core/grammar"
	"github.com/pooled/pooled/core/tokenizer"
	"github.com/pooled/pooled/core/toolcall"
)

// armed is the mask of an answer: everything is allowed until a call opens, then what its grammar allows until the call
// is complete.
type armed struct {
	ctx         context.Context
	engine      grammar.Engine
	tok         *tokenizer.Tokenizer
	constraints []toolcall.Constraint
	thinking    func() bool // the answer is within its reasoning

	text    string // the end of the text since the last call
	fresh   bool   // text is all of the answer
	matcher grammar.Matcher
	err     error // of a grammar that could not be used; the answer then goes on freely
}

// newArmed returns the mask of one answer. The caller closes it.
func newArmed(ctx context.Context, e grammar.Engine, t *tokenizer.Tokenizer, cs []toolcall.Constraint, thinking func() bool) *armed {
	return &armed{ctx: ctx, engine: e, tok: t, constraints: cs, thinking: thinking, fresh: true}
}

// Free implements [generate.Mask].
func (m *armed) Free() bool { return m.matcher == nil }

// Next implements [generate.Mask].
func (m *armed) Next(dst []uint32) error { return m.matcher.Mask(dst) }

// Accept implements [generate.Mask].
func (m *armed) Accept(id int32) error {
	if m.matcher != nil {
		if m.tok.IsEOG(id) && m.matcher.Accepting() {
			return nil
		}
		if err := m.matcher.Accept(id); err != nil {
			return err
		}
		if m.matcher.Stopped() {
			return m.disarm()
		}
		return nil
	}
	if m.thinking() {
		return nil
	}
	piece := m.tok.Decode([]int32{id}, true)
	m.text += piece
	for _, c := range m.constraints {
		if m.opens(c, len(piece)) {
			m.arm(c)
			break
		}
	}
	const keep = 64
	if n := len(m.text) - keep; n > 0 {
		m.text, m.fresh = m.text[n:], false
	}
	return nil
}

// opens reports whether the last piece, of n bytes, completed a trigger. A line break may follow it in the same token.
func (m *armed) opens(c toolcall.Constraint, n int) bool {
	if c.Trigger == "" {
		return false
	}
	if c.First {
		return m.fresh && bare(m.text) == bare(c.Trigger)
	}
	text := m.text
	if cut, ok := strings.CutSuffix(text, "\n"); ok && n > 1 {
		text = cut
	}
	return strings.HasSuffix(text, c.Trigger)
}

// bare is the beginning of an answer without white space and without the code fence that it may begin with.
func bare(text string) string {
	text = strings.Join(strings.Fields(text), "")
	return strings.TrimPrefix(strings.TrimPrefix(text, "```"), "json")
}

func (m *armed) arm(c toolcall.Constraint) {
	m.text, m.fresh = "", false
	matcher, err := m.engine.Matcher(m.ctx, c.Grammar)
	if err != nil {
		m.err = err
		return
	}
	m.matcher = matcher
}

func (m *armed) disarm() error {
	err := m.matcher.Close()
	m.matcher = nil
	return err
}

// Forced implements [generate.Mask].
func (m *armed) Forced() []int32 {
	if m.matcher == nil {
		return nil
	}
	ids, err := m.matcher.FastForward()
	if err != nil {
		return nil // Next reports what is wrong
	}
	return ids
}

// close releases what is armed and returns why a grammar could not be used.
func (m *armed) close() error {
	err := m.err
	if m.matcher != nil {
		err = errors.Join(err, m.disarm())
	}
	return err
}
