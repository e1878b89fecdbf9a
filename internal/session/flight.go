package session

import "time"

const (
	// maxFlying bounds what a peer that never acks makes us remember, and keeps 16 bits of a number unambiguous.
	maxFlying = 8192

	// A packet lost by timer is remembered for a while: its late ack still tells the round trip, which is how a session
	// whose path is slower than its first guess finds out.
	lateFor  = 10 * time.Second
	maxTrace = 512
)

type flightState uint8

const (
	flying flightState = iota
	settled
	late // reported lost by the probe timer
)

// flight is a packet on its way.
type flight struct {
	pn     uint64
	at     time.Duration
	lo     uint64 // its reliable pieces are among the n from lo on in the outbox
	n      uint16
	size   uint16
	state  flightState
	back   uint8 // doublings of the probe timer when it was sent
	urgent bool  // carries a small reliable frame in one of its first three tries: no back-off
}

// newest is what the last ack block said of the newest packet that had arrived.
type newest struct {
	pn   uint64
	held time.Duration // how long before the ack left
	in   uint64        // count of packets received, the one with the block included
}

// Held is for a Handler: it reports how long before the packet at hand left its sender packet pn had arrived there. It is false if
// the packet at hand does not ack, or another packet had arrived after pn.
func (c *Conn) Held(pn uint64) (time.Duration, bool) {
	n := &c.newest
	return n.held, n.in == c.stats.Received && n.pn == pn && n.held < maxAckDelay*ackDelayUnit
}

// settle takes an ack block of the other end, whose third highest packet decides what is lost.
func (c *Conn) settle(now time.Duration, a *ackBlock, h Handler) {
	third, largest := a.third(), a.largest()
	c.newest = newest{pn: largest, held: time.Duration(a.delay) * ackDelayUnit, in: c.stats.Received}
	c.losses.out = a.missing() >= lossyFrom
	c.rtt.hurry = c.losses.out
	if c.quiet.pn == largest {
		c.rtt.sample(now-c.quiet.at, a.delay)
		c.quiet.pn = 0
	}
	for i, end := c.flights.first(), c.flights.end(); i < end; i++ {
		f := c.flights.at(i)
		if f.pn > largest {
			break
		}
		if f.state == settled {
			continue
		}
		if !a.has(f.pn) {
			if f.state == flying && f.pn < third {
				c.lose(now, f, settled, h)
			}
			continue
		}
		told := c.losses.holeAt < f.at // else an ack before this one may have been lost
		if f.pn == largest {
			c.rtt.sample(now-f.at, a.delay)
			if told {
				c.rtt.holds(a.delay)
			}
		}
		c.backoff = 0
		if f.state == late {
			f.state = settled
			if told {
				c.rtt.late(now - f.at)
			}
			c.stats.Spurious++
			continue
		}
		c.land(f)
		c.rtt.onTime()
		c.path.acked(now, f)
		c.outbox.acked(f)
		c.stats.Acked++
		h.Acked(f.pn)
	}
	c.trim(now, third)
}

// land takes f out of the count of packets in flight.
func (c *Conn) land(f *flight) {
	f.state = settled
	c.flying--
}

func (c *Conn) lose(now time.Duration, f *flight, as flightState, h Handler) {
	c.land(f)
	f.state = as
	c.path.dropped(now, f)
	c.outbox.lost(f, as == late)
	c.acks.repeat = true // it may have carried acks
	c.stats.Lost++
	h.Lost(f.pn)
}

// trim drops what is decided from the front.
func (c *Conn) trim(now time.Duration, third uint64) {
	n := 0
	for i, end := c.flights.first(), c.flights.end(); i < end; i++ {
		f := c.flights.at(i)
		if f.state == flying {
			break
		}
		if f.state == late && f.pn >= third && now-f.at < lateFor && c.flights.len()-n <= maxTrace {
			break
		}
		n++
	}
	c.flights.pop(n)
}

// patience is how long f may stay unacked. A doubling is for what is sent after it; its end is for all.
func (c *Conn) patience(f *flight) time.Duration {
	if f.urgent {
		return c.rtt.pto()
	}
	return c.rtt.pto() << min(f.back, c.backoff)
}

// Expire reports packets whose probe timer ran out as lost. The timer is that of rtt.pto; it doubles, twice at most, while nothing is acked, but not for the first three tries of a small reliable frame.
func (c *Conn) Expire(now time.Duration, h Handler) {
	if c.flying == 0 {
		return
	}
	c.enter()
	defer c.leave()
	back := false
	for i, end := c.flights.first(), c.flights.end(); i < end; i++ {
		f := c.flights.at(i)
		if f.state != flying {
			continue
		}
		if now < f.at+c.patience(f) && c.flying <= maxFlying {
			if now < f.at+c.rtt.pto() {
				break // the others were sent later and wait at least as long
			}
			continue
		}
		// A burst that expires together doubles once: only what was sent after the last doubling tells more.
		back = back || !f.urgent && f.at >= c.backedAt
		c.lose(now, f, late, h)
	}
	if back && c.backoff < maxBackoff {
		c.backoff++
		c.backedAt = now
	}
	c.trim(now, 0)
}

// expiry is when Expire has work next.
func (c *Conn) expiry() (at time.Duration, ok bool) {
	if c.flying > maxFlying {
		return 0, true
	}
	for i, end := c.flights.first(), c.flights.end(); i < end && c.flying > 0; i++ {
		f := c.flights.at(i)
		if f.state != flying {
			continue
		}
		if ok && at <= f.at+c.rtt.pto() {
			break // the others were sent later and wait at least as long
		}
		if t := f.at + c.patience(f); !ok || t < at {
			at, ok = t, true
		}
	}
	return at, ok
}

// enter guards what the judging loops stand on: neither a handler nor a packet half built may move it.
func (c *Conn) enter() {
	if c.busy || c.open.open {
		panic("throng: session: Receive or Expire called from a Handler, or between Begin and Commit: do one after the other")
	}
	c.busy = true
}

func (c *Conn) leave() { c.busy = false }
