package widget

import (
	"image"
	"image/color"

	"gioui.org/layout"
	"gioui.org/text"
	"gioui.org/widget"

	"github.com/pooled/pooled/ui/theme"
)

// Banner tells something above the chat: a notice or an error, with what to do about it.
type Banner struct {
	Title, Text string
	// Action is the text of its button; empty draws none.
	Action string
	Bad    bool
}

// BannerState is what a [Banner] keeps between UI frames.
type BannerState struct {
	Act, Close widget.Clickable
}

// Layout draws the banner.
func (b Banner) Layout(gtx layout.Context, th *theme.Theme, s *BannerState) layout.Dimensions {
	fill, ink, icon := th.Warn, th.WarnInk, IconInfo
	if b.Bad {
		fill, ink, icon = th.Bad, th.BadInk, IconError
	}
	return Panel{Fill: fill, Radius: 8}.Layout(gtx, func(gtx layout.Context) layout.Dimensions {
		gtx.Constraints.Min.X = gtx.Constraints.Max.X
		return layout.Inset{Left: 14, Right: 6, Top: 8, Bottom: 8}.Layout(gtx, func(gtx layout.Context) layout.Dimensions {
			return layout.Flex{Alignment: layout.Middle}.Layout(gtx,
				layout.Rigid(func(gtx layout.Context) layout.Dimensions {
					size := gtx.Sp(18)
					gtx.Constraints = layout.Exact(image.Pt(size, size))
					return icon.Layout(gtx, ink)
				}),
				layout.Rigid(layout.Spacer{Width: 12}.Layout),
				layout.Flexed(1, func(gtx layout.Context) layout.Dimensions { return b.words(gtx, th, ink) }),
				layout.Rigid(layout.Spacer{Width: 8}.Layout),
				layout.Rigid(func(gtx layout.Context) layout.Dimensions {
					if b.Action == "" {
						return layout.Dimensions{}
					}
					edge := ink
					edge.A = 0x60
					return Button{Click: &s.Act, Text: b.Action, Ink: ink, Line: edge}.Layout(gtx, th)
				}),
				layout.Rigid(layout.Spacer{Width: 2}.Layout),
				layout.Rigid(Button{Click: &s.Close, Icon: IconClose, Name: "Dismiss", Ink: ink}.at(th)))
		})
	})
}

// at is Layout as a widget.
func (b Button) at(th *theme.Theme) layout.Widget {
	return func(gtx layout.Context) layout.Dimensions { return b.Layout(gtx, th) }
}

func (b Banner) words(gtx layout.Context, th *theme.Theme, ink color.NRGBA) layout.Dimensions {
	return layout.Flex{Axis: layout.Vertical}.Layout(gtx,
		layout.Rigid(Strong(th, theme.Small, ink, b.Title).Layout),
		layout.Rigid(func(gtx layout.Context) layout.Dimensions {
			if b.Text == "" {
				return layout.Dimensions{}
			}
			l := Label(th, theme.Small, ink, b.Text)
			l.MaxLines = 6
			l.LineHeightScale = 1.2
			l.WrapPolicy = text.WrapHeuristically
			return l.Layout(gtx)
		}))
}
