package widget

import (
	"image"
	"slices"
	"strings"

	"gioui.org/f32"
	"gioui.org/io/semantic"
	"gioui.org/layout"
	"gioui.org/op/clip"
	"gioui.org/op/paint"
	"gioui.org/text"
	"gioui.org/unit"
	"golang.org/x/image/math/fixed"

	"github.com/pooled/pooled/ui/highlight"
	"github.com/pooled/pooled/ui/markdown"
	"github.com/pooled/pooled/ui/theme"
)

// Code is a panel of code or of a table: it scrolls sideways, and its text can be copied. It is coloured when its fence
// has ended and laid out again only where a line changed. The zero value is ready.
type Code struct {
	Copy   Copy
	scroll layout.List
	block  *markdown.Block
	metric unit.Metric
	lines  []codeLine
	widest fixed.Int26_6
}

type codeLine struct {
	tokens []highlight.Token
	runs   []codeRun
	width  fixed.Int26_6
}

type codeRun struct {
	class  highlight.Class
	x      fixed.Int26_6
	glyphs []text.Glyph
}

// Layout draws the block.
func (c *Code) Layout(gtx layout.Context, th *theme.Theme, b *markdown.Block) layout.Dimensions {
	if c.block != b || c.metric != gtx.Metric {
		c.lay(gtx, th, b)
	}
	gtx.Constraints.Min = image.Pt(gtx.Constraints.Max.X, 0)
	return Panel{Fill: th.Sunken, Line: th.Line, Radius: 8}.Layout(gtx, func(gtx layout.Context) layout.Dimensions {
		return layout.Flex{Axis: layout.Vertical}.Layout(gtx,
			layout.Rigid(func(gtx layout.Context) layout.Dimensions { return c.head(gtx, th, b) }),
			layout.Rigid(func(gtx layout.Context) layout.Dimensions {
				return layout.Inset{Left: 14, Right: 14, Bottom: 12}.Layout(gtx, func(gtx layout.Context) layout.Dimensions {
					c.scroll.Axis = layout.Horizontal
					return c.scroll.Layout(gtx, 1, func(gtx layout.Context, _ int) layout.Dimensions { return c.body(gtx, th, b) })
				})
			}))
	})
}

func (c *Code) head(gtx layout.Context, th *theme.Theme, b *markdown.Block) layout.Dimensions {
	name := b.Lang
	switch {
	case b.Kind == markdown.Table:
		name = "table"
	case name == "":
		name = "code"
	}
	return layout.Inset{Left: 14, Right: 6, Top: 4, Bottom: 2}.Layout(gtx, func(gtx layout.Context) layout.Dimensions {
		return layout.Flex{Alignment: layout.Middle}.Layout(gtx,
			layout.Flexed(1, Label(th, theme.Tiny, th.Faint, name).Layout),
			layout.Rigid(func(gtx layout.Context) layout.Dimensions {
				return c.Copy.Layout(gtx, th, "Copy "+name, func() string { return b.Text })
			}))
	})
}

func (c *Code) body(gtx layout.Context, th *theme.Theme, b *markdown.Block) layout.Dimensions {
	em := float32(gtx.Sp(theme.CodeSp))
	pitch := float32(int(em*theme.LineGap + 0.5))
	size := image.Pt(c.widest.Ceil()+1, int(pitch)*len(c.lines))
	defer clip.Rect{Max: size}.Push(gtx.Ops).Pop()
	semantic.LabelOp(b.Text).Add(gtx.Ops)
	for i, l := range c.lines {
		base := float32(i)*pitch + float32(int(pitch*0.70))
		for _, r := range l.runs {
			ink := th.Code[r.class]
			if b.Kind == markdown.Table {
				ink = th.Ink
			}
			glyphs(gtx, th.Shaper, r.glyphs, f32.Pt(px(r.x), base), ink)
		}
	}
	return layout.Dimensions{Size: size}
}

func (c *Code) lay(gtx layout.Context, th *theme.Theme, b *markdown.Block) {
	if c.metric != gtx.Metric {
		c.lines = nil
	}
	c.block, c.metric = b, gtx.Metric
	var split [][]highlight.Token
	switch {
	case b.Kind == markdown.Table || b.Open:
		split = highlight.PlainLines(b.Text)
	default:
		split = highlight.Lines(b.Lang, b.Text)
	}
	old := c.lines
	c.lines, c.widest = make([]codeLine, len(split)), 0
	for i, tokens := range split {
		if i < len(old) && slices.Equal(old[i].tokens, tokens) {
			c.lines[i] = old[i]
		} else {
			c.lines[i] = shapeLine(gtx, th, tokens)
		}
		c.widest = max(c.widest, c.lines[i].width)
	}
}

func shapeLine(gtx layout.Context, th *theme.Theme, tokens []highlight.Token) codeLine {
	l := codeLine{tokens: tokens}
	ppem := fixed.I(gtx.Sp(theme.CodeSp))
	for _, t := range tokens {
		f := fontOf(markdown.Mono, false)
		if t.Class == highlight.Comment {
			f = fontOf(markdown.Mono|markdown.Italic, false)
		}
		gs, w := shape(th, f, ppem, t.Text, nil)
		if strings.TrimSpace(t.Text) != "" {
			l.runs = append(l.runs, codeRun{t.Class, l.width, gs})
		}
		l.width += w
	}
	return l
}

// Rule is a line across.
func Rule(gtx layout.Context, th *theme.Theme) layout.Dimensions {
	size := image.Pt(gtx.Constraints.Max.X, max(1, gtx.Dp(1)))
	paint.FillShape(gtx.Ops, th.Line, clip.Rect{Max: size}.Op())
	return layout.Dimensions{Size: size}
}
