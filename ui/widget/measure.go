package widget

import (
	"gioui.org/font"
	"gioui.org/text"
	"golang.org/x/image/math/fixed"

	"github.com/pooled/pooled/ui/theme"
)

// measures keeps the widths of words: text repeats itself, and shaping is most of the cost of a line.
type measures struct {
	widths  map[measureKey]fixed.Int26_6
	scratch []text.Glyph
}

type measureKey struct {
	font font.Font
	ppem fixed.Int26_6
	text string
}

// maxMeasures bounds the cache; it starts again when it is full.
const maxMeasures = 1 << 15

func measureOf(th *theme.Theme) *measures {
	if m, ok := th.Cache.(*measures); ok {
		return m
	}
	m := &measures{widths: map[measureKey]fixed.Int26_6{}}
	th.Cache = m
	return m
}

func (m *measures) width(th *theme.Theme, f font.Font, ppem fixed.Int26_6, s string) fixed.Int26_6 {
	k := measureKey{f, ppem, s}
	if w, ok := m.widths[k]; ok {
		return w
	}
	if len(m.widths) >= maxMeasures {
		clear(m.widths)
	}
	var w fixed.Int26_6
	m.scratch, w = shape(th, f, ppem, s, m.scratch[:0])
	m.widths[k] = w
	return w
}
