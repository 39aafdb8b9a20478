package grammar

import (
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// copyPrefix names the definitions that stand for the targets of references.
const copyPrefix = "pooled:"

// document is a schema on its way to the engine.
//
// The engine follows references into the definitions of the root only, by names without escapes, and knows neither anchors nor
// $id. So references are resolved here; a target that is not such a definition is copied to where the engine finds it.
type document struct {
	root    *value
	places  map[string]*value // every schema by its pointer
	anchors map[string]string // pointers by names
	copies  []*reference
	// oneSpelling says that the names of properties must have only one spelling (see names).
	oneSpelling bool
	open        []*value          // objects with named properties that take any others
	multiples   []string          // pointers of multipleOf
	factors     map[string]factor // what they hold, by text
}

// reference is a definition made for the target of references.
type reference struct {
	pointer string
	key     string
	value   *value
}

func newDocument(root *value) (*document, error) {
	d := &document{root: root, places: map[string]*value{}, anchors: map[string]string{}, factors: map[string]factor{}}
	d.index(root, "", false)
	return d, d.link(root, "", false)
}

// index notes where schemas and anchors are. Those in a part with its own $id are not known by their anchors outside.
func (d *document) index(v *value, path string, foreign bool) {
	d.places[path] = v
	foreign = foreign || path != "" && v.get("$id") != nil
	for _, key := range []string{"$anchor", "$dynamicAnchor"} {
		if a := v.get(key); a != nil && !foreign {
			if name, ok := a.scalar.(string); ok {
				d.anchors[name] = path
			}
		}
	}
	for _, m := range v.members {
		for _, p := range parts(m, path+"/"+escape(m.key)) {
			d.index(p.value, p.key, foreign)
		}
	}
}

// link puts references into the engine's form.
func (d *document) link(v *value, path string, foreign bool) error {
	foreign = foreign || path != "" && v.get("$id") != nil
	for i, m := range v.members {
		at := path + "/" + escape(m.key)
		if m.key == "$ref" {
			if foreign {
				return errorf(at, "references within a part that has an $id of its own cannot be followed; remove the $id")
			}
			ref, err := d.resolve(m.value, at)
			if err != nil {
				return err
			}
			v.members[i].value = &value{scalar: ref}
		}
		for _, p := range parts(m, at) {
			if err := d.link(p.value, p.key, foreign); err != nil {
				return err
			}
		}
	}
	return nil
}

// resolve returns a reference in the engine's form.
func (d *document) resolve(v *value, at string) (string, error) {
	ref, _ := v.scalar.(string)
	text := ref
	if id := d.root.get("$id"); id != nil {
		base, _ := id.scalar.(string)
		if rest, ok := strings.CutPrefix(text, strings.TrimSuffix(base, "#")); ok && base != "" && (rest == "" || rest[0] == '#') {
			text = "#" + strings.TrimPrefix(rest, "#")
		}
	}
	fragment, local := strings.CutPrefix(text, "#")
	fragment, err := url.PathUnescape(fragment)
	if !local || err != nil {
		return "", errorf(at, "only references into the schema itself (#/…) can be followed, not %q", ref)
	}
	pointer, known := d.anchors[fragment]
	if fragment == "" || strings.HasPrefix(fragment, "/") {
		pointer = fragment
		_, known = d.places[pointer]
	}
	if !known {
		return "", errorf(at, "there is no schema at %q", ref)
	}
	if pointer == "" {
		return "#", nil
	}
	segments := strings.Split(pointer[1:], "/")
	if len(segments) == 2 && (segments[0] == "$defs" || segments[0] == "definitions") && !strings.ContainsAny(segments[1], "~%") {
		return "#" + pointer, nil
	}
	return "#/$defs/" + d.copied(pointer), nil
}

// copied returns the name of the definition that stands for a target.
func (d *document) copied(pointer string) string {
	for _, r := range d.copies {
		if r.pointer == pointer {
			return r.key
		}
	}
	r := &reference{pointer: pointer, key: copyPrefix + strconv.Itoa(len(d.copies))}
	d.copies = append(d.copies, r)
	return r.key
}

// rewrite checks the schema and puts it into the engine's form.
func (d *document) rewrite() error {
	for _, r := range d.copies {
		r.value = d.places[r.pointer].clone()
	}
	if err := d.check(d.root, ""); err != nil {
		return err
	}
	for _, r := range d.copies {
		if err := d.check(r.value, r.pointer); err != nil {
			return err
		}
	}
	if err := d.checkMultiples(); err != nil {
		return err
	}
	if len(d.copies) > 0 {
		definitions := d.root.get("$defs")
		if definitions == nil {
			definitions = &value{kind: '{'}
			d.root.set("$defs", definitions)
		}
		for _, r := range d.copies {
			definitions.set(r.key, r.value)
		}
	}
	d.exclude(d.root)
	if !d.oneSpelling {
		for _, v := range d.open {
			takeAnyName(v)
		}
	}
	return nil
}

// clone returns a copy.
func (v *value) clone() *value {
	c := &value{kind: v.kind, scalar: v.scalar, members: slices.Clone(v.members), items: slices.Clone(v.items)}
	for i := range c.members {
		c.members[i].value = c.members[i].value.clone()
	}
	for i := range c.items {
		c.items[i] = c.items[i].clone()
	}
	return c
}
