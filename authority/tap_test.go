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
}

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
		}
		f(p)
	})
}
