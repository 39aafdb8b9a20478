package export

import (
	"fmt"

	"github.com/pooled/pooled/core/plain"
)

const (
	maxNotes = 200
	// maxNamed bounds the characters of what a note is about; the names come from the files.
	maxNamed = 120
)

// notes is the list of what is not in an export, or not as it was, each with the reason.
type notes struct {
	list []string
	seen map[string]bool
	more int
}

func note(what string, why error) string {
	return plain.Line(what, maxNamed) + ": " + plain.Line(why.Error(), 2*maxNamed)
}

// has reports whether something was noted.
func (n *notes) has(what string, why error) bool { return n.seen[note(what, why)] }

// leave notes once that something is not in the export.
func (n *notes) leave(what string, why error) {
	note := note(what, why)
	switch {
	case n.seen[note]:
	case len(n.list) == maxNotes:
		n.more++
	default:
		if n.seen == nil {
			n.seen = map[string]bool{}
		}
		n.seen[note] = true
		n.list = append(n.list, note)
	}
}

// all returns the list.
func (n *notes) all() []string {
	if n.more == 0 {
		return n.list
	}
	return append(n.list[:len(n.list):len(n.list)], fmt.Sprintf("%d more", n.more))
}
