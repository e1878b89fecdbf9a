package memnet

import (
	"math/rand/v2"
	"time"
)

// Link says how one direction of a path treats datagrams. The zero value is perfect.
type Link struct {
	// Latency is the time on the way, plus or minus up to Jitter. Jitter alone lets nothing overtake: as in a queue, what
	// was sent later arrives no sooner.
	Latency, Jitter time.Duration
	// Loss is the share of datagrams lost, each by itself.
	Loss float64
	// Burst is loss that comes in runs. The zero value is none.
	Burst Burst
	// Duplicate is the share of datagrams that arrive twice.
	Duplicate float64
	// Reorder is the share of datagrams held back, by up to Latency + Jitter and at least 1 ms more, so that later ones
	// may overtake them.
	Reorder float64
	// Rate is how many bytes pass a second. Zero means no bound.
	Rate int
	// Queue is how long a datagram may wait for its turn when Rate is exceeded; what would wait longer is lost. Zero
	// means 200 ms.
	Queue time.Duration
	// MTU is the most bytes a datagram has; larger ones vanish. Zero means no bound.
	MTU int
}

// Burst is the model of Gilbert and Elliott: a link is good or bad, and changes between two datagrams with some
// probability. The mean length of a bad run is 1/Leave datagrams.
type Burst struct {
	Enter, Leave float64
	// Loss is the share lost while bad. Zero means all.
	Loss float64
}

// Profiles of common paths, for one direction.
var (
	LAN       = Link{Latency: 500 * time.Microsecond, Jitter: 200 * time.Microsecond}
	WiFi      = Link{Latency: 12 * time.Millisecond, Jitter: 8 * time.Millisecond, Loss: 0.01, Reorder: 0.005, Duplicate: 0.001, Rate: 4 << 20}
	Mobile    = Link{Latency: 60 * time.Millisecond, Jitter: 30 * time.Millisecond, Loss: 0.03, Burst: Burst{Enter: 0.005, Leave: 0.3, Loss: 0.8}, Reorder: 0.01, Rate: 1 << 20, MTU: 1400}
	BurstLoss = Link{Latency: 25 * time.Millisecond, Jitter: 5 * time.Millisecond, Burst: Burst{Enter: 0.02, Leave: 0.2}}
)

// Traffic counts what a pipe was given. Lost includes what was too large or found the queue full.
type Traffic struct {
	Packets, Bytes uint64
	Lost, Doubled  uint64
}

// Pipe is one direction of a path: a Link, and what it has to remember from one datagram to the next.
type Pipe struct {
	Link
	Traffic
	bad  bool
	free time.Duration // when the sender's end has sent what it has
	last time.Duration // latest arrival so far of what was not held back
}

// Plan appends to out when a datagram of size bytes sent now arrives: not at all, once or twice. All chance comes from
// rng, so equal calls plan equal fates.
func (p *Pipe) Plan(rng *rand.Rand, now time.Duration, size int, out []time.Duration) []time.Duration {
	p.Packets++
	p.Bytes += uint64(size)
	switch {
	case p.Burst.Enter <= 0:
		p.bad = false
	case p.bad:
		p.bad = rng.Float64() >= p.Burst.Leave
	default:
		p.bad = rng.Float64() < p.Burst.Enter
	}
	if p.MTU > 0 && size > p.MTU {
		p.Lost++
		return out
	}
	if p.Rate > 0 {
		queue := p.Queue
		if queue == 0 {
			queue = 200 * time.Millisecond
		}
		start := max(now, p.free)
		if start-now > queue {
			p.Lost++
			return out
		}
		p.free = start + time.Duration(size)*time.Second/time.Duration(p.Rate)
		now = p.free
	}
	if p.bad && (p.Burst.Loss == 0 || rng.Float64() < p.Burst.Loss) || p.Link.Loss > 0 && rng.Float64() < p.Link.Loss {
		p.Lost++
		return out
	}
	out = append(out, p.arrival(rng, now))
	if p.Duplicate > 0 && rng.Float64() < p.Duplicate {
		p.Doubled++
		out = append(out, p.arrival(rng, now))
	}
	return out
}

func (p *Pipe) arrival(rng *rand.Rand, now time.Duration) time.Duration {
	at := now + p.Latency
	if p.Jitter > 0 {
		at += time.Duration(rng.Int64N(int64(2*p.Jitter)+1)) - p.Jitter
	}
	at = max(at, now, p.last)
	if p.Reorder > 0 && rng.Float64() < p.Reorder {
		return at + time.Millisecond + time.Duration(rng.Int64N(int64(p.Latency+p.Jitter)+1))
	}
	p.last = at
	return at
}
