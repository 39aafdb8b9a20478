package preview

import (
	"context"
	"errors"
	"fmt"
	"html"
	"io"
	"io/fs"
	"net"
	"net/http"
	"net/url"
	"path"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/pooled/pooled/core/workspace"
)

// policy is the content security policy of the app: it may run whatever it holds, and reach nothing but itself.
const policy = "default-src 'self' 'unsafe-inline' 'unsafe-eval' data: blob:; connect-src 'self'; object-src 'none'; " +
	"base-uri 'self'; form-action 'self'; frame-ancestors 'none'; webrtc 'block'"

// Paths of the server's own. The project has nothing there: names that begin with ".pooled" are hidden.
const (
	reloadPath = "/.pooled/reload.js"
	eventsPath = "/.pooled/events"
)

// reloadScript reloads the page when the files have changed. Only a tab that is seen watches: a browser has six connections to
// a server, for all tabs. What has changed meanwhile is told by what the files are when a tab watches again.
const reloadScript = `(() => {
	let source, last;
	const rest = () => {
		source?.close();
		source = undefined;
	};
	const watch = () => {
		if (document.hidden || source) return;
		source = new EventSource("` + eventsPath + `");
		source.addEventListener("now", (event) => {
			if (last !== undefined && last !== event.data) location.reload();
			last = event.data;
		});
		source.addEventListener("reload", () => location.reload());
		source.addEventListener("error", () => source?.readyState === EventSource.CLOSED && rest());
	};
	document.addEventListener("visibilitychange", () => (document.hidden ? rest() : watch()));
	addEventListener("pagehide", rest);
	addEventListener("pageshow", watch);
	watch();
})();
`

const (
	// pollEvery is how often the files are looked at while a browser is watching.
	pollEvery = 400 * time.Millisecond
	// maxWatchers bounds the browsers that are told of changes.
	maxWatchers = maxConns / 4
)

// server publishes the app of a project for a person's browser, on a port of this machine alone and on an origin of its
// own.
//
// The app is code that a model wrote. Its policy lets it load only from itself; it can still send the browser to another
// address, which no policy prevents. Other pages of the browser cannot read it: requests must name this address as their
// host (a name that a stranger's DNS points here is refused), and must not come from another origin's script, image or
// form. There is nothing to be had here but the project's files: no hub, no writing, no cookies.
type server struct {
	w     *workspace.Workspace
	port  int
	http  *http.Server
	done  chan error
	stop  context.CancelFunc
	conns *listener
	slots chan struct{} // one for each answer under way

	mu    sync.Mutex
	entry string

	watchers atomic.Int32
	files    glance
}

// glance is the last look at the files, which all browsers share.
type glance struct {
	mu    sync.Mutex
	print string
	at    time.Time
}

// start listens on port if it is free, otherwise on any.
//
// Owns: the caller closes it.
func start(w *workspace.Workspace, port int) (*server, error) {
	l, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
	if err != nil && port != 0 {
		l, err = net.Listen("tcp", "127.0.0.1:0")
	}
	if err != nil {
		return nil, fmt.Errorf("the app cannot be published on this machine: %w", err)
	}
	ctx, stop := context.WithCancel(context.Background())
	s := &server{
		w: w, port: l.Addr().(*net.TCPAddr).Port, stop: stop, done: make(chan error, 1),
		conns: &listener{Listener: l, open: map[*conn]bool{}}, slots: make(chan struct{}, maxConns), entry: defaultEntry,
	}
	s.http = &http.Server{
		Handler: s, ReadHeaderTimeout: 10 * time.Second, IdleTimeout: time.Minute, MaxHeaderBytes: 64 << 10,
		BaseContext: func(net.Listener) context.Context { return ctx },
	}
	go func() { s.done <- s.http.Serve(s.conns) }()
	return s, nil
}

// close ends all connections and waits for them.
func (s *server) close() error {
	s.stop()
	err := s.http.Close()
	if e := <-s.done; !errors.Is(e, http.ErrServerClosed) {
		err = errors.Join(err, e)
	}
	// Handlers give their slots back.
	for range cap(s.slots) {
		s.slots <- struct{}{}
	}
	return err
}

func (s *server) setEntry(entry string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.entry = entry
}

// url is where a person finds the app.
func (s *server) url() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	u := url.URL{Scheme: "http", Host: net.JoinHostPort("127.0.0.1", strconv.Itoa(s.port)), Path: "/"}
	if s.entry != defaultEntry {
		u.Path += s.entry
	}
	return u.String()
}

// ServeHTTP implements [http.Handler].
func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	select {
	case s.slots <- struct{}{}:
		defer func() { <-s.slots }()
	case <-r.Context().Done(): // the others are ending: no more are answered than there are connections
		return
	}
	h := w.Header()
	h.Set("Content-Security-Policy", policy)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("X-DNS-Prefetch-Control", "off")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Permissions-Policy", "camera=(), microphone=(), geolocation=(), usb=(), serial=(), hid=(), bluetooth=(), midi=()")
	h.Set("Cache-Control", "no-store")
	if code, reason := s.refuse(r); code != 0 {
		http.Error(w, reason, code)
		return
	}
	switch r.URL.Path {
	case reloadPath:
		h.Set("Content-Type", "text/javascript; charset=utf-8")
		_, _ = io.WriteString(w, reloadScript)
	case eventsPath:
		s.events(w, r)
	default:
		s.file(w, r)
	}
}

// refuse says why a request is not answered.
func (s *server) refuse(r *http.Request) (code int, reason string) {
	port := ":" + strconv.Itoa(s.port)
	if r.Host != "127.0.0.1"+port && r.Host != "localhost"+port {
		return http.StatusMisdirectedRequest, "this is 127.0.0.1" + port
	}
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		return http.StatusMethodNotAllowed, "there are only files here, to be read"
	}
	if o := r.Header.Get("Origin"); o != "" && o != "http://"+r.Host {
		return http.StatusForbidden, "other origins are not let in"
	}
	// Browsers say who asks. From elsewhere a person may follow a link here, and nothing else.
	switch r.Header.Get("Sec-Fetch-Site") {
	case "cross-site", "same-site":
		if r.Header.Get("Sec-Fetch-Mode") != "navigate" || r.Header.Get("Sec-Fetch-Dest") != "document" {
			return http.StatusForbidden, "other origins are not let in"
		}
	}
	return 0, ""
}

// types are the content types by extension; what the system says may be anything.
var types = map[string]string{
	".html": "text/html; charset=utf-8", ".htm": "text/html; charset=utf-8", ".css": "text/css; charset=utf-8",
	".js": "text/javascript; charset=utf-8", ".mjs": "text/javascript; charset=utf-8", ".json": "application/json",
	".map": "application/json", ".webmanifest": "application/manifest+json", ".wasm": "application/wasm",
	".txt": "text/plain; charset=utf-8", ".md": "text/plain; charset=utf-8", ".csv": "text/csv; charset=utf-8",
	".xml": "application/xml", ".svg": "image/svg+xml", ".png": "image/png", ".jpg": "image/jpeg", ".jpeg": "image/jpeg",
	".gif": "image/gif", ".webp": "image/webp", ".avif": "image/avif", ".ico": "image/x-icon", ".bmp": "image/bmp",
	".woff": "font/woff", ".woff2": "font/woff2", ".ttf": "font/ttf", ".otf": "font/otf",
	".mp3": "audio/mpeg", ".wav": "audio/wav", ".ogg": "audio/ogg", ".m4a": "audio/mp4", ".mp4": "video/mp4", ".webm": "video/webm",
	".pdf": "application/pdf",
}

// file answers with a file of the project.
func (s *server) file(w http.ResponseWriter, r *http.Request) {
	name := strings.TrimPrefix(path.Clean("/"+r.URL.Path), "/")
	files := s.w.FS()
	st, err := stat(files, name)
	switch {
	case name == "":
		s.mu.Lock()
		name = s.entry
		s.mu.Unlock()
		st, err = stat(files, name)
	case err == nil && st.IsDir():
		index := path.Join(name, "index.html")
		if st, err = stat(files, index); err == nil && !strings.HasSuffix(r.URL.Path, "/") {
			// Relative links count from the folder.
			http.Redirect(w, r, (&url.URL{Path: "/" + name + "/", RawQuery: r.URL.RawQuery}).String(), http.StatusTemporaryRedirect)
			return
		}
		name = index
	}
	if err != nil || st.IsDir() {
		notFound(w, name)
		return
	}
	f, err := files.Open(name)
	if err != nil {
		notFound(w, name)
		return
	}
	defer f.Close()
	kind := types[strings.ToLower(path.Ext(name))]
	if kind == "" {
		kind = "application/octet-stream"
	}
	w.Header().Set("Content-Type", kind)
	content, ok := f.(io.ReadSeeker)
	if page, here := f.(io.ReaderAt); here && strings.HasPrefix(kind, "text/html") {
		if content, err = withReload(page, st.Size()); err != nil {
			http.Error(w, "the file cannot be read", http.StatusInternalServerError)
			return
		}
	}
	if !ok {
		notFound(w, name)
		return
	}
	http.ServeContent(w, r, "", time.Time{}, content)
}

func stat(files fs.FS, name string) (fs.FileInfo, error) {
	if name == "" {
		return nil, fs.ErrNotExist
	}
	return fs.Stat(files, name)
}

func notFound(w http.ResponseWriter, name string) {
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(http.StatusNotFound)
	fmt.Fprintf(w, "<!doctype html><title>Not found</title><p>The project has no file <code>%s</code>.</p>"+
		"%s", html.EscapeString(workspace.Escape(name)), reloadTag)
}

// look returns what changes with the files. However many browsers watch, they are looked at twice a poll at most.
func (s *server) look(ctx context.Context) (string, error) {
	s.files.mu.Lock()
	defer s.files.mu.Unlock()
	if time.Since(s.files.at) < pollEvery/2 {
		return s.files.print, nil
	}
	print, err := s.w.Fingerprint(ctx)
	if err == nil {
		s.files.print, s.files.at = print, time.Now()
	}
	return print, err
}

// events tells a browser when the files have changed, until it goes away.
func (s *server) events(w http.ResponseWriter, r *http.Request) {
	if s.watchers.Add(1) > maxWatchers {
		s.watchers.Add(-1)
		http.Error(w, "too many pages are watching", http.StatusServiceUnavailable)
		return
	}
	defer s.watchers.Add(-1)
	out := http.NewResponseController(w)
	say := func(text string) bool {
		_, err := io.WriteString(w, text)
		return err == nil && out.Flush() == nil
	}
	w.Header().Set("Content-Type", "text/event-stream")
	last, err := s.look(r.Context())
	if err != nil || !say("retry: 1000\nevent: now\ndata: "+last+"\n\n") {
		return
	}
	tick := time.NewTicker(pollEvery)
	defer tick.Stop()
	for n := 1; ; n++ {
		select {
		case <-r.Context().Done():
			return
		case <-tick.C:
		}
		now, err := s.look(r.Context())
		if err != nil {
			return
		}
		text := ""
		if now != last {
			last, text = now, "event: reload\ndata:\n\n"
		} else if n%30 == 0 {
			text = ": still here\n\n" // finds out whether the browser is
		}
		if text != "" && !say(text) {
			return
		}
	}
}
