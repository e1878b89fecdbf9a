package registry

import "time"

// maxShift is how far a replication tick moves toward the relay's flush: little enough that nobody sees it.
const maxShift = 2 * time.Millisecond

// How much before a flush what a client sends should arrive, and how its lead follows what the relay tells.
const (
	leadSafe   = 2 * time.Millisecond
	leadWindow = 16                   // ticks over which the shortest wait counts
	leadMost   = 8 * time.Millisecond // allowed for jitter before the relay told anything
)

// phase is how far ahead of its estimate of the relay's flush a client sends. The estimate stands on round trips, which hold more
// than the way up; how long the client's changes really waited for the flush corrects it.
type phase struct {
	lead  time.Duration
	worst time.Duration // shortest wait of this window
	n     int
	set   bool
}

// waited takes how long the last changes had to wait for their flush; less than nothing: they came after it. A wait of less than
// leadSafe may become a missed flush, so the lead grows at once; it shrinks when all of a window waited for so long that the next
// frame would have done.
func (p *phase) waited(wait, frame time.Duration) {
	if p.n == 0 || wait < p.worst {
		p.worst = wait
	}
	p.n++
	switch spare := p.worst - frame - leadSafe; {
	case wait < leadSafe:
		p.lead, p.n = p.lead+min(maxShift, leadSafe-wait), 0
	case spare > 2*maxShift: // far off: no need to watch for long
		p.lead, p.n = p.lead-maxShift, 0
	case p.n >= leadWindow:
		p.lead, p.n = p.lead-min(maxShift, max(spare, 0)), 0
	}
}

// ahead is how long before the next multiple of an interval a time is, less than nothing if it is shortly after one.
func ahead(at, interval time.Duration) time.Duration {
	if at = -at % interval; at < 0 {
		at += interval
	}
	if at > interval*3/4 {
		at -= interval
	}
	return at
}

// Shift is how far to shift the next replication tick, so that what it sends arrives shortly before the relay flushes, and a frame
// earlier, since a tick waits for the next call of the game. It is to be asked once a tick.
func (r *Registry) Shift(next, interval, frame, rtt, jitter time.Duration) time.Duration {
	offset, ok := r.Offset()
	arrived, told := r.Reached()
	if !ok {
		return 0
	}
	p := &r.phase
	switch {
	case !p.set:
		p.set, p.lead = true, min(2*jitter, leadMost)
	case told:
		p.waited(ahead(arrived, interval), frame)
	}
	p.lead = max(-rtt-frame, min(p.lead, interval/2))
	before := min(leadSafe+frame+p.lead, interval/2)
	return toward(next+offset+rtt, -before, interval)
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
