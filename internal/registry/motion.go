package registry

import "github.com/throng-dev/throng/internal/wire"

// Timing is when a value of the motion slot was captured.
type Timing struct {
	At    uint32 // ms of the relay's clock
	Timed bool   // false: with a baseline or an assign, which do not say
	Cut   bool   // differs from that of the value before if the entity was put elsewhere in between
}

// Timing is when the motion of the record was captured that Staged is at.
func (c *Copy) Timing() Timing { return c.rest.timing }

// timing reads the age of a record against the bundle that it came in.
func (r *Registry) timing(s wire.Sample) Timing {
	if !s.Timed {
		return Timing{}
	}
	return Timing{At: r.cur.Time - uint32(s.Age), Timed: true, Cut: s.Cut}
}
