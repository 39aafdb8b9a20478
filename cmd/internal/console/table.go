package console

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/pooled/pooled/cmd/internal/terminal"
)

// Table prints rows with columns as wide as they need. Whatever a cell holds stays on its line and obeys nothing.
type Table struct {
	w   *tabwriter.Writer
	end string
}

// NewTable returns a table on w. It must be flushed.
func NewTable(w io.Writer) *Table { return &Table{tabwriter.NewWriter(w, 0, 0, 2, ' ', 0), "\n"} }

// NewNumbers returns a table whose columns are flush right.
func NewNumbers(w io.Writer) *Table {
	return &Table{tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight), "\t\n"}
}

// Row adds a row.
func (t *Table) Row(cells ...any) {
	texts := make([]string, len(cells))
	for i, c := range cells {
		texts[i] = terminal.Line(fmt.Sprint(c))
	}
	fmt.Fprint(t.w, strings.Join(texts, "\t"), t.end) // an error comes back from Flush
}

// Flush prints the table.
func (t *Table) Flush() error { return t.w.Flush() }
