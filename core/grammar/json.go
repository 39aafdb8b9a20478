package grammar

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
)

// maxDepth bounds how deeply a schema may be nested.
const maxDepth = 64

// value is a JSON value whose objects keep their order.
type value struct {
	kind    byte // '{', '[' or 0 for a scalar
	scalar  any  // string, json.Number, bool or nil
	members []member
	items   []*value
}

type member struct {
	key   string
	value *value
}

// parse reads one JSON text.
func parse(text []byte) (*value, error) {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	v, err := parseValue(d, 0)
	if err != nil {
		return nil, err
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("there is text after the value")
	}
	return v, nil
}

func parseValue(d *json.Decoder, depth int) (*value, error) {
	token, err := d.Token()
	if err != nil {
		return nil, err
	}
	delim, ok := token.(json.Delim)
	if !ok {
		return &value{scalar: token}, nil
	}
	if depth == maxDepth {
		return nil, fmt.Errorf("it is nested more than %d deep", maxDepth)
	}
	v := &value{kind: byte(delim)}
	for d.More() {
		if v.kind == '[' {
			item, err := parseValue(d, depth+1)
			if err != nil {
				return nil, err
			}
			v.items = append(v.items, item)
			continue
		}
		key, err := d.Token()
		if err != nil {
			return nil, err
		}
		x, err := parseValue(d, depth+1)
		if err != nil {
			return nil, err
		}
		v.set(key.(string), x)
	}
	_, err = d.Token()
	return v, err
}

// set adds a member, or replaces one of the same name.
func (v *value) set(key string, x *value) {
	for i := range v.members {
		if v.members[i].key == key {
			v.members[i].value = x
			return
		}
	}
	v.members = append(v.members, member{key, x})
}

// get returns a member, or nil; nothing has no members.
func (v *value) get(key string) *value {
	if v == nil {
		return nil
	}
	for _, m := range v.members {
		if m.key == key {
			return m.value
		}
	}
	return nil
}

// write appends the JSON text.
func (v *value) write(b *strings.Builder) {
	switch v.kind {
	case '{':
		b.WriteByte('{')
		for i, m := range v.members {
			if i > 0 {
				b.WriteByte(',')
			}
			writeScalar(b, m.key)
			b.WriteByte(':')
			m.value.write(b)
		}
		b.WriteByte('}')
	case '[':
		b.WriteByte('[')
		for i, item := range v.items {
			if i > 0 {
				b.WriteByte(',')
			}
			item.write(b)
		}
		b.WriteByte(']')
	default:
		writeScalar(b, v.scalar)
	}
}

func writeScalar(b *strings.Builder, x any) {
	text, _ := json.Marshal(x) // strings, numbers, booleans and nil can always be encoded
	b.Write(text)
}
