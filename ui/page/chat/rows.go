package chat

import (
	"fmt"
	"image"
	"math"
	"strings"
	"time"

	"gioui.org/font"
	"gioui.org/io/semantic"
	"gioui.org/layout"
	"gioui.org/op"
	"gioui.org/op/clip"
	"gioui.org/op/paint"
	"gioui.org/unit"

	"github.com/pooled/pooled/core/generate"
	"github.com/pooled/pooled/ui/markdown"
	"github.com/pooled/pooled/ui/state"
	"github.com/pooled/pooled/ui/theme"
	ui "github.com/pooled/pooled/ui/widget"
)

func (p *Page) row(gtx layout.Context, rows []state.Row, i int) layout.Dimensions {
	r := rows[i]
	k := partKey{r.Message.ID, r.Kind, r.Index}
	s := p.parts[k]
	if s == nil {
		s = &part{}
		p.parts[k] = s
	}
	in := layout.Inset{Top: gap(rows, i)}
	if i == len(rows)-1 {
		in.Bottom = 20
	}
	return in.Layout(gtx, func(gtx layout.Context) layout.Dimensions {
		switch r.Kind {
		case state.RowUser:
			return p.user(gtx, r.Message)
		case state.RowReasoning:
			return p.reasoning(gtx, r.Message, s)
		case state.RowWaiting:
			return p.waiting(gtx, r.Message)
		case state.RowEnd:
			return p.end(gtx, r.Message, s, i == len(rows)-1)
		}
		return p.block(gtx, r.Block, s)
	})
}

// user draws what the user said: a bubble at the right.
func (p *Page) user(gtx layout.Context, m *state.Message) layout.Dimensions {
	width := gtx.Constraints.Max.X
	return layout.E.Layout(gtx, func(gtx layout.Context) layout.Dimensions {
		gtx.Constraints.Min = image.Point{}
		gtx.Constraints.Max.X = width * 6 / 7
		return ui.Panel{Fill: p.th.Bubble, Radius: 14}.Layout(gtx, func(gtx layout.Context) layout.Dimensions {
			return layout.Inset{Left: 16, Right: 16, Top: 9, Bottom: 10}.Layout(gtx, func(gtx layout.Context) layout.Dimensions {
				semantic.DescriptionOp("you said").Add(gtx.Ops)
				l := ui.Label(p.th, theme.Body, p.th.Ink, strings.ReplaceAll(m.Text, "\t", "    "))
				l.LineHeightScale = 1.3
				return l.Layout(gtx)
			})
		})
	})
}

// reasoning draws what the model thought, folded unless it is asked for.
func (p *Page) reasoning(gtx layout.Context, m *state.Message, s *part) layout.Dimensions {
	for s.fold.Clicked(gtx) {
		p.app.Fold(m)
	}
	title, icon := "Show reasoning", ui.IconFold
	if m.Status == state.Streaming && m.Doc.Len() == 0 {
		title = "Thinking…"
	}
	if m.Unfolded {
		title, icon = "Hide reasoning", ui.IconChoose
	}
	button := ui.Button{Click: &s.fold, Icon: icon, Text: title, Inset: layout.Inset{Right: 8, Top: 4, Bottom: 4}}
	return layout.Flex{Axis: layout.Vertical}.Layout(gtx,
		layout.Rigid(func(gtx layout.Context) layout.Dimensions {
			gtx.Constraints.Min.X = 0
			return button.Layout(gtx, p.th)
		}),
		layout.Rigid(func(gtx layout.Context) layout.Dimensions {
			if !m.Unfolded {
				return layout.Dimensions{}
			}
			return p.barred(gtx, 1, func(gtx layout.Context) layout.Dimensions {
				l := ui.Label(p.th, theme.Small, p.th.Muted, strings.TrimSpace(m.Reasoning))
				l.LineHeightScale = 1.3
				l.Font.Style = font.Italic
				return layout.Inset{Top: 4, Bottom: 4}.Layout(gtx, l.Layout)
			})
		}))
}

// barred draws bars at the left of w, as beside a quote.
func (p *Page) barred(gtx layout.Context, bars int, w layout.Widget) layout.Dimensions {
	const step = 14
	m := op.Record(gtx.Ops)
	dims := layout.Inset{Left: unit.Dp(bars * step)}.Layout(gtx, w)
	call := m.Stop()
	for i := range bars {
		x := gtx.Dp(unit.Dp(i * step))
		paint.FillShape(gtx.Ops, p.th.Line, clip.Rect{Min: image.Pt(x, 0), Max: image.Pt(x+gtx.Dp(3), dims.Size.Y)}.Op())
	}
	call.Add(gtx.Ops)
	return dims
}

// waiting stands where the answer will be.
func (p *Page) waiting(gtx layout.Context, m *state.Message) layout.Dimensions {
	text := ""
	switch l := p.app.Loading(); {
	case p.app.Stopping():
		text = "Stopping…"
	case l.Name != "":
		text = "Waiting for " + l.Name + " to load…"
	case m.Ahead > 0:
		text = fmt.Sprintf("Waiting for the model: %d before you", m.Ahead)
	case m.ToRead > 0 && m.Read < m.ToRead:
		text = fmt.Sprintf("Reading the chat: %d of %d tokens", m.Read, m.ToRead)
	}
	gtx.Execute(op.InvalidateCmd{At: gtx.Now.Add(50 * time.Millisecond)})
	return layout.Flex{Alignment: layout.Middle}.Layout(gtx,
		layout.Rigid(func(gtx layout.Context) layout.Dimensions { return p.dots(gtx) }),
		layout.Rigid(layout.Spacer{Width: 10}.Layout),
		layout.Rigid(ui.Label(p.th, theme.Small, p.th.Muted, text).Layout))
}

// dots draws three dots that swell one after the other.
func (p *Page) dots(gtx layout.Context) layout.Dimensions {
	const period = 1200 * time.Millisecond
	phase := float64(gtx.Now.UnixNano()%int64(period)) / float64(period)
	size, pitch := gtx.Dp(6), gtx.Dp(11)
	height := gtx.Sp(theme.Body) * 3 / 2
	for i := range 3 {
		c := p.th.Accent
		c.A = uint8(70 + 150*(0.5+0.5*math.Sin(2*math.Pi*(phase-float64(i)*0.17))))
		at := image.Pt(i*pitch, (height-size)/2)
		paint.FillShape(gtx.Ops, c, clip.Ellipse{Min: at, Max: at.Add(image.Pt(size, size))}.Op(gtx.Ops))
	}
	return layout.Dimensions{Size: image.Pt(2*pitch+size, height)}
}

// end draws why an answer ended, where that is worth a word, and what can be done with it.
func (p *Page) end(gtx layout.Context, m *state.Message, s *part, last bool) layout.Dimensions {
	for s.again.Clicked(gtx) {
		if p.app.Regenerate() {
			p.FollowEnd()
		}
	}
	note := ""
	switch {
	case m.Status == state.Failed:
		note = "Failed"
	case m.Answer.Finish == generate.FinishCancelled:
		note = "Stopped"
	case m.Answer.Finish == generate.FinishLength:
		note = "Ended at the limit of the answer"
	case m.Answer.Finish == generate.FinishContext:
		note = "Ended because the context is full"
	case m.Doc.Len() == 0:
		note = "The model ended without an answer"
	}
	gtx.Constraints.Min.X = 0
	var parts []layout.FlexChild
	if note != "" {
		parts = append(parts, layout.Rigid(ui.Label(p.th, theme.Tiny, p.th.Faint, note).Layout), layout.Rigid(layout.Spacer{Width: 8}.Layout))
	}
	if m.Doc.Len() > 0 {
		parts = append(parts, layout.Rigid(func(gtx layout.Context) layout.Dimensions {
			return s.copy.Layout(gtx, p.th, "Copy answer", m.Doc.Source)
		}))
	}
	if last && p.app.CanRegenerate() {
		text := "Regenerate"
		if m.Status == state.Failed {
			text = "Try again"
		}
		b := ui.Button{
			Click: &s.again, Icon: ui.IconAgain, Text: text, Size: theme.Tiny,
			Inset: layout.Inset{Left: 8, Right: 8, Top: 5, Bottom: 5},
		}
		parts = append(parts, layout.Rigid(func(gtx layout.Context) layout.Dimensions { return b.Layout(gtx, p.th) }))
	}
	if note == "" { // buttons alone line up with the text by their icons
		defer op.Offset(image.Pt(-gtx.Dp(8), 0)).Push(gtx.Ops).Pop()
	}
	return layout.Flex{Alignment: layout.Middle}.Layout(gtx, parts...)
}

// blockGap is the room between two blocks of an answer.
func blockGap(above, below *markdown.Block) unit.Dp {
	switch {
	case below.Kind == markdown.Heading:
		return 18
	case above.Kind == markdown.Heading:
		return 6
	case below.Indent > 0 && above.Indent > 0:
		return 4
	}
	return 10
}

// headings are the sizes of headings by level.
var headings = [...]unit.Sp{22, 19, 17, 15, 15, 15}

const (
	indentStep = 22
	markerRoom = 6
)

func (p *Page) block(gtx layout.Context, b *markdown.Block, s *part) layout.Dimensions {
	draw := func(gtx layout.Context) layout.Dimensions {
		if b.Indent == 0 {
			return p.content(gtx, b, s)
		}
		in := gtx.Dp(unit.Dp(b.Indent * indentStep))
		if b.Marker != "" {
			if len(s.marker) == 0 || s.marker[0].Text != b.Marker {
				s.marker = []markdown.Span{{Text: b.Marker, Style: markdown.Faint}}
			}
			m := op.Record(gtx.Ops)
			mgtx := gtx
			mgtx.Constraints.Min = image.Point{}
			dims := s.bullet.Layout(mgtx, p.th, s.marker, ui.RichStyle{})
			call := m.Stop()
			at := op.Offset(image.Pt(in-gtx.Dp(markerRoom)-dims.Size.X, 0)).Push(gtx.Ops)
			call.Add(gtx.Ops)
			at.Pop()
		}
		gtx.Constraints.Max.X = max(gtx.Dp(40), gtx.Constraints.Max.X-in)
		gtx.Constraints.Min.X = min(gtx.Constraints.Min.X, gtx.Constraints.Max.X)
		defer op.Offset(image.Pt(in, 0)).Push(gtx.Ops).Pop()
		dims := p.content(gtx, b, s)
		dims.Size.X += in
		return dims
	}
	if b.Quote > 0 {
		return p.barred(gtx, b.Quote, draw)
	}
	return draw(gtx)
}

func (p *Page) content(gtx layout.Context, b *markdown.Block, s *part) layout.Dimensions {
	switch b.Kind {
	case markdown.Code, markdown.Table:
		return s.code.Layout(gtx, p.th, b)
	case markdown.Rule:
		return layout.Inset{Top: 6, Bottom: 6}.Layout(gtx, func(gtx layout.Context) layout.Dimensions { return ui.Rule(gtx, p.th) })
	case markdown.Heading:
		size := headings[min(max(b.Level, 1), len(headings))-1]
		return s.rich.Layout(gtx, p.th, b.Spans, ui.RichStyle{Size: size, Bold: true})
	}
	style := ui.RichStyle{}
	if b.Quote > 0 {
		style.Ink = p.th.Muted
	}
	return s.rich.Layout(gtx, p.th, b.Spans, style)
}
