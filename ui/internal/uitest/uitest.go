// Package uitest drives the interface with no window and no GPU: it lays UI frames out, hands them to an input router,
// queues events there, and finds widgets in the router's semantic tree.
package uitest

import (
	"fmt"
	"image"
	"strings"
	"testing"
	"time"

	"gioui.org/f32"
	"gioui.org/io/event"
	"gioui.org/io/input"
	"gioui.org/io/key"
	"gioui.org/io/pointer"
	"gioui.org/io/semantic"
	"gioui.org/layout"
	"gioui.org/op"
	"gioui.org/unit"
)

// Driver stands in for a window.
type Driver struct {
	Size   image.Point
	Metric unit.Metric
	// Now is the time of the next UI frame.
	Now time.Time
	Ops op.Ops

	draw   func(gtx layout.Context) layout.Dimensions
	router input.Router
}

// New returns a driver of what draw draws, after two UI frames: widgets tell the router what they want one late.
func New(size image.Point, draw func(gtx layout.Context) layout.Dimensions) *Driver {
	d := &Driver{draw: draw, Size: size, Metric: unit.Metric{PxPerDp: 1, PxPerSp: 1}, Now: time.Unix(1_000_000, 0)}
	d.Frame()
	d.Frame()
	return d
}

// Frame lays one UI frame out.
func (d *Driver) Frame() {
	d.Now = d.Now.Add(16 * time.Millisecond)
	d.Ops.Reset()
	d.draw(layout.Context{Ops: &d.Ops, Now: d.Now, Metric: d.Metric, Constraints: layout.Exact(d.Size), Source: d.router.Source()})
	d.router.Frame(&d.Ops)
}

// Do queues events and runs three UI frames: one in which widgets see them, one in which what they changed is applied
// and one that shows the result.
func (d *Driver) Do(events ...event.Event) {
	d.router.Queue(events...)
	for range 3 {
		d.Frame()
	}
}

// ClickAt clicks a point.
func (d *Driver) ClickAt(p f32.Point) {
	at := time.Duration(d.Now.UnixNano())
	d.Do(
		pointer.Event{Kind: pointer.Move, Source: pointer.Mouse, Position: p, Time: at},
		pointer.Event{Kind: pointer.Press, Source: pointer.Mouse, Buttons: pointer.ButtonPrimary, Position: p, Time: at},
		pointer.Event{Kind: pointer.Release, Source: pointer.Mouse, Position: p, Time: at + 10*time.Millisecond},
	)
	d.Now = d.Now.Add(time.Second) // so that the next click is no double click
}

// Click clicks the middle of the widget that is called label.
func (d *Driver) Click(t testing.TB, label string) {
	t.Helper()
	n, ok := d.Find(func(n input.SemanticNode) bool {
		return n.Desc.Gestures&input.ClickGesture != 0 && Label(n) == label
	})
	if !ok {
		t.Fatalf("nothing to click is called %q in\n%s", label, d.Dump())
	}
	b := n.Desc.Bounds
	d.ClickAt(f32.Pt(float32(b.Min.X+b.Max.X)/2, float32(b.Min.Y+b.Max.Y)/2))
}

// Type enters text where the caret is.
func (d *Driver) Type(s string) {
	for _, c := range s {
		at := d.router.EditorState().Selection.Range
		d.Do(key.EditEvent{Range: at, Text: string(c)}, key.SelectionEvent(key.Range{Start: at.Start + 1, End: at.Start + 1}))
	}
}

// Key presses and releases a key. Tab moves the focus, which is the window's work.
func (d *Driver) Key(n key.Name, m key.Modifiers) {
	if n == key.NameTab {
		dir := key.FocusForward
		if m.Contain(key.ModShift) {
			dir = key.FocusBackward
		}
		d.router.MoveFocus(dir)
		d.Do()
		return
	}
	d.Do(key.Event{Name: n, Modifiers: m, State: key.Press}, key.Event{Name: n, Modifiers: m, State: key.Release})
}

// Scroll turns the wheel over a point.
func (d *Driver) Scroll(p f32.Point, dy float32) {
	d.Do(pointer.Event{Kind: pointer.Scroll, Source: pointer.Mouse, Position: p, Scroll: f32.Pt(0, dy)})
}

// Clipboard returns what was copied since the last call.
func (d *Driver) Clipboard() (string, bool) {
	_, b, ok := d.router.WriteClipboard()
	return string(b), ok
}

// Find returns the first node that f wants.
func (d *Driver) Find(f func(input.SemanticNode) bool) (input.SemanticNode, bool) {
	for _, n := range d.router.AppendSemantics(nil) {
		if f(n) {
			return n, true
		}
	}
	return input.SemanticNode{}, false
}

// Shows reports whether some label on the screen contains text.
func (d *Driver) Shows(text string) bool {
	_, ok := d.Find(func(n input.SemanticNode) bool { return strings.Contains(n.Desc.Label, text) })
	return ok
}

// Label returns a node's label, or those of its children.
func Label(n input.SemanticNode) string {
	if n.Desc.Label != "" {
		return n.Desc.Label
	}
	var all []string
	for _, c := range n.Children {
		if l := Label(c); l != "" {
			all = append(all, l)
		}
	}
	return strings.Join(all, " ")
}

// Dump writes the semantic tree, for messages of failing tests.
func (d *Driver) Dump() string {
	var b strings.Builder
	dump(&b, 0, d.router.AppendSemantics(nil)[0])
	return b.String()
}

func dump(w *strings.Builder, depth int, n input.SemanticNode) {
	s := n.Desc
	w.WriteString(strings.Repeat("  ", depth))
	if s.Class != semantic.Unknown {
		fmt.Fprintf(w, "%v ", s.Class)
	}
	if s.Label != "" {
		fmt.Fprintf(w, "%.40q ", s.Label)
	}
	if s.Description != "" {
		fmt.Fprintf(w, "(%s) ", s.Description)
	}
	if s.Disabled {
		w.WriteString("disabled ")
	}
	if s.Gestures != 0 {
		fmt.Fprintf(w, "%v ", s.Gestures)
	}
	fmt.Fprintln(w, s.Bounds)
	for _, c := range n.Children {
		dump(w, depth+1, c)
	}
}
