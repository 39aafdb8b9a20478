package chat

import (
	"fmt"
	"image"
	"math"
	"strings"

	"gioui.org/io/semantic"
	"gioui.org/layout"
	"gioui.org/op/clip"
	"gioui.org/op/paint"
	"gioui.org/text"
	"gioui.org/widget/material"

	"github.com/pooled/pooled/core/units"
	"github.com/pooled/pooled/ui/state"
	"github.com/pooled/pooled/ui/theme"
	ui "github.com/pooled/pooled/ui/widget"
)

// examples are what a new chat offers to begin with.
var examples = [...]struct{ title, prompt string }{
	{"Explain something", "Explain how a sailing boat can move against the wind."},
	{"Write code", "Write a Go function that reverses a string."},
	{"Compare two things", "Compare tea and coffee in a small table."},
	{"Plan a day", "Plan a quiet Sunday in five steps."},
}

// PullCommand gets a real model; the notice of a small model shows it.
const PullCommand = "pooled pull qwen2.5-coder-0.5b"

// top draws the bar with the model and the look.
func (p *Page) top(gtx layout.Context) layout.Dimensions {
	name := "Choose a model"
	if l := p.app.Loading(); l.Name != "" {
		name = "Loading " + l.Name + "…"
	} else if m, ok := p.app.Loaded(); ok {
		name = m.Name
	}
	look, lookName := ui.IconDark, "Use the dark theme"
	if p.th.IsDark {
		look, lookName = ui.IconLight, "Use the light theme"
	}
	return layout.Inset{Left: 8, Right: 8, Top: 6, Bottom: 6}.Layout(gtx, func(gtx layout.Context) layout.Dimensions {
		return layout.Flex{Alignment: layout.Middle}.Layout(gtx,
			layout.Rigid(p.button(ui.Button{Click: &p.newChat, Icon: ui.IconAdd, Text: "New chat"})),
			layout.Flexed(1, func(gtx layout.Context) layout.Dimensions {
				return layout.Center.Layout(gtx, p.button(ui.Button{
					Click: &p.model, Icon: ui.IconChoose, Text: name, IconAfter: true, Ink: p.th.Ink,
				}))
			}),
			layout.Rigid(p.button(ui.Button{Click: &p.look, Icon: look, Name: lookName, Size: 15})))
	})
}

func (p *Page) button(b ui.Button) layout.Widget {
	return func(gtx layout.Context) layout.Dimensions {
		gtx.Constraints.Min = image.Point{}
		return b.Layout(gtx, p.th)
	}
}

func (p *Page) updateBanners(gtx layout.Context) {
	for p.small.Close.Clicked(gtx) {
		p.app.DismissSmall()
	}
	for p.small.Act.Clicked(gtx) {
		ui.WriteClipboard(gtx, PullCommand)
	}
	for p.problem.Close.Clicked(gtx) {
		p.app.Dismiss()
		p.focus = true
	}
	for p.problem.Act.Clicked(gtx) {
		problem := p.app.Problem()
		if problem == nil {
			continue
		}
		p.app.Dismiss()
		p.focus = true
		switch problem.Action {
		case state.ActionRetry:
			p.app.Regenerate()
		case state.ActionModels:
			p.OpenModels()
		case state.ActionNewChat:
			p.NewChat()
		}
	}
}

// actions are the buttons of problems.
var actions = map[state.Action]string{
	state.ActionRetry: "Try again", state.ActionModels: "Choose a model", state.ActionNewChat: "New chat",
}

func (p *Page) banners(gtx layout.Context) layout.Dimensions {
	var all []layout.FlexChild
	show := func(b ui.Banner, s *ui.BannerState) {
		all = append(all, layout.Rigid(func(gtx layout.Context) layout.Dimensions {
			return layout.Inset{Top: 10}.Layout(gtx, func(gtx layout.Context) layout.Dimensions { return b.Layout(gtx, p.th, s) })
		}))
	}
	if e := p.app.Problem(); e != nil {
		why := e.Text
		if r := []rune(why); len(r) > 600 {
			why = string(r[:600]) + "…"
		}
		if why != "" && !strings.HasSuffix(why, ".") {
			why += "."
		}
		show(ui.Banner{Bad: true, Title: e.Title, Text: strings.TrimSpace(why + " " + e.Hint), Action: actions[e.Action]}, &p.problem)
	}
	if m, ok := p.app.Loaded(); ok && p.app.SmallNotice() {
		show(ui.Banner{
			Title: m.Name + " is a very small model inside the program, for trying things: it knows little.",
			Text:  "Get a real model with: " + PullCommand, Action: "Copy command",
		}, &p.small)
	}
	if len(all) == 0 {
		return layout.Dimensions{}
	}
	return layout.Inset{Bottom: 10}.Layout(gtx, func(gtx layout.Context) layout.Dimensions {
		return column(gtx, func(gtx layout.Context) layout.Dimensions {
			return layout.Flex{Axis: layout.Vertical}.Layout(gtx, all...)
		})
	})
}

// keyHint names the keys that a person should know.
const keyHint = "Enter sends  ·  Shift+Enter starts a line  ·  Esc stops  ·  Ctrl+M models  ·  Ctrl+N new chat  ·  Ctrl+T light or dark"

// empty draws what a new chat begins with.
func (p *Page) empty(gtx layout.Context) layout.Dimensions {
	gtx.Constraints.Min = gtx.Constraints.Max
	return layout.Center.Layout(gtx, func(gtx layout.Context) layout.Dimensions {
		gtx.Constraints.Min.X = gtx.Constraints.Max.X
		return column(gtx, func(gtx layout.Context) layout.Dimensions {
			return layout.Flex{Axis: layout.Vertical, Alignment: layout.Middle}.Layout(gtx,
				layout.Rigid(func(gtx layout.Context) layout.Dimensions {
					l := ui.Strong(p.th, theme.Title, p.th.Ink, "What is on your mind?")
					l.Alignment = text.Middle
					return l.Layout(gtx)
				}),
				layout.Rigid(layout.Spacer{Height: 6}.Layout),
				layout.Rigid(func(gtx layout.Context) layout.Dimensions {
					l := ui.Label(p.th, theme.Small, p.th.Muted, "The model runs on this machine. Nothing that you write leaves it.")
					l.Alignment = text.Middle
					return l.Layout(gtx)
				}),
				layout.Rigid(layout.Spacer{Height: 24}.Layout),
				layout.Rigid(p.cards),
				layout.Rigid(layout.Spacer{Height: 10}.Layout),
				layout.Rigid(func(gtx layout.Context) layout.Dimensions {
					l := ui.Label(p.th, theme.Tiny, p.th.Faint, keyHint)
					l.Alignment = text.Middle
					return l.Layout(gtx)
				}))
		})
	})
}

// cards draws the examples, two in a row where there is room.
func (p *Page) cards(gtx layout.Context) layout.Dimensions {
	per := 2
	if gtx.Constraints.Max.X < gtx.Dp(480) {
		per = 1
	}
	enabled := gtx
	if !p.app.CanSend() {
		enabled = gtx.Disabled()
	}
	var rows []layout.FlexChild
	for i := 0; i < len(examples); i += per {
		rows = append(rows, layout.Rigid(func(gtx layout.Context) layout.Dimensions {
			gtx.Source = enabled.Source
			var cells []layout.FlexChild
			for j := i; j < min(i+per, len(examples)); j++ {
				if j > i {
					cells = append(cells, layout.Rigid(layout.Spacer{Width: 10}.Layout))
				}
				cells = append(cells, layout.Flexed(1, func(gtx layout.Context) layout.Dimensions { return p.card(gtx, j) }))
			}
			return layout.Inset{Bottom: 10}.Layout(gtx, func(gtx layout.Context) layout.Dimensions {
				return layout.Flex{}.Layout(gtx, cells...)
			})
		}))
	}
	return layout.Flex{Axis: layout.Vertical}.Layout(gtx, rows...)
}

func (p *Page) card(gtx layout.Context, i int) layout.Dimensions {
	c := &p.examples[i]
	return c.Layout(gtx, func(gtx layout.Context) layout.Dimensions {
		semantic.Button.Add(gtx.Ops)
		edge := ui.Panel{Fill: p.th.Surface, Line: p.th.Line, Radius: 10}
		switch {
		case gtx.Focused(c):
			edge.Line, edge.Wide = p.th.Accent, true
		case c.Hovered() && gtx.Enabled():
			edge.Line = p.th.Faint
		}
		ink, faint := p.th.Ink, p.th.Muted
		if !gtx.Enabled() {
			ink, faint = p.th.Faint, p.th.Faint
		}
		return edge.Layout(gtx, func(gtx layout.Context) layout.Dimensions {
			return layout.Inset{Left: 14, Right: 14, Top: 11, Bottom: 12}.Layout(gtx, func(gtx layout.Context) layout.Dimensions {
				gtx.Constraints.Min.X = gtx.Constraints.Max.X
				return layout.Flex{Axis: layout.Vertical}.Layout(gtx,
					layout.Rigid(ui.Strong(p.th, theme.Small, ink, examples[i].title).Layout),
					layout.Rigid(layout.Spacer{Height: 3}.Layout),
					layout.Rigid(func(gtx layout.Context) layout.Dimensions {
						l := ui.Label(p.th, theme.Small, faint, examples[i].prompt)
						l.MaxLines = 1
						return l.Layout(gtx)
					}))
			})
		})
	})
}

// composer draws the editor with its button.
func (p *Page) composer(gtx layout.Context) layout.Dimensions {
	return layout.Inset{Top: 6, Bottom: 4}.Layout(gtx, func(gtx layout.Context) layout.Dimensions {
		return column(gtx, func(gtx layout.Context) layout.Dimensions {
			box := ui.Panel{Fill: p.th.Surface, Line: p.th.Line, Radius: 14}
			if gtx.Focused(&p.editor) {
				box.Line = p.th.Accent
			}
			return box.Layout(gtx, func(gtx layout.Context) layout.Dimensions {
				return layout.Inset{Left: 16, Right: 8, Top: 8, Bottom: 8}.Layout(gtx, func(gtx layout.Context) layout.Dimensions {
					return layout.Flex{Alignment: layout.End}.Layout(gtx,
						layout.Flexed(1, p.write),
						layout.Rigid(layout.Spacer{Width: 8}.Layout),
						layout.Rigid(p.action))
				})
			})
		})
	})
}

// write draws the editor: one line that grows to eight.
func (p *Page) write(gtx layout.Context) layout.Dimensions {
	hint := "Ask something"
	if p.app.Answering() {
		hint = "Esc stops the answer"
	}
	gtx.Constraints.Min.Y = 0
	gtx.Constraints.Max.Y = min(gtx.Constraints.Max.Y, gtx.Sp(theme.Body)*11)
	return layout.Inset{Top: 7, Bottom: 7}.Layout(gtx, func(gtx layout.Context) layout.Dimensions {
		e := material.Editor(p.th.Material(), &p.editor, hint)
		e.HintColor = p.th.Faint
		e.SelectionColor = p.th.Accent
		e.SelectionColor.A = 0x50
		e.LineHeightScale = 1.25
		semantic.DescriptionOp("message").Add(gtx.Ops)
		return e.Layout(gtx)
	})
}

// action draws the button that sends, or stops while an answer streams.
func (p *Page) action(gtx layout.Context) layout.Dimensions {
	gtx.Constraints.Min = image.Point{}
	b := ui.Button{
		Click: &p.send, Icon: ui.IconSend, Name: "Send", Fill: p.th.Accent, Ink: p.th.OnAccent, Size: 15, Inset: layout.UniformInset(8),
	}
	switch {
	case p.app.Answering():
		b.Click, b.Icon, b.Name, b.Fill, b.Ink = &p.stop, ui.IconStop, "Stop", p.th.Ink, p.th.Ground
		if p.app.Stopping() {
			gtx = gtx.Disabled()
		}
	case !p.app.CanSend() || strings.TrimSpace(p.editor.Text()) == "":
		gtx = gtx.Disabled()
	}
	return b.Layout(gtx, p.th)
}

// status draws the line at the bottom.
func (p *Page) status(gtx layout.Context) layout.Dimensions {
	left, right := p.statusText()
	return layout.Inset{Bottom: 9, Top: 2}.Layout(gtx, func(gtx layout.Context) layout.Dimensions {
		return column(gtx, func(gtx layout.Context) layout.Dimensions {
			return layout.Inset{Left: 4, Right: 4}.Layout(gtx, func(gtx layout.Context) layout.Dimensions {
				return layout.Flex{Alignment: layout.Middle}.Layout(gtx,
					layout.Flexed(1, func(gtx layout.Context) layout.Dimensions {
						l := ui.Label(p.th, theme.Tiny, p.th.Faint, left)
						l.MaxLines = 1
						return l.Layout(gtx)
					}),
					layout.Rigid(layout.Spacer{Width: 12}.Layout),
					layout.Rigid(func(gtx layout.Context) layout.Dimensions {
						l := ui.Label(p.th, theme.Tiny, p.th.Faint, right)
						l.MaxLines = 1
						return l.Layout(gtx)
					}),
					layout.Rigid(p.gauge))
			})
		})
	})
}

func (p *Page) statusText() (left, right string) {
	m, ok := p.app.Loaded()
	if l := p.app.Loading(); l.Name != "" {
		left = "Loading " + l.Name
		if l.Total > 0 {
			left += fmt.Sprintf(": %s of %s", units.Bytes(l.Done), units.Bytes(l.Total))
		}
		return left, ""
	}
	if !ok {
		return "No model is loaded", ""
	}
	left = fmt.Sprintf("%s on %s", m.Name, m.Device)
	if m.Reason != "" {
		left += ", because " + m.Reason
	}
	u := p.app.Usage()
	var parts []string
	if u.Rate > 0 {
		parts = append(parts, fmt.Sprintf("%.*f tok/s", decimals(u.Rate), u.Rate))
	}
	parts = append(parts, fmt.Sprintf("%s of %s context", units.Count(u.Used), units.Count(u.Total)))
	return left, strings.Join(parts, "  ·  ")
}

func decimals(rate float64) int {
	if rate < 10 {
		return 1
	}
	return 0
}

// gauge draws how full the context is.
func (p *Page) gauge(gtx layout.Context) layout.Dimensions {
	u := p.app.Usage()
	if u.Total <= 0 {
		return layout.Dimensions{}
	}
	size := image.Pt(gtx.Dp(40), gtx.Dp(4))
	left := gtx.Dp(8)
	share := math.Min(1, float64(u.Used)/float64(u.Total))
	fill := p.th.Accent
	if share > 0.9 {
		fill = p.th.BadInk
	}
	bar := func(w int) clip.Op {
		return clip.UniformRRect(image.Rect(left, 0, left+w, size.Y), size.Y/2).Op(gtx.Ops)
	}
	paint.FillShape(gtx.Ops, p.th.Line, bar(size.X))
	if w := int(share*float64(size.X) + 0.5); u.Used > 0 {
		paint.FillShape(gtx.Ops, fill, bar(max(w, size.Y)))
	}
	return layout.Dimensions{Size: image.Pt(left+size.X, size.Y)}
}

// replaceTabs makes spaces of tabs that were pasted: the editor would draw boxes for them.
func (p *Page) replaceTabs() {
	s := p.editor.Text()
	if !strings.Contains(s, "\t") {
		return
	}
	start, _ := p.editor.Selection()
	runes := []rune(s)
	before := strings.Count(string(runes[:min(start, len(runes))]), "\t")
	p.editor.SetText(strings.ReplaceAll(s, "\t", "    "))
	p.editor.SetCaret(start+3*before, start+3*before)
}
