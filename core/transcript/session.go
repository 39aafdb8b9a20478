package transcript

import (
	"bufio"
	"bytes"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/pooled/pooled/core/atomicfile"
	"github.com/pooled/pooled/core/chat"
)

// sessionVersion is the version of a session's form.
const sessionVersion = 1

// maxLine bounds a line of a session, in bytes: a call may write a large file.
const maxLine = 64 << 20

// entry is one line of a session.
type entry struct {
	// Kind is "session" for the first line, "message", "back" or "end".
	Kind string    `json:"kind"`
	Time time.Time `json:"time"`
	// Version and Model are the first line's.
	Version int    `json:"version,omitempty"`
	Model   string `json:"model,omitempty"`
	// Message is what was added to the conversation.
	Message *Message `json:"message,omitempty"`
	// To is the length that the conversation was cut back to.
	To int `json:"to,omitempty"`
	// Done says how a turn ended.
	Done *Outcome `json:"done,omitempty"`
}

// Session keeps a conversation on disk, one line of JSON for each message. Every line is handed to the system as it comes,
// so that it outlives the process; at the end of a turn it is written through, so that it outlives the machine.
//
// Owns: its file; the caller closes it. A nil session keeps nothing. Safe for concurrent use; one process writes a session
// at a time.
type Session struct {
	// ID is the session's name in its project.
	ID string

	mu sync.Mutex
	f  *os.File
}

// SessionInfo describes a session that is kept.
type SessionInfo struct {
	// ID is its name.
	ID string
	// Title is what was asked first, shortened.
	Title string
	// Model is what it began with.
	Model string
	// Turns counts what was asked.
	Turns int
	// Created and Used are the times of its first and its last line.
	Created, Used time.Time
}

func (p *Project) sessions() string { return filepath.Join(p.dir, "sessions") }

const sessionSuffix = ".jsonl"

// NewSession begins a session.
func (p *Project) NewSession(model string) (*Session, error) {
	if err := os.MkdirAll(p.sessions(), 0o700); err != nil {
		return nil, err
	}
	now := time.Now().UTC()
	id := now.Format("20060102-150405-") + strings.ToLower(rand.Text()[:4])
	name := filepath.Join(p.sessions(), id+sessionSuffix)
	line, err := encode(entry{Kind: "session", Time: now, Version: sessionVersion, Model: model})
	if err != nil {
		return nil, err
	}
	if err := atomicfile.Write(name, line); err != nil {
		return nil, err
	}
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		return nil, err
	}
	return &Session{ID: id, f: f}, nil
}

// encode returns the line of an entry.
func encode(e entry) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	err := enc.Encode(e)
	return b.Bytes(), err
}

// write appends a line with a single write.
func (s *Session) write(e entry) error {
	e.Time = time.Now().UTC()
	line, err := encode(e)
	if err == nil {
		_, err = s.f.Write(line)
	}
	if err != nil {
		return fmt.Errorf("the session cannot be saved: %w", err)
	}
	return nil
}

// Append adds messages.
func (s *Session) Append(ms ...*Message) error {
	if s == nil {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, m := range ms {
		if err := s.write(entry{Kind: "message", Message: m}); err != nil {
			return err
		}
	}
	return nil
}

// Back notes that the conversation was cut to its first n messages.
func (s *Session) Back(n int) error {
	if s == nil {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.write(entry{Kind: "back", To: n})
}

// End notes that a turn ended and writes everything through.
func (s *Session) End(o Outcome) error {
	if s == nil {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.write(entry{Kind: "end", Done: &o}); err != nil {
		return err
	}
	if err := s.f.Sync(); err != nil {
		return fmt.Errorf("the session cannot be saved: %w", err)
	}
	return nil
}

// Close closes the file.
func (s *Session) Close() error {
	if s == nil {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.f.Close()
}

// Sessions lists the sessions of a project, last used first. Those without a message are left out.
func (p *Project) Sessions() ([]SessionInfo, error) {
	names, err := os.ReadDir(p.sessions())
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var list []SessionInfo
	for _, n := range names {
		id, ok := strings.CutSuffix(n.Name(), sessionSuffix)
		if !ok || !n.Type().IsRegular() {
			continue
		}
		info := SessionInfo{ID: id}
		_, _, err := readSession(filepath.Join(p.sessions(), n.Name()), func(e entry) {
			if info.Created.IsZero() {
				info.Created, info.Model = e.Time, e.Model
			}
			info.Used = e.Time
			if m := e.Message; m != nil && m.Role == chat.RoleUser && !m.Auto {
				if info.Turns++; info.Turns == 1 {
					info.Title = Brief(m.Text)
				}
			}
		})
		if err == nil && info.Turns > 0 {
			list = append(list, info)
		}
	}
	slices.SortFunc(list, func(a, b SessionInfo) int {
		if c := b.Used.Compare(a.Used); c != 0 {
			return c
		}
		return strings.Compare(b.ID, a.ID)
	})
	return list, nil
}

// Resume opens a session to go on with it, and returns what was said. An empty id is the session used last.
//
// A last line that is not whole, because its writer was killed, is dropped; note says so.
//
// Errors: [ErrUnknown], [*DamagedError].
func (p *Project) Resume(id string) (s *Session, history []Message, note string, err error) {
	if id == "" {
		list, err := p.Sessions()
		if err != nil {
			return nil, nil, "", err
		}
		if len(list) == 0 {
			return nil, nil, "", fmt.Errorf("%w: a session in this project", ErrUnknown)
		}
		id = list[0].ID
	}
	if filepath.Base(id) != id || !filepath.IsLocal(id) {
		return nil, nil, "", fmt.Errorf("%w: the session %q", ErrUnknown, id)
	}
	name := filepath.Join(p.sessions(), id+sessionSuffix)
	good, dropped, err := readSession(name, func(e entry) {
		switch {
		case e.Message != nil:
			history = append(history, *e.Message)
		case e.Kind == "back":
			history = history[:max(0, min(e.To, len(history)))]
		}
	})
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil, "", fmt.Errorf("%w: the session %q", ErrUnknown, id)
	}
	if err != nil {
		return nil, nil, "", err
	}
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		return nil, nil, "", err
	}
	if dropped > 0 {
		note = fmt.Sprintf("the last entry of the session was not complete (%d bytes) and was left out", dropped)
		if err := f.Truncate(good); err != nil {
			return nil, nil, "", errors.Join(err, f.Close())
		}
	}
	return &Session{ID: id, f: f}, history, note, nil
}

// readSession calls visit with every entry. Good is where the whole lines end; dropped is how many bytes follow.
//
// Errors: [*DamagedError].
func readSession(name string, visit func(entry)) (good, dropped int64, err error) {
	f, err := os.Open(name)
	if err != nil {
		return 0, 0, err
	}
	defer f.Close()
	st, err := f.Stat()
	if err != nil {
		return 0, 0, err
	}
	r := bufio.NewReader(f)
	for n := 1; ; n++ {
		text, err := readLine(r)
		if errors.Is(err, io.EOF) && len(text) == 0 && n > 1 {
			return good, 0, nil
		}
		if err != nil && !errors.Is(err, io.EOF) {
			return good, 0, &DamagedError{Path: name, Line: n, Err: err}
		}
		var e entry
		bad := json.Unmarshal(text, &e)
		if bad == nil && (e.Kind == "message") != (e.Message != nil) {
			bad = fmt.Errorf("an entry of the kind %q", e.Kind)
		}
		last := good+int64(len(text)) >= st.Size()
		switch {
		case n == 1 && (bad != nil || text[len(text)-1] != '\n' || e.Kind != "session" || e.Version < 1 || e.Version > sessionVersion):
			// The first line is written whole, with the file.
			return 0, 0, &DamagedError{Path: name, Line: 1, Err: fmt.Errorf("it is not a session of version %d", sessionVersion)}
		case last && (bad != nil || text[len(text)-1] != '\n'):
			return good, st.Size() - good, nil
		case bad != nil:
			return good, 0, &DamagedError{Path: name, Line: n, Err: bad}
		}
		good += int64(len(text))
		visit(e)
	}
}

// readLine reads a line with its end.
func readLine(r *bufio.Reader) ([]byte, error) {
	var out []byte
	for {
		part, err := r.ReadSlice('\n')
		out = append(out, part...)
		if len(out) > maxLine {
			return nil, fmt.Errorf("it is longer than %d bytes", maxLine)
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return out, err
		}
	}
}
