package registry

import (
	"math/bits"
	"time"

	"github.com/throng-dev/throng/internal/trace"
	"github.com/throng-dev/throng/internal/wire"
)

// Values that do not fit a record travel apart:
//
//	up:   deltas, Event ─► Class.Apart ─► sendApart: a message each, on the control stream ─┬► under way: one for a slot, MaxFlying in all
//	                                                                                        └► the rest stays marked, and leaves as it is then
//	down: MsgValue ─► value ─► merge, like a record with one slot
//
// They are on the control stream so that what is said behind them, a release or an event, is heard behind them.

// apartRate is how many bytes of them a second leave, a second's worth at once: as many as an observer is sent if nothing else is asked for,
// and far below what a relay takes.
const apartRate = 64 << 10

// apart is a value on its way up.
type apart struct {
	c    *Copy
	seq  uint32 // of its message: see session.Conn.Settled
	size int32
	slot uint8
}

// sendApart queues the values of the slots in apartOnes, among those of mask, and returns the slots that must wait. With now none waits for
// the value before it.
func (r *Registry) sendApart(c *Copy, apartOnes, mask uint64, values []byte, now bool) (later uint64) {
	for m := mask; m != 0; m &= m - 1 {
		i := bits.TrailingZeros64(m)
		l := c.Class.ValueLen(i, values)
		v := values[:l]
		values = values[l:]
		if apartOnes>>i&1 != 0 && !r.sendOneApart(c, uint8(i), v, now) && !r.cfg.Faults.ApartSent {
			later |= 1 << i
		}
	}
	return later
}

func (r *Registry) sendOneApart(c *Copy, slot uint8, v []byte, now bool) bool {
	if r.traveling || len(r.backlog) > 0 || !c.Bound() || c.pending || r.apartBytes > 0 && r.apartBytes+len(v) > wire.MaxFlying {
		return false
	}
	late := time.Duration(0)
	if now {
		late = time.Second // it is paid afterwards
	}
	if r.apartPaid > r.now+late {
		return false
	}
	for i := range r.apart {
		if !now && r.apart[i].c == c && r.apart[i].slot == slot {
			return false // the next leaves when that has arrived
		}
	}
	m := wire.ValueUp{Handle: c.Handle, Gen: c.Gen, Term: c.Term.N(), N: c.n, Tick: uint16(r.tick), Slot: slot, Value: v}
	if r.conn.Queue(wire.StreamControl, m.Append(nil)) != nil {
		return false
	}
	r.apart = append(r.apart, apart{c, r.conn.Queued(wire.StreamControl), int32(len(v)), slot})
	r.apartBytes += len(v)
	r.apartPaid = max(r.apartPaid, r.now-time.Second) + time.Duration(len(v))*time.Second/apartRate
	return true
}

// landed forgets what has arrived.
func (r *Registry) landed() {
	if len(r.apart) == 0 {
		return
	}
	n, done := 0, r.conn.Settled(wire.StreamControl)
	for n < len(r.apart) && int32(r.apart[n].seq-done) <= 0 {
		r.apartBytes -= int(r.apart[n].size)
		n++
	}
	left := copy(r.apart, r.apart[n:])
	clear(r.apart[left:])
	r.apart = r.apart[:left]
}

// apartFirst takes from the values that go along with an event those that travel apart: they leave before it. Those that cannot, for want of
// room or because the relay has not answered the announcement, it does not wait for. It returns those that left.
func (r *Registry) apartFirst(c *Copy, m *wire.EventUp) uint64 {
	apart := c.Class.Apart(m.Mask, m.Values)
	if apart == 0 {
		return 0
	}
	r.landed()
	later := r.sendApart(c, apart, m.Mask, m.Values, true)
	if later != 0 {
		r.Mark(c, later)
	}
	m.Values = cut(c.Class, m.Mask, m.Mask&^apart, m.Values, nil)
	m.Mask &^= apart
	m.After = r.conn.Queued(wire.StreamControl) + uint32(len(r.backlog))
	return apart &^ later
}

// cut appends, of the values of the slots in mask, those that are in keep as well.
func cut(k *Class, mask, keep uint64, values, b []byte) []byte {
	for m := mask; m != 0; m &= m - 1 {
		i := bits.TrailingZeros64(m)
		l := k.ValueLen(i, values)
		if keep>>i&1 != 0 {
			b = append(b, values[:l]...)
		}
		values = values[l:]
	}
	return b
}

// value takes a value that travelled apart.
func (r *Registry) value(stamp uint64, body []byte) {
	m, err := wire.ParseValue(body)
	if err != nil {
		r.malformed(body)
		return
	}
	if r.Welcomed && m.Epoch != r.Welcome.World {
		r.stats.WrongEpoch++
		r.tr.drop(trace.WrongEpoch, wire.ID{}, 0, nil, 0, len(body))
		return
	}
	r.stats.Records++
	s := r.handles.find(m.Handle)
	if s == nil || s.c == nil {
		r.stats.Unknown++
		r.tr.drop(trace.UnknownHandle, wire.ID{}, uint64(m.Handle), nil, 0, len(m.Value))
		return
	}
	c := s.c
	mask := uint64(1) << (m.Slot & (wire.MaxSlots - 1))
	switch {
	case r.fenced(m.Handle, stamp, true, false):
	case !c.Class.Fits(m.Slot, m.Value):
		r.malformed(body)
	case c.drives:
		r.echo(c)
		r.stats.Echo++
		r.tr.delta(trace.In, c, mask, len(m.Value), m.Flush, "", trace.Echo)
	case c.waiting:
		r.stats.Waiting++
		r.tr.delta(trace.In, c, mask, len(m.Value), m.Flush, "", trace.Waiting)
	default:
		if r.cfg.Faults.ApartStale {
			c.verSet &^= mask
		}
		r.hear(c)
		r.merge(c, m.Flush, mask, m.Value)
	}
}
