package conformance

import (
	"time"

	"github.com/throng-dev/throng/internal/registry"
	"github.com/throng-dev/throng/internal/session"
	"github.com/throng-dev/throng/internal/table"
)

// rights is what may change without an operation: who drives what, who is host, who is in. While it changes nothing has come to rest.
type rights struct {
	sum  uint64
	last time.Duration // when it changed last
}

// watch is R-22, no two clients drive one (entity, term), and notes when rights change.
func (w *world) watch() {
	type key struct {
		level     int
		id        [16]byte
		inc, term uint64
	}
	seen := map[key]int{}
	sum := uint64(0)
	for _, l := range w.levels {
		st := l.Stats()
		sum = mix(sum, mix(st.Transfers+st.Forced<<32, st.HostChanges<<32|uint64(l.Sessions())))
		l.Each(func(e *table.Entity) { sum = mix(sum, mix(uint64(e.Inc), uint64(e.Term)<<1|bit(e.Silent))) })
	}
	for _, p := range w.players {
		sum = mix(sum, uint64(p.here)<<8|uint64(p.state)<<1|bit(p.reg.EndMark))
		if p.state != on {
			continue
		}
		p.reg.Each(func(c *registry.Copy) {
			if !c.Drives() || c.Inc == 0 || !c.Bound() {
				return
			}
			k := key{p.here, c.ID, uint64(c.Inc), uint64(c.Term)}
			sum = mix(sum, mix(uint64(c.Inc), uint64(c.Term)))
			if o, dup := seen[k]; dup {
				w.fail("R-22: clients %d and %d drive %x in term %x", o, p.i, c.ID[:4], c.Term)
			}
			seen[k] = p.i
		})
	}
	if sum != w.rights.sum {
		w.rights = rights{sum, w.Now()}
	}
}

func bit(b bool) uint64 {
	if b {
		return 1
	}
	return 0
}

// bound is the Bound of the promise: T_rep + D_up + PTO_up + F + D_down + PTO_down + Q + T_frame, with the largest of each among
// those that are in. The probe timers are the sessions' own, and may not be longer than the paths explain.
func (w *world) bound() time.Duration {
	var down, up, ptoDown, ptoUp time.Duration
	for _, p := range w.players {
		s := w.session(p.i)
		if p.state != on || s == nil {
			continue
		}
		d := delay(p.link)
		down, up = max(down, d), max(up, d)
		ptoDown, ptoUp = max(ptoDown, w.patience(p, s.Conn())), max(ptoUp, w.patience(p, p.conn))
	}
	thin := time.Duration(0)
	if w.mode.Decay != 0 {
		thin = 1600 * time.Millisecond // the last sample of thinned motion may wait that long (B-071)
	}
	flush := time.Duration(w.levels[0].Profile().FlushMS) * time.Millisecond
	// A client of this harness sends and expires in its frames, and acks ride in them: two frames more.
	once := repEvery*frameTime + up + ptoUp + flush + down + ptoDown
	return once + w.apart(once) + w.queue() + thin + applyEvery*frameTime + 2*frameTime
}

// apart is what is added where values travel apart: they leave when the value before has arrived, up as well as down, or when the
// introduction has, and the reliable lane may lose a packet on each of these ways.
func (w *world) apart(once time.Duration) time.Duration {
	for _, l := range w.levels {
		if l.Stats().Apart > 0 || w.writesApart {
			return 2*once + w.queue() // the way up has a budget too
		}
	}
	return 0
}

// patience is the longest that an end waits before it sends a lost packet again.
func (w *world) patience(p *player, c *session.Conn) time.Duration {
	pto := c.Patience()
	// Samples of the round trip lie between nothing and both delays, a frame and an ack's wait; before the first it is a guess.
	estimate := max(6*(2*delay(p.link)+frameTime+25*time.Millisecond), 400*time.Millisecond)
	if most := 4 * (estimate + 250*time.Millisecond); pto > most {
		w.fail("Bound: client %d: a probe timer of %v on a path of %v", p.i, pto, delay(p.link))
	}
	return pto
}

// queue is Q: what an observer may be due, all it holds, over its budget.
func (w *world) queue() time.Duration {
	budget := w.mode.Budget
	if budget == 0 {
		budget = 64 << 10
	}
	for _, p := range w.players { // it follows the path
		if s := w.session(p.i); p.state == on && s != nil {
			budget = min(budget, s.Rate())
		}
	}
	bytes := 0
	for _, l := range w.levels {
		l.Each(func(e *table.Entity) { bytes += e.Size() + e.ApartSize()*9/8 + 80 })
	}
	return time.Duration(bytes) * time.Second / time.Duration(budget)
}
