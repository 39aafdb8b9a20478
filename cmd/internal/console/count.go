package console

import (
	"fmt"
	"strings"
)

// Count is a number of things, whose name takes an s: "1 step", "2 steps".
func Count(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return fmt.Sprintf("%d %ss", n, thing)
}

// Either lists what there is to choose from: "a, b or c".
func Either(names ...string) string {
	if len(names) < 2 {
		return strings.Join(names, "")
	}
	last := len(names) - 1
	return strings.Join(names[:last], ", ") + " or " + names[last]
}
