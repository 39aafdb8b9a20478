package page

import (
	"encoding/json"
	"time"

	"github.com/pooled/pooled/sandbox/js"
)

// Error is an error of the page. Kind is uncaught or rejection.
type Error struct {
	Kind string `json:"kind"`
	js.Error
}

// Canvas is what a canvas was asked to draw.
type Canvas struct {
	ID     string         `json:"id"`
	Width  int            `json:"width"`
	Height int            `json:"height"`
	Calls  int            `json:"calls"`
	Ops    map[string]int `json:"ops"`
	Last   []string       `json:"last"`
}

// Report is the state of a page.
type Report struct {
	// OK is true for a page without errors or missing files that no limit stopped.
	OK bool
	// Title, URL and Text are what a person sees; DOM is an indented outline.
	Title, URL, Text, DOM string
	// Console, Errors and Missing are in order of appearance. Repeated errors are
	// listed once; Repeats counts the others.
	Console []js.Line
	Errors  []Error
	Repeats int
	// Missing holds paths in the tree, and addresses that need a network.
	Missing []string
	// Canvases are those that were drawn on.
	Canvases []Canvas
	// Navigations are addresses the page wanted to go to.
	Navigations []string
	// LocalStorage and SessionStorage are what the page stored.
	LocalStorage, SessionStorage map[string]string
	// Stopped says which cap ended the page.
	Stopped js.Stop
	// Wall is the time since Open began.
	Wall time.Duration
}

// Report looks at the page. It may be called at any time, also after the page
// was stopped; a page that died altogether has no text.
func (p *Page) Report() *Report {
	r := &Report{
		Console: p.s.Console(), Errors: p.errors, Repeats: p.dropped, Missing: p.tree.missing, Stopped: p.stopped,
	}
	if p.crash != nil {
		r.Errors = append(r.Errors[:len(r.Errors):len(r.Errors)], Error{"uncaught", *p.crash})
	}
	p.s.Resume(viewTime)
	if text, err := p.s.Control("view", ""); err == nil {
		var view struct {
			Title, URL, Text, DOM        string
			Canvases                     []Canvas
			Navigations                  []string
			LocalStorage, SessionStorage map[string]string
		}
		if json.Unmarshal([]byte(text), &view) == nil {
			r.Title, r.URL, r.Text, r.DOM = view.Title, view.URL, view.Text, view.DOM
			r.Canvases, r.Navigations = view.Canvases, view.Navigations
			r.LocalStorage, r.SessionStorage = view.LocalStorage, view.SessionStorage
		}
	}
	r.OK = len(r.Errors) == 0 && len(r.Missing) == 0 && r.Stopped == js.None
	r.Wall = time.Since(p.began)
	return r
}
