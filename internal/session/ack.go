package session

import (
	"encoding/binary"
	"time"
)

const (
	maxRanges   = 8
	maxAckBlock = 5 + 4*(maxRanges-1)

	// Delays of an ack.
	ackAfter     = 16
	ackWithin    = 20 * time.Millisecond // below ptoMargin: timers are late, and on a path without delay the two would race
	ackReliable  = 10 * time.Millisecond
	ackGap       = 5 * time.Millisecond // after a packet: a flush may come in many, of which not each is acked at once
	maxAckDelay  = 255
	ackDelayUnit = time.Millisecond
)

// ackRange is the packets lo..hi, both included.
type ackRange struct{ lo, hi uint64 }

// ackBlock says which packets of the other end arrived, newest range first.
//
//	 0         2       3       4         5
//	┌─────────┬───────┬───────┬─────────┬───────────────────────────┐
//	│ largest │ delay │ extra │ len - 1 │ extra × (gap - 1, len - 1)│   delay: ms since largest arrived, 255 = more
//	└─────────┴───────┴───────┴─────────┴───────────────────────────┘   len, gap: packets, uvarint of at most 2 bytes
type ackBlock struct {
	ranges [maxRanges]ackRange
	n      int
	delay  uint8
}

func (a *ackBlock) largest() uint64 { return a.ranges[0].hi }

func (a *ackBlock) append(b []byte) []byte {
	b = binary.LittleEndian.AppendUint16(b, uint16(a.ranges[0].hi))
	b = append(b, a.delay, uint8(a.n-1))
	for i, r := range a.ranges[:a.n] {
		if i > 0 {
			b = binary.AppendUvarint(b, a.ranges[i-1].lo-r.hi-2)
		}
		b = binary.AppendUvarint(b, r.hi-r.lo)
	}
	return b
}

// parse reads a block about packets near number near, and returns its size. A size of 0 means malformed, and
// ErrProtocol that it names packets before the first.
func (a *ackBlock) parse(b []byte, near uint64) (int, error) {
	if len(b) < 5 || b[3] >= maxRanges {
		return 0, ErrMalformed
	}
	hi := expand(binary.LittleEndian.Uint16(b), near)
	floor := hi - min(hi, windowSize) // nothing at or below it may be named; 0 is no packet
	a.delay, a.n = b[2], int(b[3])+1
	at := 4
	for i := range a.n {
		if i > 0 {
			gap, n := shortUvarint(b[at:])
			if n == 0 {
				return 0, ErrMalformed
			}
			at += n
			if hi <= floor+gap+1 {
				return 0, ErrProtocol
			}
			hi -= gap + 1
		}
		length, n := shortUvarint(b[at:])
		if n == 0 {
			return 0, ErrMalformed
		}
		at += n
		if hi <= floor+length {
			return 0, ErrProtocol
		}
		a.ranges[i] = ackRange{lo: hi - length, hi: hi}
		// The next range ends below the gap that follows this one.
		hi -= length + 1
	}
	return at, nil
}

func (a *ackBlock) has(pn uint64) bool {
	for _, r := range a.ranges[:a.n] {
		if pn >= r.lo {
			return pn <= r.hi
		}
	}
	return false
}

// third is the third highest packet named: whatever is below has three later packets acked. It is 0 if there are fewer.
func (a *ackBlock) third() uint64 {
	left := uint64(3)
	for _, r := range a.ranges[:a.n] {
		if n := r.hi - r.lo + 1; n < left {
			left -= n
			continue
		}
		return r.hi - left + 1
	}
	return 0
}

// expand is the number nearest to near that has these low bits.
func expand(low uint16, near uint64) uint64 {
	d := int64(int16(low - uint16(near)))
	if d < 0 && uint64(-d) > near {
		d += 1 << 16
	}
	return near + uint64(d)
}

// shortUvarint reads a uvarint of at most 2 bytes; it may be longer than it must, so that a length can be written
// before its value is known. A size of 0 means that b holds none.
func shortUvarint(b []byte) (v uint64, n int) {
	switch {
	case len(b) > 0 && b[0] < 0x80:
		return uint64(b[0]), 1
	case len(b) > 1 && b[1] < 0x80:
		return uint64(b[0]&0x7f) | uint64(b[1])<<7, 2
	}
	return 0, 0
}

// acks decides when the other end must hear what arrived.
type acks struct {
	due    time.Duration // when owed becomes urgent
	topAt  time.Duration // when the window's top arrived
	count  int           // eliciting packets since the last ack left
	owed   bool
	repeat bool // a packet with acks may have been lost: say it again with the next, but do not hurry
}

// ackWait is how long the ack of a packet may wait for one to ride in.
func (c *Conn) ackWait(now time.Duration, prompt bool) time.Duration {
	switch {
	case c.cfg.Prompt && c.losses.in:
		return max(0, c.lastSent+ackGap-now)
	case prompt:
		return ackReliable
	}
	return ackWithin
}

func (a *acks) received(now, within time.Duration) {
	if !a.owed || now+within < a.due {
		a.due = now + within
	}
	a.owed = true
	a.count++
}

// sent notes that a packet with acks left. On a path that loses packets the next says them again.
func (a *acks) sent(lossy bool) { a.owed, a.repeat, a.count = false, a.owed && lossy, 0 }

func (a *acks) urgent(now time.Duration) bool {
	return a.owed && (a.count >= ackAfter || now >= a.due)
}
