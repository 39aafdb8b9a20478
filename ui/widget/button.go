package widget

import (
	"image"
	"image/color"
	"io"
	"strings"
	"time"

	"gioui.org/font"
	"gioui.org/io/clipboard"
	"gioui.org/io/pointer"
	"gioui.org/io/semantic"
	"gioui.org/layout"
	"gioui.org/op"
	"gioui.org/op/clip"
	"gioui.org/op/paint"
	"gioui.org/unit"
	"gioui.org/widget"
	"gioui.org/widget/material"

	"github.com/pooled/pooled/ui/theme"
)

// Label is text in one style.
func Label(th *theme.Theme, size unit.Sp, ink color.NRGBA, s string) material.LabelStyle {
	l := material.Label(th.Material(), size, s)
	l.Color = ink
	return l
}

// Strong is a label in a medium weight.
func Strong(th *theme.Theme, size unit.Sp, ink color.NRGBA, s string) material.LabelStyle {
	l := Label(th, size, ink, s)
	l.Font.Weight = font.Medium
	return l
}

// Panel is a rounded ground behind something.
type Panel struct {
	Fill color.NRGBA
	// Line is the colour of its edge; zero draws none.
	Line   color.NRGBA
	Radius unit.Dp
	// Wide makes the edge two wide, to show where the focus is.
	Wide bool
}

// Layout draws w on the panel.
func (p Panel) Layout(gtx layout.Context, w layout.Widget) layout.Dimensions {
	m := op.Record(gtx.Ops)
	dims := w(gtx)
	call := m.Stop()
	r := gtx.Dp(p.Radius)
	shape := clip.UniformRRect(image.Rectangle{Max: dims.Size}, r)
	paint.FillShape(gtx.Ops, p.Fill, shape.Op(gtx.Ops))
	defer shape.Push(gtx.Ops).Pop()
	call.Add(gtx.Ops)
	if p.Line.A > 0 {
		width := float32(max(1, gtx.Dp(1)))
		if p.Wide {
			width *= 2
		}
		// Half of the stroke lies outside of the shape and is cut off.
		paint.FillShape(gtx.Ops, p.Line, clip.Stroke{Path: shape.Path(gtx.Ops), Width: 2 * width}.Op())
	}
	return dims
}

// Button is a clickable with an icon, a text or both.
type Button struct {
	Click *widget.Clickable
	Icon  *widget.Icon
	Text  string
	// Name is what the button is called where it has no text.
	Name string
	Ink  color.NRGBA
	// Fill is its ground; zero is none.
	Fill color.NRGBA
	Line color.NRGBA
	Size unit.Sp
	// Inset is the room around its content; zero is a good one.
	Inset layout.Inset
	// IconAfter puts the icon behind the text.
	IconAfter bool
}

// Layout draws the button.
func (b Button) Layout(gtx layout.Context, th *theme.Theme) layout.Dimensions {
	if b.Size == 0 {
		b.Size = theme.Small
	}
	if b.Ink == (color.NRGBA{}) {
		b.Ink = th.Muted
	}
	if b.Inset == (layout.Inset{}) {
		b.Inset = layout.Inset{Left: 10, Right: 10, Top: 7, Bottom: 7}
		if b.Text == "" {
			b.Inset = layout.UniformInset(7)
		}
	}
	if !gtx.Enabled() {
		b.Ink.A /= 2
		b.Fill.A /= 2
	}
	return b.Click.Layout(gtx, func(gtx layout.Context) layout.Dimensions {
		semantic.Button.Add(gtx.Ops)
		if b.Text == "" || b.Name != "" {
			semantic.LabelOp(b.Name).Add(gtx.Ops)
		}
		pointer.CursorPointer.Add(gtx.Ops)
		p := Panel{Fill: b.Fill, Line: b.Line, Radius: 8}
		if gtx.Focused(b.Click) {
			p.Line, p.Wide = th.Accent, true
		}
		return p.Layout(gtx, func(gtx layout.Context) layout.Dimensions {
			return layout.Stack{}.Layout(gtx,
				layout.Stacked(func(gtx layout.Context) layout.Dimensions {
					return b.Inset.Layout(gtx, func(gtx layout.Context) layout.Dimensions { return b.content(gtx, th) })
				}),
				layout.Expanded(func(gtx layout.Context) layout.Dimensions {
					if b.Click.Hovered() || b.Click.Pressed() {
						paint.FillShape(gtx.Ops, th.Hover, clip.Rect{Max: gtx.Constraints.Min}.Op())
					}
					return layout.Dimensions{Size: gtx.Constraints.Min}
				}))
		})
	})
}

func (b Button) content(gtx layout.Context, th *theme.Theme) layout.Dimensions {
	icon := layout.Rigid(func(gtx layout.Context) layout.Dimensions {
		if b.Icon == nil {
			return layout.Dimensions{}
		}
		size := gtx.Sp(b.Size) * 5 / 4
		gtx.Constraints = layout.Exact(image.Pt(size, size))
		return b.Icon.Layout(gtx, b.Ink)
	})
	gap := layout.Rigid(func(gtx layout.Context) layout.Dimensions {
		if b.Icon == nil || b.Text == "" {
			return layout.Dimensions{}
		}
		return layout.Spacer{Width: 6}.Layout(gtx)
	})
	label := layout.Rigid(func(gtx layout.Context) layout.Dimensions {
		if b.Text == "" {
			return layout.Dimensions{}
		}
		l := Strong(th, b.Size, b.Ink, b.Text)
		l.MaxLines = 1
		return l.Layout(gtx)
	})
	children := []layout.FlexChild{icon, gap, label}
	if b.IconAfter {
		children = []layout.FlexChild{label, gap, icon}
	}
	return layout.Flex{Alignment: layout.Middle}.Layout(gtx, children...)
}

// Copy is a button that copies text and says for a moment that it did. The zero value is ready.
type Copy struct {
	click  widget.Clickable
	copied time.Time
}

// copiedFor is how long it says so.
const copiedFor = 1500 * time.Millisecond

// Layout draws the button, called name; source is asked for the text when it is clicked.
func (c *Copy) Layout(gtx layout.Context, th *theme.Theme, name string, source func() string) layout.Dimensions {
	for c.click.Clicked(gtx) {
		WriteClipboard(gtx, source())
		c.copied = gtx.Now
	}
	b := Button{
		Click: &c.click, Icon: IconCopy, Text: "Copy", Name: name, Ink: th.Muted, Size: theme.Tiny,
		Inset: layout.Inset{Left: 8, Right: 8, Top: 5, Bottom: 5},
	}
	if until := c.copied.Add(copiedFor); gtx.Now.Before(until) {
		b.Icon, b.Text, b.Ink = IconDone, "Copied", th.Accent
		gtx.Execute(op.InvalidateCmd{At: until})
	}
	return b.Layout(gtx, th)
}

// WriteClipboard copies text.
func WriteClipboard(gtx layout.Context, s string) {
	gtx.Execute(clipboard.WriteCmd{Type: "application/text", Data: io.NopCloser(strings.NewReader(s))})
}
