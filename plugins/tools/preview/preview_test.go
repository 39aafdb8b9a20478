package preview

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	author "github.com/pooled/pooled/core/plugin/serve"
	"github.com/pooled/pooled/core/plugin/tooltest"
	"github.com/pooled/pooled/core/tool"
)

const counter = `<!doctype html>
<html><head><title>Counter</title></head>
<body>
<p id="n">0</p>
<button id="add">Add</button>
<input name="who">
<p id="hello"></p>
<script>
let n = 0;
add.onclick = () => { console.log("click " + ++n); document.querySelector("#n").textContent = n; };
document.querySelector("input").oninput = (e) => { hello.textContent = "Hello " + e.target.value; };
</script>
</body></html>
`

const broken = `<!doctype html>
<link rel="stylesheet" href="none.css">
<script>
console.log("start");
console.error("bad news");
missing();
</script>
`

var cases = []tooltest.Case{
	{
		Name:  "a clean app, in the words that the embedded model knows",
		Files: map[string]string{"index.html": counter},
		Steps: []tooltest.Step{
			{Tool: "preview_logs", Arguments: `{}`, IsError: true, Text: "error: nothing is served; call serve first"},
			{Tool: "serve", Arguments: `{}`, Text: "serving index.html, no console errors"},
			{Tool: "preview_logs", Arguments: `{}`, Text: "no console output, no errors"},
			{Tool: "page_click", Arguments: `{"selector":"#add"}`, Part: true, Text: "clicked #add. The page shows: 1"},
			{Tool: "page_click", Arguments: `{"selector":"Add"}`, Part: true, Text: "\nlog: click 2"},
			{Tool: "page_type", Arguments: `{"selector":"input","text":"Ann"}`, Part: true, Text: "Hello Ann"},
			{Tool: "page_click", Arguments: `{"selector":"#none"}`, IsError: true, Part: true, Text: "The page shows: 2"},
			{Tool: "preview_logs", Arguments: `{}`, Text: "log: click 1\nlog: click 2"},
			{Tool: "stop_serve", Arguments: `{}`, Text: "stopped serving index.html"},
			{Tool: "stop_serve", Arguments: `{}`, Text: "nothing was served"},
		},
	},
	{
		Name:  "errors are told with their place",
		Files: map[string]string{"app/page.html": broken},
		Steps: []tooltest.Step{
			{Tool: "serve", Arguments: `{}`, IsError: true, Part: true, Text: "there is no page index.html; write it first"},
			{Tool: "serve", Arguments: `{"entry":"../x.html"}`, IsError: true, Part: true, Text: "outside of the project"},
			{Tool: "serve", Arguments: `{"entry":"app/page.html"}`, Part: true, Text: "serving app/page.html, 3 errors:\n- "},
			{Tool: "preview_logs", Arguments: `{}`, Part: true, Text: "app/page.html:6:"},
			{Tool: "preview_logs", Arguments: `{}`, Part: true, Text: "log: start\n3 errors:\n- ReferenceError: "},
			{Tool: "preview_logs", Arguments: `{}`, Part: true, Text: "- missing file: "},
			{Tool: "preview_logs", Arguments: `{}`, Part: true, Text: "- console.error: bad news"},
		},
	},
	{
		Name:  "an endless page is stopped and the next one works",
		Files: map[string]string{"index.html": "<script>for(;;);</script>", "ok.html": "ok"},
		Steps: []tooltest.Step{
			{Tool: "serve", Arguments: `{}`, Part: true, Text: "- the page was stopped: it ran too long without a pause"},
			{Tool: "serve", Arguments: `{"entry":"ok.html"}`, Text: "serving ok.html, no console errors"},
		},
	},
	{
		Name:  "one error is told, in the words that the embedded model knows",
		Files: map[string]string{"index.html": "<script>missing()</script>"},
		Steps: []tooltest.Step{
			{Tool: "serve", Arguments: `{}`, Text: "serving index.html, 1 error:\n- ReferenceError: missing is not defined (index.html:1:9)"},
		},
	},
}

// cached is the set with a folder for compiled code.
type cached struct {
	Set
	dir string
}

func (c cached) Open(ctx context.Context, p tool.Project) (tool.Session, error) {
	p.Cache = c.dir
	return c.Set.Open(ctx, p)
}

var cacheDir string

// TestMain also lets the test binary stand for Pooled, which is started again to serve its tools.
func TestMain(m *testing.M) {
	if len(os.Args) == 4 && os.Args[1] == "plugin" && os.Args[2] == "serve" {
		author.Tools(Set{})
		return
	}
	dir, err := os.MkdirTemp("", "pooled-preview-")
	if err != nil {
		panic(err)
	}
	cacheDir = dir
	code := m.Run()
	os.RemoveAll(dir)
	os.Exit(code)
}

func TestConformance(t *testing.T) {
	set := cached{Set: Set{Time: time.Second}, dir: cacheDir}
	through, stop, err := tooltest.Wire(t.Context(), set)
	if err != nil {
		t.Fatal(err)
	}
	defer stop()
	for name, set := range map[string]tool.Set{"direct": set, "gRPC": through} {
		t.Run(name, func(t *testing.T) {
			for _, r := range tooltest.Run(t.Context(), set, cases) {
				if r.Err != nil {
					t.Errorf("%s: %v", r.Name, r.Err)
				}
			}
		})
	}
}

// project serves files and returns the session, the folder and the address.
func project(t *testing.T, files map[string]string) (s tool.Session, dir, address string) {
	t.Helper()
	dir = t.TempDir()
	for name, content := range files {
		put(t, filepath.Join(dir, filepath.FromSlash(name)), content)
	}
	s, err := tool.Checked(cached{dir: cacheDir}).Open(t.Context(), tool.Project{Root: dir})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s, dir, serve(t, s, "{}")
}

func serve(t *testing.T, s tool.Session, args string) string {
	t.Helper()
	r, err := s.Call(t.Context(), tool.Call{Name: "serve", Arguments: json.RawMessage(args)})
	if err != nil || r.IsError {
		t.Fatal(r.Text, err)
	}
	if r.Health == nil || !strings.HasPrefix(r.Health.URL, "http://127.0.0.1:") {
		t.Fatalf("health %+v", r.Health)
	}
	return r.Health.URL
}

// TestHealth says of every look at a page how it is, and of nothing else.
func TestHealth(t *testing.T) {
	s, dir, address := project(t, map[string]string{"index.html": counter})
	call := func(name, args string) *tool.Health {
		t.Helper()
		r, err := s.Call(t.Context(), tool.Call{Name: name, Arguments: json.RawMessage(args)})
		if err != nil || r.IsError {
			t.Fatal(r.Text, err)
		}
		return r.Health
	}
	fine := &tool.Health{Page: "index.html", URL: address}
	for _, c := range []struct{ name, args string }{
		{"serve", `{}`}, {"preview_logs", `{}`}, {"page_click", `{"selector":"#add"}`}, {"page_type", `{"selector":"input","text":"Ann"}`},
	} {
		if got := call(c.name, c.args); !reflect.DeepEqual(got, fine) || !got.OK() {
			t.Errorf("%s: got %+v, want %+v", c.name, got, fine)
		}
	}
	put(t, filepath.Join(dir, "index.html"), "<script>missing()</script>")
	for _, name := range []string{"preview_logs", "serve"} {
		got := call(name, `{}`)
		if got == nil || got.OK() || len(got.Problems) != 1 || !strings.HasPrefix(got.Problems[0], "ReferenceError: ") || got.Page != "index.html" {
			t.Errorf("%s of a page with an error: got %+v", name, got)
		}
	}
	if got := call("stop_serve", `{}`); got != nil {
		t.Errorf("stop_serve: got %+v, want no health", got)
	}
}

func put(t *testing.T, name, content string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
}

// get asks the server; header lines are "Name: value", of which Host is the host.
func get(t *testing.T, method, address string, header ...string) (*http.Response, string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, address, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, h := range header {
		name, value, _ := strings.Cut(h, ": ")
		if name == "Host" {
			r.Host = value
			continue
		}
		r.Header.Set(name, value)
	}
	client := http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	resp, err := client.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp, string(body)
}

func TestServer(t *testing.T) {
	s, dir, address := project(t, map[string]string{
		"index.html": counter, "app.js": "1", "a b.svg": "<svg/>", "docs/index.html": "docs", "data.bin": "0123456789", ".git/config": "secret",
		"none/x.txt": "x",
	})
	if err := os.Symlink("/etc", filepath.Join(dir, "etc")); err != nil {
		t.Log("no links here:", err)
	}
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	tag := `<script src="/.pooled/reload.js"></script>` + "\n"
	for _, c := range []struct {
		path   string
		header []string
		code   int
		kind   string
		body   string
	}{
		{path: "", code: 200, kind: "text/html; charset=utf-8", body: strings.Replace(counter, "</body>", tag+"</body>", 1)},
		{path: "index.html", code: 200, kind: "text/html; charset=utf-8"},
		{path: "app.js", code: 200, kind: "text/javascript; charset=utf-8", body: "1"},
		{path: "a%20b.svg", code: 200, kind: "image/svg+xml", body: "<svg/>"},
		{path: "docs/", code: 200, kind: "text/html; charset=utf-8", body: "docs" + tag},
		{path: "docs", code: 307},
		{path: "data.bin", code: 206, kind: "application/octet-stream", body: "234", header: []string{"Range: bytes=2-4"}},
		{path: "none", code: 404},
		{path: "none.js", code: 404},
		{path: "<script>", code: 404, kind: "text/html; charset=utf-8"},
		{path: ".git/config", code: 404},
		{path: ".GIT/config", code: 404},
		{path: "/.git/config", code: 404},
		{path: ".git//config", code: 404},
		{path: ".git/config?raw??", code: 404},
		{path: ".git/config?import&raw??", code: 404},
		{path: ".git/config/", code: 404},
		{path: ".git%2fconfig", code: 404},
		{path: ".git%5cconfig", code: 404},
		{path: ".git/config::$DATA", code: 404},
		{path: "@fs/etc/passwd?raw??", code: 404},
		{path: "/etc/passwd", code: 404},
		{path: "docs/..%2f..%2f..%2fetc/passwd", code: 404},
		{path: "../../etc/passwd", code: 404},
		{path: "%2e%2e/%2e%2e/etc/passwd", code: 404},
		{path: "etc/passwd", code: 404},
		{path: "a%00b", code: 404},
		{path: ".pooled/reload.js", code: 200, kind: "text/javascript; charset=utf-8", body: reloadScript},
		{path: ".pooled/other", code: 404},
	} {
		resp, body := get(t, "GET", address+c.path, c.header...)
		if resp.StatusCode != c.code || c.kind != "" && resp.Header.Get("Content-Type") != c.kind || c.body != "" && body != c.body {
			t.Errorf("%q: %d %s %q, want %d %s %q", c.path, resp.StatusCode, resp.Header.Get("Content-Type"), body, c.code, c.kind, c.body)
		}
		if strings.Contains(body, "secret") || strings.Contains(body, "root:") || strings.Contains(body, "<script></code>") {
			t.Errorf("%q: %q", c.path, body)
		}
		if got := resp.Header.Get("Content-Security-Policy"); got != policy {
			t.Errorf("%q: policy %q", c.path, got)
		}
		for _, h := range []string{"Set-Cookie", "Access-Control-Allow-Origin"} {
			if got := resp.Header.Get(h); got != "" {
				t.Errorf("%q: %s: %s", c.path, h, got)
			}
		}
	}
	for _, c := range []struct {
		name, method string
		header       []string
		code         int
	}{
		{"a name that DNS points here", "GET", []string{"Host: evil.example:" + u.Port()}, 421},
		{"no port", "GET", []string{"Host: 127.0.0.1"}, 421},
		{"another name for this machine", "GET", []string{"Host: localhost:" + u.Port()}, 200},
		{"its own origin", "GET", []string{"Origin: http://" + u.Host}, 200},
		{"another origin", "GET", []string{"Origin: http://evil.example"}, 403},
		{"another port", "GET", []string{"Origin: http://127.0.0.1:1"}, 403},
		{"a page of unknown origin", "GET", []string{"Origin: null"}, 403},
		{"a link from elsewhere", "GET", []string{"Sec-Fetch-Site: cross-site", "Sec-Fetch-Mode: navigate", "Sec-Fetch-Dest: document"}, 200},
		{"a frame elsewhere", "GET", []string{"Sec-Fetch-Site: cross-site", "Sec-Fetch-Mode: navigate", "Sec-Fetch-Dest: iframe"}, 403},
		{"a script elsewhere", "GET", []string{"Sec-Fetch-Site: same-site", "Sec-Fetch-Mode: no-cors", "Sec-Fetch-Dest: script"}, 403},
		{"a form", "POST", nil, 405},
		{"HEAD", "HEAD", nil, 200},
		{"PUT", "PUT", nil, 405},
	} {
		if resp, body := get(t, c.method, address, c.header...); resp.StatusCode != c.code {
			t.Errorf("%s: %d %q, want %d", c.name, resp.StatusCode, body, c.code)
		}
	}

	// It listens to this machine alone.
	for _, a := range others(t) {
		if c, err := net.DialTimeout("tcp", net.JoinHostPort(a, u.Port()), time.Second); err == nil {
			c.Close()
			t.Errorf("it answers on %s", a)
		}
	}

	if next := serve(t, s, `{"entry":"docs/index.html"}`); next != address+"docs/index.html" {
		t.Errorf("the address of another page is %s", next)
	}
	if _, err := s.Call(t.Context(), tool.Call{Name: "stop_serve"}); err != nil {
		t.Fatal(err)
	}
	if c, err := net.Dial("tcp", u.Host); err == nil {
		c.Close()
		t.Error("it answers after stop_serve")
	}
	if again := serve(t, s, "{}"); again != address {
		t.Errorf("served again at %s, want %s as before", again, address)
	}
}

// others are this machine's addresses but for the loopback.
func others(t *testing.T) []string {
	t.Helper()
	all, err := net.InterfaceAddrs()
	if err != nil {
		t.Fatal(err)
	}
	var list []string
	for _, a := range all {
		if n, ok := a.(*net.IPNet); ok && !n.IP.IsLoopback() && !n.IP.IsLinkLocalUnicast() {
			list = append(list, n.IP.String())
		}
	}
	return list
}

// TestReload watches as a browser does, and checks that the sandbox follows, too.
func TestReload(t *testing.T) {
	s, dir, address := project(t, map[string]string{"index.html": "<p>one</p>"})
	resp, err := http.Get(address + strings.TrimPrefix(eventsPath, "/"))
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	lines := make(chan string)
	go func() {
		defer close(lines)
		for scan := bufio.NewScanner(resp.Body); scan.Scan(); {
			lines <- scan.Text()
		}
	}()
	wait := func(want string) {
		t.Helper()
		deadline := time.After(5 * time.Second)
		for {
			select {
			case got, ok := <-lines:
				if !ok {
					t.Fatalf("the stream ended before %q", want)
				}
				if got == want {
					return
				}
			case <-deadline:
				t.Fatalf("no %q came", want)
			}
		}
	}
	wait("retry: 1000")
	wait("event: now")
	put(t, filepath.Join(dir, "index.html"), "<p>two!</p><script>console.log('two')</script>")
	wait("event: reload")
	r, err := s.Call(t.Context(), tool.Call{Name: "preview_logs"})
	if err != nil || r.Text != "log: two" {
		t.Errorf("preview_logs: %q, %v; want the new page's", r.Text, err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	for range lines { // ends
	}
	if _, err := s.Call(t.Context(), tool.Call{Name: "preview_logs"}); err != tool.ErrClosed {
		t.Errorf("after Close: %v, want ErrClosed", err)
	}
}

func TestWithReload(t *testing.T) {
	tag := `<script src="/.pooled/reload.js"></script>` + "\n"
	for _, c := range []struct{ in, want string }{
		{"", tag},
		{"<p>x", "<p>x" + tag},
		{"<body>x</BODY></html>", "<body>x" + tag + "</BODY></html>"},
		{"</body>" + strings.Repeat("x", 200<<10), tag + "</body>" + strings.Repeat("x", 200<<10)},
		{strings.Repeat("x", 64<<10-3) + "</body>" + strings.Repeat("y", 64<<10-4), strings.Repeat("x", 64<<10-3) + tag + "</body>" + strings.Repeat("y", 64<<10-4)},
		{"<script>'</body>'</script></body>", "<script>'</body>'</script>" + tag + "</body>"},
	} {
		r, err := withReload(strings.NewReader(c.in), int64(len(c.in)))
		if err != nil {
			t.Fatal(err)
		}
		if err := iotest.TestReader(r, []byte(c.want)); err != nil {
			t.Errorf("withReload(%q) is not %q: %v", c.in, c.want, err)
		}
	}
}
