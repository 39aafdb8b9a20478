package store

import (
	"context"
	"errors"
	"fmt"
	"math"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestTokenStays follows redirects from the hub: the token goes to its scheme, host and port, and nowhere else.
func TestTokenStays(t *testing.T) {
	data := model(t, 50_000, 1, nil)
	const file = "/o/r/resolve/main/m.gguf"
	for _, tt := range []struct {
		name string
		hops func(hub, other string) []string // addresses, one redirect after the other
		want string                           // the token that the last one gets
	}{
		{"the same port", func(hub, _ string) []string { return []string{hub + "/blob"} }, "Bearer secret"},
		{"another port of the host", func(_, other string) []string { return []string{other + "/blob"} }, ""},
		{"another port, and back", func(hub, other string) []string { return []string{other + "/hop", hub + "/blob"} }, ""},
		{"twice on the same port", func(hub, _ string) []string { return []string{hub + "/hop", hub + "/blob"} }, "Bearer secret"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			hub, other := serve(t, map[string][]byte{"/blob": data}), serve(t, map[string][]byte{"/blob": data})
			hops := tt.hops(hub.URL, other.URL)
			token, referer := "none", ""
			hook := func(_ int, w http.ResponseWriter, r *http.Request) bool {
				switch r.URL.Path {
				case file:
					http.Redirect(w, r, hops[0], http.StatusFound)
				case "/hop":
					http.Redirect(w, r, hops[1], http.StatusTemporaryRedirect)
				case "/blob":
					token, referer = r.Header.Get("Authorization"), r.Header.Get("Referer")
					return false
				default:
					return false
				}
				return true
			}
			hub.hook, other.hook = hook, hook
			s := store(t, hub)
			s.token = "secret"
			if _, err := s.Pull(t.Context(), hub.URL+file+"?key=hidden", nil); err != nil {
				t.Fatal(err)
			}
			if token != tt.want || referer != "" {
				t.Errorf("the last server got the token %q and the referer %q, want %q and none", token, referer, tt.want)
			}
		})
	}
}

func TestOrigin(t *testing.T) {
	for _, same := range [][2]string{{"https://A.example/x", "HTTPS://a.example:443"}, {"http://a.example", "http://a.example:80/y?z"}} {
		if a, b := parsed(t, same[0]), parsed(t, same[1]); origin(a) != origin(b) {
			t.Errorf("%s is not %s", origin(a), origin(b))
		}
	}
	for _, other := range []string{"http://a.example", "https://a.example:8443", "https://b.a.example", "https://a.example.org"} {
		if origin(parsed(t, other)) == origin(parsed(t, "https://a.example")) {
			t.Errorf("%s counts as the same", other)
		}
	}
}

// TestHalves resumes where the server's part does not say, or does not truly say, what file it is of: two halves are never
// joined that may be of different files.
func TestHalves(t *testing.T) {
	old, data := model(t, 300_000, 1, nil), model(t, 300_000, 2, nil)
	const at = 100_000
	part := func(w http.ResponseWriter, from, to, total int, tag string) {
		w.Header().Set("Content-Range", fmt.Sprintf("bytes %d-%d/%d", from, to, total))
		if tag != "" {
			w.Header().Set("ETag", tag)
		}
		w.WriteHeader(http.StatusPartialContent)
	}
	for _, tt := range []struct {
		name   string
		second func(w http.ResponseWriter) // answers the request for the rest
		pinned bool
		want   []byte
		err    error
	}{
		{name: "no tag", second: func(w http.ResponseWriter) {
			part(w, at, len(data)-1, len(data), "")
			_, _ = w.Write(data[at:])
		}, want: data},
		{name: "a weak tag", second: func(w http.ResponseWriter) {
			part(w, at, len(data)-1, len(data), `W/"x"`)
			_, _ = w.Write(data[at:])
		}, want: data},
		{name: "no tag, but a sum", pinned: true, second: func(w http.ResponseWriter) {
			part(w, at, len(old)-1, len(old), "")
			_, _ = w.Write(old[at:])
		}, want: old},
		{name: "no tag, but a sum that does not fit", pinned: true, second: func(w http.ResponseWriter) {
			part(w, at, len(data)-1, len(data), "")
			_, _ = w.Write(data[at:])
		}, err: ErrHash},
		{name: "another total", second: func(w http.ResponseWriter) {
			part(w, at, len(data)-1, len(data)+7, strconv.Quote(sum(old)[:12]))
			_, _ = w.Write(data[at:])
		}, want: data},
		{name: "a length that is not that of the range", second: func(w http.ResponseWriter) {
			w.Header().Set("Content-Length", strconv.Itoa(len(old)-at))
			part(w, at, len(old)-1001, len(old), strconv.Quote(sum(old)[:12]))
			_, _ = w.Write(old[at:])
		}, want: data},
		{name: "a body longer than its range", second: func(w http.ResponseWriter) {
			part(w, at, at+999, len(old), strconv.Quote(sum(old)[:12]))
			w.(http.Flusher).Flush() // in chunks, so that no length is announced
			_, _ = w.Write(append(append([]byte(nil), old[at:at+1000]...), "rubbish"...))
		}, want: data}, // what follows is asked for again, and then the file has changed
		{name: "a range from elsewhere", second: func(w http.ResponseWriter) {
			part(w, at+1, len(old)-1, len(old), strconv.Quote(sum(old)[:12]))
			_, _ = w.Write(old[at+1:])
		}, want: data},
	} {
		t.Run(tt.name, func(t *testing.T) {
			srv := serve(t, map[string][]byte{"/m.gguf": data})
			srv.hook = func(n int, w http.ResponseWriter, r *http.Request) bool {
				if r.URL.Path != "/m.gguf" || n > 2 {
					return false
				}
				if n == 1 {
					cut(w, old, at)
				}
				tt.second(w)
				return true
			}
			s := store(t, srv)
			source := srv.URL + "/m.gguf"
			if tt.pinned {
				source += "#sha256=" + sum(old)
			}
			_, err := s.Pull(t.Context(), source, nil)
			if tt.err != nil {
				if !errors.Is(err, tt.err) {
					t.Fatalf("got %v, want %v", err, tt.err)
				}
				checkNothing(t, s)
				if partSize(s, "m") > 0 {
					t.Error("what is of no use was kept")
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			checkPulled(t, s, "m", tt.want)
		})
	}
}

// TestLastModified resumes by dates where there is no tag.
func TestLastModified(t *testing.T) {
	data := model(t, 300_000, 1, nil)
	const date = "Wed, 21 Oct 2015 07:28:00 GMT"
	srv := serve(t, map[string][]byte{"/m.gguf": data})
	srv.hook = func(n int, w http.ResponseWriter, r *http.Request) bool {
		if r.URL.Path != "/m.gguf" {
			return false
		}
		w.Header().Set("Last-Modified", date)
		if n == 1 {
			w.Header().Set("Content-Length", strconv.Itoa(len(data)))
			_, _ = w.Write(data[:100_000])
			w.(http.Flusher).Flush()
			panic(http.ErrAbortHandler)
		}
		if got := r.Header.Get("If-Range"); got != date {
			t.Errorf("asked with If-Range %q", got)
		}
		w.Header().Set("Content-Range", fmt.Sprintf("bytes 100000-%d/%d", len(data)-1, len(data)))
		w.WriteHeader(http.StatusPartialContent)
		_, _ = w.Write(data[100_000:])
		return true
	}
	s := store(t, srv)
	if _, err := s.Pull(t.Context(), srv.URL+"/m.gguf", nil); err != nil {
		t.Fatal(err)
	}
	checkPulled(t, s, "m", data)
}

// TestLastModifiedJustNow begins anew where a file has no tag and changed in the minute before: within it may hide another change.
func TestLastModifiedJustNow(t *testing.T) {
	old, data := model(t, 300_000, 1, nil), model(t, 300_000, 2, nil)
	date := time.Now().Add(-10 * time.Second).UTC().Format(http.TimeFormat)
	srv := serve(t, map[string][]byte{"/m.gguf": data})
	srv.hook = func(n int, w http.ResponseWriter, r *http.Request) bool {
		if r.URL.Path != "/m.gguf" {
			return false
		}
		w.Header().Set("Last-Modified", date)
		if n > 1 {
			if r.Header.Get("Range") != "" {
				w.Header().Set("Content-Range", fmt.Sprintf("bytes 100000-%d/%d", len(data)-1, len(data)))
				w.WriteHeader(http.StatusPartialContent)
				_, _ = w.Write(data[100_000:])
				return true
			}
			return false
		}
		w.Header().Set("Content-Length", strconv.Itoa(len(old)))
		_, _ = w.Write(old[:100_000])
		w.(http.Flusher).Flush()
		panic(http.ErrAbortHandler)
	}
	s := store(t, srv)
	if _, err := s.Pull(t.Context(), srv.URL+"/m.gguf", nil); err != nil {
		t.Fatal(err)
	}
	checkPulled(t, s, "m", data)
}

// TestPartsThatAreNone asks for no second part when the first says that there is none.
func TestPartsThatAreNone(t *testing.T) {
	for name, first := range map[string][]byte{"one part": model(t, 5000, 1, nil), "one of three": parts(t, 3)[0]} {
		t.Run(name, func(t *testing.T) {
			srv := serve(t, nil)
			srv.hook = func(_ int, w http.ResponseWriter, r *http.Request) bool {
				if strings.HasSuffix(r.URL.Path, ".gguf") {
					_, _ = w.Write(first)
				}
				return strings.HasSuffix(r.URL.Path, ".gguf")
			}
			s := store(t, srv)
			_, err := s.Pull(t.Context(), srv.URL+"/m-00001-of-99999.gguf", nil)
			if !errors.Is(err, ErrNotModel) || !strings.Contains(err.Error(), "its name says part 1 of 99999") {
				t.Fatalf("got %v, want %v", err, ErrNotModel)
			}
			for _, r := range srv.requests() {
				if strings.Contains(r, "00002") {
					t.Fatalf("asked for %s", r)
				}
			}
			checkNothing(t, s)
		})
	}
}

// TestSizes gives sizes at the edge of what a number holds.
func TestSizes(t *testing.T) {
	data := model(t, 50_000, 1, nil)
	for _, size := range []string{"9223372036854775807", "9223372036854775808", "-1", "0"} {
		srv := serve(t, nil)
		srv.hook = func(_ int, w http.ResponseWriter, r *http.Request) bool {
			if r.URL.Path != "/m.gguf" {
				return false
			}
			w.Header().Set("X-Linked-Size", size)
			w.(http.Flusher).Flush() // in chunks
			_, _ = w.Write(data)
			return true
		}
		s := store(t, srv)
		s.free = func(string) (int64, bool) { return 1 << 40, true }
		_, err := s.Pull(t.Context(), srv.URL+"/m.gguf", nil)
		if size != "9223372036854775807" {
			if err != nil {
				t.Errorf("%s: %v", size, err)
			}
			continue
		}
		space, ok := errors.AsType[*SpaceError](err)
		if !ok || space.Need != math.MaxInt64 || strings.Contains(err.Error(), "needs -") {
			t.Errorf("%s: %v", size, err)
		}
	}
}

// TestEndless lets a server send without end and without saying what: nothing that cannot be resumed is left.
func TestEndless(t *testing.T) {
	head := model(t, 100, 1, nil)
	srv := serve(t, nil)
	srv.hook = func(_ int, w http.ResponseWriter, r *http.Request) bool {
		if r.URL.Path != "/m.gguf" {
			return false
		}
		_, _ = w.Write(head)
		for block := make([]byte, 1<<20); ; {
			if _, err := w.Write(block); err != nil {
				return true
			}
		}
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
	if n := partSize(s, "m"); n >= 0 {
		t.Errorf("%d bytes are left that no pull can go on from", n)
	}

	ctx, cancel := context.WithCancel(t.Context())
	s.free = func(string) (int64, bool) { return 0, false }
	_, err := s.Pull(ctx, srv.URL+"/m.gguf", func(p Progress) {
		if p.Bytes > 0 {
			cancel()
		}
	})
	if !errors.Is(err, context.Canceled) || !strings.Contains(err.Error(), "pull again to begin anew") {
		t.Errorf("got %v, want %v that says what a second pull does", err, context.Canceled)
	}
	if n := partSize(s, "m"); n >= 0 {
		t.Errorf("%d bytes are left", n)
	}
}

// TestOtherVersion goes on from nothing that an earlier pull left of another version of the file.
func TestOtherVersion(t *testing.T) {
	old, data := model(t, 50_000, 1, nil), model(t, 50_000, 2, nil)
	for _, tt := range []struct {
		name, file string
		state      func(url string) string
	}{
		{"a part of another sum", "m.gguf.part", func(url string) string {
			return fmt.Sprintf(`{"url":%q,"etag":%q,"size":%d,"sha256":%q}`, url, strconv.Quote(sum(data)[:12]), len(old), sum(old))
		}},
		{"a whole file of another sum", "m.gguf", func(url string) string {
			return fmt.Sprintf(`{"url":%q,"size":%d,"sha256":%q,"done":true}`, url, len(old), sum(old))
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			srv := serve(t, map[string][]byte{"/m.gguf": data})
			s := store(t, srv)
			left := old
			if strings.HasSuffix(tt.file, ".part") {
				left = old[:20_000]
			}
			write(t, filepath.Join(s.pullDir("m"), tt.file), left)
			write(t, filepath.Join(s.pullDir("m"), "m.gguf.part.json"), []byte(tt.state(srv.URL+"/m.gguf")))
			if _, err := s.Pull(t.Context(), srv.URL+"/m.gguf#sha256="+sum(data), nil); err != nil {
				t.Fatal(err)
			}
			checkPulled(t, s, "m", data)
			if _, err := s.Pull(t.Context(), srv.URL+"/m.gguf#sha256="+sum(old), nil); !errors.Is(err, ErrHash) || !strings.Contains(err.Error(), "remove it first") {
				t.Errorf("a pull of another sum: %v, want %v", err, ErrHash)
			}
		})
	}
}

// TestQuota takes a full quota for a full disk.
func TestQuota(t *testing.T) {
	s := store(t, nil)
	if err := s.diskError("m.gguf", math.MaxInt64, &os.PathError{Op: "write", Path: "x", Err: syscall.EDQUOT}); !errors.Is(err, ErrSpace) || strings.Contains(err.Error(), "needs -") {
		t.Errorf("got %v, want %v", err, ErrSpace)
	}
}

// TestNoSecrets keeps what an address may hold out of messages.
func TestNoSecrets(t *testing.T) {
	s := store(t, nil)
	var notes []string
	_, err := s.Pull(t.Context(), "http://user:secret@127.0.0.1:1/m.gguf?key=secret", func(p Progress) { notes = append(notes, p.Note) })
	if err == nil || strings.Contains(err.Error()+strings.Join(notes, ""), "secret") {
		t.Errorf("got %v, %q", err, notes)
	}
}

func TestRetryAfter(t *testing.T) {
	for h, want := range map[string]time.Duration{
		"5": 5 * time.Second, "9999": 2 * time.Minute, "-3": 0, "9223372036854775807": 2 * time.Minute, "99999999999999999999": 0, "soon": 0, "": 0,
		"Wed, 21 Oct 2015 07:28:00 GMT": 0, "Fri, 31 Dec 2999 23:59:59 GMT": 2 * time.Minute,
	} {
		r := &http.Response{Header: http.Header{"Retry-After": {h}}}
		if got := retryAfter(r); got != want {
			t.Errorf("%q: %v, want %v", h, got, want)
		}
	}
}
