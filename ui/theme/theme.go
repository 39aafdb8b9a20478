// Package theme is how the window looks: colours, type and measures.
package theme

import (
	"image/color"

	"gioui.org/font"
	"gioui.org/text"
	"gioui.org/unit"
	"gioui.org/widget/material"

	"github.com/pooled/pooled/ui/highlight"
)

// Palette is a set of colours.
type Palette struct {
	// Ground is behind everything; Surface is behind what stands out from it; Sunken is behind code.
	Ground, Surface, Sunken color.NRGBA
	// Line separates; Hover is laid over what the pointer is on.
	Line, Hover color.NRGBA
	// Ink is text, Muted less of it, Faint the least.
	Ink, Muted, Faint color.NRGBA
	// Accent marks what can be done; OnAccent is text on it; AccentWash is a hint of it.
	Accent, OnAccent, AccentWash color.NRGBA
	// Bubble is behind what the user said.
	Bubble color.NRGBA
	// Warn and Bad are the grounds of notices and errors, with their inks.
	Warn, WarnInk, Bad, BadInk color.NRGBA
	// Shade is laid over the window behind a dialogue.
	Shade color.NRGBA
	// Code are the colours of tokens.
	Code [highlight.Classes]color.NRGBA
}

func rgb(c uint32) color.NRGBA {
	return color.NRGBA{R: uint8(c >> 16), G: uint8(c >> 8), B: uint8(c), A: 0xff}
}

func rgba(c uint32, a uint8) color.NRGBA {
	n := rgb(c)
	n.A = a
	return n
}

// Light is ink on paper.
var Light = Palette{
	Ground: rgb(0xfbfaf8), Surface: rgb(0xffffff), Sunken: rgb(0xf4f2ee),
	Line: rgb(0xe5e1da), Hover: rgba(0x1f1d1a, 0x0d),
	Ink: rgb(0x23211e), Muted: rgb(0x6d675f), Faint: rgb(0x8a837b),
	Accent: rgb(0x0c6e78), OnAccent: rgb(0xffffff), AccentWash: rgb(0xe2f0f0),
	Bubble: rgb(0xeaf1f1),
	Warn:   rgb(0xfdf3dc), WarnInk: rgb(0x76520b), Bad: rgb(0xfbe9e6), BadInk: rgb(0x9b2c1f),
	Shade: rgba(0x1f1d1a, 0x59),
	Code: [highlight.Classes]color.NRGBA{
		highlight.Plain: rgb(0x33302c), highlight.Keyword: rgb(0x8f3f8f), highlight.Type: rgb(0x0c6e78),
		highlight.Function: rgb(0x2a5db0), highlight.String: rgb(0x3d7433), highlight.Number: rgb(0xa3580b),
		highlight.Comment: rgb(0x8d867d), highlight.Operator: rgb(0x6d675f),
		highlight.Inserted: rgb(0x2f7a2b), highlight.Deleted: rgb(0xa3341f),
	},
}

// Dark is paper-coloured ink on slate.
var Dark = Palette{
	Ground: rgb(0x17191b), Surface: rgb(0x1f2225), Sunken: rgb(0x121416),
	Line: rgb(0x32363a), Hover: rgba(0xffffff, 0x10),
	Ink: rgb(0xe7e4df), Muted: rgb(0xa3a6a8), Faint: rgb(0x777b7e),
	Accent: rgb(0x58c4cc), OnAccent: rgb(0x08282b), AccentWash: rgb(0x1d3336),
	Bubble: rgb(0x24303a),
	Warn:   rgb(0x37301e), WarnInk: rgb(0xe9c778), Bad: rgb(0x3f2522), BadInk: rgb(0xf2a79a),
	Shade: rgba(0x000000, 0x8c),
	Code: [highlight.Classes]color.NRGBA{
		highlight.Plain: rgb(0xd8d5d0), highlight.Keyword: rgb(0xd59ad8), highlight.Type: rgb(0x6ccbd2),
		highlight.Function: rgb(0x8ab4f0), highlight.String: rgb(0x9ccb8a), highlight.Number: rgb(0xe8b071),
		highlight.Comment: rgb(0x80858a), highlight.Operator: rgb(0xa3a6a8),
		highlight.Inserted: rgb(0x8fce86), highlight.Deleted: rgb(0xf09a8a),
	},
}

// Sizes of type.
const (
	Body    unit.Sp = 15
	Small   unit.Sp = 13
	Tiny    unit.Sp = 12
	CodeSp  unit.Sp = 13
	Title   unit.Sp = 26
	LineGap         = 1.5
	// Column is the greatest width of a line of chat.
	Column unit.Dp = 740
)

// Typefaces.
const (
	Sans font.Typeface = "Roboto, Go, sans-serif"
	Mono font.Typeface = "Go Mono, monospace"
)

// Theme is a palette and what draws text. Not safe for concurrent use: a window has its own.
type Theme struct {
	Palette
	Shaper *text.Shaper
	// IsDark says which palette is in use.
	IsDark bool
	// Cache is where package widget keeps the widths of words.
	Cache    any
	material material.Theme
}

// New returns the light theme. With system it also draws letters that its own fonts lack with fonts of the machine;
// without, pictures are the same everywhere.
func New(system bool) *Theme {
	options := []text.ShaperOption{text.WithCollection(faces())}
	if !system {
		options = append(options, text.NoSystemFonts())
	}
	t := &Theme{Shaper: text.NewShaper(options...)}
	t.material.Shaper = t.Shaper
	t.material.Face = Sans
	t.material.TextSize = Body
	t.material.FingerSize = 32
	t.SetDark(false)
	return t
}

// SetDark chooses the dark palette or the light one.
func (t *Theme) SetDark(dark bool) {
	t.IsDark, t.Palette = dark, Light
	if dark {
		t.Palette = Dark
	}
	t.material.Palette = material.Palette{Bg: t.Ground, Fg: t.Ink, ContrastBg: t.Accent, ContrastFg: t.OnAccent}
}

// Material returns the theme for the widgets of Gio's own.
func (t *Theme) Material() *material.Theme { return &t.material }
