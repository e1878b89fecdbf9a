// Package motion draws moving things smoothly from a few samples a second.
//
//	stamps of bundles ─► Filter: the relay's clock, as well as it can be known ─► Clock: that, without a jerk
//	a sample ─► Track: is it newer? was it a jump? ─► Ring, in order of time;  Pace: how long ago to draw
//	each frame ─► Track.Draw: the two samples around then, and how far between them ─► the owner blends
//
// All times are milliseconds of one clock, the relay's: samples of all entities lie on one timeline. What a sample is made of is not
// known here. The package does no I/O, starts no goroutine and reads no clock.
package motion

// Limits of drawing, in ms.
const (
	MinDelay        = 100  // however regular samples come
	MaxDelay        = 4000 // of motion that is thinned the most
	MaxExtrapolated = 200  // beyond the newest sample
	apart           = 2000 // a sample so much older than the newest is of another timeline
	firstInterval   = 100  // until it was seen how often samples come
)

// Stats counts what became of samples.
type Stats struct {
	Samples      uint64 // taken
	Old          uint64 // not newer than the newest: ignored
	Jumps        uint64 // drawn as jumps
	Resets       uint64 // of a timeline that began anew
	Extrapolated uint64 // draws beyond the newest sample
}
