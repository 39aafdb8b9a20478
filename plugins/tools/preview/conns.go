package preview

import (
	"net"
	"sync"
	"sync/atomic"
	"time"
)

const (
	// maxConns bounds the connections, and with them descriptors, memory and what is answered at once.
	maxConns = 64
	// patience is how long a client may take nothing of what is written to it.
	patience = 10 * time.Second
)

// listener accepts any number of clients and keeps [maxConns]: the one that was still for the longest gives way to a new one,
// so that clients that never read, never ask or never go keep nobody out.
//
// Owns: what it wraps. Safe for concurrent use.
type listener struct {
	net.Listener

	mu   sync.Mutex
	open map[*conn]bool
}

// Accept implements [net.Listener].
func (l *listener) Accept() (net.Conn, error) {
	accepted, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	c := &conn{Conn: accepted, of: l, patience: patience}
	c.moved()
	if stale := l.add(c); stale != nil {
		if tcp, ok := stale.Conn.(*net.TCPConn); ok {
			_ = tcp.SetLinger(0) // what it has not read is not kept for it
		}
		_ = stale.Close()
	}
	return c, nil
}

// add counts a connection in, and returns the one that must go for it.
func (l *listener) add(c *conn) (stale *conn) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.open) >= maxConns {
		for o := range l.open {
			if stale == nil || o.last.Load() < stale.last.Load() {
				stale = o
			}
		}
		delete(l.open, stale)
	}
	l.open[c] = true
	return stale
}

func (l *listener) remove(c *conn) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.open, c)
}

// count is how many connections there are.
func (l *listener) count() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.open)
}

// conn is a connection that knows when something last went through it.
type conn struct {
	net.Conn
	of       *listener
	patience time.Duration
	last     atomic.Int64 // in nanoseconds since 1970
}

func (c *conn) moved() { c.last.Store(time.Now().UnixNano()) }

// Read implements [net.Conn].
func (c *conn) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	if n > 0 {
		c.moved()
	}
	return n, err
}

// Write implements [net.Conn]. It fails when the client takes nothing for too long.
func (c *conn) Write(b []byte) (int, error) {
	if err := c.SetWriteDeadline(time.Now().Add(c.patience)); err != nil {
		return 0, err
	}
	n, err := c.Conn.Write(b)
	if n > 0 {
		c.moved()
	}
	return n, err
}

// Close implements [net.Conn].
func (c *conn) Close() error {
	c.of.remove(c)
	return c.Conn.Close()
}
