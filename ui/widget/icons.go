package widget

import (
	"gioui.org/widget"
	"golang.org/x/exp/shiny/materialdesign/icons"
)

// The icons.
var (
	IconCopy   = icon(icons.ContentContentCopy)
	IconDone   = icon(icons.ActionDone)
	IconSend   = icon(icons.NavigationArrowUpward)
	IconStop   = icon(icons.AVStop)
	IconAdd    = icon(icons.ContentAdd)
	IconChoose = icon(icons.NavigationExpandMore)
	IconFold   = icon(icons.NavigationChevronRight)
	IconDown   = icon(icons.NavigationArrowDownward)
	IconAgain  = icon(icons.NavigationRefresh)
	IconClose  = icon(icons.NavigationClose)
	IconLight  = icon(icons.ImageWBSunny)
	IconDark   = icon(icons.ImageBrightness3)
	IconError  = icon(icons.AlertErrorOutline)
	IconInfo   = icon(icons.ActionInfoOutline)
)

func icon(data []byte) *widget.Icon {
	i, err := widget.NewIcon(data)
	if err != nil {
		panic("an icon that comes with the program is damaged: " + err.Error())
	}
	return i
}
