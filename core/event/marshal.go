package event

import "encoding/json"

// Version is the version of the form of the lines.
const Version = 1

// MarshalJSON implements [json.Marshaler]: the first line says the version of all.
func (s Session) MarshalJSON() ([]byte, error) {
	type plain Session
	return json.Marshal(struct {
		Version int `json:"version"`
		plain
	}{Version, plain(s)})
}

// Marshal writes an event as a JSON object on one line, without its end.
func Marshal(e Event) ([]byte, error) {
	body, err := json.Marshal(e)
	if err != nil {
		return nil, err
	}
	name, err := json.Marshal(e.Type())
	if err != nil {
		return nil, err
	}
	out := append([]byte(`{"type":`), name...)
	if len(body) > 2 {
		out = append(out, ',')
	}
	return append(out, body[1:]...), nil
}
