package workspace

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"path"
	"strings"
	"unicode"
)

// Limits of a search.
const (
	maxSearchFiles = 20_000
	maxSearchBytes = 256 << 20
	maxMatchText   = 200
)

// Match is a line that a search found.
type Match struct {
	// Path is the file, escaped. Line is the line's number from 1, or 0 when the file's name matches.
	Path string
	Line int
	// Text is the line without space around it, shortened.
	Text string
}

// Found is the result of a search.
type Found struct {
	Matches []Match
	// More is how many matches there are beyond those.
	More int
	// Files is how many files were read, Skipped how many were not since they are binary or too large.
	Files, Skipped int
	// Partial says that the project has more files than a search reads.
	Partial bool
}

// Search finds the lines that hold query, and the files whose name does, below a path or in one file. Case matters when
// query has a capital letter. At most n matches are returned.
//
// Errors: [*PathError].
func (w *Workspace) Search(ctx context.Context, query, below string, n int) (Found, error) {
	var found Found
	at, info, err := w.locate(below)
	switch {
	case err != nil:
		return found, err
	case info == nil:
		return found, pathError(below, fs.ErrNotExist, "")
	case query == "":
		return found, pathError(below, errors.New("there is nothing to search for"), "")
	}
	s := search{w: w, ctx: ctx, query: []byte(query), fold: !strings.ContainsFunc(query, unicode.IsUpper), n: n, found: &found}
	if !info.IsDir() {
		err = s.file(at, Entry{Size: info.Size()})
	} else {
		err = w.walk(ctx, at, 0, s.file)
	}
	if errors.Is(err, errEnough) {
		found.Partial, err = true, nil
	}
	return found, err
}

type search struct {
	w     *Workspace
	ctx   context.Context
	query []byte
	fold  bool
	n     int
	found *Found
	bytes int64
}

func (s *search) file(p string, e Entry) error {
	if s.found.Files+s.found.Skipped >= maxSearchFiles || s.bytes >= maxSearchBytes {
		return errEnough
	}
	if err := s.ctx.Err(); err != nil {
		return err
	}
	if s.matches([]byte(path.Base(p))) {
		s.add(Match{Path: Escape(p)})
	}
	if e.Size > MaxFile {
		s.found.Skipped++
		return nil
	}
	info, err := s.w.root.Lstat(p)
	if err != nil {
		return nil
	}
	data, _, err := s.w.content(p, p, info)
	if err != nil || binary(data[:min(len(data), sniffed)]) {
		s.found.Skipped++
		return nil
	}
	s.found.Files++
	s.bytes += int64(len(data))
	if !s.matches(data) {
		return nil
	}
	line := 0
	for l := range bytes.Lines(data) {
		line++
		if s.matches(l) {
			s.add(Match{Path: Escape(p), Line: line, Text: shorten(l, s.query)})
		}
	}
	return nil
}

func (s *search) matches(text []byte) bool {
	if s.fold {
		text = bytes.ToLower(text)
	}
	return bytes.Contains(text, s.query)
}

func (s *search) add(m Match) {
	if len(s.found.Matches) >= s.n {
		s.found.More++
		return
	}
	s.found.Matches = append(s.found.Matches, m)
}

// shorten trims a line and cuts a long one around the first match.
func shorten(line, query []byte) string {
	line = bytes.ToValidUTF8(bytes.TrimSpace(line), []byte("\uFFFD"))
	if len(line) <= maxMatchText {
		return string(line)
	}
	from := max(0, bytes.Index(bytes.ToLower(line), bytes.ToLower(query))-maxMatchText/4)
	from = min(from, len(line)-1)
	to := min(len(line), from+maxMatchText)
	text := string(bytes.ToValidUTF8(line[from:to], nil))
	if from > 0 {
		text = "…" + text
	}
	if to < len(line) {
		text += "…"
	}
	return text
}
