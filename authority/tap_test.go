package authority_test

import (
	"bytes"
	"context"
	"sync/atomic"
	"time"

	"github.com/throng-dev/throng/transport"
)

// tap counts the bytes of an id in everything that a client is sent.
type tap struct {
	transport.Dialer
	id    [16]byte
	count atomic.Int64
	// departs are those that say that it left. One is repeated until it is acked, to who held the entity; it tells nobody anything new.
	departs atomic.Int64
}

const departFrame = 0x13

type tappedConn struct {
	transport.Conn
	tap *tap
}

func (d *tap) Dial(ctx context.Context, addr string, token []byte) (transport.Conn, error) {
	c, err := d.Dialer.Dial(ctx, addr, token)
	if err != nil {
		return nil, err
	}
	return tappedConn{c, d}, nil
}

func (c tappedConn) Receive(deadline time.Time, f func([]byte)) error {
	return c.Conn.Receive(deadline, func(p []byte) {
		if c.tap.id != [16]byte{} {
			c.tap.count.Add(int64(bytes.Count(p, c.tap.id[:])))
			if i := bytes.Index(p, c.tap.id[:]); i >= 4 && (p[i-3] == departFrame || p[i-4] == departFrame) { // kind, length, handle, id
				c.tap.departs.Add(1)
			}
		}
		f(p)
	})
}
