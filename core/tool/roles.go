package tool

import (
	"fmt"
	"slices"
)

// Act says what a tool does, where a host makes use of knowing: it leaves out content that is stale, tells a model what to
// write a file with, or looks at an app by itself. Most tools have none.
type Act string

// The acts, each with the class that a tool must have and the roles that it must name.
const (
	// ReadsFile reads the file [Roles.Path], all of it or a part.
	ReadsFile Act = "reads-file"
	// WritesFile creates the file [Roles.Path] or replaces all of it by [Roles.Content].
	WritesFile Act = "writes-file"
	// EditsFile replaces the text [Roles.Old] by [Roles.New] in the file [Roles.Path].
	EditsFile Act = "edits-file"
	// RunsCode runs code and answers with what it prints.
	RunsCode Act = "runs-code"
	// ServesApp opens the app of the project, or its page [Roles.Path], for a person and reports how it is: see [Health].
	ServesApp Act = "serves-app"
)

// acts says what an act asks of its tool.
var acts = map[Act]struct {
	class Class
	needs func(Roles) bool
	names string
}{
	ReadsFile:  {Read, func(r Roles) bool { return r.Path != "" }, "path"},
	WritesFile: {Edit, func(r Roles) bool { return r.Path != "" && r.Content != "" }, "path and content"},
	EditsFile:  {Edit, func(r Roles) bool { return r.Path != "" && r.Old != "" && r.New != "" }, "path, old and new"},
	RunsCode:   {Run, func(Roles) bool { return true }, ""},
	ServesApp:  {Serve, func(Roles) bool { return true }, ""},
}

// MaxBrief bounds the arguments of [Roles.Brief].
const MaxBrief = 4

// Roles name the arguments of a tool that mean something to a host. Each is a declared property that is a string; an empty
// one is played by none.
type Roles struct {
	// Path is the file or folder that a call is about.
	Path string `json:",omitempty"`
	// Content is all that a file will hold.
	Content string `json:",omitempty"`
	// Old and New are a text of a file and what replaces it.
	Old string `json:",omitempty"`
	New string `json:",omitempty"`
	// Brief are the arguments that say on one line what a call is about, the most telling first; at most [MaxBrief].
	Brief []string `json:",omitempty"`
}

// Changes are the names of the arguments that a unified difference shows the effect of.
func (r Roles) Changes() []string {
	return slices.DeleteFunc([]string{r.Path, r.Content, r.Old, r.New}, func(name string) bool { return name == "" })
}

// any reports whether a role is given.
func (r Roles) any() bool {
	return r.Path != "" || r.Content != "" || r.Old != "" || r.New != "" || len(r.Brief) > 0
}

// check holds the roles against what the tool does and declares.
func (r Roles) check(does Act, class Class, s *Schema) error {
	act, known := acts[does]
	switch {
	case does != "" && !known:
		return fmt.Errorf("it does %.20q, which this Pooled does not know", does)
	case known && act.class != class:
		return fmt.Errorf("it does %q, so its class must be %q", does, act.class)
	case known && !act.needs(r):
		return fmt.Errorf("it does %q, so its roles must name the arguments for %s", does, act.names)
	case r.Content != "" && does != WritesFile:
		return fmt.Errorf("only a tool that does %q has an argument for the content", WritesFile)
	case (r.Old != "" || r.New != "") && does != EditsFile:
		return fmt.Errorf("only a tool that does %q has arguments for the old and the new text", EditsFile)
	case len(r.Brief) > MaxBrief:
		return fmt.Errorf("%d arguments say what a call is about; the limit is %d", len(r.Brief), MaxBrief)
	}
	var played []string
	for _, name := range []string{r.Path, r.Content, r.Old, r.New} {
		if name == "" {
			continue
		}
		if slices.Contains(played, name) {
			return fmt.Errorf("the argument %.60q has two roles", name)
		}
		played = append(played, name)
	}
	for i, name := range r.Brief {
		if slices.Contains(r.Brief[:i], name) {
			return fmt.Errorf("the argument %.60q is named twice", name)
		}
	}
	for _, name := range slices.Concat(played, r.Brief) {
		if p := s.Property(name); p == nil || p.Schema.Types != String {
			return fmt.Errorf("a role names the argument %.60q, which is not a declared string", name)
		}
	}
	return nil
}
