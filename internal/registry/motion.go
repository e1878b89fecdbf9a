package registry

import "github.com/throng-dev/throng/internal/wire"

// Timing is when a value of the motion slot was captured.
type Timing struct {
	At    uint32 // ms of the relay's clock
	Timed bool   // false: with a baseline or an assign, which do not say
	Still bool   // it rests there
	Cut   bool   // differs from that of the value before if the entity was put elsewhere in between
}

// Timing is when the motion of the record was captured that Staged is at.
func (c *Copy) Timing() Timing { return c.Class.rest.timing }

// OnMotion makes f hear of every motion value that is newer than what was held, of classes that this build lacks too, as it comes. The
// bytes are valid during the call. Where the capture is not known the time is that of the bundle. nil: nobody hears.
func (r *Registry) OnMotion(f func(c *Copy, at Timing, value []byte)) { r.onMotion = f }

// tellMotion tells the owner of the motion in a record.
func (r *Registry) tellMotion(c *Copy, mask uint64, values []byte) {
	k := &c.Class.Class
	if c.mirror {
		return
	}
	values = values[k.ValuesLen(mask&(k.Motion-1), values):]
	at := r.stages.timing
	if !at.Timed {
		at.At = r.cur.Time
	}
	r.onMotion(c, at, values[:k.ValuesLen(k.Motion, values)])
}

// timing reads the age of a record against the bundle that it came in.
func (r *Registry) timing(s wire.Sample) Timing {
	if !s.Timed {
		return Timing{}
	}
	return Timing{At: r.cur.Time - uint32(s.Age), Timed: true, Cut: s.Cut, Still: s.Still}
}
