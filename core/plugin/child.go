package plugin

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"time"

	"github.com/pooled/pooled/core/plain"
)

// child is the operating system's side of a plugin process. It implements go-plugin's runner.
type child struct {
	name   string
	cmd    *exec.Cmd
	dir    string // private folder of its socket
	rights *reach
	stdin  io.WriteCloser
	hello  greeting // its standard output
	stderr io.ReadCloser
	group  group

	mu      sync.Mutex
	started bool
	killed  bool          // by us, while it was alive
	done    chan struct{} // closed when the process is reaped
	state   string        // how it ended, such as "exit status 3"
}

// prepare sets the program up: a group of its own, the environment env and nothing else from this process.
func (c *child) prepare(s spec, env []string, dir string) (err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.dir, c.rights = dir, s.rights
	c.cmd = exec.Command(s.path, s.args...)
	if s.self {
		c.cmd.Args[0] = "pooled" // its path may be /proc/self/exe
	}
	c.cmd.Env = append(systemEnv(), env...)
	if !s.self {
		// What Python compiles would lie beside what was approved, and run in its place.
		c.cmd.Env = append(c.cmd.Env, "PYTHONDONTWRITEBYTECODE=1")
	}
	c.cmd.Dir = dir
	c.group.prepare(c.cmd)
	if c.stdin, err = c.cmd.StdinPipe(); err != nil {
		return err
	}
	if c.hello.ReadCloser, err = c.cmd.StdoutPipe(); err != nil {
		return err
	}
	c.stderr, err = c.cmd.StderrPipe()
	return err
}

// Start implements runner.Runner.
func (c *child) Start(context.Context) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.killed {
		return context.Canceled
	}
	if c.rights != nil {
		// [start] calls this on a thread that serves nothing else and ends with the child.
		if err := c.rights.confine(c.cmd.Path, c.dir); err != nil {
			return err
		}
	}
	if err := c.cmd.Start(); err != nil {
		return err
	}
	c.started = true
	c.group.started(c.cmd.Process)
	return nil
}

// Wait implements runner.Runner. Whatever the process has started in its group ends with it.
func (c *child) Wait(context.Context) error {
	err := c.cmd.Wait()
	c.mu.Lock()
	defer c.mu.Unlock()
	// The process is reaped, its number is free; no other group can have got it within this instant.
	c.group.kill(c.cmd.Process)
	c.state = c.cmd.ProcessState.String()
	close(c.done)
	return err
}

// Kill implements runner.Runner. It kills the process group and frees whoever reads its output, even when a process that
// left the group still holds the other end.
func (c *child) Kill(context.Context) error {
	c.mu.Lock()
	if !c.started {
		c.killed = true
		c.mu.Unlock()
		return nil
	}
	c.mu.Unlock()
	if _, ended := c.hello.get(); ended {
		// It is probably exiting by itself: its own status says more than ours.
		c.waitFor(200 * time.Millisecond)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	select {
	case <-c.done:
		return nil
	default:
	}
	c.killed = true
	c.group.kill(c.cmd.Process)
	return errors.Join(ignoreClosed(c.stdin.Close()), ignoreClosed(c.hello.Close()), ignoreClosed(c.stderr.Close()))
}

// waitFor reports whether the process ended within d.
func (c *child) waitFor(d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-c.done:
		return true
	case <-t.C:
		return false
	}
}

// ran reports whether the process was ever started.
func (c *child) ran() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.started
}

// ended returns how the process ended by itself, or "" when it runs, never ran or was killed by us.
func (c *child) ended() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.killed {
		return ""
	}
	return c.state
}

func ignoreClosed(err error) error {
	if errors.Is(err, os.ErrClosed) {
		return nil
	}
	return err
}

// Stdout implements runner.Runner.
func (c *child) Stdout() io.ReadCloser { return &c.hello }

// Stderr implements runner.Runner.
func (c *child) Stderr() io.ReadCloser { return c.stderr }

// Name implements runner.Runner.
func (c *child) Name() string { return c.name }

// ID implements runner.Runner. It is never empty, so that go-plugin cleans up after a program that could not be started.
func (c *child) ID() string { return c.name }

// Diagnose implements runner.Runner.
func (c *child) Diagnose(context.Context) string { return "" }

// PluginToHost implements runner.Runner. A plugin may only name a socket in the folder that it was given (a port of this
// machine where there are no Unix sockets), so that it cannot make the host connect elsewhere.
func (c *child) PluginToHost(network, addr string) (string, string, error) {
	if runtime.GOOS == "windows" {
		if network == "tcp" && strings.HasPrefix(addr, "127.0.0.1:") {
			return network, addr, nil
		}
	} else if network == "unix" && filepath.Dir(addr) == filepath.Clean(c.dir) {
		return network, addr, nil
	}
	return "", "", fmt.Errorf("it listens on %s %q, outside of the folder that it was given", network, addr)
}

// HostToPlugin implements runner.Runner.
func (c *child) HostToPlugin(network, addr string) (string, string, error) {
	return network, addr, nil
}

// greeting passes a program's standard output on and keeps its first line.
type greeting struct {
	io.ReadCloser
	mu    sync.Mutex
	line  []byte
	whole bool // the line has ended, or is longer than any greeting
	eof   bool
}

const maxGreeting = 8 << 10 // a certificate takes about 1 KiB

func (g *greeting) Read(p []byte) (int, error) {
	n, err := g.ReadCloser.Read(p)
	g.mu.Lock()
	defer g.mu.Unlock()
	if !g.whole {
		head, _, found := bytes.Cut(p[:n], []byte{'\n'})
		g.line = append(g.line, head[:min(len(head), maxGreeting-len(g.line))]...)
		g.whole = found || len(g.line) == maxGreeting
	}
	g.eof = g.eof || err != nil
	return n, err
}

// get returns the line so far and whether the output has ended.
func (g *greeting) get() (line string, ended bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	return string(bytes.TrimSpace(g.line)), g.eof
}

// tail keeps the end of what a program writes to standard error.
type tail struct {
	mu      sync.Mutex
	buf     []byte
	written int // bytes so far
}

const maxTail = 4 << 10

func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.written += len(p)
	t.buf = append(t.buf, p[max(0, len(p)-maxTail):]...)
	t.buf = t.buf[max(0, len(t.buf)-maxTail):]
	return len(p), nil
}

// settle waits until nothing more is written, as far as that can be known.
func (t *tail) settle() {
	const quiet, most = 20 * time.Millisecond, 10
	for range most {
		before := t.count()
		time.Sleep(quiet)
		if t.count() == before {
			return
		}
	}
}

func (t *tail) count() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.written
}

// clear forgets what was written.
func (t *tail) clear() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.buf = nil
}

// maxSaid bounds what is told of a program's last lines.
const maxSaid = 8

// said returns the lines that say most, fit for a terminal: of a Go panic its first, of an exception in Python the whole last
// trace, as far as it is short, else the last line.
func (t *tail) said() string {
	t.mu.Lock()
	lines := strings.Split(strings.TrimSpace(string(t.buf)), "\n")
	t.mu.Unlock()
	from := len(lines) - 1
	for i, l := range lines {
		if strings.HasPrefix(l, "panic: ") || strings.HasPrefix(l, "fatal error: ") {
			return plain.Line(l, 300)
		}
		if strings.HasPrefix(l, "Traceback (most recent call last)") {
			from = i
		}
	}
	for len(lines)-from > maxSaid { // the frames that called it say least
		from++
		for len(lines)-from > 1 && !strings.HasPrefix(lines[from], "  File ") {
			from++
		}
	}
	for i, l := range lines[from:] {
		lines[from+i] = plain.Line(l, 300)
	}
	return strings.Join(lines[from:], "\n")
}
