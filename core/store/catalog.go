package store

import (
	_ "embed"
	"encoding/json"
	"strings"
	"sync"
)

// Entry is a model that can be pulled by its name.
type Entry struct {
	Name        string `json:"name"`
	Description string `json:"description"`
	Source      string `json:"source"`           // a URL, or hf:owner/repository/file
	Size        int64  `json:"size,omitempty"`   // bytes; 0 when not known in advance
	SHA256      string `json:"sha256,omitempty"` // empty when not known in advance
	Family      string `json:"family"`           // GGUF architecture
	Parameters  string `json:"parameters"`
	Licence     string `json:"licence"`
}

//go:embed catalog.json
var catalogJSON []byte

var embedded = sync.OnceValue(func() []Entry {
	var entries []Entry
	if err := json.Unmarshal(catalogJSON, &entries); err != nil {
		panic("store: the embedded catalog is not valid: " + err.Error())
	}
	return entries
})

// Catalog returns the models that this version knows by name, in the order in which they should be shown.
func Catalog() []Entry { return append([]Entry(nil), embedded()...) }

// entry returns the catalog entry of a name, whatever its case.
func (s *Store) entry(name string) (Entry, bool) {
	for _, e := range s.catalog {
		if strings.EqualFold(e.Name, name) {
			return e, true
		}
	}
	return Entry{}, false
}
