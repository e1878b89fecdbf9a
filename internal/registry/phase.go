package registry

import "time"

// maxShift is how far a replication tick moves toward the relay's flush: little enough that nobody sees it.
const maxShift = 2 * time.Millisecond

// How much before a flush what a client sends should arrive.
const (
	flushSafe = 2 * time.Millisecond
	mostVary  = 4 * time.Millisecond // most that is allowed for before the relay told anything
	mostStep  = 2 * time.Second      // what a way takes and clocks differ by changes no more than that from one tick to the next
)

// phase is the way up as the relay tells it: what leaves at t of the client's clock arrives at t + shift of the relay's. Both clocks, the
// way, and what the client takes to send are in it; round trips would hold the way down as well, the relay's work in a flush, and the
// client's wait for a processor.
type phase struct {
	shift, vary time.Duration // mean, and mean deviation, as of a round trip (RFC 6298)
	told        bool
}

// guess is for before the relay told: as if all of the round trip were the way up, for too early is better than too late.
func (p *phase) guess(offset, rtt, jitter time.Duration) {
	if !p.told {
		p.shift, p.vary = offset+rtt, min(jitter, mostVary)
	}
}

// reached takes when something left and when it arrived.
func (p *phase) reached(sent, arrived time.Duration) {
	d := arrived - sent - p.shift
	if !p.told || d.Abs() > mostStep { // another clock
		p.shift, p.told = p.shift+d, true
		return
	}
	p.vary += (d.Abs() - p.vary) / 8
	p.shift += d / 8
}

// before is how long before its flush what a client sends at the beginning of a tick should arrive at most: a tick waits for the next
// call of Tick, which is up to a frame later.
func (p *phase) before(frame time.Duration) time.Duration { return flushSafe + 2*p.vary + frame }

// Shift is how far to shift the next replication tick, so that what it sends arrives shortly before the relay flushes. It is to be
// asked once a tick.
func (r *Registry) Shift(next, interval, frame, rtt, jitter time.Duration) time.Duration {
	offset, ok := r.Offset()
	sent, arrived, told := r.reached()
	if !ok {
		return 0
	}
	p := &r.phase
	p.guess(offset, rtt, jitter)
	if told {
		p.reached(sent, arrived)
	}
	return toward(next+p.shift, -min(p.before(frame), interval/2), interval)
}

// toward is the step, maxShift at most, that brings the phase of at within period closer to want.
func toward(at, want, period time.Duration) time.Duration {
	d := (want - at) % period
	if d < 0 {
		d += period
	}
	if d > period/2 {
		d -= period
	}
	return max(-maxShift, min(maxShift, d))
}
