package theme

import (
	"sync"

	"eliasnaur.com/font/roboto/robotobold"
	"eliasnaur.com/font/roboto/robotobolditalic"
	"eliasnaur.com/font/roboto/robotoitalic"
	"eliasnaur.com/font/roboto/robotomedium"
	"eliasnaur.com/font/roboto/robotoregular"
	"gioui.org/font"
	"gioui.org/font/opentype"
	"golang.org/x/image/font/gofont/gomono"
	"golang.org/x/image/font/gofont/gomonobold"
	"golang.org/x/image/font/gofont/gomonoitalic"
	"golang.org/x/image/font/gofont/goregular"
)

// faces returns the fonts that come with the program: Roboto, Go Mono, and Go for the arrows and boxes that Roboto lacks.
var faces = sync.OnceValue(func() []font.FontFace {
	var all []font.FontFace
	for _, ttf := range [][]byte{
		robotoregular.TTF, robotomedium.TTF, robotobold.TTF, robotoitalic.TTF, robotobolditalic.TTF,
		gomono.TTF, gomonobold.TTF, gomonoitalic.TTF, goregular.TTF,
	} {
		fs, err := opentype.ParseCollection(ttf)
		if err != nil {
			panic("a font that comes with the program is damaged: " + err.Error())
		}
		all = append(all, fs...)
	}
	return all
})
