package conformance

import (
	"fmt"
	"time"

	"github.com/throng-dev/throng/internal/session"
	"github.com/throng-dev/throng/internal/shard"
	"github.com/throng-dev/throng/internal/wire"
)

// level is one world of the relay.
type level struct {
	*shard.Shard
	i      int
	wakeAt time.Duration
}

func (l *level) name() string { return fmt.Sprint("w", l.i) }

// wake plans the next flush of every level.
func (w *world) wake() {
	for _, l := range w.levels {
		at := max(l.Wake(), w.Now())
		if l.wakeAt > w.Now() && l.wakeAt <= at {
			continue
		}
		l.wakeAt = at
		w.At(at, func() {
			if l.i < len(w.levels) && l == w.levels[l.i] && l.wakeAt == w.Now() {
				w.flush(l)
			}
		})
	}
}

func (w *world) flush(l *level) {
	out := l.Flush(w.Now(), nil)
	for _, d := range out {
		for _, p := range w.players {
			r := w.routes[p.i]
			if r == nil || r.sess.To != d.To {
				continue
			}
			if r.at != l {
				w.fail("client %d is sent something of a level that it left", p.i)
			}
			for _, c := range checks {
				if c.sent != nil {
					c.sent(w, p, r.sess, d.Payload())
				}
			}
			w.carry(p, &p.down, p.cutDown, d.Payload(), p.receive)
		}
	}
	for _, s := range l.Failed() {
		w.fail("the relay ends a session that did no wrong: %v", s.Err())
	}
	for _, c := range checks {
		if c.always != nil {
			c.always(w)
		}
	}
	l.wakeAt = 0
	w.wake()
}

// route is the relay's end of a player's connection. It hands what comes to the level that the session is in, and moves it to another,
// as package relay does.
type route struct {
	w      *world
	p      *player
	conn   *session.Conn
	senior uint64
	at     *level
	sess   *shard.Session
	epoch  uint8  // of the world, +1 for each travel
	fence  uint64 // packets before this number are of the world before
}

// into enters a level.
func (r *route) into(l *level) {
	r.at = l
	r.epoch++
	r.sess = l.Join(r.w.Now(), r.conn, shard.Identity{To: idOf(r.p), Player: r.p.id, Senior: r.senior, Eligible: true}, r.epoch)
}

// receive takes a packet of the client's.
func (r *route) receive(b []byte) {
	now := r.w.Now()
	r.at.Advance(now)
	err := r.conn.Receive(now, b, r)
	r.at.Received(now, r.sess)
	if err == nil {
		err = r.sess.Err()
	}
	if err != nil {
		r.w.fail("relay: session of client %d: %v", r.p.i, err)
	}
	r.w.wake()
}

// Message is part of session.Handler.
func (r *route) Message(stamp uint64, stream int, msg []byte) {
	if stream != wire.StreamControl || len(msg) == 0 || msg[0] != wire.MsgTravel {
		r.sess.Message(stamp, stream, msg)
		return
	}
	name, err := wire.ParseTravel(msg[1:])
	if err != nil {
		r.w.fail("client %d: a request to travel: %v", r.p.i, err)
		return
	}
	for _, l := range r.w.levels {
		if l.name() == name {
			r.w.note("client %d travels to %s", r.p.i, name)
			before := r.sess
			r.at.Leave(r.w.Now(), before, wire.WhyReleased)
			r.fence = stamp
			clear(r.p.told)
			l.Advance(r.w.Now())
			r.into(l)
			r.sess.Inherit(before)
			return
		}
	}
	no := wire.Refuse{Code: uint16(wire.CloseWorld), Text: "there is no such level"}
	r.sess.Tell(no.AppendTravel(nil))
}

// Frame is part of session.Handler.
func (r *route) Frame(pn uint64, kind byte, body []byte) {
	if pn >= r.fence {
		r.sess.Frame(pn, kind, body)
	}
}

// Acked is part of session.Handler.
func (r *route) Acked(pn uint64) { r.sess.Acked(pn) }

// Lost is part of session.Handler.
func (r *route) Lost(pn uint64) { r.sess.Lost(pn) }

// session is the session of a seat, nil if it has none.
func (w *world) session(seat int) *shard.Session {
	if r := w.routes[seat]; r != nil {
		return r.sess
	}
	return nil
}

// relay is the level that a player believes to be in.
func (p *player) relay() *level { return p.w.levels[p.here] }

// travelOps go from level to level on the same session.
var travelOps = []operation{
	{name: "travel", weight: 0, when: on, // to a level; one more than there are is refused
		draw: func(g *generator, w *world, p *player) ([]int, bool) {
			to := g.rng.IntN(len(w.levels) + 1)
			return []int{to}, to != p.here && !p.reg.Traveling()
		},
		run: func(w *world, p *player, o *Op) {
			if p.reg.Traveling() || o.arg(0) == p.here || !p.reg.Welcomed {
				return
			}
			w.note("client %d asks to travel to w%d", p.i, o.arg(0))
			w.oracle.must = nil
			p.goes = o.arg(0)
			p.reg.Travel((&level{i: p.goes}).name())
		}},
}

// arrived ends what a player held of the level that it left.
func (p *player) arrived() {
	p.reg.TravelRefused = nil
	if !p.reg.Arrived {
		return
	}
	p.reg.Arrived = false
	for _, c := range p.reg.Departed {
		if d, _ := c.Data.(*body); d != nil {
			if d.ended {
				p.w.fail("client %d: the body of %x left twice", p.i, c.ID[:4])
			}
			d.ended = true
			if p.shown[c.ID] == c {
				delete(p.shown, c.ID)
			}
		}
	}
	p.reg.Departed = nil
	for id := range p.shown {
		p.w.fail("client %d: %x did not leave with its level", p.i, id[:4])
	}
	p.here = p.goes
	p.w.note("client %d is in w%d", p.i, p.here)
	p.look(p.views...)
}
