package store

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"net/url"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"
)

// httpClient returns a client that follows redirects but never from https to http, and that leaves behind what only the first
// server is to know when one leads to another: its token, and the address that was asked for.
func httpClient(given *http.Client) *http.Client {
	var c http.Client
	if given != nil {
		c = *given
	} else {
		t := http.DefaultTransport.(*http.Transport).Clone()
		t.ResponseHeaderTimeout = time.Minute
		c.Transport = t
	}
	c.CheckRedirect = func(req *http.Request, via []*http.Request) error {
		if len(via) >= 10 {
			return fmt.Errorf("%w: more than 10 redirects", ErrServer)
		}
		if req.URL.Scheme != "https" && via[len(via)-1].URL.Scheme == "https" {
			return fmt.Errorf("%w: redirected from https to %s, which is not encrypted", ErrServer, redact(req.URL))
		}
		// net/http keeps the token for other ports and for hosts below the first one.
		left := func(r *http.Request) bool { return origin(r.URL) != origin(via[0].URL) }
		if left(req) || slices.ContainsFunc(via, left) {
			req.Header.Del("Authorization")
		}
		req.Header.Del("Referer")
		return nil
	}
	return &c
}

// origin returns the scheme, host and port of an address.
func origin(u *url.URL) string {
	port := u.Port()
	if port == "" {
		port = map[string]string{"http": "80", "https": "443"}[strings.ToLower(u.Scheme)]
	}
	return strings.ToLower(u.Scheme + "://" + u.Hostname() + ":" + port)
}

// request builds a GET that asks for the bytes as they are.
func (s *Store) request(ctx context.Context, u *url.URL, toHub bool) (*http.Request, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), nil)
	if err != nil {
		return nil, err
	}
	req.Header.Set("User-Agent", "pooled")
	req.Header.Set("Accept-Encoding", "identity")
	if toHub && s.token != "" {
		req.Header.Set("Authorization", "Bearer "+s.token)
	}
	return req, nil
}

// announced is what the headers of an answer say about the file.
type announced struct {
	size         int64 // 0: nothing
	sha256       string
	etag         string
	lastModified string
}

// readAnnounced reads the headers of an answer and of the redirects that led to it: a hub states size and SHA-256 of a
// large file in its redirect to the place where the bytes are.
func readAnnounced(resp *http.Response) announced {
	var a announced
	if settled(resp.Header) {
		a.lastModified = resp.Header.Get("Last-Modified")
	}
	// Only a strong tag promises the same bytes.
	if tag := resp.Header.Get("ETag"); strings.HasPrefix(tag, `"`) {
		a.etag = tag
	}
	if !headerValue(a.etag) || !headerValue(a.lastModified) {
		a.etag, a.lastModified = "", ""
	}
	for r := resp; r != nil; r = r.Request.Response {
		if sum := strings.Trim(r.Header.Get("X-Linked-Etag"), `"`); a.sha256 == "" && isSHA256(sum) {
			a.sha256 = strings.ToLower(sum)
		}
		if n, err := strconv.ParseInt(r.Header.Get("X-Linked-Size"), 10, 64); err == nil && n > 0 && a.size == 0 {
			a.size = n
		}
		if r.Request == nil {
			break
		}
	}
	switch {
	case resp.StatusCode == http.StatusOK && resp.ContentLength > 0:
		a.size = resp.ContentLength
	case resp.StatusCode == http.StatusPartialContent:
		if r, ok := contentRange(resp.Header.Get("Content-Range")); ok && r.total > 0 {
			a.size = r.total
		}
	}
	return a
}

// settled reports whether the date of a file promises the same bytes: one of the last minute may hide another change.
// Source: RFC 7232, 2.2.2.
func settled(h http.Header) bool {
	changed, err := http.ParseTime(h.Get("Last-Modified"))
	sent, err2 := http.ParseTime(h.Get("Date"))
	return err == nil && err2 == nil && sent.Sub(changed) >= time.Minute
}

// byteRange is a part of a file.
type byteRange struct {
	start, length int64
	total         int64 // of the file; 0 when the server does not know it
}

// contentRange reads "bytes 5-9/10".
func contentRange(h string) (r byteRange, ok bool) {
	spec, found := strings.CutPrefix(h, "bytes ")
	span, whole, found2 := strings.Cut(spec, "/")
	first, last, found3 := strings.Cut(span, "-")
	if !found || !found2 || !found3 {
		return byteRange{}, false
	}
	start, err := strconv.ParseInt(first, 10, 64)
	end, err2 := strconv.ParseInt(last, 10, 64)
	if err != nil || err2 != nil || start < 0 || end < start || end == math.MaxInt64 {
		return byteRange{}, false
	}
	r = byteRange{start: start, length: end - start + 1}
	if whole == "*" {
		return r, true
	}
	r.total, err = strconv.ParseInt(whole, 10, 64)
	return r, err == nil && r.total > end
}

// transient reports whether a status may go away by itself.
func transient(code int) bool {
	return code == http.StatusRequestTimeout || code == http.StatusTooManyRequests || code == http.StatusTooEarly || code >= 500 && code != http.StatusNotImplemented
}

// retryAfter reads how long the server asks to wait, at most two minutes.
func retryAfter(resp *http.Response) time.Duration {
	const most = 2 * time.Minute
	h := resp.Header.Get("Retry-After")
	if n, err := strconv.ParseInt(h, 10, 64); err == nil {
		return time.Duration(min(max(n, 0), int64(most/time.Second))) * time.Second
	}
	if at, err := http.ParseTime(h); err == nil {
		return min(max(time.Until(at), 0), most)
	}
	return 0
}

// sidecarSum asks for FILE.sha256 beside a file, as many servers have it; empty when there is none.
func (s *Store) sidecarSum(ctx context.Context, u *url.URL) string {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	side := *u
	side.Path, side.RawPath = u.Path+".sha256", ""
	req, err := s.request(ctx, &side, false)
	if err != nil {
		return ""
	}
	resp, err := s.client.Do(req)
	if err != nil {
		return ""
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return ""
	}
	b, err := io.ReadAll(io.LimitReader(resp.Body, 4096))
	if err != nil {
		return ""
	}
	return parseSum(string(b), path.Base(u.Path))
}

// parseSum reads what sha256sum writes: the line of file, or a lone sum.
func parseSum(text, file string) string {
	for line := range strings.Lines(text) {
		fields := strings.Fields(line)
		if len(fields) == 0 || !isSHA256(fields[0]) {
			continue
		}
		if len(fields) == 1 || path.Base(strings.TrimPrefix(fields[1], "*")) == file {
			return strings.ToLower(fields[0])
		}
	}
	return ""
}

// sleep waits, or returns why the wait ended early.
func sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// errStalled says that a server sent nothing for too long.
var errStalled = errors.New("the server stopped sending")

// stallReader ends a request when its body is silent for too long.
type stallReader struct {
	r     io.Reader
	timer *time.Timer
	limit time.Duration
}

func (s *stallReader) Read(b []byte) (int, error) {
	s.timer.Reset(s.limit)
	return s.r.Read(b)
}
