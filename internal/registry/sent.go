package registry

import (
	"time"

	"github.com/throng-dev/throng/internal/wire"
)

// sentLog remembers the deltas in flight.
type sentLog struct {
	packets map[uint64]*sentPacket
	refs    []sentRef
	free    []*sentPacket
}

// sentPacket is the records of a packet, and of its twin.
type sentPacket struct {
	refs   []sentRef
	flying int // packets that carry them and are neither acked nor lost
}

type sentRef struct {
	c    *Copy
	term wire.Count
	mask uint64
	cut  bool
}

// add puts a record into the packet at hand.
func (l *sentLog) add(s sentRef) {
	s.c.fly(s.mask)
	l.refs = append(l.refs, s)
}

func (l *sentLog) commit(pn uint64) {
	if l.packets == nil {
		l.packets = make(map[uint64]*sentPacket)
	}
	var s *sentPacket
	if n := len(l.free); n > 0 {
		s, l.free = l.free[n-1], l.free[:n-1]
	} else {
		s = &sentPacket{}
	}
	s.refs, s.flying = append(s.refs[:0], l.refs...), 1
	l.packets[pn] = s
	l.refs = l.refs[:0]
}

// twin says that packet pn carries the records of another.
func (l *sentLog) twin(pn, of uint64) {
	s := l.packets[of]
	s.flying++
	l.packets[pn] = s
}

func (l *sentLog) acked(pn uint64) { l.settle(pn, true) }

// lost returns the records of a packet that was lost, unless its twin has arrived or still may. They are valid until the next commit.
func (l *sentLog) lost(pn uint64) []sentRef { return l.settle(pn, false) }

func (l *sentLog) settle(pn uint64, landed bool) (refs []sentRef) {
	s := l.packets[pn]
	if s == nil {
		return nil
	}
	delete(l.packets, pn)
	if s.flying--; landed || s.flying == 0 {
		refs = s.refs
		for _, r := range refs {
			if p := r.c.proof; p != nil {
				p.land()
			}
		}
		s.refs = s.refs[:0] // its twin has nothing left to tell
	}
	if s.flying == 0 && len(l.free) < 16 {
		l.free = append(l.free, s)
	}
	return refs
}

// twinGap is how long after the tick before one leaves twice: whoever ticks more often says something newer as soon.
const twinGap = 40 * time.Millisecond

// twin sends what this tick says a second time where packets get lost: all who watch would lack it for an interval, since an ack
// takes longer than the next tick. The relay orders slots by tick, so that the second changes nothing. first is where the packets of
// the tick begin in out; a tick of several has no twin, whose bytes would fill a narrow path.
func (p *packer) twin(first int) {
	r := p.r
	often := r.ticked != 0 && p.now < r.ticked+twinGap
	r.ticked = p.now
	if often || p.records == 0 || len(p.out) != first || !r.conn.Loses() {
		return
	}
	p.flush()
	b := append(r.conn.Begin(p.now, p.buffer()), p.out[first][p.frames:]...)
	if len(b)-p.headroom > p.limit { // it has acks where the first had none
		r.conn.Abort()
		return
	}
	pn := r.conn.Commit(p.now, b, true)
	r.sent.twin(pn, r.uplink.pn)
	r.uplink.pn = pn // acks name the newest
	p.out = append(p.out, b)
	r.stats.Twins++
}
