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
	"github.com/pooled/pooled/core/filelock"
	"github.com/pooled/pooled/core/regular"
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
// What cannot be written, because the disk is full for a moment, is kept and written before the next line, behind the last
// one that is whole.
//
// Owns: its file, locked; the caller closes it. A nil session keeps nothing. Safe for concurrent use.
type Session struct {
	// ID is the session's name in its project.
	ID string

	mu      sync.Mutex
	f       *os.File
	good    int64  // where the whole lines end
	pending []byte // lines behind it that are not written yet
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
	// Err says why it cannot be gone on with; nil when it can.
	Err error
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
	f, err := hold(name, id)
	if err != nil {
		return nil, err
	}
	return &Session{ID: id, f: f, good: int64(len(line))}, nil
}

// hold opens a session's file for this process alone.
//
// Errors: [ErrInUse].
func hold(name, id string) (*os.File, error) {
	f, err := regular.OpenFile(name, os.O_WRONLY, 0)
	if err != nil {
		return nil, err
	}
	held, err := filelock.Try(f)
	if held {
		err = fmt.Errorf("the session %s %w", id, ErrInUse)
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// encode returns the line of an entry.
func encode(e entry) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	err := enc.Encode(e)
	return b.Bytes(), err
}

// write appends lines, with what is pending, in a single write.
func (s *Session) write(entries ...entry) error {
	now := time.Now().UTC()
	for _, e := range entries {
		e.Time = now
		line, err := encode(e)
		if err != nil {
			return fmt.Errorf("the session cannot be saved: %w", err)
		}
		s.pending = append(s.pending, line...)
	}
	if err := s.flush(); err != nil {
		return fmt.Errorf("the session cannot be saved: %w", err)
	}
	return nil
}

// flush writes what is pending behind the last whole line; what an attempt before left there is overwritten or cut off.
func (s *Session) flush() error {
	if _, err := s.f.WriteAt(s.pending, s.good); err != nil {
		return errors.Join(err, s.f.Truncate(s.good))
	}
	s.good += int64(len(s.pending))
	s.pending = nil
	return nil
}

// Append adds messages.
func (s *Session) Append(ms ...*Message) error {
	if s == nil {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	entries := make([]entry, len(ms))
	for i, m := range ms {
		entries[i] = entry{Kind: "message", Message: m}
	}
	return s.write(entries...)
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

// Close writes what is pending and closes the file.
func (s *Session) Close() error {
	if s == nil {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	var err error
	if len(s.pending) > 0 {
		err = s.flush()
	}
	return errors.Join(err, s.f.Close())
}

// Sessions lists the sessions of a project, last used first. Those without a message are left out; damaged ones are listed
// with what can be read of them.
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
		if _, damaged := errors.AsType[*DamagedError](err); damaged || errors.Is(err, ErrVersion) {
			info.Err = err
		}
		if info.Err != nil || err == nil && info.Turns > 0 {
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

// Resume opens a session to go on with it, and returns what was said. An empty id is the session used last, of those that
// can be read.
//
// A last line that is not whole, because its writer was killed, is dropped; note says so.
//
// Errors: [ErrUnknown], [ErrInUse], [ErrVersion], [*DamagedError].
func (p *Project) Resume(id string) (s *Session, history []Message, note string, err error) {
	if id, err = p.find(id); err != nil {
		return nil, nil, "", err
	}
	name := filepath.Join(p.sessions(), id+sessionSuffix)
	f, err := hold(name, id)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil, "", fmt.Errorf("%w: the session %q", ErrUnknown, id)
	}
	if err != nil {
		return nil, nil, "", err
	}
	history, good, dropped, err := readHistory(name)
	if err == nil && dropped > 0 {
		note = fmt.Sprintf("the last entry of the session was not complete (%d bytes) and was left out", dropped)
		err = f.Truncate(good)
	}
	if err != nil {
		return nil, nil, "", errors.Join(err, f.Close())
	}
	return &Session{ID: id, f: f, good: good}, history, note, nil
}

// Read returns what was said in a session, also in one that is in use. An empty id is that of [Project.Resume].
//
// Errors: [ErrUnknown], [ErrVersion], [*DamagedError].
func (p *Project) Read(id string) ([]Message, error) {
	id, err := p.find(id)
	if err != nil {
		return nil, err
	}
	history, _, _, err := readHistory(filepath.Join(p.sessions(), id+sessionSuffix))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%w: the session %q", ErrUnknown, id)
	}
	return history, err
}

// find returns the name of a session that may be there.
func (p *Project) find(id string) (string, error) {
	if id == "" {
		list, err := p.Sessions()
		if err != nil {
			return "", err
		}
		i := slices.IndexFunc(list, func(s SessionInfo) bool { return s.Err == nil })
		if i < 0 {
			return "", fmt.Errorf("%w: a session in this project", ErrUnknown)
		}
		return list[i].ID, nil
	}
	if filepath.Base(id) != id || !filepath.IsLocal(id) {
		return "", fmt.Errorf("%w: the session %q", ErrUnknown, id)
	}
	return id, nil
}

// readHistory returns the messages of a session; good and dropped are those of [readSession].
func readHistory(name string) (history []Message, good, dropped int64, err error) {
	good, dropped, err = readSession(name, func(e entry) {
		switch {
		case e.Message != nil:
			e.Message.mend()
			history = append(history, *e.Message)
		case e.Kind == "back":
			history = history[:max(0, min(e.To, len(history)))]
		}
	})
	return history, good, dropped, err
}

// readSession calls visit with every entry. Good is where the whole lines end; dropped is how many bytes follow.
//
// Errors: [ErrVersion], [*DamagedError].
func readSession(name string, visit func(entry)) (good, dropped int64, err error) {
	f, err := regular.Open(name)
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
		case n == 1 && bad == nil && e.Kind == "session" && e.Version > sessionVersion:
			return 0, 0, fmt.Errorf("the session %s: %w", name, ErrVersion)
		case n == 1 && (bad != nil || text[len(text)-1] != '\n' || e.Kind != "session" || e.Version < 1):
			// The first line is written whole, with the file.
			return 0, 0, &DamagedError{Path: name, Line: 1, Err: errors.New("it does not begin a session")}
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
