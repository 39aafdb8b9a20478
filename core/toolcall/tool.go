package toolcall

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/pooled/pooled/core/tool"
)

// Tool is what a model may call.
type Tool struct {
	Name string
	// Schema is that of the arguments; nil means that there are none to speak of.
	Schema *tool.Schema
}

// toolset is what a parser knows of the declared tools.
type toolset struct {
	list   []*declared
	byName map[string]*declared
}

// declared is a tool that was declared; without a schema its schema is one of no properties.
type declared struct {
	name string
	*tool.Schema
}

// newToolset looks the declarations through.
//
// Errors: ErrTool.
func newToolset(tools []Tool) (*toolset, error) {
	s := &toolset{byName: map[string]*declared{}}
	for i, t := range tools {
		if t.Name == "" || strings.ContainsAny(t.Name, "\n\"<>[]{}") {
			return nil, fmt.Errorf("tools[%d].name %q: %w", i, t.Name, ErrTool)
		}
		if s.byName[t.Name] != nil {
			return nil, fmt.Errorf("tools[%d].name %q is there twice: %w", i, t.Name, ErrTool)
		}
		known := &declared{t.Name, t.Schema}
		if t.Schema == nil {
			known.Schema = &tool.Schema{}
		}
		s.list = append(s.list, known)
		s.byName[t.Name] = known
	}
	return s, nil
}

// none reports whether no tools were declared; then every name goes.
func (s *toolset) none() bool { return len(s.list) == 0 }

// find returns the tool that a name means and whether the name had to be repaired.
func (s *toolset) find(name string, repair bool) (t *declared, repaired bool) {
	if t := s.byName[name]; t != nil || !repair {
		return t, false
	}
	plain := plainName(name)
	for _, candidate := range s.list {
		if plainName(candidate.name) == plain {
			if t != nil {
				return nil, false
			}
			t = candidate
		}
	}
	return t, t != nil
}

// plainName is a name without what models get wrong in names.
func plainName(name string) string {
	name = strings.ToLower(strings.TrimSpace(name))
	for _, prefix := range []string{"functions.", "function.", "tools.", "tool.", "default_api."} {
		name = strings.TrimPrefix(name, prefix)
	}
	return strings.NewReplacer("_", "", "-", "", " ", "", "()", "").Replace(name)
}

// names lists the tools for a message to the model.
func (s *toolset) names() string {
	var b strings.Builder
	for i, t := range s.list {
		if i == 20 {
			b.WriteString(", …")
			break
		}
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(t.name)
	}
	return b.String()
}

// member is one key of a JSON object.
type member struct {
	key   string
	value json.RawMessage
}

// members splits a JSON object and keeps the order of its keys.
func members(object []byte) ([]member, error) {
	d := json.NewDecoder(bytes.NewReader(object))
	if t, err := d.Token(); err != nil {
		return nil, err
	} else if t != json.Delim('{') {
		return nil, fmt.Errorf("not an object: %.40q", object)
	}
	var out []member
	for d.More() {
		key, err := d.Token()
		if err != nil {
			return nil, err
		}
		m := member{key: key.(string)} // the decoder lets nothing else stand there
		if err := d.Decode(&m.value); err != nil {
			return nil, err
		}
		out = append(out, m)
	}
	if _, err := d.Token(); err != nil {
		return nil, err
	}
	return out, nil
}

// object joins members.
func object(all []member) json.RawMessage {
	var b bytes.Buffer
	b.WriteByte('{')
	for i, m := range all {
		if i > 0 {
			b.WriteString(", ")
		}
		b.Write(quote(m.key))
		b.WriteString(": ")
		b.Write(m.value)
	}
	b.WriteByte('}')
	return b.Bytes()
}

// array joins elements.
func array(list []json.RawMessage) json.RawMessage {
	var b bytes.Buffer
	b.WriteByte('[')
	for i, v := range list {
		if i > 0 {
			b.WriteString(", ")
		}
		b.Write(v)
	}
	b.WriteByte(']')
	return b.Bytes()
}

// quote writes a JSON string as models see it: without HTML escapes.
func quote(s string) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	_ = e.Encode(s) // a string can always be encoded
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}
