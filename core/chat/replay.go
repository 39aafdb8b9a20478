package chat

import (
	"context"
	"strings"
	"unicode/utf8"

	"github.com/pooled/pooled/core/tokenizer"
)

// splice replaces the text [from, to) of a prompt by ids.
type splice struct {
	from, to int
	ids      []int32
}

// replays finds where the exact ids of earlier answers stand in a rendering.
//
// An answer begins where the template ends its generation prompt, so the places are those after each occurrence of that
// text, made of trusted characters. Where the template writes none, they are those after a control token.
func (t *Template) replays(ctx context.Context, req Request, p *prompt) ([]splice, error) {
	wanted := false
	for i := range req.Messages {
		wanted = wanted || len(req.Messages[i].IDs) > 0 && req.Messages[i].Role == RoleAssistant
	}
	if !wanted {
		return nil, nil
	}
	opening, err := t.generationPrompt(ctx, req, p)
	if err != nil {
		return nil, err
	}
	// Earlier answers may stand without what the template opens for a new one, such as reasoning.
	cut := len(opening)
	if i := strings.IndexByte(opening, '\n'); i >= 0 {
		cut = i + 1
	}
	if i := strings.Index(opening[:cut], t.tags.Open); t.tags.Open != "" && i >= 0 {
		cut = i
	}
	opening, opened := opening[:cut], opening[cut:]
	var out []splice
	at := 0
	for i := range req.Messages {
		m := &req.Messages[i]
		if m.Role != RoleAssistant || len(m.IDs) == 0 {
			continue
		}
		if s, ok := t.find(p, m.IDs, opening, opened, at, req.Continue && i == len(req.Messages)-1); ok {
			out = append(out, s)
			at = s.to
		}
	}
	return out, nil
}

// generationPrompt returns what the template appends to open an answer.
func (t *Template) generationPrompt(ctx context.Context, req Request, p *prompt) (string, error) {
	with := !req.NoGenerationPrompt && !req.Continue
	other, err := t.render(ctx, req, !with)
	if err != nil {
		return "", err
	}
	long, short := p, other.text
	if !with {
		long, short = other, p.text
	}
	cut := 0
	for cut < len(long.text) && cut < len(short) && long.text[cut] == short[cut] {
		cut++
	}
	for cut > 0 && cut < len(long.text) && !utf8.RuneStart(long.text[cut]) {
		cut--
	}
	// Some templates close with a token where they do not open an answer: both may begin alike.
	for from := max(0, cut-long.longest+1); from < cut; from++ {
		if from+long.controlAt(from) > cut {
			cut = from
		}
	}
	return long.text[cut:], nil
}

// find returns the first place from at on where ids stand with their exact text.
func (t *Template) find(p *prompt, ids []int32, opening, opened string, at int, open bool) (splice, bool) {
	body := ids
	for len(body) > 0 && t.tok.IsEOG(body[len(body)-1]) {
		body = body[:len(body)-1]
	}
	for at <= len(p.text) {
		begin, ok := p.nextOpening(opening, at)
		if !ok {
			return splice{}, false
		}
		for _, ids := range [][]int32{ids, body} {
			text := t.tok.Decode(ids, true)
			for _, before := range []string{opened, ""} {
				rest, ok := strings.CutPrefix(p.text[begin:], before+text)
				if !ok || text == "" || len(rest) == 0 && !open {
					continue
				}
				if from := begin + len(before); t.closes(p, from+len(text)) {
					return splice{from: from, to: from + len(text), ids: ids}, true
				}
			}
		}
		at = begin
		if opening == "" {
			at++
		}
	}
	return splice{}, false
}

// nextOpening returns the offset after the next place where an answer may begin.
func (p *prompt) nextOpening(opening string, at int) (int, bool) {
	if opening == "" {
		for ; at < len(p.text); at++ {
			if n := p.controlAt(at); n > 0 {
				return at + n, true
			}
		}
		return 0, false
	}
	for {
		i := strings.Index(p.text[at:], opening)
		if i < 0 {
			return 0, false
		}
		if begin := at + i; p.trusted(begin, begin+len(opening)) {
			return begin + len(opening), true
		}
		at += i + 1
	}
}

// closes reports whether an answer may end at an offset: at the end, or where a control token follows.
func (t *Template) closes(p *prompt, at int) bool {
	for at < len(p.text) && t.tok.Vocab().Model != tokenizer.ModelSPM && strings.IndexByte(" \n", p.text[at]) >= 0 {
		at++
	}
	return at == len(p.text) || p.controlAt(at) > 0 || p.controlBefore(at)
}

// controlBefore reports whether a trusted control token ends at an offset.
func (p *prompt) controlBefore(at int) bool {
	for from := max(0, at-p.longest); from < at; from++ {
		if from+p.controlAt(from) == at {
			return true
		}
	}
	return false
}

// endOf returns the offset at which the text of the last message ends.
func (p *prompt) endOf(m *Message) (int, error) {
	content := m.Content
	for _, part := range m.Parts {
		content += part.Text
	}
	for _, text := range []string{content, strings.TrimRight(content, " \n\t"), strings.TrimSpace(content)} {
		if text == "" {
			continue
		}
		i := strings.LastIndex(p.text, text)
		if i < 0 {
			continue
		}
		end := i + len(text)
		if rest := strings.TrimLeft(p.text[end:], " \n"); rest == "" || p.controlAt(len(p.text)-len(rest)) > 0 {
			return end, nil
		}
	}
	return 0, ErrContinue
}
