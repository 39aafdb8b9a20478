// Package page runs an untrusted web page: its HTML, scripts, modules and styles
// from one virtual file tree, in a DOM without a browser, inside the JavaScript sandbox.
//
// The page loads as in a browser, in source order and with its events; a person's clicks
// and keys come from outside ([Page.Do]); [Page.Report] says what is there: title, text,
// an outline of the DOM, console lines, errors with file, line and column, and files
// that are missing. There is no layout and nothing is painted; a 2D canvas records
// what it was asked to draw. Time is virtual and there is no network, as in package js.
//
//	rt, err := page.NewRuntime(ctx, engine)
//	p, err := rt.Open(ctx, os.DirFS("app"), page.Options{})
//	defer p.Close()
//	err = p.Do(ctx, page.Action{Verb: "click", Target: "#add"})
//	report := p.Report()
package page
