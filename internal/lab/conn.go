package lab

import (
	"net"
	"sync"
	"sync/atomic"
	"time"
)

// conn is a client's end of a connection to the lab's Redis. Beneath it is a
// net.Pipe, which holds nothing: a client that writes many commands and a server
// that answers the first of them would wait for each other. So what the client
// writes is kept here until the server takes it, and writing never waits.
type conn struct {
	net.Conn
	touched *atomic.Bool // set when something was said in either direction

	mu     sync.Mutex
	more   *sync.Cond
	kept   []byte
	closed bool
}

func newConn(pipe net.Conn, touched *atomic.Bool) *conn {
	c := &conn{Conn: pipe, touched: touched}
	c.more = sync.NewCond(&c.mu)
	go c.deliver()
	return c
}

// deliver hands on to the server what was written, until the connection closes.
func (c *conn) deliver() {
	for {
		b, ok := c.take()
		if !ok {
			return
		}
		if _, err := c.Conn.Write(b); err != nil {
			_ = c.Close()
			return
		}
	}
}

func (c *conn) take() ([]byte, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for len(c.kept) == 0 && !c.closed {
		c.more.Wait()
	}
	b := c.kept
	c.kept = nil
	return b, !c.closed
}

func (c *conn) Write(b []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return 0, net.ErrClosed
	}
	c.kept = append(c.kept, b...)
	c.touched.Store(true)
	c.more.Signal()
	return len(b), nil
}

func (c *conn) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	c.touched.Store(true)
	return n, err
}

func (c *conn) Close() error {
	c.mu.Lock()
	c.closed = true
	c.more.Signal()
	c.mu.Unlock()
	return c.Conn.Close()
}

// SetDeadline bounds reading alone, as writing does not wait.
func (c *conn) SetDeadline(t time.Time) error { return c.SetReadDeadline(t) }

// SetWriteDeadline has nothing to bound.
func (c *conn) SetWriteDeadline(time.Time) error { return nil }
