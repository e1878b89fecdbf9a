package motion

import "time"

// A window of stamps is over when it is old and has enough of them: of few, the best may be late by much, which is worse than what a
// clock drifts by until more come. A clock that drifts is followed within two windows.
const (
	filterWindow  = 5 * time.Second
	filterLongest = time.Minute
	filterEnough  = 20
)

// A stamp that is later than the best by a step is taken for delay, unless all are for some time: then a clock was set.
const (
	step      = 250 * time.Millisecond
	stepAfter = time.Second
	stepCount = 8
)

// Filter estimates the relay's clock from stamps. A stamp arrives late, never early, so the largest difference to the local clock is
// the one that was delayed least; it counts for two windows at most, so that no stamp counts for ever.
type Filter struct {
	best, last time.Duration // largest relay − local of this window, and of the one before
	from       time.Duration // when this window began
	count      int           // stamps in it
	ok, before bool

	low   time.Duration // largest of those in a row that are late by a step
	lows  int
	lowAt time.Duration // of the first of them
}

// Sample takes a stamp that arrived at now on the local clock.
func (f *Filter) Sample(now, relay time.Duration) {
	d := relay - now
	if best, ok := f.Offset(); ok && best-d > step {
		if f.lows++; f.lows == 1 {
			f.low, f.lowAt = d, now
		}
		f.low = max(f.low, d)
		if f.lows >= stepCount && now-f.lowAt >= stepAfter {
			*f = Filter{best: f.low, from: now, count: 1, ok: true}
		}
		return
	}
	f.lows = 0
	if age := now - f.from; !f.ok || age >= filterWindow && f.count >= filterEnough || age >= filterLongest {
		f.last, f.before, f.from, f.count = f.best, f.ok, now, 1
		f.best, f.ok = d, true
		return
	}
	f.count++
	f.best = max(f.best, d)
}

// Offset is the relay's clock minus the local one minus the shortest way down. It is false before the first stamp.
func (f *Filter) Offset() (time.Duration, bool) {
	if f.before {
		return max(f.best, f.last), true
	}
	return f.best, f.ok
}

// Clock follows an offset without a jerk: what is drawn by it goes on evenly.
type Clock struct {
	// Most is by how much of the time it may go faster or slower. 0: a twentieth.
	Most float64

	offset  float64 // ms
	at      time.Duration
	started time.Duration
	ok      bool
}

const (
	clockStep   = 250.0 // ms: beyond, the clock is set
	clockSettle = time.Second
)

// Follow brings the clock nearer to an offset; now is the local time. A difference of a ms or two, which is noise, is made up at
// a ten-thousandth of the time, one of 10 ms at half a hundredth, a larger one at a twentieth; in the first second, and beyond 250 ms,
// at once.
func (c *Clock) Follow(now, offset time.Duration) {
	want := ms(offset)
	d := want - c.offset
	switch {
	case !c.ok:
		c.ok, c.started, c.offset = true, now, want
	case d > clockStep || d < -clockStep:
		c.started, c.offset = now, want // the first after a step may be late
	case now-c.started < clockSettle:
		c.offset = want
	default:
		dt := ms(now - c.at)
		most := c.Most
		if most == 0 {
			most = 0.05
		}
		most = min(0.0001+d*d/20000, most) * dt
		c.offset += max(-most, min(most, d))
	}
	c.at = now
}

// Reset makes the next Follow set the clock.
func (c *Clock) Reset() { *c = Clock{Most: c.Most} }

// Now is the time in ms; false before the first Follow.
func (c *Clock) Now(local time.Duration) (float64, bool) { return ms(local) + c.offset, c.ok }

// Offset is what it adds to the local time, in ms.
func (c *Clock) Offset() float64 { return c.offset }

func ms(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }
