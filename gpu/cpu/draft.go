package cpu

import (
	"context"

	"github.com/pooled/pooled/core/engine"
)

// drafter is the draft block of a session. Its cache is filled when a draft is asked for, or when many columns wait, so that plain
// steps pay nearly nothing for it. What it does not know, after a lap was taken back or a session went far back, makes drafts worse
// and nothing else.
type drafter struct {
	from, embed, layer, head tape
	ropes                    []*ropeTable
	pos                      int // of the first row that is computed

	// The cache holds positions [0, filled), and last is the trunk's hidden state of the one before filled; zero for none.
	filled int
	last   []float32
	// What waits: tokens from position filled on and what leaves the trunk there.
	tokens []int32
	hidden []float32
}

// mostWaiting is how many columns wait at most.
const mostWaiting = 512

// compileDraft compiles the draft block.
func (s *session) compileDraft() {
	p, d := s.prog, s.prog.Draft
	s.draft = &drafter{last: make([]float32, p.Plan.Hidden)}
	s.draft.from = s.compile(groupLinear(d.From), []int{p.Hidden, d.State}, p.Hidden)
	s.draft.embed = s.compile(groupLinear(d.Embed), []int{d.Embedding}, d.Tokens)
	s.draft.layer = s.compile(groupLinear(d.Layer), []int{d.Next}, d.Joined)
	s.draft.head = s.compile(groupLinear(d.Head), []int{d.Next, d.Logits}, d.Next)
}

// noteDraft notes what a pass has computed, which ends where the session stands.
func (s *session) noteDraft(ctx context.Context, tokens []int32, hidden []float32, n int) error {
	d := s.draft
	if d == nil {
		return nil
	}
	d.tokens, d.hidden = append(d.tokens, tokens[:n]...), append(d.hidden, hidden...)
	if len(d.tokens) < mostWaiting {
		return nil
	}
	return s.fillDraft(ctx)
}

// cutDraft drops what is known of positions from pos on.
func (s *session) cutDraft(pos int) {
	d := s.draft
	if d == nil {
		return
	}
	if n := pos - d.filled; n >= 0 {
		d.tokens, d.hidden = d.tokens[:min(n, len(d.tokens))], d.hidden[:min(n, len(d.tokens))*len(d.last)]
		return
	}
	s.forgetDraft()
}

// forgetDraft makes the block go on from where the session stands, without the hidden state before.
func (s *session) forgetDraft() {
	d := s.draft
	if d == nil {
		return
	}
	d.filled, d.tokens, d.hidden = s.ledger.Len(), d.tokens[:0], d.hidden[:0]
	clear(d.last)
}

// fillDraft computes the rows that wait.
func (s *session) fillDraft(ctx context.Context) error {
	d := s.draft
	if d == nil {
		return nil
	}
	width := len(d.last)
	for len(d.tokens) > 0 {
		n := min(len(d.tokens), s.ubatch)
		states := run(&d.from, s.prog.Hidden, s.prog.Draft.State, d.hidden[:n*width], n)
		next := append([]float32(nil), states[(n-1)*width:]...)
		before := append(append(make([]float32, 0, n*width), d.last...), states[:(n-1)*width]...)
		s.draftRows(d.tokens[:n], before, d.filled)
		d.last = next
		d.filled += n
		d.tokens, d.hidden = d.tokens[n:], d.hidden[n*width:]
		if err := ctx.Err(); err != nil {
			return err
		}
	}
	return nil
}

// draftRows computes rows of the block from position pos on, of tokens and the hidden states before them, and returns the hidden
// states that are handed on; they are valid until the next call.
func (s *session) draftRows(tokens []int32, before []float32, pos int) []float32 {
	d, p := s.draft, s.prog.Draft
	n, width := len(tokens), len(d.last)
	d.pos = pos
	for _, t := range d.ropes {
		t.fill(pos, n)
	}
	s.tokens = tokens
	embedded := run(&d.embed, p.Tokens, p.Embedding, nil, n)
	d.layer.grow(n)
	concat(d.layer.value(p.Joined, n), embedded, before, width, width)
	for _, st := range d.layer.steps {
		st.run(n)
	}
	return d.layer.value(p.Next, n)
}

// run runs a tape on n rows that enter and returns a value of it.
func run(t *tape, enter, leave int, rows []float32, n int) []float32 {
	t.grow(n)
	copy(t.value(enter, n), rows)
	for _, st := range t.steps {
		st.run(n)
	}
	return t.value(leave, n)
}

// guess drafts what may follow.
func (s *session) guess(ctx context.Context, ask engine.Draft) ([]int32, error) {
	if s.draft == nil || ask.Count == 0 {
		return nil, nil
	}
	if err := s.fillDraft(ctx); err != nil {
		return nil, err
	}
	d, p := s.draft, s.prog.Draft
	pos := s.ledger.Len()
	if d.filled != pos {
		s.forgetDraft()
	}
	ids := make([]int32, 0, ask.Count)
	token, before := ask.Token, d.last
	for i := range min(ask.Count, s.config.Context-pos) {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		next := s.draftRows([]int32{token}, before, pos+i)
		before = append([]float32(nil), next...)
		logits := run(&d.head, p.Next, p.Logits, before, 1)
		token = int32(max(largest(logits), 0))
		ids = append(ids, token)
	}
	return ids, nil
}
