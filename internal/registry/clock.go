package registry

import "time"

// Offset is the relay's clock minus the local one minus the shortest way down. Add the local time and a round trip: that is
// when, on the relay's clock, what is sent now arrives there. It is false before the first flush was seen.
func (r *Registry) Offset() (time.Duration, bool) { return r.clock.Offset() }
