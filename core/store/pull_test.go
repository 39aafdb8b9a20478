package store

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

func TestPullURL(t *testing.T) {
	data := model(t, 300_000, 1, nil)
	srv := serve(t, map[string][]byte{"/dir/Tiny-Q8_0.gguf": data})
	s := store(t, srv)
	var seen []Progress
	m, err := s.Pull(t.Context(), srv.URL+"/dir/Tiny-Q8_0.gguf?token=secret", func(p Progress) { seen = append(seen, p) })
	if err != nil {
		t.Fatal(err)
	}
	checkPulled(t, s, "Tiny-Q8_0", data)
	if m.Name != "Tiny-Q8_0" || m.Size != int64(len(data)) || m.Problem != "" || m.Parts != 1 {
		t.Errorf("model %+v", m)
	}
	var phases []Phase
	last := int64(0)
	for _, p := range seen {
		if len(phases) == 0 || phases[len(phases)-1] != p.Phase {
			phases = append(phases, p.Phase)
		}
		if p.Phase == Downloading && (p.Bytes < last || p.Total != int64(len(data))) {
			t.Errorf("progress went from %d to %d of %d", last, p.Bytes, p.Total)
		}
		if p.Phase == Downloading {
			last = p.Bytes
		}
	}
	if fmt.Sprint(phases) != "[downloading verifying done]" || last != int64(len(data)) {
		t.Errorf("phases %v, %d bytes", phases, last)
	}
	if r, _ := s.readRecord("Tiny-Q8_0"); strings.Contains(r.Source, "secret") {
		t.Errorf("the record keeps the query: %s", r.Source)
	}
	before := len(srv.requests())
	if _, err := s.Pull(t.Context(), srv.URL+"/dir/Tiny-Q8_0.gguf", nil); err != nil {
		t.Errorf("second pull: %v", err)
	}
	if len(srv.requests()) != before {
		t.Error("the second pull asked the server")
	}
	if _, err := s.Pull(t.Context(), srv.URL+"/other/tiny-q8_0.gguf", nil); !errors.Is(err, ErrExists) {
		t.Errorf("another source of the same name: %v, want ErrExists", err)
	}
}

func TestPullResumesAfterBreak(t *testing.T) {
	data := model(t, 300_000, 1, nil)
	srv := serve(t, map[string][]byte{"/m.gguf": data})
	srv.hook = func(n int, w http.ResponseWriter, r *http.Request) bool {
		if n <= 2 && r.URL.Path == "/m.gguf" {
			if n == 1 {
				cut(w, data, 100_000)
			}
			w.WriteHeader(http.StatusServiceUnavailable)
			return true
		}
		return false
	}
	s := store(t, srv)
	waits := 0
	s.sleep = func(context.Context, time.Duration) error { waits++; return nil }
	if _, err := s.Pull(t.Context(), srv.URL+"/m.gguf", nil); err != nil {
		t.Fatal(err)
	}
	checkPulled(t, s, "m", data)
	log := srv.requests()
	if last := log[len(log)-1]; last != "/m.gguf bytes=100000-" {
		t.Errorf("the last request was %q, want the rest", last)
	}
	if waits != 2 {
		t.Errorf("waited %d times, want 2", waits)
	}
}

func TestPullResumesInAnotherProcess(t *testing.T) {
	data := model(t, 300_000, 1, nil)
	srv := serve(t, map[string][]byte{"/m.gguf": data})
	ctx, cancel := context.WithCancelCause(t.Context())
	why := errors.New("the user stopped it")
	s := store(t, srv)
	srv.hook = func(n int, w http.ResponseWriter, r *http.Request) bool {
		if n == 1 && r.URL.Path == "/m.gguf" {
			w.Header().Set("ETag", strconv.Quote(sum(data)[:12]))
			w.Header().Set("Content-Length", strconv.Itoa(len(data)))
			_, _ = w.Write(data[:120_000])
			w.(http.Flusher).Flush()
			for partSize(s, "m") < 120_000 && r.Context().Err() == nil {
				time.Sleep(time.Millisecond)
			}
			cancel(why)
			<-r.Context().Done()
			return true
		}
		return false
	}
	_, err := s.Pull(ctx, srv.URL+"/m.gguf", nil)
	if !errors.Is(err, why) {
		t.Fatalf("cancelled pull: %v, want the cause", err)
	}
	if got := partSize(s, "m"); got != 120_000 {
		t.Fatalf("%d bytes were kept, want 120000", got)
	}
	checkNothing(t, s)
	u, err := s.Unfinished()
	if err != nil || len(u) != 1 || u[0].Name != "m" || u[0].Bytes != 120_000 || !strings.HasSuffix(u[0].Source, "/m.gguf") {
		t.Errorf("unfinished: %+v, %v", u, err)
	}

	again := store(t, srv)
	again.dir = s.dir
	checked := false
	if _, err := again.Pull(t.Context(), srv.URL+"/m.gguf", func(p Progress) { checked = checked || p.Phase == Checking }); err != nil {
		t.Fatal(err)
	}
	checkPulled(t, again, "m", data)
	if log := srv.requests(); log[len(log)-1] != "/m.gguf bytes=120000-" || !checked {
		t.Errorf("requests %v, checked %v", log, checked)
	}
}

func TestPullFileChanges(t *testing.T) {
	old, data := model(t, 300_000, 1, nil), model(t, 290_000, 2, nil)
	for _, tt := range []struct {
		name string
		hook func(n int, w http.ResponseWriter, r *http.Request) bool
	}{
		{"honest server", func(n int, w http.ResponseWriter, r *http.Request) bool {
			if n == 1 {
				cut(w, old, 100_000)
			}
			return false
		}},
		{"server that ignores If-Range", func(n int, w http.ResponseWriter, r *http.Request) bool {
			switch n {
			case 1:
				cut(w, old, 100_000)
			default:
				r.Header.Del("If-Range")
			}
			return false
		}},
		{"server that ignores Range", func(n int, w http.ResponseWriter, r *http.Request) bool {
			switch n {
			case 1:
				cut(w, old, 100_000)
			default:
				r.Header.Del("Range")
			}
			return false
		}},
		{"shorter than what is there", func(n int, w http.ResponseWriter, r *http.Request) bool {
			switch n {
			case 1:
				cut(w, old, 299_000)
			default:
				r.Header.Del("If-Range")
			}
			return false
		}},
		{"answer that begins elsewhere", func(n int, w http.ResponseWriter, r *http.Request) bool {
			switch n {
			case 1:
				cut(w, old, 100_000)
			case 2:
				w.Header().Set("Content-Range", fmt.Sprintf("bytes 5-%d/%d", len(data)-1, len(data)))
				w.WriteHeader(http.StatusPartialContent)
				_, _ = w.Write(data[5:])
				return true
			}
			return false
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			srv := serve(t, map[string][]byte{"/m.gguf": data})
			srv.hook = func(n int, w http.ResponseWriter, r *http.Request) bool {
				return r.URL.Path == "/m.gguf" && tt.hook(n, w, r)
			}
			s := store(t, srv)
			if _, err := s.Pull(t.Context(), srv.URL+"/m.gguf", nil); err != nil {
				t.Fatal(err)
			}
			checkPulled(t, s, "m", data)
		})
	}
}

func TestPullIgnoredRangeSameFile(t *testing.T) {
	data := model(t, 300_000, 1, nil)
	srv := serve(t, map[string][]byte{"/m.gguf": data})
	srv.hook = func(n int, w http.ResponseWriter, r *http.Request) bool {
		if n == 1 && r.URL.Path == "/m.gguf" {
			cut(w, data, 100_000)
		}
		r.Header.Del("Range")
		return false
	}
	s := store(t, srv)
	if _, err := s.Pull(t.Context(), srv.URL+"/m.gguf", nil); err != nil {
		t.Fatal(err)
	}
	checkPulled(t, s, "m", data)
}

func TestPullRefuses(t *testing.T) {
	data := model(t, 50_000, 1, nil)
	other := sum([]byte("other"))
	for _, tt := range []struct {
		name  string
		entry Entry
		hook  func(w http.ResponseWriter, r *http.Request)
		want  error
		says  string
	}{
		{name: "wrong hash", entry: Entry{SHA256: other}, want: ErrHash, says: "want " + other},
		{name: "wrong size", entry: Entry{Size: 1}, want: ErrSize, says: "catalog announces 1 bytes"},
		{name: "hash announced by the hub", want: ErrHash, says: other, hook: func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("X-Linked-Etag", strconv.Quote(other))
			_, _ = w.Write(data)
		}},
		{name: "hub and catalog disagree", entry: Entry{SHA256: sum(data)}, want: ErrHash, says: "announces " + other, hook: func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("X-Linked-Etag", strconv.Quote(other))
			_, _ = w.Write(data)
		}},
		{name: "longer than announced", want: ErrSize, says: "server announces 1000 bytes", hook: func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("X-Linked-Size", "1000")
			w.(http.Flusher).Flush() // sent in chunks, without a length
			_, _ = w.Write(data)
		}},
		{name: "error page", want: ErrNotModel, says: "<html>", hook: func(w http.ResponseWriter, _ *http.Request) {
			_, _ = w.Write([]byte("<html>please log in</html>"))
		}},
		{name: "GGUF that is broken", want: ErrNotModel, says: "version", hook: func(w http.ResponseWriter, _ *http.Request) {
			_, _ = w.Write([]byte("GGUF but not really a model, and long enough for a header"))
		}},
		{name: "cut short on the server", want: ErrNotModel, says: "download it again", hook: func(w http.ResponseWriter, _ *http.Request) {
			_, _ = w.Write(data[:40_000])
		}},
		{name: "compressed", want: ErrServer, says: "gzip", hook: func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Encoding", "gzip")
			_, _ = w.Write(data)
		}},
		{name: "not found", want: ErrServer, says: "404", hook: func(w http.ResponseWriter, r *http.Request) { http.NotFound(w, r) }},
		{name: "gated", want: ErrServer, says: "POOLED_HUB_TOKEN", hook: func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusForbidden) }},
		{name: "always failing", want: ErrServer, says: "gave up after 8 tries", hook: func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusBadGateway) }},
		{name: "cut short every time, without ranges", want: ErrServer, says: "gave up after 8 tries", hook: func(w http.ResponseWriter, r *http.Request) {
			if r.Header.Get("Range") != "" {
				w.Header().Set("Content-Range", fmt.Sprintf("bytes 0-%d/%d", len(data)-1, len(data)))
				w.WriteHeader(http.StatusPartialContent)
				return
			}
			cut(w, data, 5000)
		}},
		{name: "redirect loop", want: ErrServer, says: "redirects", hook: func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, r.URL.Path, http.StatusFound) }},
	} {
		t.Run(tt.name, func(t *testing.T) {
			srv := serve(t, map[string][]byte{"/o/r/resolve/main/m.gguf": data})
			if tt.hook != nil {
				srv.hook = func(_ int, w http.ResponseWriter, r *http.Request) bool { tt.hook(w, r); return true }
			}
			s := store(t, srv)
			tt.entry.Name, tt.entry.Source = "entry", "hf:o/r/m.gguf"
			s.catalog = []Entry{tt.entry}
			_, err := s.Pull(t.Context(), "Entry", nil)
			if !errors.Is(err, tt.want) || !strings.Contains(err.Error(), tt.says) {
				t.Errorf("%v; want %v that says %q", err, tt.want, tt.says)
			}
			checkNothing(t, s)
			if n := partSize(s, "entry"); n > 0 {
				t.Errorf("%d bytes of a refused file were kept", n)
			}
		})
	}
}

func TestPullTakenName(t *testing.T) {
	srv := serve(t, map[string][]byte{"/Nano.gguf": model(t, 100, 1, nil)})
	s := store(t, srv)
	s.taken = []string{"nano"}
	if _, err := s.Pull(t.Context(), srv.URL+"/Nano.gguf", nil); !errors.Is(err, ErrName) || !strings.Contains(err.Error(), "another name") {
		t.Errorf("got %v, want %v", err, ErrName)
	}
	checkNothing(t, s)
}

func TestPullHub(t *testing.T) {
	data := model(t, 50_000, 1, nil)
	cdn := serve(t, map[string][]byte{"/blob": data})
	cdn.hook = func(_ int, w http.ResponseWriter, r *http.Request) bool {
		if r.Header.Get("Authorization") != "" {
			http.Error(w, "the token left the hub", http.StatusBadRequest)
			return true
		}
		return false
	}
	srv := serve(t, nil)
	srv.hook = func(_ int, w http.ResponseWriter, r *http.Request) bool {
		if r.Header.Get("Authorization") != "Bearer secret" || r.URL.Path != "/Owner/Repo-GGUF/resolve/v1.0/sub/m-Q4_0.gguf" {
			return false
		}
		w.Header().Set("X-Linked-Size", strconv.Itoa(len(data)))
		w.Header().Set("X-Linked-Etag", strconv.Quote(sum(data)))
		// Another host name, so that the token must not follow.
		http.Redirect(w, r, strings.Replace(cdn.URL, "127.0.0.1", "localhost", 1)+"/blob?signed=1", http.StatusFound)
		return true
	}
	for _, source := range []string{
		"hf:Owner/Repo-GGUF@v1.0/sub/m-Q4_0.gguf",
		srv.URL + "/Owner/Repo-GGUF/blob/v1.0/sub/m-Q4_0.gguf",
	} {
		s := store(t, srv)
		s.token = "secret"
		// Not every system knows the name localhost.
		s.client.Transport.(*http.Transport).DialContext = func(ctx context.Context, network, addr string) (net.Conn, error) {
			return (&net.Dialer{}).DialContext(ctx, network, strings.Replace(addr, "localhost", "127.0.0.1", 1))
		}
		if _, err := s.Pull(t.Context(), source, nil); err != nil {
			t.Fatal(err)
		}
		checkPulled(t, s, "m-Q4_0", data)
	}
}

func TestPullSums(t *testing.T) {
	data := model(t, 50_000, 1, nil)
	for _, tt := range []struct {
		name, side, fragment string
		want                 error
	}{
		{"sidecar", sum(data) + "  m.gguf\n", "", nil},
		{"sidecar of other files", sum([]byte("x")) + "  other.gguf\n" + sum(data) + " *m.gguf\n", "", nil},
		{"sidecar that disagrees", sum([]byte("x")) + "  m.gguf\n", "", ErrHash},
		{"fragment", "", "#sha256=" + strings.ToUpper(sum(data)), nil},
		{"fragment that disagrees", "", "#sha256=" + sum([]byte("x")), ErrHash},
		{"fragment that is no sum", "", "#sha256=12", ErrSource},
	} {
		t.Run(tt.name, func(t *testing.T) {
			srv := serve(t, map[string][]byte{"/m.gguf": data})
			if tt.side != "" {
				srv.files["/m.gguf.sha256"] = []byte(tt.side)
			}
			s := store(t, nil)
			_, err := s.Pull(t.Context(), srv.URL+"/m.gguf"+tt.fragment, nil)
			if !errors.Is(err, tt.want) {
				t.Fatalf("%v, want %v", err, tt.want)
			}
			if tt.want == nil {
				checkPulled(t, s, "m", data)
			}
		})
	}
}

func TestPullSplit(t *testing.T) {
	files := parts(t, 3)
	served := map[string][]byte{}
	for i, b := range files {
		served["/d/"+partFile("big", i+1, 3)] = b
	}
	srv := serve(t, served)
	broken := true
	srv.hook = func(_ int, w http.ResponseWriter, r *http.Request) bool {
		if broken && strings.Contains(r.URL.Path, "00003-of") && strings.HasSuffix(r.URL.Path, ".gguf") {
			w.WriteHeader(http.StatusNotFound)
			return true
		}
		return false
	}
	s := store(t, srv)
	source := srv.URL + "/d/" + partFile("big", 2, 3) // any part stands for all
	if _, err := s.Pull(t.Context(), source, nil); !errors.Is(err, ErrServer) {
		t.Fatalf("with a missing part: %v", err)
	}
	checkNothing(t, s)
	srv.mu.Lock()
	broken = false
	srv.mu.Unlock()
	before := len(srv.requests())
	m, err := s.Pull(t.Context(), source, nil)
	if err != nil {
		t.Fatal(err)
	}
	checkPulled(t, s, "big", files...)
	for _, r := range srv.requests()[before:] {
		if !strings.Contains(r, "00003-of") {
			t.Errorf("asked again for %q", r)
		}
	}
	if m.Parts != 3 || filepath.Base(m.Path) != "big-00001-of-00003.gguf" {
		t.Errorf("model %+v", m)
	}
	if err := s.Remove("big"); err != nil {
		t.Fatal(err)
	}
	checkNothing(t, s)
}

func TestPullBusy(t *testing.T) {
	data := model(t, 50_000, 1, nil)
	srv := serve(t, map[string][]byte{"/m.gguf": data})
	s := store(t, srv)
	unlock, err := s.lock("m")
	if err != nil {
		t.Fatal(err)
	}
	var busy *BusyError
	if _, err := s.Pull(t.Context(), srv.URL+"/M.gguf", nil); !errors.As(err, &busy) || !errors.Is(err, ErrBusy) || busy.PID != os.Getpid() {
		t.Errorf("second writer: %v, want a BusyError with the process", err)
	}
	if err := os.WriteFile(filepath.Join(s.dir, "m.gguf"), data, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := s.Remove("m"); !errors.Is(err, ErrBusy) {
		t.Errorf("Remove while it is pulled: %v", err)
	}
	unlock()
	if err := s.Remove("m"); err != nil {
		t.Errorf("Remove afterwards: %v", err)
	}
	if _, err := s.Pull(t.Context(), srv.URL+"/m.gguf", nil); err != nil {
		t.Errorf("Pull afterwards: %v", err)
	}
}

// A server that does not say how much it sends must not fill the disk.
func TestPullUnknownSizeLeavesSpace(t *testing.T) {
	head, sent := model(t, 100, 1, nil), 0
	srv := serve(t, nil)
	srv.hook = func(_ int, w http.ResponseWriter, r *http.Request) bool {
		if r.URL.Path != "/m.gguf" {
			return false
		}
		_, _ = w.Write(head)
		for block := make([]byte, 1<<20); sent < 3*spaceReserve; sent += len(block) {
			if _, err := w.Write(block); err != nil {
				return true
			}
		}
		return true
	}
	s := store(t, srv)
	looks := 0
	s.free = func(string) (int64, bool) {
		if looks++; looks == 1 {
			return 2 * spaceReserve, true
		}
		return spaceReserve - 1, true
	}
	if _, err := s.Pull(t.Context(), srv.URL+"/m.gguf", nil); !errors.Is(err, ErrSpace) {
		t.Fatalf("got %v, want %v", err, ErrSpace)
	}
	if n := partSize(s, "m"); n > spaceReserve {
		t.Errorf("%d bytes were written", n)
	}
}

func TestPullDiskFull(t *testing.T) {
	data := model(t, 300_000, 1, nil)
	srv := serve(t, map[string][]byte{"/m.gguf": data})
	s := store(t, srv)
	s.free = func(string) (int64, bool) { return 200_000 + spaceReserve, true }
	var space *SpaceError
	if _, err := s.Pull(t.Context(), srv.URL+"/m.gguf", nil); !errors.As(err, &space) || space.Need != int64(len(data))+spaceReserve {
		t.Fatalf("too little space: %v", err)
	}
	if n := partSize(s, "m"); n > 0 {
		t.Errorf("%d bytes were written although it cannot fit", n)
	}

	room := int64(130_000)
	s.free = func(string) (int64, bool) { return 0, false }
	s.create = func(path string) (partFileWriter, error) {
		f, err := createPart(path)
		return limited{f, &room, &os.PathError{Op: "write", Path: path, Err: syscall.ENOSPC}}, err
	}
	if _, err := s.Pull(t.Context(), srv.URL+"/m.gguf", nil); !errors.Is(err, ErrSpace) || !strings.Contains(err.Error(), "the disk is full") {
		t.Fatalf("disk that fills up: %v", err)
	}
	if n := partSize(s, "m"); n != 130_000 {
		t.Errorf("%d bytes were kept, want 130000", n)
	}
	checkNothing(t, s)
	room = 1 << 30
	if _, err := s.Pull(t.Context(), srv.URL+"/m.gguf", nil); err != nil {
		t.Fatal(err)
	}
	checkPulled(t, s, "m", data)
	if log := srv.requests(); log[len(log)-1] != "/m.gguf bytes=130000-" {
		t.Errorf("went on with %q", log[len(log)-1])
	}
}

func TestPullSilentServer(t *testing.T) {
	data := model(t, 50_000, 1, nil)
	srv := serve(t, map[string][]byte{"/m.gguf": data})
	srv.hook = func(n int, w http.ResponseWriter, r *http.Request) bool {
		if n == 1 && r.URL.Path == "/m.gguf" {
			w.Header().Set("ETag", strconv.Quote(sum(data)[:12]))
			w.Header().Set("Content-Length", strconv.Itoa(len(data)))
			_, _ = w.Write(data[:20_000])
			w.(http.Flusher).Flush()
			<-r.Context().Done()
			return true
		}
		return false
	}
	s := store(t, srv)
	s.stall = 50 * time.Millisecond
	var notes []string
	if _, err := s.Pull(t.Context(), srv.URL+"/m.gguf", func(p Progress) {
		if p.Phase == Waiting {
			notes = append(notes, p.Note)
		}
	}); err != nil {
		t.Fatal(err)
	}
	checkPulled(t, s, "m", data)
	if len(notes) != 1 || !strings.Contains(notes[0], errStalled.Error()) {
		t.Errorf("notes %q", notes)
	}
}

func TestPullNoServer(t *testing.T) {
	s := store(t, nil)
	waits := 0
	s.sleep = func(context.Context, time.Duration) error { waits++; return nil }
	_, err := s.Pull(t.Context(), "http://127.0.0.1:1/m.gguf", nil)
	if err == nil || waits != maxDials-1 {
		t.Errorf("%v after %d waits", err, waits)
	}
}

func TestPullRetryAfter(t *testing.T) {
	data := model(t, 50_000, 1, nil)
	srv := serve(t, map[string][]byte{"/m.gguf": data})
	srv.hook = func(n int, w http.ResponseWriter, r *http.Request) bool {
		if n == 1 {
			w.Header().Set("Retry-After", "77")
			w.WriteHeader(http.StatusTooManyRequests)
			return true
		}
		return false
	}
	s := store(t, srv)
	var waited time.Duration
	s.sleep = func(_ context.Context, d time.Duration) error { waited = d; return nil }
	if _, err := s.Pull(t.Context(), srv.URL+"/m.gguf", nil); err != nil {
		t.Fatal(err)
	}
	if waited != 77*time.Second {
		t.Errorf("waited %v, want 77s", waited)
	}
}

func TestNoDowngrade(t *testing.T) {
	c := httpClient(nil)
	secure, _ := http.NewRequest(http.MethodGet, "https://a.example/x", nil)
	plain, _ := http.NewRequest(http.MethodGet, "http://a.example/x", nil)
	if err := c.CheckRedirect(plain, []*http.Request{secure}); !errors.Is(err, ErrServer) {
		t.Errorf("https to http: %v", err)
	}
	for _, via := range []*http.Request{secure, plain} {
		if err := c.CheckRedirect(secure, []*http.Request{via}); err != nil {
			t.Errorf("%s to https: %v", via.URL.Scheme, err)
		}
	}
}

// TestDamagedState leaves rubbish in the pull folder: it is never trusted.
func TestDamagedState(t *testing.T) {
	data := model(t, 50_000, 1, nil)
	srv := serve(t, map[string][]byte{"/m.gguf": data})
	good := fmt.Sprintf(`{"url":%q,"etag":%q,"size":%d}`, srv.URL+"/m.gguf", strconv.Quote(sum(data)[:12]), len(data))
	for _, tt := range []struct{ name, part, side string }{
		{"no sidecar", string(data[:1000]), ""},
		{"sidecar is rubbish", string(data[:1000]), "\x00\x01"},
		{"sidecar of another address", string(data[:1000]), strings.Replace(good, "/m.gguf", "/n.gguf", 1)},
		{"longer than the file", string(data) + "more", good},
		{"no validator", string(data[:1000]), fmt.Sprintf(`{"url":%q,"size":%d}`, srv.URL+"/m.gguf", len(data))},
		{"done, but not there", string(data[:1000]), fmt.Sprintf(`{"url":%q,"size":%d,"sha256":%q,"done":true}`, srv.URL+"/m.gguf", len(data), sum(data))},
		{"whole already", string(data), good},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := store(t, srv)
			dir := s.pullDir("m")
			if err := os.MkdirAll(dir, 0o755); err != nil {
				t.Fatal(err)
			}
			for file, text := range map[string]string{"m.gguf.part": tt.part, "m.gguf.part.json": tt.side} {
				if text == "" {
					continue
				}
				if err := os.WriteFile(filepath.Join(dir, file), []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			if _, err := s.Pull(t.Context(), srv.URL+"/m.gguf", nil); err != nil {
				t.Fatal(err)
			}
			checkPulled(t, s, "m", data)
		})
	}
}
