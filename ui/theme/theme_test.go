package theme

import (
	"image/color"
	"math"
	"testing"

	"github.com/pooled/pooled/ui/highlight"
)

// luminance is the relative luminance of a colour. Source: WCAG 2.2, definition of relative luminance.
func luminance(c color.NRGBA) float64 {
	lin := func(v uint8) float64 {
		f := float64(v) / 255
		if f <= 0.04045 {
			return f / 12.92
		}
		return math.Pow((f+0.055)/1.055, 2.4)
	}
	return 0.2126*lin(c.R) + 0.7152*lin(c.G) + 0.0722*lin(c.B)
}

// contrast is the contrast of two colours, from 1 to 21. Source: WCAG 2.2, definition of contrast ratio.
func contrast(a, b color.NRGBA) float64 {
	x, y := luminance(a), luminance(b)
	return (max(x, y) + 0.05) / (min(x, y) + 0.05)
}

// TestContrast checks that text can be read: 4.5 for what matters (WCAG level AA), 3 for asides.
func TestContrast(t *testing.T) {
	for name, p := range map[string]Palette{"light": Light, "dark": Dark} {
		for _, c := range []struct {
			what        string
			ink, ground color.NRGBA
			least       float64
		}{
			{"text", p.Ink, p.Ground, 7},
			{"text on a surface", p.Ink, p.Surface, 7},
			{"text in a bubble", p.Ink, p.Bubble, 7},
			{"lesser text", p.Muted, p.Ground, 4.5},
			{"lesser text on a surface", p.Muted, p.Surface, 4.5},
			{"lesser text when selected", p.Muted, p.AccentWash, 4.5},
			{"asides", p.Faint, p.Ground, 3},
			{"asides in code", p.Faint, p.Sunken, 3},
			{"links", p.Accent, p.Ground, 4.5},
			{"buttons", p.OnAccent, p.Accent, 4.5},
			{"notices", p.WarnInk, p.Warn, 4.5},
			{"errors", p.BadInk, p.Bad, 4.5},
			{"problems of models", p.BadInk, p.Surface, 4.5},
		} {
			if got := contrast(c.ink, c.ground); got < c.least {
				t.Errorf("%s, %s: contrast %.2f, want at least %.1f", name, c.what, got, c.least)
			}
		}
		for class, ink := range p.Code {
			least := 4.5
			if highlight.Class(class) == highlight.Comment {
				least = 3
			}
			if got := contrast(ink, p.Sunken); got < least {
				t.Errorf("%s, code class %d: contrast %.2f, want at least %.1f", name, class, got, least)
			}
		}
	}
}

func TestSetDark(t *testing.T) {
	th := New(false)
	if th.IsDark || th.Ink != Light.Ink || th.Material().Fg != Light.Ink {
		t.Error("a theme does not begin light")
	}
	th.SetDark(true)
	if !th.IsDark || th.Ink != Dark.Ink || th.Material().Bg != Dark.Ground {
		t.Error("the dark theme is not dark")
	}
}
