// Package chat is the page where a person talks to a model.
package chat

import (
	"image"

	"gioui.org/io/key"
	"gioui.org/io/semantic"
	"gioui.org/layout"
	"gioui.org/op"
	"gioui.org/op/clip"
	"gioui.org/unit"
	"gioui.org/widget"
	"gioui.org/widget/material"

	"github.com/pooled/pooled/ui/markdown"
	"github.com/pooled/pooled/ui/state"
	"github.com/pooled/pooled/ui/theme"
	ui "github.com/pooled/pooled/ui/widget"
)

// Page draws a chat. Not safe for concurrent use.
type Page struct {
	th  *theme.Theme
	app *state.App
	// OpenModels is called when the person asks for the model picker, ToggleTheme for the other palette.
	OpenModels, ToggleTheme func()

	editor   widget.Editor
	list     widget.List
	fits     bool
	parts    map[partKey]*part
	examples [len(examples)]widget.Clickable

	newChat, model, look, send, stop, down widget.Clickable
	small, problem                         ui.BannerState
	// focus asks for the focus to go to the editor.
	focus bool
}

// partKey names a row between UI frames.
type partKey struct {
	message int
	kind    state.RowKind
	index   int
}

// part is what a row keeps between UI frames.
type part struct {
	rich ui.Rich
	code ui.Code
	copy ui.Copy
	// bullet draws the marker of a list item.
	bullet ui.Rich
	marker []markdown.Span
	// fold and again are the buttons of reasoning and of the end of an answer.
	fold, again widget.Clickable
}

// New returns the page.
func New(th *theme.Theme, app *state.App) *Page {
	p := &Page{th: th, app: app, fits: true, focus: true, parts: map[partKey]*part{}}
	p.editor.Submit = true
	p.list.Axis = layout.Vertical
	return p
}

// Focus moves the focus to the editor in the next UI frame.
func (p *Page) Focus() { p.focus = true }

// Draft returns what is written and not sent.
func (p *Page) Draft() string { return p.editor.Text() }

// AtEnd reports whether the end of the chat is in sight, where it then stays.
func (p *Page) AtEnd() bool { return !p.list.Position.BeforeEnd }

// FollowEnd scrolls to the end of the chat.
func (p *Page) FollowEnd() { p.list.Position.BeforeEnd = false }

// NewChat starts a new chat.
func (p *Page) NewChat() {
	p.app.NewChat()
	p.FollowEnd()
	p.focus = true
}

// Send sends what is written.
func (p *Page) Send() { p.sendText(p.editor.Text()) }

func (p *Page) sendText(s string) {
	if p.app.Send(s) {
		p.editor.SetText("")
		p.FollowEnd()
	}
	p.focus = true
}

// Scroll moves the chat by so many heights of its view, up when negative.
func (p *Page) Scroll(gtx layout.Context, views float32) {
	p.list.Position.BeforeEnd = true
	p.list.Position.Offset += int(views * float32(gtx.Constraints.Max.Y))
}

// Layout draws the page.
func (p *Page) Layout(gtx layout.Context) layout.Dimensions {
	p.update(gtx)
	return layout.Flex{Axis: layout.Vertical}.Layout(gtx,
		layout.Rigid(p.top),
		layout.Rigid(func(gtx layout.Context) layout.Dimensions { return ui.Rule(gtx, p.th) }),
		layout.Rigid(p.banners),
		layout.Flexed(1, p.middle),
		layout.Rigid(p.composer),
		layout.Rigid(p.status))
}

func (p *Page) update(gtx layout.Context) {
	if p.focus {
		p.focus = false
		gtx.Execute(key.FocusCmd{Tag: &p.editor})
	}
	for {
		e, ok := p.editor.Update(gtx)
		if !ok {
			break
		}
		switch e.(type) {
		case widget.SubmitEvent:
			p.Send()
		case widget.ChangeEvent:
			p.replaceTabs()
		}
	}
	for p.send.Clicked(gtx) {
		p.Send()
	}
	for p.stop.Clicked(gtx) {
		p.app.Stop()
		p.focus = true
	}
	for p.newChat.Clicked(gtx) {
		p.NewChat()
	}
	for p.model.Clicked(gtx) {
		p.OpenModels()
	}
	for p.look.Clicked(gtx) {
		p.ToggleTheme()
	}
	for p.down.Clicked(gtx) {
		p.FollowEnd()
		p.focus = true
	}
	for i := range p.examples {
		for p.examples[i].Clicked(gtx) {
			p.sendText(examples[i].prompt)
		}
	}
	p.updateBanners(gtx)
}

// column lays w out in the middle, no wider than a line of text should be.
func column(gtx layout.Context, w layout.Widget) layout.Dimensions {
	width := gtx.Constraints.Max.X
	margin := max(gtx.Dp(16), (width-gtx.Dp(theme.Column))/2)
	if width < gtx.Dp(360) {
		margin = gtx.Dp(8)
	}
	gtx.Constraints.Max.X = max(1, width-2*margin)
	gtx.Constraints.Min.X = gtx.Constraints.Max.X
	defer op.Offset(image.Pt(margin, 0)).Push(gtx.Ops).Pop()
	dims := w(gtx)
	dims.Size.X = width
	return dims
}

// middle draws the chat, or what a new one begins with.
func (p *Page) middle(gtx layout.Context) layout.Dimensions {
	if len(p.app.Messages()) == 0 {
		clear(p.parts)
		return p.empty(gtx)
	}
	return layout.Stack{Alignment: layout.S}.Layout(gtx,
		layout.Expanded(p.chat),
		layout.Stacked(func(gtx layout.Context) layout.Dimensions {
			if p.AtEnd() {
				return layout.Dimensions{}
			}
			b := ui.Button{
				Click: &p.down, Icon: ui.IconDown, Text: "Latest", Fill: p.th.Surface, Line: p.th.Line, Ink: p.th.Ink,
				Name: "Jump to the latest",
			}
			return layout.Inset{Bottom: 8}.Layout(gtx, func(gtx layout.Context) layout.Dimensions { return b.Layout(gtx, p.th) })
		}))
}

// chat draws the list of rows. A chat that fits starts at the top; one that does not stays at its end until the person
// scrolls up.
func (p *Page) chat(gtx layout.Context) layout.Dimensions {
	gtx.Constraints.Min = gtx.Constraints.Max
	defer clip.Rect{Max: gtx.Constraints.Max}.Push(gtx.Ops).Pop()
	semantic.DescriptionOp("conversation").Add(gtx.Ops)
	rows := p.app.Rows()
	p.list.ScrollToEnd = !p.fits
	style := material.List(p.th.Material(), &p.list)
	style.AnchorStrategy = material.Overlay
	style.Track.MinorPadding = 2
	style.Indicator.MinorWidth = 6
	style.Indicator.Color = p.th.Faint
	style.Indicator.Color.A = 0x60
	style.Indicator.HoverColor = p.th.Faint
	dims := style.Layout(gtx, len(rows), func(gtx layout.Context, i int) layout.Dimensions {
		return column(gtx, func(gtx layout.Context) layout.Dimensions { return p.row(gtx, rows, i) })
	})
	pos := &p.list.Position
	fits := pos.First == 0 && pos.Count == len(rows) && pos.OffsetLast >= 0
	if p.fits && !fits {
		pos.BeforeEnd = false // it was at its end, and still is
		gtx.Execute(op.InvalidateCmd{})
	}
	p.fits = fits
	return dims
}

// gap is the room above a row.
func gap(rows []state.Row, i int) unit.Dp {
	r := rows[i]
	switch {
	case r.Kind == state.RowUser:
		return 20
	case r.Kind == state.RowEnd:
		return 6
	case i == 0 || rows[i-1].Message != r.Message:
		return 16
	case r.Kind != state.RowBlock || rows[i-1].Kind != state.RowBlock:
		return 10
	}
	return blockGap(rows[i-1].Block, r.Block)
}
