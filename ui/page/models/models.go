// Package models is the dialogue in which a person chooses a model.
package models

import (
	"fmt"
	"image"
	"strings"

	"gioui.org/io/event"
	"gioui.org/io/key"
	"gioui.org/io/pointer"
	"gioui.org/io/semantic"
	"gioui.org/layout"
	"gioui.org/op/clip"
	"gioui.org/op/paint"
	"gioui.org/widget"
	"gioui.org/widget/material"

	"github.com/pooled/pooled/core/units"
	"github.com/pooled/pooled/ui/state"
	"github.com/pooled/pooled/ui/theme"
	ui "github.com/pooled/pooled/ui/widget"
)

// Page draws the dialogue over whatever was drawn before. Not safe for concurrent use.
type Page struct {
	th  *theme.Theme
	app *state.App
	// Done is called when the dialogue should close.
	Done func()

	filter   widget.Editor
	sought   string // the filter's text as it was last looked at
	list     widget.List
	rows     map[string]*widget.Clickable
	close    widget.Clickable
	copy     ui.Copy
	outside  bool
	selected int
	focus    bool
}

// PullCommand is how to get a model.
const PullCommand = "pooled pull --catalog"

// New returns the dialogue.
func New(th *theme.Theme, app *state.App) *Page {
	p := &Page{th: th, app: app, rows: map[string]*widget.Clickable{}}
	p.filter.SingleLine, p.filter.Submit = true, true
	p.list.Axis = layout.Vertical
	return p
}

// Open prepares the dialogue to be shown: the models are listed again and the one in use is selected.
func (p *Page) Open() {
	p.filter.SetText("")
	p.sought = ""
	p.focus = true
	p.selected = 0
	p.app.ListModels()
	in := p.current()
	for i, m := range p.shown() {
		if m.Name == in {
			p.selected = i
		}
	}
	p.list.Position = layout.Position{}
}

func (p *Page) current() string {
	if l := p.app.Loading(); l.Name != "" {
		return l.Name
	}
	m, _ := p.app.Loaded()
	return m.Name
}

// shown returns the models that fit what is written.
func (p *Page) shown() []state.ModelInfo {
	all, _ := p.app.Models()
	want := strings.ToLower(strings.TrimSpace(p.filter.Text()))
	if want == "" {
		return all
	}
	var out []state.ModelInfo
	for _, m := range all {
		if strings.Contains(strings.ToLower(m.Name), want) {
			out = append(out, m)
		}
	}
	return out
}

func (p *Page) choose(m state.ModelInfo) {
	if m.Problem != "" {
		return
	}
	if m.Name != p.current() {
		p.app.Load(m.Name)
	}
	p.Done()
}

// Keys takes the keys of the dialogue; it is called before anything else of the UI frame can take them.
func (p *Page) Keys(gtx layout.Context) {
	shown := p.shown()
	for {
		e, ok := gtx.Event(key.Filter{Name: key.NameUpArrow}, key.Filter{Name: key.NameDownArrow}, key.Filter{Name: key.NameEscape})
		if !ok {
			return
		}
		k, ok := e.(key.Event)
		if !ok || k.State != key.Press {
			continue
		}
		switch k.Name {
		case key.NameEscape:
			p.Done()
		case key.NameUpArrow:
			p.selected = max(0, p.selected-1)
			p.reveal()
		case key.NameDownArrow:
			p.selected = min(max(0, len(shown)-1), p.selected+1)
			p.reveal()
		}
	}
}

// reveal scrolls the selected row into sight.
func (p *Page) reveal() {
	pos := &p.list.Position
	if p.selected < pos.First || p.selected == pos.First && pos.Offset > 0 {
		pos.First, pos.Offset = p.selected, 0
	}
	if last := pos.First + pos.Count - 1; p.selected >= last && pos.Count > 1 {
		pos.First += p.selected - last
		if p.selected == last && pos.OffsetLast < 0 {
			pos.Offset -= pos.OffsetLast
		}
	}
}

func (p *Page) update(gtx layout.Context) {
	if p.focus {
		p.focus = false
		gtx.Execute(key.FocusCmd{Tag: &p.filter})
	}
	for {
		e, ok := p.filter.Update(gtx)
		if !ok {
			break
		}
		switch e.(type) {
		case widget.ChangeEvent:
			if text := p.filter.Text(); text != p.sought {
				p.sought, p.selected = text, 0
			}
		case widget.SubmitEvent:
			if shown := p.shown(); p.selected < len(shown) {
				p.choose(shown[p.selected])
			}
		}
	}
	for p.close.Clicked(gtx) {
		p.Done()
	}
	for _, m := range p.shown() {
		if c := p.rows[m.Name]; c != nil {
			for c.Clicked(gtx) {
				p.choose(m)
			}
		}
	}
	for {
		e, ok := gtx.Event(pointer.Filter{Target: &p.outside, Kinds: pointer.Press})
		if !ok {
			break
		}
		if e, ok := e.(pointer.Event); ok && e.Kind == pointer.Press {
			p.Done()
		}
	}
}

// Layout draws the dialogue in the middle of a shade.
func (p *Page) Layout(gtx layout.Context) layout.Dimensions {
	p.update(gtx)
	size := gtx.Constraints.Max
	shade := clip.Rect{Max: size}.Push(gtx.Ops)
	paint.Fill(gtx.Ops, p.th.Shade)
	event.Op(gtx.Ops, &p.outside)
	shade.Pop()
	gtx.Constraints.Min = size
	return layout.Inset{Top: 64, Bottom: 32, Left: 16, Right: 16}.Layout(gtx, func(gtx layout.Context) layout.Dimensions {
		return layout.N.Layout(gtx, func(gtx layout.Context) layout.Dimensions {
			gtx.Constraints.Max.X = min(gtx.Constraints.Max.X, gtx.Dp(520))
			gtx.Constraints.Max.Y = min(gtx.Constraints.Max.Y, gtx.Dp(560))
			gtx.Constraints.Min = image.Pt(gtx.Constraints.Max.X, 0)
			return ui.Panel{Fill: p.th.Surface, Line: p.th.Line, Radius: 14}.Layout(gtx, p.card)
		})
	})
}

func (p *Page) card(gtx layout.Context) layout.Dimensions {
	defer clip.Rect{Max: gtx.Constraints.Max}.Push(gtx.Ops).Pop()
	event.Op(gtx.Ops, &p.list) // what is on the card is not outside of it
	semantic.DescriptionOp("models").Add(gtx.Ops)
	return layout.Flex{Axis: layout.Vertical}.Layout(gtx,
		layout.Rigid(func(gtx layout.Context) layout.Dimensions {
			return layout.Inset{Left: 20, Right: 12, Top: 14, Bottom: 6}.Layout(gtx, func(gtx layout.Context) layout.Dimensions {
				return layout.Flex{Alignment: layout.Middle}.Layout(gtx,
					layout.Flexed(1, ui.Strong(p.th, 17, p.th.Ink, "Models").Layout),
					layout.Rigid(func(gtx layout.Context) layout.Dimensions {
						gtx.Constraints.Min = image.Point{}
						return ui.Button{Click: &p.close, Icon: ui.IconClose, Name: "Close", Size: 15}.Layout(gtx, p.th)
					}))
			})
		}),
		layout.Rigid(p.search),
		layout.Flexed(1, p.table),
		layout.Rigid(func(gtx layout.Context) layout.Dimensions { return ui.Rule(gtx, p.th) }),
		layout.Rigid(p.details),
		layout.Rigid(p.more))
}

// details says what the model in use runs on, and why.
func (p *Page) details(gtx layout.Context) layout.Dimensions {
	m, ok := p.app.Loaded()
	if !ok {
		return layout.Dimensions{}
	}
	s := fmt.Sprintf("%s is a %s model with a context of %s. It runs on %s", m.Name, m.Family, units.Count(m.Context), m.Device)
	if m.Reason != "" {
		s += ", because " + m.Reason
	}
	l := ui.Label(p.th, theme.Small, p.th.Muted, s+".")
	l.LineHeightScale = 1.2
	return layout.Inset{Left: 20, Right: 20, Top: 10}.Layout(gtx, l.Layout)
}

func (p *Page) search(gtx layout.Context) layout.Dimensions {
	return layout.Inset{Left: 20, Right: 20, Bottom: 10}.Layout(gtx, func(gtx layout.Context) layout.Dimensions {
		box := ui.Panel{Fill: p.th.Ground, Line: p.th.Line, Radius: 8}
		if gtx.Focused(&p.filter) {
			box.Line = p.th.Accent
		}
		return box.Layout(gtx, func(gtx layout.Context) layout.Dimensions {
			return layout.UniformInset(9).Layout(gtx, func(gtx layout.Context) layout.Dimensions {
				e := material.Editor(p.th.Material(), &p.filter, "Find a model")
				e.TextSize, e.HintColor = theme.Small, p.th.Faint
				return e.Layout(gtx)
			})
		})
	})
}

func (p *Page) table(gtx layout.Context) layout.Dimensions {
	gtx.Constraints.Min.Y = 0 // no taller than its rows
	shown := p.shown()
	_, err := p.app.Models()
	note := ""
	switch {
	case err != nil && len(shown) == 0:
		note = "The models could not be listed: " + err.Error()
	case len(shown) == 0 && p.filter.Len() > 0:
		note = "No model has that in its name."
	case len(shown) == 0:
		note = "There are no models yet."
	}
	if note != "" {
		return layout.Inset{Left: 20, Right: 20, Top: 8, Bottom: 20}.Layout(gtx, ui.Label(p.th, theme.Small, p.th.Muted, note).Layout)
	}
	if err != nil {
		return layout.Flex{Axis: layout.Vertical}.Layout(gtx,
			layout.Rigid(func(gtx layout.Context) layout.Dimensions {
				l := ui.Label(p.th, theme.Small, p.th.BadInk, "Some models could not be listed: "+err.Error())
				return layout.Inset{Left: 20, Right: 20, Bottom: 8}.Layout(gtx, l.Layout)
			}),
			layout.Flexed(1, func(gtx layout.Context) layout.Dimensions { return p.rowsOf(gtx, shown) }))
	}
	return p.rowsOf(gtx, shown)
}

func (p *Page) rowsOf(gtx layout.Context, shown []state.ModelInfo) layout.Dimensions {
	gtx.Constraints.Min.Y = 0
	style := material.List(p.th.Material(), &p.list)
	style.AnchorStrategy = material.Overlay
	style.Indicator.Color = p.th.Faint
	return style.Layout(gtx, len(shown), func(gtx layout.Context, i int) layout.Dimensions {
		bottom := layout.Inset{Left: 10, Right: 10, Bottom: 2}
		if i == len(shown)-1 {
			bottom.Bottom = 10
		}
		return bottom.Layout(gtx, func(gtx layout.Context) layout.Dimensions { return p.row(gtx, shown[i], i == p.selected) })
	})
}

func (p *Page) row(gtx layout.Context, m state.ModelInfo, selected bool) layout.Dimensions {
	c := p.rows[m.Name]
	if c == nil {
		c = &widget.Clickable{}
		p.rows[m.Name] = c
	}
	name, detail := p.th.Ink, p.th.Muted
	text := units.Bytes(m.Size)
	if m.Note != "" {
		text += "  ·  " + m.Note
	}
	if m.Problem != "" {
		gtx = gtx.Disabled()
		name, detail = p.th.Faint, p.th.BadInk
		text = m.Problem
	}
	return c.Layout(gtx, func(gtx layout.Context) layout.Dimensions {
		semantic.Button.Add(gtx.Ops)
		semantic.SelectedOp(selected).Add(gtx.Ops)
		semantic.LabelOp(m.Name).Add(gtx.Ops)
		pointer.CursorPointer.Add(gtx.Ops)
		ground := ui.Panel{Radius: 8}
		switch {
		case selected:
			ground.Fill = p.th.AccentWash
		case c.Hovered():
			ground.Fill = p.th.Hover
		}
		if gtx.Focused(c) {
			ground.Line, ground.Wide = p.th.Accent, true
		}
		return ground.Layout(gtx, func(gtx layout.Context) layout.Dimensions {
			return layout.Inset{Left: 12, Right: 12, Top: 8, Bottom: 9}.Layout(gtx, func(gtx layout.Context) layout.Dimensions {
				return layout.Flex{Alignment: layout.Middle}.Layout(gtx,
					layout.Flexed(1, func(gtx layout.Context) layout.Dimensions {
						return layout.Flex{Axis: layout.Vertical}.Layout(gtx,
							layout.Rigid(ui.Strong(p.th, theme.Body, name, m.Name).Layout),
							layout.Rigid(layout.Spacer{Height: 2}.Layout),
							layout.Rigid(ui.Label(p.th, theme.Tiny, detail, text).Layout))
					}),
					layout.Rigid(func(gtx layout.Context) layout.Dimensions {
						if m.Name != p.current() {
							return layout.Dimensions{}
						}
						size := gtx.Sp(20)
						gtx.Constraints = layout.Exact(image.Pt(size, size))
						return ui.IconDone.Layout(gtx, p.th.Accent)
					}))
			})
		})
	})
}

func (p *Page) more(gtx layout.Context) layout.Dimensions {
	return layout.Inset{Left: 20, Right: 12, Top: 8, Bottom: 8}.Layout(gtx, func(gtx layout.Context) layout.Dimensions {
		return layout.Flex{Alignment: layout.Middle}.Layout(gtx,
			layout.Rigid(ui.Label(p.th, theme.Small, p.th.Muted, "See more models with ").Layout),
			layout.Flexed(1, func(gtx layout.Context) layout.Dimensions {
				l := ui.Label(p.th, theme.Small, p.th.Ink, PullCommand)
				l.Font.Typeface = theme.Mono
				l.MaxLines = 1
				return l.Layout(gtx)
			}),
			layout.Rigid(func(gtx layout.Context) layout.Dimensions {
				gtx.Constraints.Min = image.Point{}
				return p.copy.Layout(gtx, p.th, "Copy command", func() string { return PullCommand })
			}))
	})
}
