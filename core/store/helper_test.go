package store

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"math"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/pooled/pooled/core/gguf"
)

// model returns a valid GGUF file of about size bytes; seed changes its content.
func model(tb testing.TB, size int, seed byte, meta map[string]any) []byte {
	tb.Helper()
	w := gguf.NewWriter()
	set := func(key string, v any) {
		if err := w.Set(key, v); err != nil {
			tb.Fatal(err)
		}
	}
	set("general.architecture", "llama")
	set("llama.context_length", uint32(2048))
	set("llama.block_count", uint32(3))
	for key, v := range meta {
		set(key, v)
	}
	data := make([]byte, size)
	for i := range data {
		data[i] = byte(i*31) ^ byte(i>>8) ^ seed
	}
	if err := w.AddTensor(fmt.Sprintf("t%d.weight", seed), gguf.I8, []int{size}, data); err != nil {
		tb.Fatal(err)
	}
	var b bytes.Buffer
	if _, err := w.WriteTo(&b); err != nil {
		tb.Fatal(err)
	}
	return b.Bytes()
}

// parts returns the files of a split model.
func parts(tb testing.TB, count int) [][]byte {
	tb.Helper()
	var out [][]byte
	for i := range count {
		out = append(out, model(tb, 5000, byte(i), map[string]any{
			"split.no": uint16(i), "split.count": uint16(count), "split.tensors.count": int32(count),
		}))
	}
	return out
}

// parsed is an address.
func parsed(tb testing.TB, raw string) *url.URL {
	tb.Helper()
	u, err := url.Parse(raw)
	if err != nil {
		tb.Fatal(err)
	}
	return u
}

func sum(b []byte) string {
	h := sha256.Sum256(b)
	return hex.EncodeToString(h[:])
}

// server serves files with ranges and tags, and misbehaves as its hook says.
type server struct {
	*httptest.Server
	mu    sync.Mutex
	files map[string][]byte
	// hook may answer a request itself and return true.
	hook  func(n int, w http.ResponseWriter, r *http.Request) bool
	count map[string]int // requests by path
	log   []string       // "path range" of every request
}

func serve(tb testing.TB, files map[string][]byte) *server {
	s := &server{files: files, count: map[string]int{}}
	s.Server = httptest.NewServer(s)
	tb.Cleanup(s.Close)
	return s
}

func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	s.count[r.URL.Path]++
	n := s.count[r.URL.Path]
	s.log = append(s.log, strings.TrimSpace(r.URL.Path+" "+r.Header.Get("Range")))
	data, ok := s.files[r.URL.Path]
	hook := s.hook
	s.mu.Unlock()
	if hook != nil && hook(n, w, r) {
		return
	}
	if !ok {
		http.NotFound(w, r)
		return
	}
	w.Header().Set("ETag", strconv.Quote(sum(data)[:12]))
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(data))
}

// cut sends the headers of the whole file and the first n bytes, then breaks the connection.
func cut(w http.ResponseWriter, data []byte, n int) {
	w.Header().Set("ETag", strconv.Quote(sum(data)[:12]))
	w.Header().Set("Content-Length", strconv.Itoa(len(data)))
	w.WriteHeader(http.StatusOK)
	_, _ = w.Write(data[:n])
	w.(http.Flusher).Flush()
	panic(http.ErrAbortHandler)
}

func (s *server) requests() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]string(nil), s.log...)
}

// store returns a store in a fresh folder that does not wait between tries.
func store(tb testing.TB, srv *server) *Store {
	tb.Helper()
	hub := "http://127.0.0.1:1"
	if srv != nil {
		hub = srv.URL
	}
	s, err := NewStore(Options{Dir: filepath.Join(tb.TempDir(), "models"), Hub: hub, Catalog: []Entry{}})
	if err != nil {
		tb.Fatal(err)
	}
	s.sleep = func(ctx context.Context, _ time.Duration) error { return ctx.Err() }
	s.free = func(string) (int64, bool) { return math.MaxInt64, true }
	return s
}

// checkPulled fails unless the folder holds exactly this model, and nothing is left of the pull.
func checkPulled(tb testing.TB, s *Store, name string, files ...[]byte) {
	tb.Helper()
	for i, want := range files {
		file := partFile(name, i+1, len(files))
		got, err := os.ReadFile(filepath.Join(s.dir, file))
		if err != nil {
			tb.Fatal(err)
		}
		if !bytes.Equal(got, want) {
			tb.Errorf("%s differs: %d bytes, want %d", file, len(got), len(want))
		}
	}
	r, ok := s.readRecord(name)
	if !ok || len(r.Files) != len(files) {
		tb.Fatalf("record: %+v, %v", r, ok)
	}
	for i, f := range r.Files {
		if f.SHA256 != sum(files[i]) || f.Size != int64(len(files[i])) {
			tb.Errorf("record of %s: %+v", f.Name, f)
		}
	}
	if u, err := s.Unfinished(); err != nil || len(u) != 0 {
		tb.Errorf("unfinished after a pull: %v, %v", u, err)
	}
	if left, _ := filepath.Glob(filepath.Join(s.dir, "*.part*")); len(left) != 0 {
		tb.Errorf("left behind: %v", left)
	}
}

// checkNothing fails if the folder holds a model.
func checkNothing(tb testing.TB, s *Store) {
	tb.Helper()
	if got, err := s.List(); err != nil || len(got) != 0 {
		tb.Errorf("the folder holds %v, %v; want nothing", got, err)
	}
}

func partSize(s *Store, name string) int64 {
	info, err := os.Stat(filepath.Join(s.pullDir(name), name+".gguf.part"))
	if err != nil {
		return -1
	}
	return info.Size()
}

// limited is a file on a disk with room for so many bytes.
type limited struct {
	partFileWriter
	room *int64
	full error
}

func (l limited) Write(b []byte) (int, error) {
	n := int(min(int64(len(b)), *l.room))
	w, err := l.partFileWriter.Write(b[:n])
	*l.room -= int64(w)
	if err == nil && n < len(b) {
		err = l.full
	}
	return w, err
}
