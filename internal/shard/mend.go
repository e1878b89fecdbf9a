package shard

import (
	"time"

	"github.com/throng-dev/throng/internal/table"
	"github.com/throng-dev/throng/transport"
)

// Between two flushes a session on a path that loses packets is mended: what it was just found to lack need not wait for the next flush,
// which would tell something newer.
//
//	flush n ─► a packet of n is lost ─► mend: own records, introductions, departures, under number n ─► flush n+1
//
// An entity that changed since flush n is left to flush n+1, and so is what it goes with. So a mend tells what flush n told, and takes nothing from the next: nothing
// is shared between sessions, no value gets a number before its flush.

// mendSpare is how long before the next flush a mend must be to be worth a datagram.
const mendSpare = 10 * time.Millisecond

// mendable is whether anybody may be mended in a pass, looked up once.
type mendable struct{ asked, yes bool }

// mends reports whether a session is to be mended in this pass.
func (s *Shard) mends(o *Session) bool {
	if !o.lacking || s.due()-s.now < mendSpare || o.looked || o.silent || !o.marked || !o.conn.Loses() {
		return false
	}
	o.budget.refill(s.now)
	return o.budget.rich() && s.mayMend()
}

// mayMend is false while the next flush has to decide who may know of some entity: an entity that only crossed a chunk is
// known to the same sessions until then.
func (s *Shard) mayMend() bool {
	m := &s.mendable
	if !m.asked {
		m.asked, m.yes = true, s.retains() && s.flush > 0 && len(s.parted) == 0
		for _, e := range s.moved {
			m.yes = m.yes && e.Check == table.CheckCrossed
		}
	}
	return m.yes
}

// mend builds the packets of a session between two flushes.
func (s *Shard) mend(o *Session, out []transport.Datagram) []transport.Datagram {
	if o.closing != nil {
		return out
	}
	o.lacking = false
	s.stats.Mends++
	w := bundler{s: s, o: o, out: out, limit: min(o.conn.Limit(s.now), transport.MaxPayload), mends: true}
	if len(o.views) > 0 {
		w.base = o.views[0]
	}
	w.departs()
	w.ownRecords()
	w.introductions()
	w.once()
	w.flush()
	w.reliable()
	return w.out
}

// due is what a record of a known pair's own carries, of the slots that the observer lacks. In a mend it carries all that changed at the
// newest flush, which may be lost, too: else the observer would hold one slot of that flush beside others of an older.
func (w *bundler) due(p *pair, e *table.Entity, mask uint64) uint64 {
	switch {
	case !w.mends || mask == 0:
		return mask
	case e.Dirty != 0:
		return 0
	case p.flags&far != 0 || w.s.decay.on:
		return mask
	}
	return mask | e.Since(w.s.flush-1)&w.s.visible(e)&^e.Class.Init
}
