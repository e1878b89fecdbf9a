package session

import (
	"encoding/binary"
	"time"
)

// restEvery is how often a session looks for memory it no longer needs: one that was busy once must not stay large.
const (
	restEvery   = time.Second
	keepFlights = 2
)

// packet is the one being built.
type packet struct {
	open   bool
	acks   bool
	ping   bool
	fresh  bool // has reliable pieces that are not second copies
	urgent bool
	pn     uint64
	start  int    // of the packet in the buffer
	frames int    // where its frames start
	lo, hi uint64 // its reliable pieces are among these
}

// Next is the number the next packet will have.
func (c *Conn) Next() uint64 { return c.next }

// Begin starts a packet at the end of b, which may hold what the carrier wants in front, and writes the ack block if
// there is something to ack. Commit or Abort must follow before the next Begin, Receive or Expire.
func (c *Conn) Begin(now time.Duration, b []byte) []byte {
	if c.open.open || c.busy {
		panic("throng: session: Begin before Commit or Abort of the last packet, or from a Handler")
	}
	c.open = packet{open: true, pn: c.next, start: len(b)}
	b = binary.LittleEndian.AppendUint16(b, uint16(c.next))
	if c.window.top > 0 && (c.acks.owed || c.acks.repeat) {
		c.open.acks = true
		var a ackBlock
		c.window.ranges(&a)
		a.delay = uint8(min((now-c.acks.topAt)/ackDelayUnit, maxAckDelay))
		b = a.append(append(b, flagAcks))
	} else {
		b = append(b, 0)
	}
	c.open.frames = len(b)
	return b
}

// AppendReliable appends reliable pieces that are due while the packet has at most limit bytes, and a ping if one is
// due and the packet has no frame yet. With a limit of 576 any piece fits a packet of its own.
func (c *Conn) AppendReliable(now time.Duration, b []byte, limit int) []byte {
	b = c.outbox.append(b, limit-(len(b)-c.open.start), &c.open, &c.stats)
	if len(b) == c.open.frames && c.pingDue(now) && len(b)+2-c.open.start <= limit {
		c.open.ping = true
		b = append(b, kindPing, 0)
	}
	return b
}

// Carries reports whether AppendReliable put a piece into the packet that is being built.
func (c *Conn) Carries() bool { return c.open.lo != c.open.hi }

// Commit finishes the packet that Begin started in b and returns its number. An eliciting packet is followed until it
// is acked or lost; one with a reliable piece or a ping always is eliciting. Give true for whatever else must not be
// lost unnoticed; the other end acks any packet with a frame.
func (c *Conn) Commit(now time.Duration, b []byte, eliciting bool) (pn uint64) {
	p := &c.open
	if !p.open {
		panic("throng: session: Commit without Begin")
	}
	p.open = false
	size := len(b) - p.start
	c.next++
	c.lastSent = now
	c.stats.Sent++
	c.stats.SentBytes += uint64(size)
	if p.acks {
		c.acks.sent(c.losses.out)
	}
	if now >= c.restAt {
		c.restAt = now + restEvery
		c.outbox.rest()
		c.inbox.rest()
		c.flights.shrink(max(c.peak, keepFlights))
		c.peak = 0
	}
	if len(b) > p.frames {
		c.ping = false
	}
	f := flight{
		pn: p.pn, at: now, lo: p.lo, n: uint16(p.hi - p.lo), size: uint16(min(size, 1<<16-1)),
		back: c.backoff, urgent: p.urgent,
	}
	if !eliciting && !p.ping && f.n == 0 {
		c.quiet = f
		return p.pn
	}
	if f.n > 0 {
		c.outbox.committed(now, p)
	}
	c.path.sent(f.pn, f.size)
	c.trim(now, 0)
	c.flights.push(f)
	c.flying++
	c.peak = max(c.peak, c.flights.len())
	return p.pn
}

// Abort drops the packet that Begin started. Its number and what it carried will be used by the next.
func (c *Conn) Abort() {
	if c.open.open {
		c.outbox.aborted(&c.open)
		c.open.open = false
	}
}

// Ping asks for a packet that the other end must ack, as a probe.
func (c *Conn) Ping() { c.ping = true }

func (c *Conn) pingDue(now time.Duration) bool {
	return c.ping || c.keepsAlive() && now >= c.lastSent+c.cfg.KeepAlive
}

// keepsAlive is false before the first packet, since a session that has not begun is not kept alive, and while an ack
// is owed: it will do, and so two idle ends do not both ping.
func (c *Conn) keepsAlive() bool { return c.next > 1 && c.cfg.KeepAlive > 0 && !c.acks.owed }

// WantsSend is true when a packet should leave now, whether the owner has frames or not: an ack is due, a
// reliable piece, a ping, or the second copy of a small frame that no packet took along for 25 ms.
func (c *Conn) WantsSend(now time.Duration) bool {
	return c.outbox.due > 0 || c.acks.urgent(now) || c.pingDue(now) || c.outbox.owed > 0 && now >= c.outbox.owedAt
}

// Deadline is when WantsSend may turn true or Expire has work, if nothing else happens. It may be in the past. It
// reports false if that is never.
func (c *Conn) Deadline() (at time.Duration, ok bool) {
	at, ok = c.expiry()
	sooner := func(t time.Duration) {
		if !ok || t < at {
			at, ok = t, true
		}
	}
	if c.outbox.due > 0 || c.ping || c.acks.owed && c.acks.count >= ackAfter {
		sooner(0)
	}
	if c.acks.owed {
		sooner(c.acks.due)
	}
	if c.outbox.owed > 0 {
		sooner(c.outbox.owedAt)
	}
	if c.keepsAlive() {
		sooner(c.lastSent + c.cfg.KeepAlive)
	}
	return at, ok
}

func uvarintSize(v uint64) int {
	n := 1
	for ; v >= 0x80; v >>= 7 {
		n++
	}
	return n
}
