package store

import (
	"context"
	"crypto/sha256"
	"crypto/tls"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"math"
	"math/rand/v2"
	"net/http"
	"net/url"
	"os"
	"syscall"
	"time"

	"github.com/pooled/pooled/core/atomicfile"
	"github.com/pooled/pooled/core/units"
)

const (
	maxTries     = 8 // in a row without a new byte
	maxDials     = 4 // the same while no server has answered at all
	firstBackoff = 500 * time.Millisecond
	lastBackoff  = 30 * time.Second
	spaceReserve = 64 << 20 // bytes that a pull leaves free
	copyBuffer   = 256 << 10
)

// partFileWriter is the unfinished file; tests replace it to fill the disk.
type partFileWriter interface {
	io.Writer
	Sync() error
	Close() error
}

// createPart opens an unfinished file so that writes go to its end.
func createPart(path string) (partFileWriter, error) {
	return os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o644)
}

// final is an error that trying again does not cure.
type final struct{ error }

func (f final) Unwrap() error { return f.error }

// waitError is a transient error with the wait that the server asks for.
type waitError struct {
	error
	after time.Duration
}

func (w waitError) Unwrap() error { return w.error }

// download is one file on its way. It owns FILE.part and FILE.part.json in the pull folder.
type download struct {
	s     *Store
	f     remote
	hub   bool
	path  string // of the finished file, still in the pull folder
	meter *meter

	state  resume
	off    int64     // bytes in the part file
	sum    hash.Hash // of the first hashed bytes
	hashed int64

	answered bool // by the server, in this run
}

func (d *download) part() string    { return d.path + ".part" }
func (d *download) sidecar() string { return d.path + ".part.json" }

// run downloads the file, or the rest of it, and checks it. What a later pull could not go on from is not left behind.
func (d *download) run(ctx context.Context) (RecordFile, error) {
	if done, ok := d.finished(); ok {
		return done, nil
	}
	if err := d.recall(); err != nil {
		return RecordFile{}, unwrapFinal(err)
	}
	if err := d.fetch(ctx); err != nil {
		if !d.state.names() {
			err = errors.Join(err, unwrapFinal(d.restart()))
		}
		return RecordFile{}, err
	}
	return d.finish(ctx)
}

// fetch asks for the file until it is there.
func (d *download) fetch(ctx context.Context) error {
	// Only bytes that were never there count as progress: a server that cuts every answer short and cannot go on in the
	// middle would be asked for ever.
	most := d.off
	for tries, limit := 0, maxDials; ; {
		err := d.try(ctx)
		if err == nil {
			return nil
		}
		if ctx.Err() != nil {
			return fmt.Errorf("%s: stopped after %s, pull again to %s: %w", d.f.file, units.Bytes(d.off), d.again(), context.Cause(ctx))
		}
		var stop final
		if errors.As(err, &stop) {
			return stop.error
		}
		if d.off > most {
			most, tries = d.off, 0
		}
		if d.answered {
			limit = maxTries
		}
		if tries++; tries >= limit {
			return fmt.Errorf("%s: gave up after %d tries without progress, pull again to %s: %w", d.f.file, tries, d.again(), err)
		}
		delay := min(firstBackoff<<(tries-1), lastBackoff)
		delay += rand.N(delay / 2)
		var wait waitError
		if errors.As(err, &wait) {
			delay = max(delay, wait.after)
		}
		d.s.log.Warn("download interrupted", "file", d.f.file, "bytes", d.off, "err", err, "dur", delay)
		d.meter.phase(Waiting, d.off, d.state.Size, err.Error())
		if err := d.s.sleep(ctx, delay); err != nil {
			return fmt.Errorf("%s: stopped after %s, pull again to %s: %w", d.f.file, units.Bytes(d.off), d.again(), err)
		}
	}
}

// again says what a later pull can do.
func (d *download) again() string {
	if d.state.names() {
		return "go on"
	}
	return "begin anew, for the server does not say what file it is"
}

// finished recognises a file that an earlier pull completed.
func (d *download) finished() (RecordFile, bool) {
	state, err := readResume(d.sidecar())
	if err != nil || !state.Done || !d.wanted(state) {
		return RecordFile{}, false
	}
	info, err := os.Stat(d.path)
	if err != nil || info.Size() != state.Size {
		return RecordFile{}, false
	}
	return RecordFile{Name: d.f.file, Size: state.Size, SHA256: state.SHA256}, true
}

// wanted reports whether what an earlier pull left behind is of the file that is wanted now.
func (d *download) wanted(state resume) bool {
	return state.URL == redact(d.f.url) && (d.f.sha256 == "" || state.SHA256 == "" || d.f.sha256 == state.SHA256) &&
		(d.f.size == 0 || state.Size == 0 || d.f.size == state.Size)
}

// recall finds out what an earlier pull left behind; what cannot be trusted is dropped.
func (d *download) recall() error {
	d.sum = sha256.New()
	state, err := readResume(d.sidecar())
	info, err2 := os.Stat(d.part())
	usable := err == nil && err2 == nil && !state.Done && d.wanted(state) && state.names() && (state.Size == 0 || info.Size() <= state.Size)
	if !usable {
		return d.restart()
	}
	d.state, d.off = state, info.Size()
	return nil
}

// restart forgets the bytes that are there.
func (d *download) restart() error {
	d.state, d.off, d.hashed = resume{}, 0, 0
	d.sum.Reset()
	for _, path := range []string{d.part(), d.sidecar()} {
		if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
			return final{err}
		}
	}
	return nil
}

// try makes one request and stores what it brings.
func (d *download) try(ctx context.Context) error {
	if d.off > 0 && d.off == d.state.Size {
		return nil
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	req, err := d.s.request(ctx, d.f.url, d.hub)
	if err != nil {
		return final{err}
	}
	if d.off > 0 {
		req.Header.Set("Range", fmt.Sprintf("bytes=%d-", d.off))
		if d.state.ETag != "" {
			req.Header.Set("If-Range", d.state.ETag)
		} else if d.state.LastModified != "" {
			req.Header.Set("If-Range", d.state.LastModified)
		}
	}
	resp, err := d.s.client.Do(req)
	if err != nil {
		if whole, ok := errors.AsType[*url.Error](err); ok {
			err = fmt.Errorf("%s: %w", redact(d.f.url), whole.Err) // the address may hold what is secret
		}
		var untrusted *tls.CertificateVerificationError
		if errors.Is(err, ErrServer) || errors.As(err, &untrusted) {
			return final{err}
		}
		return err
	}
	defer resp.Body.Close()
	d.answered = true
	if err := d.answer(resp); err != nil {
		return err
	}
	if err := d.prepare(ctx, readAnnounced(resp)); err != nil {
		return err
	}
	timer := time.AfterFunc(d.s.stall, func() { cancel(errStalled) })
	defer timer.Stop()
	var body io.Reader = &stallReader{r: resp.Body, timer: timer, limit: d.s.stall}
	if r, ok := contentRange(resp.Header.Get("Content-Range")); ok && resp.StatusCode == http.StatusPartialContent {
		body = io.LimitReader(body, r.length)
	}
	err = d.store(ctx, body)
	if cause := context.Cause(ctx); err != nil && errors.Is(cause, errStalled) {
		return cause
	}
	return err
}

// answer checks the status of an answer against what was asked for.
func (d *download) answer(resp *http.Response) error {
	if enc := resp.Header.Get("Content-Encoding"); enc != "" && enc != "identity" {
		return final{fmt.Errorf("%w: %s is sent as %q, which was not asked for", ErrServer, redact(d.f.url), enc)}
	}
	switch code := resp.StatusCode; {
	case code == http.StatusOK:
		if d.off > 0 {
			d.s.log.Info("download begins again", "file", d.f.file, "bytes", d.off)
		}
		return d.restart()
	case code == http.StatusPartialContent && d.off > 0:
		if !d.continues(resp) {
			return errors.Join(fmt.Errorf("%w: the answer does not continue the file, beginning again", ErrServer), d.restart())
		}
		return nil
	case code == http.StatusRequestedRangeNotSatisfiable && d.off > 0:
		return errors.Join(fmt.Errorf("%w: the file on the server became shorter, beginning again", ErrServer), d.restart())
	case transient(code):
		return waitError{&StatusError{URL: redact(d.f.url), Code: code}, retryAfter(resp)}
	default:
		return final{&StatusError{URL: redact(d.f.url), Code: code}}
	}
}

// continues reports whether a part of a file is that of the file whose beginning is here. A part that does not say what file it
// is of is taken only where the sum of the whole file will tell.
func (d *download) continues(resp *http.Response) bool {
	r, ok := contentRange(resp.Header.Get("Content-Range"))
	switch {
	case !ok || r.start != d.off,
		resp.ContentLength >= 0 && resp.ContentLength != r.length,
		r.total > 0 && d.state.Size > 0 && r.total != d.state.Size:
		return false
	}
	a := readAnnounced(resp)
	switch {
	case a.sha256 != "" && d.state.SHA256 != "":
		return a.sha256 == d.state.SHA256
	case a.etag != "" && d.state.ETag != "":
		return a.etag == d.state.ETag
	case a.lastModified != "" && d.state.LastModified != "" && d.state.ETag == "":
		return a.lastModified == d.state.LastModified
	}
	return d.state.SHA256 != "" || d.f.sha256 != ""
}

// prepare compares what is announced with what is expected, checks the disk and writes the sidecar.
func (d *download) prepare(ctx context.Context, a announced) error {
	want := d.state
	want.URL = redact(d.f.url)
	if a.size > 0 {
		if d.f.size > 0 && a.size != d.f.size {
			return final{&SizeError{File: d.f.file, Want: d.f.size, Got: a.size, By: "catalog"}}
		}
		want.Size = a.size
	} else if want.Size == 0 {
		want.Size = d.f.size
	}
	if d.f.sha256 != "" {
		want.SHA256 = d.f.sha256
	} else if a.sha256 != "" {
		want.SHA256 = a.sha256
	}
	if a.sha256 != "" && a.sha256 != want.SHA256 {
		return final{fmt.Errorf("%s: %w: the server announces %s, expected %s", d.f.file, ErrHash, a.sha256, want.SHA256)}
	}
	if d.off == 0 {
		want.ETag, want.LastModified = a.etag, a.lastModified
		if want.SHA256 == "" && !d.hub {
			want.SHA256 = d.s.sidecarSum(ctx, d.f.url)
		}
	}
	if err := d.s.checkSpace(want.Size - d.off); err != nil {
		return final{err}
	}
	d.state = want
	if err := writeJSON(d.sidecar(), d.state); err != nil {
		return final{d.diskError(err)}
	}
	return nil
}

// store appends a body to the part file.
func (d *download) store(ctx context.Context, body io.Reader) error {
	if err := d.catchUp(ctx); err != nil {
		return err
	}
	f, err := d.s.create(d.part())
	if err != nil {
		return final{d.diskError(err)}
	}
	err = d.appendTo(f, body)
	if cerr := f.Close(); cerr != nil && err == nil {
		err = final{d.diskError(cerr)}
	}
	if errors.Is(err, ErrSize) || errors.Is(err, ErrNotModel) {
		err = final{errors.Join(unwrapFinal(err), d.restart())}
	}
	return err
}

func (d *download) appendTo(f partFileWriter, body io.Reader) error {
	d.meter.phase(Downloading, d.off, d.state.Size, "")
	// A model begins with its magic: an error page is noticed at once, not after gigabytes.
	rest := magic[min(d.off, int64(len(magic))):]
	buf := make([]byte, copyBuffer)
	checked := d.off // where the disk was last looked at: a body of unknown size could fill it
	for {
		n, rerr := body.Read(buf)
		if n > 0 {
			if d.state.Size > 0 && d.off+int64(n) > d.state.Size {
				return final{&SizeError{File: d.f.file, Want: d.state.Size, Got: d.off + int64(n), By: "server"}}
			}
			m := min(n, len(rest))
			if string(buf[:m]) != rest[:m] {
				return final{fmt.Errorf("%s: %w: %s sent something else, it begins with %q",
					d.f.file, ErrNotModel, redact(d.f.url), buf[:min(n, 16)])}
			}
			rest = rest[m:]
			w, werr := f.Write(buf[:n])
			d.sum.Write(buf[:w])
			d.off += int64(w)
			d.hashed = d.off
			if werr != nil {
				return final{d.diskError(werr)}
			}
			if d.state.Size == 0 && d.off-checked >= spaceReserve/2 {
				if err := d.s.checkSpace(0); err != nil {
					return final{err}
				}
				checked = d.off
			}
			d.meter.at(d.off)
		}
		if errors.Is(rerr, io.EOF) {
			break
		}
		if rerr != nil {
			return rerr
		}
	}
	if d.off < max(d.state.Size, 1) {
		return io.ErrUnexpectedEOF
	}
	if err := f.Sync(); err != nil {
		return final{d.diskError(err)}
	}
	return nil
}

// catchUp hashes the bytes on disk that were not hashed yet.
func (d *download) catchUp(ctx context.Context) error {
	if d.hashed == d.off {
		return nil
	}
	f, err := os.Open(d.part())
	if err != nil {
		return final{err}
	}
	defer f.Close()
	d.sum.Reset()
	d.meter.phase(Checking, 0, d.off, "")
	n, err := copyContext(ctx, d.sum, io.LimitReader(f, d.off), d.meter)
	if err != nil {
		return err
	}
	if n != d.off {
		return final{fmt.Errorf("%s: %w: it became shorter while it was read", d.part(), ErrSize)}
	}
	d.hashed = d.off
	return nil
}

// finish checks the whole file and gives it its name in the pull folder.
func (d *download) finish(ctx context.Context) (RecordFile, error) {
	if err := d.catchUp(ctx); err != nil {
		return RecordFile{}, unwrapFinal(err)
	}
	got := hex.EncodeToString(d.sum.Sum(nil))
	if d.f.size > 0 && d.off != d.f.size {
		err := &SizeError{File: d.f.file, Want: d.f.size, Got: d.off, By: "catalog"}
		return RecordFile{}, errors.Join(err, d.restart())
	}
	for _, want := range []string{d.f.sha256, d.state.SHA256} {
		if want != "" && got != want {
			return RecordFile{}, errors.Join(&HashError{File: d.f.file, Want: want, Got: got}, d.restart())
		}
	}
	if err := atomicfile.Rename(d.part(), d.path); err != nil {
		return RecordFile{}, err
	}
	d.state.Done, d.state.Size, d.state.SHA256 = true, d.off, got
	if err := writeJSON(d.sidecar(), d.state); err != nil {
		return RecordFile{}, d.diskError(err)
	}
	return RecordFile{Name: d.f.file, Size: d.off, SHA256: got}, nil
}

func unwrapFinal(err error) error {
	var stop final
	if errors.As(err, &stop) {
		return stop.error
	}
	return err
}

func (d *download) diskError(err error) error {
	return d.s.diskError(d.f.file, d.state.Size-d.off, err)
}

// diskError turns a full disk into an error that says what is needed.
func (s *Store) diskError(file string, missing int64, err error) error {
	if !errors.Is(err, syscall.ENOSPC) && !errors.Is(err, syscall.EDQUOT) {
		return fmt.Errorf("%s: %w", file, err)
	}
	free, _ := s.free(s.dir)
	return fmt.Errorf("%s: the disk is full: %w", file, &SpaceError{Dir: s.dir, Need: withReserve(max(missing, 1)), Free: free})
}

// checkSpace refuses what would not fit.
func (s *Store) checkSpace(need int64) error {
	free, ok := s.free(s.dir)
	if ok && max(need, 0) > free-spaceReserve {
		return &SpaceError{Dir: s.dir, Need: withReserve(max(need, 0)), Free: free}
	}
	return nil
}

// withReserve adds what a pull leaves free to a size, which may be the largest there is.
func withReserve(n int64) int64 { return min(n, math.MaxInt64-spaceReserve) + spaceReserve }

// copyContext copies until the end or the context's.
func copyContext(ctx context.Context, dst io.Writer, src io.Reader, m *meter) (int64, error) {
	buf := make([]byte, copyBuffer)
	total := int64(0)
	for {
		if ctx.Err() != nil {
			return total, context.Cause(ctx)
		}
		n, err := src.Read(buf)
		w, werr := dst.Write(buf[:n])
		total += int64(w)
		m.at(total)
		if werr != nil {
			return total, werr
		}
		if errors.Is(err, io.EOF) {
			return total, nil
		}
		if err != nil {
			return total, err
		}
	}
}
