package preview

import (
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/pooled/pooled/core/workspace"
)

// serverOf starts a server alone.
func serverOf(t *testing.T, dir string) (s *server, host string) {
	t.Helper()
	w, err := workspace.Open(dir, "")
	if err != nil {
		t.Fatal(err)
	}
	if s, err = start(w, 0); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := errors.Join(s.close(), w.Close()); err != nil {
			t.Error(err)
		}
	})
	u, err := url.Parse(s.url())
	if err != nil {
		t.Fatal(err)
	}
	return s, u.Host
}

// TestClientsThatNeverRead keeps others out neither by asking for much and taking nothing, nor by never asking.
func TestClientsThatNeverRead(t *testing.T) {
	const size = 12 << 20
	dir := t.TempDir()
	put(t, filepath.Join(dir, "index.html"), "<body>"+strings.Repeat("x", size)+"</body>")
	put(t, filepath.Join(dir, "small.txt"), "small")
	s, host := serverOf(t, dir)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for i := range 3 * maxConns {
		c, err := net.Dial("tcp", host)
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		if i%3 == 0 {
			continue // says nothing
		}
		if _, err := fmt.Fprintf(c, "GET / HTTP/1.1\r\nHost: %s\r\n\r\n", host); err != nil {
			t.Fatal(err)
		}
		if _, err := io.ReadFull(c, make([]byte, 15)); err != nil { // the answer has begun
			t.Fatal(err)
		}
	}
	if n := s.conns.count(); n > maxConns {
		t.Errorf("%d connections are kept, want at most %d", n, maxConns)
	}
	for range 3 {
		if resp, body := get(t, "GET", "http://"+host+"/small.txt"); resp.StatusCode != 200 || body != "small" {
			t.Errorf("another client gets %d %q", resp.StatusCode, body)
		}
	}
	runtime.ReadMemStats(&after)
	if n := after.TotalAlloc - before.TotalAlloc; n > 8*size {
		t.Errorf("%d MB were allocated for a page of %d MB", n>>20, size>>20)
	}
	resp, body := get(t, "GET", "http://"+host+"/")
	if resp.StatusCode != 200 || len(body) != size+len("<body></body>")+len(reloadTag) || !strings.HasSuffix(body, reloadTag+"</body>") {
		t.Errorf("the page has %d bytes, status %d", len(body), resp.StatusCode)
	}
}

// TestPatience ends a write that nobody takes.
func TestPatience(t *testing.T) {
	here, there := net.Pipe()
	defer there.Close()
	c := &conn{Conn: here, of: &listener{open: map[*conn]bool{}}, patience: time.Millisecond}
	defer c.Close()
	if _, err := c.Write([]byte("x")); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("got %v, want a deadline", err)
	}
}

// TestTheStalestGoes takes the connection that was still for the longest.
func TestTheStalestGoes(t *testing.T) {
	l := &listener{open: map[*conn]bool{}}
	var all []*conn
	for i := range maxConns {
		c := &conn{of: l}
		c.last.Store(int64(1000 - i)) // the last is the stalest
		if stale := l.add(c); stale != nil {
			t.Fatal("one goes although there is room")
		}
		all = append(all, c)
	}
	next := &conn{of: l}
	next.last.Store(2000)
	if got := l.add(next); got != all[maxConns-1] || l.count() != maxConns || l.open[got] {
		t.Errorf("another one goes; %d are left", l.count())
	}
}

// TestSharedLook looks at the files once for all who watch.
func TestSharedLook(t *testing.T) {
	dir := t.TempDir()
	s, _ := serverOf(t, dir)
	first, err := s.look(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	s.files.at = time.Now().Add(time.Hour) // as if no time had passed since
	put(t, filepath.Join(dir, "new.txt"), "x")
	if again, err := s.look(t.Context()); err != nil || again != first {
		t.Errorf("looked again at once: %v", err)
	}
	s.files.at = time.Time{}
	if later, err := s.look(t.Context()); err != nil || later == first {
		t.Errorf("a change goes unseen: %v", err)
	}
}

// TestOddTargets sends what no client of Go would.
func TestOddTargets(t *testing.T) {
	dir := t.TempDir()
	put(t, filepath.Join(dir, "index.html"), "page")
	put(t, filepath.Join(dir, ".git", "config"), "secret")
	_, host := serverOf(t, dir)
	for _, target := range []string{
		"/x/#/../../../../../../etc/passwd", "/../../../../etc/passwd", "//etc/passwd", "/%2e%2e/%2e%2e/etc/passwd", "file:///etc/passwd", "http://" + host + "/.git/config",
		"/.git/config#x", "/./.git/config", "/x/../.git/config", "*", "\\.git\\config", "/.git/config\x00.html", "/.git/config%00.html",
	} {
		c, err := net.Dial("tcp", host)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := fmt.Fprintf(c, "GET %s HTTP/1.1\r\nHost: %s\r\nConnection: close\r\n\r\n", target, host); err != nil {
			t.Fatal(err)
		}
		answer, err := io.ReadAll(c)
		c.Close()
		if err != nil {
			t.Fatal(err)
		}
		line, _, _ := strings.Cut(string(answer), "\r\n")
		if strings.Contains(line, " 200 ") || strings.Contains(string(answer), "secret") || strings.Contains(string(answer), "root:") {
			t.Errorf("%q: %q", target, answer)
		}
	}
}
