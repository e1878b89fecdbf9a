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
	conns []*udp.Conn
}

// dialer is for one client.
func (t *taps) dialer(index int) transport.Dialer { return &tapDialer{t, index%tapped == 0} }

type tapDialer struct {
	t     *taps
	count bool
}

func (d *tapDialer) Dial(ctx context.Context, addr string, token []byte) (transport.Conn, error) {
	c, err := udp.Dialer{}.Dial(ctx, addr, token)
	if err != nil {
		return nil, err
	}
	d.t.mu.Lock()
	d.t.conns = append(d.t.conns, c.(*udp.Conn))
	d.t.mu.Unlock()
	if d.count {
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
