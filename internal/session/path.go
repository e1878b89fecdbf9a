package session

import "time"

const (
	pathTrial = 60 * time.Second // between two attempts to send larger packets again
	pathLost  = 3                // large packets lost in a row, while small ones pass, before they become smaller
)

// path finds out how large a packet may be. There is no extra probe: a trial is one packet of the next larger
// size among the owner's own, so a session that has no full packets tries nothing.
type path struct {
	sizes   [3]uint16 // 0 ends the list
	level   uint8     // of sizes, in use
	lost    uint8     // packets too large for the next level, lost since the last such was acked
	passed  bool      // a smaller one, sent after the first of them, was acked
	first   uint64    // the first of them
	trial   uint64    // packet in flight that is larger than the level allows, 0 if none
	trialAt time.Duration
}

func (p *path) init(largest int) {
	p.sizes[0] = uint16(min(largest, 1<<16-1))
	n := 1
	for _, s := range [...]uint16{1000, 576} {
		if s < p.sizes[0] {
			p.sizes[n] = s
			n++
		}
	}
}

func (p *path) limit(now time.Duration) int {
	if p.level > 0 && p.trial == 0 && now >= p.trialAt {
		return int(p.sizes[p.level-1])
	}
	return int(p.sizes[p.level])
}

// lower is the next smaller size, 0 if there is none.
func (p *path) lower() uint16 {
	if int(p.level)+1 < len(p.sizes) {
		return p.sizes[p.level+1]
	}
	return 0
}

func (p *path) sent(pn uint64, size uint16) {
	if p.level > 0 && p.trial == 0 && size > p.sizes[p.level] {
		p.trial = pn
	}
}

func (p *path) acked(now time.Duration, f *flight) {
	switch {
	case f.pn == p.trial:
		p.level--
		*p = path{sizes: p.sizes, level: p.level, trialAt: now}
	case f.size > p.lower():
		p.lost, p.passed = 0, false
	case p.lost > 0 && f.pn > p.first:
		p.passed = true
		p.decide(now)
	}
}

func (p *path) dropped(now time.Duration, f *flight) {
	switch lower := p.lower(); {
	case f.pn == p.trial:
		p.trial, p.trialAt = 0, now+pathTrial
	case lower == 0:
	case f.size <= lower:
		p.lost, p.passed = 0, false // small ones do not pass either: it is not the size
	default:
		if p.lost == 0 {
			p.first = f.pn
		}
		p.lost = min(p.lost+1, pathLost)
		p.decide(now)
	}
}

func (p *path) decide(now time.Duration) {
	if p.lost >= pathLost && p.passed {
		*p = path{sizes: p.sizes, level: p.level + 1, trialAt: now + pathTrial}
	}
}

// Limit is the most bytes the next packet should have on this path. It is MaxPayload until large packets vanish.
func (c *Conn) Limit(now time.Duration) int { return c.path.limit(now) }
