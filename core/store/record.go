package store

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/pooled/pooled/core/atomicfile"
	"github.com/pooled/pooled/core/regular"
)

// maxState bounds the files that this package writes for itself.
const maxState = 1 << 20

// Record says where a model in the folder came from.
type Record struct {
	Name    string       `json:"name"`
	Source  string       `json:"source"`
	Pulled  time.Time    `json:"pulled"`
	Licence string       `json:"licence,omitempty"`
	Files   []RecordFile `json:"files"`
}

// RecordFile is one file of a [Record].
type RecordFile struct {
	Name   string `json:"name"`
	Size   int64  `json:"size"`
	SHA256 string `json:"sha256"` // as computed here
}

// readRecord returns what is known about a model; a missing or damaged record is no record.
func (s *Store) readRecord(name string) (Record, bool) {
	if checkName(name) != nil {
		return Record{}, false
	}
	var r Record
	err := readJSON(s.recordPath(name), &r)
	return r, err == nil
}

// resume is the sidecar of FILE.part: what the bytes in it belong to.
type resume struct {
	URL          string `json:"url"` // without credentials and query
	ETag         string `json:"etag,omitempty"`
	LastModified string `json:"lastModified,omitempty"`
	Size         int64  `json:"size"`             // announced; 0 when the server did not say
	SHA256       string `json:"sha256,omitempty"` // announced
	Done         bool   `json:"done,omitempty"`   // FILE is whole and SHA256 was computed from it
}

// names reports whether something says what file the bytes are of. Without it, two halves may be of different files.
func (r resume) names() bool { return r.ETag != "" || r.LastModified != "" || r.SHA256 != "" }

// errState says that a sidecar cannot be trusted; the download begins again.
var errState = errors.New("not a resume record")

// parseResume decodes and checks a sidecar.
func parseResume(b []byte) (resume, error) {
	var r resume
	d := json.NewDecoder(bytes.NewReader(b))
	d.DisallowUnknownFields()
	if err := d.Decode(&r); err != nil {
		return resume{}, fmt.Errorf("%w: %w", errState, err)
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return resume{}, fmt.Errorf("%w: something follows it", errState)
	}
	switch {
	case r.URL == "" || len(r.URL) > 4096:
		return resume{}, fmt.Errorf("%w: url", errState)
	case !headerValue(r.ETag) || !headerValue(r.LastModified):
		return resume{}, fmt.Errorf("%w: etag or lastModified", errState)
	case r.Size < 0:
		return resume{}, fmt.Errorf("%w: size", errState)
	case r.SHA256 != "" && !isSHA256(r.SHA256):
		return resume{}, fmt.Errorf("%w: sha256", errState)
	case r.Done && (r.SHA256 == "" || r.Size == 0):
		return resume{}, fmt.Errorf("%w: done without size and sum", errState)
	}
	return r, nil
}

// headerValue reports whether s may go into a request header.
func headerValue(s string) bool {
	for i := range len(s) {
		if s[i] < ' ' || s[i] > '~' {
			return false
		}
	}
	return len(s) <= 1024
}

func readResume(path string) (resume, error) {
	b, err := regular.Read(path, maxState)
	if err != nil {
		return resume{}, err
	}
	return parseResume(b)
}

func readJSON(path string, into any) error {
	b, err := regular.Read(path, maxState)
	if err != nil {
		return err
	}
	return json.Unmarshal(b, into)
}

// writeJSON replaces a file in one step: a reader sees the old or the new content.
func writeJSON(path string, v any) error {
	b, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return err
	}
	return atomicfile.Write(path, b, []byte("\n"))
}
