// Package widget draws the parts that pages are made of.
package widget

import (
	"image"
	"image/color"
	"strings"

	"gioui.org/f32"
	"gioui.org/font"
	"gioui.org/io/semantic"
	"gioui.org/layout"
	"gioui.org/op"
	"gioui.org/op/clip"
	"gioui.org/op/paint"
	"gioui.org/text"
	"gioui.org/unit"
	"github.com/go-text/typesetting/segmenter"
	"golang.org/x/image/math/fixed"

	"github.com/pooled/pooled/ui/markdown"
	"github.com/pooled/pooled/ui/theme"
)

// run is text of one style on one line.
type run struct {
	text   string
	glyphs []text.Glyph
	style  markdown.Style
	x, end fixed.Int26_6
}

// line is a line of runs.
type line struct {
	runs []run
}

// Rich is a paragraph in several styles. It keeps what it laid out until its spans, its width or its size change. The
// zero value is ready.
type Rich struct {
	spans  []markdown.Span
	metric unit.Metric
	width  int
	size   unit.Sp
	bold   bool
	label  string
	lines  []line
	widest int
}

// RichStyle is how to draw a [Rich].
type RichStyle struct {
	Size unit.Sp
	// Bold makes all of it bold, for headings.
	Bold bool
	// Ink is the colour of plain text; zero is the theme's.
	Ink color.NRGBA
}

// Layout draws the spans in as many lines as the width takes. The spans must not change afterwards.
func (r *Rich) Layout(gtx layout.Context, th *theme.Theme, spans []markdown.Span, s RichStyle) layout.Dimensions {
	if s.Size == 0 {
		s.Size = theme.Body
	}
	if s.Ink == (color.NRGBA{}) {
		s.Ink = th.Ink
	}
	width := gtx.Constraints.Max.X
	same := len(spans) == len(r.spans) && (len(spans) == 0 || &spans[0] == &r.spans[0])
	if !same || r.lines == nil || r.metric != gtx.Metric || r.width != width || r.size != s.Size || r.bold != s.Bold {
		keep := r.metric == gtx.Metric && r.size == s.Size && r.bold == s.Bold
		r.spans, r.metric, r.width, r.size, r.bold = spans, gtx.Metric, width, s.Size, s.Bold
		r.lay(gtx, th, keep)
	}
	pitch := float32(gtx.Sp(s.Size)) * theme.LineGap
	for i, l := range r.lines {
		base := float32(int(float32(i)*pitch + pitch*0.70))
		for _, run := range l.runs {
			r.draw(gtx, th, s, run, base)
		}
	}
	size := image.Pt(r.widest, int(pitch*float32(len(r.lines))+0.5))
	defer clip.Rect{Max: size}.Push(gtx.Ops).Pop()
	semantic.LabelOp(r.label).Add(gtx.Ops)
	return layout.Dimensions{Size: gtx.Constraints.Constrain(size)}
}

func (r *Rich) draw(gtx layout.Context, th *theme.Theme, s RichStyle, run run, base float32) {
	ink := s.Ink
	switch {
	case run.style&markdown.Link != 0:
		ink = th.Accent
	case run.style&markdown.Faint != 0:
		ink = th.Muted
	}
	em := float32(gtx.Sp(s.Size))
	x, end := px(run.x), px(run.end)
	if run.style&markdown.Mono != 0 {
		pad := float32(gtx.Dp(2))
		box := image.Rect(int(x-pad), int(base-em*0.95), int(end+pad+0.5), int(base+em*0.32))
		paint.FillShape(gtx.Ops, th.Sunken, clip.UniformRRect(box, gtx.Dp(4)).Op(gtx.Ops))
	}
	glyphs(gtx, th.Shaper, run.glyphs, f32.Pt(x, base), ink)
	if run.style&markdown.Strike != 0 {
		y := int(base - em*0.28)
		paint.FillShape(gtx.Ops, ink, clip.Rect(image.Rect(int(x), y, int(end), y+max(1, gtx.Dp(1)))).Op())
	}
}

// glyphs draws shaped glyphs with their first dot at p.
func glyphs(gtx layout.Context, sh *text.Shaper, gs []text.Glyph, p f32.Point, ink color.NRGBA) {
	if len(gs) == 0 {
		return
	}
	t := op.Affine(f32.AffineId().Offset(p)).Push(gtx.Ops)
	outline := clip.Outline{Path: sh.Shape(gs)}.Op().Push(gtx.Ops)
	paint.ColorOp{Color: ink}.Add(gtx.Ops)
	paint.PaintOp{}.Add(gtx.Ops)
	outline.Pop()
	if call := sh.Bitmaps(gs); call != (op.CallOp{}) {
		call.Add(gtx.Ops)
	}
	t.Pop()
}

func px(i fixed.Int26_6) float32 { return float32(i) / 64 }

// fontOf returns the font of a style.
func fontOf(st markdown.Style, bold bool) font.Font {
	f := font.Font{Typeface: theme.Sans}
	if st&markdown.Mono != 0 {
		f.Typeface = theme.Mono
	}
	if bold || st&markdown.Bold != 0 {
		f.Weight = font.Bold
	}
	if st&markdown.Italic != 0 {
		f.Style = font.Italic
	}
	return f
}

// shape shapes one line of text and returns its glyphs and their advance.
func shape(th *theme.Theme, f font.Font, ppem fixed.Int26_6, s string, to []text.Glyph) ([]text.Glyph, fixed.Int26_6) {
	th.Shaper.LayoutString(text.Parameters{Font: f, PxPerEm: ppem, MaxLines: 1, MaxWidth: 1e6, DisableSpaceTrim: true}, s)
	w := fixed.Int26_6(0)
	for {
		g, ok := th.Shaper.NextGlyph()
		if !ok {
			return to, w
		}
		to = append(to, g)
		w += g.Advance
	}
}

// piece is text that a line does not break inside of, unless it is longer than a line.
type piece struct {
	text  string
	style markdown.Style
	width fixed.Int26_6
	// ends says that the line breaks after it; breaks that it may.
	ends, breaks bool
}

// run shapes a run of the line that is laid out next, or takes it over when the old line there had the same: in text
// that grows, all but the last line stays.
func (r *Rich) run(th *theme.Theme, old []line, k int, s string, st markdown.Style, ppem, x fixed.Int26_6) run {
	if i := len(r.lines); i < len(old) && k < len(old[i].runs) {
		if o := old[i].runs[k]; o.text == s && o.style == st && o.x == x {
			return o
		}
	}
	gs, w := shape(th, fontOf(st, r.bold), ppem, s, nil)
	return run{text: s, glyphs: gs, style: st, x: x, end: x + w}
}

// lay breaks the spans into lines. With keep, fonts and sizes are those of before.
func (r *Rich) lay(gtx layout.Context, th *theme.Theme, keep bool) {
	var all strings.Builder
	for _, s := range r.spans {
		all.WriteString(s.Text)
	}
	r.label, r.widest = all.String(), 0
	old := r.lines
	if !keep {
		old = nil
	}
	r.lines = make([]line, 0, len(old)+1)
	ppem := func(st markdown.Style) fixed.Int26_6 {
		em := fixed.I(gtx.Sp(r.size))
		if st&markdown.Mono != 0 {
			return em * 9 / 10
		}
		return em
	}
	m := measureOf(th)
	limit := fixed.I(r.width)
	var current []piece
	used := fixed.Int26_6(0)
	flush := func() {
		var l line
		x := fixed.Int26_6(0)
		for i := 0; i < len(current); {
			j, s := i, ""
			for j < len(current) && current[j].style == current[i].style {
				s += current[j].text
				j++
			}
			st := current[i].style
			if j == len(current) {
				s = strings.TrimRight(s, " ")
			}
			l.runs = append(l.runs, r.run(th, old, len(l.runs), s, st, ppem(st), x))
			x = l.runs[len(l.runs)-1].end
			i = j
		}
		r.widest = max(r.widest, x.Ceil())
		r.lines = append(r.lines, l)
		current, used = current[:0], 0
	}
	place := func(word []piece) {
		width, solid := fixed.Int26_6(0), fixed.Int26_6(0)
		for i := range word {
			p := &word[i]
			p.width = m.width(th, fontOf(p.style, r.bold), ppem(p.style), p.text)
			width += p.width
		}
		last := word[len(word)-1]
		solid = width - last.width + m.width(th, fontOf(last.style, r.bold), ppem(last.style), strings.TrimRight(last.text, " "))
		if used+solid > limit && len(current) > 0 {
			flush()
		}
		if solid <= limit {
			current = append(current, word...)
			used += width
			return
		}
		for _, p := range word {
			for _, c := range p.text {
				w := m.width(th, fontOf(p.style, r.bold), ppem(p.style), string(c))
				if used+w > limit && len(current) > 0 {
					flush()
				}
				current = append(current, piece{text: string(c), style: p.style, width: w})
				used += w
			}
		}
	}
	var word []piece
	for _, p := range pieces(r.spans, r.label) {
		if p.text != "" || p.ends {
			word = append(word, p)
		}
		if p.breaks && len(word) > 0 {
			place(word)
			word = word[:0]
		}
		if p.ends {
			flush()
		}
	}
	if len(word) > 0 {
		place(word)
	}
	if len(current) > 0 || len(r.lines) == 0 {
		flush()
	}
}

// pieces cuts the spans where a line may break and where the style changes.
func pieces(spans []markdown.Span, all string) []piece {
	var out []piece
	var seg segmenter.Segmenter
	seg.Init([]rune(all))
	it := seg.LineIterator()
	k, rest := 0, ""
	if len(spans) > 0 {
		rest = spans[0].Text
	}
	for it.Next() {
		l := it.Line()
		text := string(l.Text)
		for text != "" {
			for rest == "" && k < len(spans)-1 {
				k++
				rest = spans[k].Text
			}
			n := min(len(text), len(rest))
			if n == 0 {
				return out
			}
			p := piece{text: rest[:n], style: spans[k].Style}
			text, rest = text[n:], rest[n:]
			p.breaks = text == ""
			if trimmed := strings.TrimRight(p.text, "\r\n\v\f\u0085\u2028\u2029"); p.breaks && trimmed != p.text {
				p.text, p.ends = trimmed, true
			}
			out = append(out, p)
		}
	}
	return out
}
