package shard

import (
	"errors"
	"time"
)

// budget is how much an observer may be sent: a token bucket over all its datagrams, whose rate follows what its path bears
// (B-072).
//
//	bytes sent ──► tokens ──► may anything more leave? ──► what may not becomes backlog (backlog.go)
//	acked, lost, round trip ──► judge ──► rate
//
// Only what can wait asks: what is reliable and acks leave at once, and are paid afterwards.
type budget struct {
	full   float64 // bytes a second as configured
	rate   float64 // what the path seems to bear, an eighth of full or more
	tokens float64 // may be negative: a whole chunk is sent or none of it
	at     time.Duration

	judged      time.Duration
	acked, lost int           // packets since then
	spurious    uint64        // of all that were reported lost, those acked later
	loss        float64       // share of packets lost, over about two seconds
	base        time.Duration // round trip of the path when nothing waits in it; 0: not known
	badSince    time.Duration // since when most is lost; 0: it is not
	ackedAt     time.Duration // last ack, or when there was nothing to ack
	missed      int           // packets lost since the last ack
}

// How the rate follows losses and delay. Losses below lossFine are taken for those of a radio, not of a full queue.
const (
	judgeEvery = 250 * time.Millisecond
	lossMemory = 8 // judgements
	lossFine   = 0.06
	lossBad    = 0.12
	cutTo      = 0.75
	growBy     = 1.0 / 16
	floorOf    = 1.0 / 8
	floor      = 2 << 10 // bytes a second: less would not carry acks and what is reliable
	queues     = 100 * time.Millisecond
)

// A session that takes nothing, or nearly nothing, of what it is sent must end: it costs bytes and memory for nobody.
const (
	deafFor   = 15 * time.Second
	lossyFor  = 60 * time.Second
	lossClose = 0.6
)

var (
	errDeaf  = errors.New("nothing that was sent was acked for 15 s")
	errLossy = errors.New("more than half of what was sent was not acked for a minute")
)

func (b *budget) init(now time.Duration, full int) {
	*b = budget{full: float64(full), rate: float64(full), at: now, judged: now, ackedAt: now}
	b.tokens = b.depth()
}

// depth is the most that may leave at once: a quarter of a second's worth.
func (b *budget) depth() float64 { return b.rate / 4 }

func (b *budget) refill(now time.Duration) {
	b.tokens = min(b.tokens+b.rate*(now-b.at).Seconds(), b.depth())
	b.at = now
}

// pay takes bytes that were sent. What is owed is bounded: a burst of reliable messages must not silence an observer for long.
func (b *budget) pay(n int) { b.tokens = max(b.tokens-float64(n), -b.depth()) }

// left reports whether something more may leave.
func (b *budget) left() bool { return b.tokens > 0 }

// Rate is how many bytes a second the session is sent at most, as its path is judged now.
func (o *Session) Rate() int { return int(o.budget.rate) }

// rich reports that there is more than the traffic needs, so that what waits for its turn need not wait for it.
func (b *budget) rich() bool { return b.tokens > b.depth()/2 }

// richAt is when it will be rich if nothing is sent.
func (b *budget) richAt() time.Duration {
	lack := max(0, b.depth()/2-b.tokens)
	return b.at + time.Duration(lack/b.rate*float64(time.Second)) + time.Millisecond
}

// excuse forgets what speaks against a session.
func (b *budget) excuse(now time.Duration) { b.ackedAt, b.missed, b.badSince = now, 0, 0 }

// due is when judge has to be called although nothing else happens: whoever goes on is judged before it is sent anything.
func (b *budget) due(flying int) time.Duration {
	at := never
	if flying > 0 || b.lost > 0 || b.missed > 0 {
		at = b.ackedAt + deafFor + 1
	}
	if b.badSince != 0 {
		at = min(at, b.badSince+lossyFor+1)
	}
	return max(at, b.judged+judgeEvery)
}

// late takes how many packets were acked after they had been reported lost: the path bore them.
func (b *budget) late(spurious uint64) {
	n := min(int(spurious-b.spurious), b.lost)
	b.lost, b.acked, b.spurious = b.lost-n, b.acked+n, spurious
}

// judge adapts the rate, a few times a second: it falls by a quarter while packets are lost or wait in a queue, and grows by a
// sixteenth of the full rate while they do not. flying is how many packets are neither acked nor lost. It returns why the session
// must end, if it must.
func (b *budget) judge(now, srtt time.Duration, flying int) error {
	if now < b.judged+judgeEvery {
		return nil
	}
	quarters := min((now-b.judged)/judgeEvery, 1/growBy)
	b.judged = now
	if n := b.acked + b.lost; n > 0 {
		b.loss += (float64(b.lost)/float64(n) - b.loss) / lossMemory
	}
	waits := false
	if b.missed += b.lost; flying == 0 && b.missed == 0 {
		b.ackedAt = now
	}
	if b.acked > 0 {
		b.ackedAt, b.missed = now, 0
		if b.base == 0 || srtt < b.base {
			b.base = srtt
		}
		b.base += (srtt - b.base) / 64 // a path may change for good
		waits = srtt > 2*b.base+queues
	}
	switch {
	case b.loss > lossBad && b.lost > 0 || waits:
		b.rate = max(b.rate*cutTo, b.full*floorOf, min(b.full, floor))
	case b.loss < lossFine && !waits:
		b.rate = min(b.rate+b.full*growBy*float64(quarters), b.full) // who had nothing to send was not judged meanwhile
	}
	b.acked, b.lost = 0, 0
	if b.loss < lossClose {
		b.badSince = 0
	} else if b.badSince == 0 {
		b.badSince = now
	}
	switch {
	case now-b.ackedAt > deafFor:
		return errDeaf
	case b.badSince != 0 && now-b.badSince > lossyFor:
		return errLossy
	}
	return nil
}
