// Package page puts the pages together into what a window shows, with the keys that work everywhere.
//
//	Enter          send                 Shift+Enter    new line
//	Esc            stop the answer      Ctrl+N         new chat
//	Ctrl+M         choose a model       Ctrl+R         regenerate
//	Ctrl+Shift+C   copy the answer      Ctrl+T         light or dark
//	PgUp, PgDn     scroll the chat      Ctrl+End       go to its end
//
// Ctrl is Cmd on a Mac. Everything is drawn and tested without a window: only package app needs one.
package page

import (
	"gioui.org/io/key"
	"gioui.org/layout"
	"gioui.org/op/paint"

	"github.com/pooled/pooled/ui/page/chat"
	"github.com/pooled/pooled/ui/page/models"
	"github.com/pooled/pooled/ui/state"
	"github.com/pooled/pooled/ui/theme"
	ui "github.com/pooled/pooled/ui/widget"
)

// View is the content of a window. Not safe for concurrent use.
type View struct {
	Theme  *theme.Theme
	App    *state.App
	Chat   *chat.Page
	models *models.Page
	// choosing says that the model picker is open.
	choosing bool
}

// New returns the content of a window.
func New(th *theme.Theme, app *state.App) *View {
	v := &View{Theme: th, App: app, Chat: chat.New(th, app), models: models.New(th, app)}
	v.Chat.OpenModels = v.OpenModels
	v.Chat.ToggleTheme = v.ToggleTheme
	v.models.Done = v.closeModels
	return v
}

// OpenModels shows the model picker.
func (v *View) OpenModels() {
	if !v.choosing {
		v.choosing = true
		v.models.Open()
	}
}

func (v *View) closeModels() {
	v.choosing = false
	v.Chat.Focus()
}

// Choosing reports whether the model picker is open.
func (v *View) Choosing() bool { return v.choosing }

// ToggleTheme changes between light and dark.
func (v *View) ToggleTheme() { v.Theme.SetDark(!v.Theme.IsDark) }

// Layout applies what happened since the last UI frame and draws.
func (v *View) Layout(gtx layout.Context) layout.Dimensions {
	v.App.Update()
	if v.choosing {
		v.models.Keys(gtx)
	}
	v.keys(gtx)
	paint.Fill(gtx.Ops, v.Theme.Ground)
	under := gtx
	if v.choosing {
		under = gtx.Disabled()
	}
	dims := v.Chat.Layout(under)
	if v.choosing {
		v.models.Layout(gtx)
	}
	return dims
}

// shortcuts are the keys that work everywhere.
var shortcuts = []struct {
	filter key.Filter
	do     func(*View, layout.Context)
}{
	{key.Filter{Name: key.NameEscape}, func(v *View, _ layout.Context) {
		if !v.App.Stop() {
			v.App.Dismiss()
		}
		v.Chat.Focus()
	}},
	{key.Filter{Name: "N", Required: key.ModShortcut}, func(v *View, _ layout.Context) { v.Chat.NewChat() }},
	{key.Filter{Name: "M", Required: key.ModShortcut}, func(v *View, _ layout.Context) { v.OpenModels() }},
	{key.Filter{Name: "T", Required: key.ModShortcut}, func(v *View, _ layout.Context) { v.ToggleTheme() }},
	{key.Filter{Name: "R", Required: key.ModShortcut}, func(v *View, _ layout.Context) {
		if v.App.Regenerate() {
			v.Chat.FollowEnd()
		}
	}},
	{key.Filter{Name: "C", Required: key.ModShortcut | key.ModShift}, func(v *View, gtx layout.Context) {
		if s, ok := v.App.LastAnswer(); ok {
			ui.WriteClipboard(gtx, s)
		}
	}},
	{key.Filter{Name: key.NamePageUp}, func(v *View, gtx layout.Context) { v.Chat.Scroll(gtx, -0.6) }},
	{key.Filter{Name: key.NamePageDown}, func(v *View, gtx layout.Context) { v.Chat.Scroll(gtx, 0.6) }},
	{key.Filter{Name: key.NameEnd, Required: key.ModShortcut}, func(v *View, _ layout.Context) { v.Chat.FollowEnd() }},
}

// keys runs shortcuts, before a widget that has the focus can take their keys. While the picker is open only the key
// that closes it works, which it takes itself.
func (v *View) keys(gtx layout.Context) {
	for i := range shortcuts {
		s := &shortcuts[i]
		for {
			e, ok := gtx.Event(s.filter)
			if !ok {
				break
			}
			if k, ok := e.(key.Event); ok && k.State == key.Press && !v.choosing {
				s.do(v, gtx)
			}
		}
	}
}
