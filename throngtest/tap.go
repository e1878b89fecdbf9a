package throngtest

import (
	"bytes"
	"context"
	"sync/atomic"
	"time"

	"github.com/throng-dev/throng"
	"github.com/throng-dev/throng/transport"
)

// Tap is the carrier of one player, and counts what names an entity in everything that the player's client is sent: for tests that
// somebody is told nothing of it. Give it to Join as the Config's Dialer.
type Tap struct {
	transport.Dialer
	id             [16]byte
	named, departs atomic.Int64
}

// Tap makes a carrier for a player of that name, which looks for an id.
func (n *Net) Tap(name string, id throng.NetID) *Tap {
	return &Tap{Dialer: n.Dialer(name), id: id.Bytes()}
}

// Named is how often the id was among the bytes.
func (t *Tap) Named() int64 { return t.named.Load() }

// Departed is how many of these said that the entity had left. That is repeated until it is acked, to who held the entity, and tells
// nobody anything new.
func (t *Tap) Departed() int64 { return t.departs.Load() }

// Dial is part of transport.Dialer.
func (t *Tap) Dial(ctx context.Context, addr string, token []byte) (transport.Conn, error) {
	c, err := t.Dialer.Dial(ctx, addr, token)
	if err != nil {
		return nil, err
	}
	return tapConn{c, t}, nil
}

type tapConn struct {
	transport.Conn
	t *Tap
}

// departFrame is the kind of a departure's frame: docs/spec/wire.md.
const departFrame = 0x13

func (c tapConn) Receive(deadline time.Time, f func([]byte)) error {
	return c.Conn.Receive(deadline, func(p []byte) {
		if i := bytes.Index(p, c.t.id[:]); i >= 0 {
			c.t.named.Add(int64(bytes.Count(p, c.t.id[:])))
			if i >= 4 && (p[i-3] == departFrame || p[i-4] == departFrame) { // kind, length, handle, id
				c.t.departs.Add(1)
			}
		}
		f(p)
	})
}
