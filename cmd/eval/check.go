package main

import (
	"errors"
	"fmt"
	"io/fs"
	"regexp"
	"strings"

	"github.com/pooled/pooled/sandbox/js"
	"github.com/pooled/pooled/sandbox/page"
)

// check is a check of a result.
type check func(w *world) error

// all wants every check to pass.
func all(cs ...check) check {
	return func(w *world) error {
		for _, c := range cs {
			if err := c(w); err != nil {
				return err
			}
		}
		return nil
	}
}

func (w *world) read(name string) (string, error) {
	b, err := fs.ReadFile(w.files, name)
	if errors.Is(err, fs.ErrNotExist) {
		return "", fmt.Errorf("there is no %s", name)
	}
	return string(b), err
}

// has wants a file to contain texts, in any case.
func has(name string, texts ...string) check {
	return func(w *world) error {
		content, err := w.read(name)
		if err != nil {
			return err
		}
		for _, t := range texts {
			if !strings.Contains(strings.ToLower(content), strings.ToLower(t)) {
				return fmt.Errorf("%s does not contain %q", name, t)
			}
		}
		return nil
	}
}

// lacks wants a file without texts.
func lacks(name string, texts ...string) check {
	return func(w *world) error {
		content, err := w.read(name)
		if err != nil {
			return err
		}
		for _, t := range texts {
			if strings.Contains(content, t) {
				return fmt.Errorf("%s still contains %q", name, t)
			}
		}
		return nil
	}
}

// said wants the last answer to contain a text.
func said(text string) check {
	return func(w *world) error {
		if !strings.Contains(strings.ReplaceAll(strings.ToLower(w.answer), ",", ""), strings.ToLower(text)) {
			return fmt.Errorf("the answer does not say %q", text)
		}
		return nil
	}
}

// ran wants run_js to have printed a text.
func ran(text string) check {
	return func(w *world) error {
		for _, r := range w.ran {
			if regexp.MustCompile(`(^|[^\d.])` + regexp.QuoteMeta(text) + `($|[^\d.])`).MatchString(r) {
				return nil
			}
		}
		return fmt.Errorf("run_js did not print %s", text)
	}
}

// called wants a tool to have been used.
func called(tool string) check {
	return func(w *world) error {
		if w.called[tool] == 0 {
			return fmt.Errorf("%s was not called", tool)
		}
		return nil
	}
}

// step is something that is done to a page, and what it then shows.
type step struct {
	do string // an action in the form of "pooled page --do", or nothing
	// shows and hides are texts that the page must show and must not.
	shows, hides string
}

// works wants index.html to load without errors and to show what the steps say, without an error at any time.
func works(steps ...step) check {
	return func(w *world) error {
		if _, err := w.read("index.html"); err != nil {
			return err
		}
		p, err := w.pages.Open(w.ctx, w.files, page.Options{})
		if err != nil {
			return err
		}
		defer p.Close()
		if err := clean(p); err != nil {
			return err
		}
		for _, s := range steps {
			if s.do != "" {
				a, err := page.ParseAction(s.do)
				if err != nil {
					return err
				}
				if err := p.Do(w.ctx, a); err != nil {
					return err
				}
				if err := clean(p); err != nil {
					return fmt.Errorf("after %s: %w", s.do, err)
				}
			}
			text := strings.ToLower(strings.Join(strings.Fields(p.Report().Text), " "))
			if s.shows != "" && !strings.Contains(text, strings.ToLower(s.shows)) {
				return fmt.Errorf("after %q the page does not show %q but %q", s.do, s.shows, short(text))
			}
			if s.hides != "" && strings.Contains(text, strings.ToLower(s.hides)) {
				return fmt.Errorf("after %q the page still shows %q", s.do, s.hides)
			}
		}
		return nil
	}
}

// clean returns the first error of a page.
func clean(p *page.Page) error {
	r := p.Report()
	switch {
	case len(r.Errors) > 0:
		return fmt.Errorf("the page has an error: %s: %s", r.Errors[0].Name, r.Errors[0].Message)
	case len(r.Missing) > 0:
		return fmt.Errorf("the page misses %s", r.Missing[0])
	case r.Stopped != js.None:
		return fmt.Errorf("the page was stopped: %s", r.Stopped)
	}
	for _, l := range r.Console {
		if l.Level == "error" {
			return fmt.Errorf("the page printed an error: %s", l.Text)
		}
	}
	return nil
}
