package throng

import (
	"context"
	"time"

	"github.com/throng-dev/throng/transport"
)

// A connection lives through 17 s of silence, so that a link that comes back goes on where it was. But a relay that crashed and
// runs again does not know it, and stays silent on it for good. So, beside a connection that has been silent for a while, a second is dialed,
// and whichever answers is kept:
//
//	silent for redialAfter ─► dial beside it ─► it answers ─► the old one is asked, and has rivalGrace ─► it answers too: keep the old
//	                                                                                          └─► silent: move to the new

const (
	redialAfter = 5 * time.Second
	redialEvery = time.Second
	rivalGrace  = time.Second
)

// rival is the attempt at a second connection. It belongs to the goroutine that receives.
type rival struct {
	dialing chan dialed // under way
	cancel  context.CancelFunc
	conn    transport.Conn // it answers
	since   time.Duration
	next    time.Duration // no attempt before
}

type dialed struct {
	conn transport.Conn
	err  error
}

// movedError ends a connection in favour of another.
type movedError struct{ conn transport.Conn }

func (*movedError) Error() string { return "throng: moved to another connection" }

// beside returns the connection to use instead of one that is silent, when it is time to.
func (w *World) beside(ctx context.Context, conn transport.Conn, r *rival) transport.Conn {
	w.mu.Lock()
	mine := w.conn == conn && w.reg.Welcomed
	heard, now := w.track.heard, w.now()
	w.mu.Unlock()
	if !mine || w.cfg.TokenSource == nil {
		return nil
	}
	switch {
	case r.conn != nil && heard >= r.since: // at the very instant it was asked counts: a network without latency answers within it
		r.drop()
	case r.conn != nil && now-r.since >= rivalGrace:
		next := r.conn
		r.conn = nil
		return next
	case r.conn != nil:
	case r.dialing != nil:
		select {
		case d := <-r.dialing:
			r.cancel()
			r.dialing, r.conn, r.since, r.next = nil, d.conn, now, now+redialEvery
			if r.conn != nil {
				w.mu.Lock()
				w.sess.Ping()
				w.flush(now, false)
				w.mu.Unlock()
			}
		default:
		}
	case now-heard >= redialAfter && now >= r.next:
		ctx, r.cancel = context.WithCancel(ctx)
		result := make(chan dialed, 1)
		r.dialing = result
		go func() {
			c, err := w.dial(ctx)
			result <- dialed{c, err}
		}()
	}
	return nil
}

// drop ends what answered and is not needed.
func (r *rival) drop() {
	if r.conn != nil {
		r.conn.Close()
		r.conn = nil
	}
}

// end ends the attempt, whatever became of it.
func (r *rival) end() {
	if r.dialing != nil {
		r.cancel()
		r.conn = (<-r.dialing).conn
	}
	r.drop()
}
