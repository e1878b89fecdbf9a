package shard

import (
	"errors"
	"time"

	"github.com/throng-dev/throng/internal/wire"
)

// Requests are a session's wishes: nothing is lost with one, so that one too many is dropped, and one that would fill the window of
// whoever drives as well.
const (
	requestRate  = 100      // a second, over requestOver
	requestMost  = 4 * 100  // a second, above which the session ends
	requestRoom  = 32 << 10 // what a driver may have unacked when it is asked
	requestOver  = 5 * time.Second
	requestFloor = 3 // entities that may be asked for at once, in multiples of the rate
)

// ErrFlood is why a session ends that asks for more than anybody has a use for (B-132).
var ErrFlood = errors.New("you ask for the drive of more entities than anybody can use")

// asked counts a session's requests over some seconds.
type asked struct {
	n  float64
	at time.Duration
}

// ask counts one more and reports whether it is to be heard.
func (o *Session) ask() bool {
	a, now := &o.asked, o.shard.now
	a.n = max(0, a.n-(now-a.at).Seconds()*requestRate) + 1
	a.at = now
	if a.n > requestMost*requestOver.Seconds() && o.closing == nil {
		o.closing = ErrFlood
		o.shard.failed = append(o.shard.failed, o)
	}
	return a.n <= float64(requestRate*requestFloor)+float64(requestRate)*requestOver.Seconds()
}

// request takes a client's wish to drive an entity. Entities that grant without asking change hands; for others the wish goes to
// whoever drives on arrival (B-090). There is no answer but the drive: while it changes hands, and when nobody drives, the wish is void.
func (s *Shard) request(o *Session, m *wire.Entity) {
	e := s.table.ByID(m.ID)
	heard := o.ask()
	switch {
	case e == nil || e.Inc != m.Inc || e.Driver == o.number || e.Revoking || !s.admits(o, e):
		return
	case !heard:
		s.stats.Refused++
		s.stats.Floods++
		return
	case e.Flags&wire.EntityAutoGrant != 0:
		s.revoke(e, o.number, false)
		return
	}
	d := s.session(e.Driver)
	if d == nil || d.silent {
		return
	}
	if d.unacked() > requestRoom {
		s.stats.Refused++
		s.stats.Floods++
		return
	}
	r := wire.Entity{ID: e.ID, Inc: e.Inc, Term: e.Term, Owner: o.Player}
	d.queue(wire.AppendEntity(nil, wire.MsgRequested, &r))
}
