package tool

import (
	"errors"
	"fmt"
	"net/url"

	"github.com/pooled/pooled/core/plain"
)

// Limits of a [Health]. Units of the last two: bytes.
const (
	MaxProblems = 64
	MaxProblem  = 2 << 10
	MaxPlace    = 2 << 10
)

// Health is how a tool found the page that it served or looked at. It is shown to people and decides whether a model is
// done; the model itself reads the text of the [Result].
type Health struct {
	// Page is the page within the project, such as "index.html".
	Page string `json:"page"`
	// Problems are what is wrong with it, each on one line; without any it works.
	Problems []string `json:"problems,omitempty"`
	// URL is where a person can look at it, of the scheme http or https; empty for nowhere.
	URL string `json:"url,omitempty"`
}

// OK reports whether nothing is wrong.
func (h *Health) OK() bool { return len(h.Problems) == 0 }

// check requires what a host relies on.
func (h *Health) check() error {
	switch {
	case h.Page == "" || len(h.Page) > MaxPlace || !plain.Is(h.Page):
		return fmt.Errorf("its health names no page, or one that is not one line of at most %d bytes", MaxPlace)
	case len(h.Problems) > MaxProblems:
		return fmt.Errorf("its health has %d problems; the limit is %d", len(h.Problems), MaxProblems)
	}
	for _, p := range h.Problems {
		if p == "" || len(p) > MaxProblem || !plain.Is(p) {
			return fmt.Errorf("a problem of its health is empty, or not one line of at most %d bytes", MaxProblem)
		}
	}
	if h.URL == "" {
		return nil
	}
	u, err := url.Parse(h.URL)
	if err != nil || len(h.URL) > MaxPlace || !plain.Is(h.URL) || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return errors.New("its health has an address that is none")
	}
	return nil
}
