package console

// Color is how text is shown by a terminal.
type Color string

// The colours. Plain leaves text as it is.
const (
	Plain  Color = ""
	Dim    Color = "2"
	Red    Color = "31"
	Green  Color = "32"
	Yellow Color = "33"
	Cyan   Color = "36"
)

// Paint colours text, where Out may be coloured.
func (c *Console) Paint(color Color, text string) string {
	if text == "" {
		return ""
	}
	return c.Begin(color) + text + c.End(color)
}

// Begin is what starts a colour, for text that comes in pieces; see [Console.End].
func (c *Console) Begin(color Color) string {
	if !c.Color || color == Plain {
		return ""
	}
	return c.mark("\033[" + string(color) + "m")
}

// End is what ends a colour.
func (c *Console) End(color Color) string {
	if !c.Color || color == Plain {
		return ""
	}
	return c.mark("\033[0m")
}
