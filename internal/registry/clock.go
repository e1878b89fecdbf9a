package registry

import "time"

// clockWindow is how long a sample of the relay's clock counts: a clock that steps or drifts is followed within two of them.
const clockWindow = 5 * time.Second

// clock estimates the relay's clock. A stamp arrives late, never early, so the largest difference to the local clock is the one
// that was delayed least.
type clock struct {
	best, last time.Duration // largest relay − local of this window, and of the one before
	until      time.Duration
	ok, before bool
}

func (c *clock) sample(now, relay time.Duration) {
	d := relay - now
	if now >= c.until {
		c.last, c.before, c.until = c.best, c.ok, now+clockWindow
		c.best, c.ok = d, true
		return
	}
	c.best = max(c.best, d)
}

// Offset is the relay's clock minus the local one minus the shortest way down. Add the local time and a round trip: that is
// when, on the relay's clock, what is sent now arrives there. It is false before the first flush was seen.
func (r *Registry) Offset() (time.Duration, bool) {
	c := &r.clock
	if c.before {
		return max(c.best, c.last), true
	}
	return c.best, c.ok
}
