package session

import (
	"math/bits"
	"time"
)

// lossyFrom is of how many packets missing among the last 256 a path counts as one that loses: 1.5 %. What is only late fills its place
// when it comes, so that a path which reorders is none.
const lossyFrom = 4

// losses is what an end sees of packets that do not arrive. On a path that loses some, whoever waits for an ack waits less long, and
// acks are said twice: there a packet too many costs less than another that is lost while nobody knows of the first.
type losses struct {
	in, out bool          // packets of the other end are missing here; packets of this end are missing there
	holeAt  time.Duration // when a packet came of which the one before had not; -1: never
}

// arrives notes packet pn of the other end, before the window has it.
func (l *losses) arrives(now time.Duration, pn uint64, w *window) {
	if pn > w.top+1 {
		l.holeAt = now
	}
}

// Loses reports whether the path loses what this end sends.
func (c *Conn) Loses() bool { return c.losses.out }

// missing is how many of the last 256 packets have not arrived.
func (w *window) missing() int {
	n := int(min(w.top, windowSize))
	for _, s := range w.seen {
		n -= bits.OnesCount64(s)
	}
	return n
}

// missing is how many packets between those that are named have not arrived.
func (a *ackBlock) missing() int {
	n := a.largest() - a.ranges[a.n-1].lo + 1
	for _, r := range a.ranges[:a.n] {
		n -= r.hi - r.lo + 1
	}
	return int(n)
}
