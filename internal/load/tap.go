package load

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/throng-dev/throng/internal/grid"
	"github.com/throng-dev/throng/internal/session"
	"github.com/throng-dev/throng/internal/udp"
	"github.com/throng-dev/throng/internal/wire"
	"github.com/throng-dev/throng/transport"
)

// tapped is how many clients share one tap. What records take is the same for all.
const tapped = 8

// taps count what arrives at the clients' sockets. It goes by the bytes alone, so that it holds for any client.
type taps struct {
	records atomic.Uint64 // bytes of records, at every tapped client

	mu    sync.Mutex
	conns map[int]*udp.Conn // by client; the newest of each
}

// dialer is for one client.
func (t *taps) dialer(index int) transport.Dialer { return &tapDialer{t, index} }

type tapDialer struct {
	t     *taps
	index int
}

func (d *tapDialer) Dial(ctx context.Context, addr string, token []byte) (transport.Conn, error) {
	c, err := udp.Dialer{}.Dial(ctx, addr, token)
	if err != nil {
		return nil, err
	}
	d.t.mu.Lock()
	if d.t.conns == nil {
		d.t.conns = map[int]*udp.Conn{}
	}
	d.t.conns[d.index] = c.(*udp.Conn)
	d.t.mu.Unlock()
	if d.index%tapped == 0 {
		return &tapConn{Conn: c, t: d.t}, nil
	}
	return c, nil
}

// received is what arrived at all sockets.
func (t *taps) received() (datagrams, bytes uint64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, c := range t.conns {
		s := c.Stats()
		datagrams, bytes = datagrams+s.In, bytes+s.BytesIn
	}
	return datagrams, bytes
}

// cut ends a client's connection without a word to the relay.
func (t *taps) cut(index int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if c := t.conns[index]; c != nil {
		c.Cut()
	}
}

type tapConn struct {
	transport.Conn
	t *taps
}

func (c *tapConn) Receive(deadline time.Time, f func(payload []byte)) error {
	return c.Conn.Receive(deadline, func(b []byte) {
		c.t.records.Add(uint64(recordBytes(b)))
		f(b)
	})
}

// recordBytes is what the records in a packet take, heads and places of chunks in between included.
func recordBytes(payload []byte) (n int) {
	session.Frames(payload, func(kind byte, body []byte) {
		if kind != wire.KindSegment {
			return
		}
		if _, _, records, err := wire.ParseSegment(body, grid.Chunk{}); err == nil {
			n += len(records)
		}
	})
	return n
}
