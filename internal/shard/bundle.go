package shard

import (
	"time"

	"github.com/throng-dev/throng/internal/grid"
	"github.com/throng-dev/throng/internal/session"
	"github.com/throng-dev/throng/internal/wire"
	"github.com/throng-dev/throng/transport"
)

// packetPool hands out buffers of one size that all come back when they have been handed over.
type packetPool struct {
	all    [][]byte
	used   int
	peak   int // most used in a flush since the last rest
	restAt time.Duration
}

// poolRest is how often the pool gives back what it did not need. Who hands over while building never has many.
const poolRest = time.Second

func (p *packetPool) reset(now time.Duration) {
	if p.reuse(); now < p.restAt {
		return
	}
	if keep := p.peak + p.peak/4 + 8; len(p.all) > keep {
		p.all = append([][]byte(nil), p.all[:keep]...)
	}
	p.peak, p.restAt = 0, now+poolRest
}

// reuse takes all buffers back.
func (p *packetPool) reuse() { p.peak, p.used = max(p.peak, p.used), 0 }

func (p *packetPool) get() []byte {
	if p.used == len(p.all) {
		p.all = append(p.all, transport.NewBuffer())
	}
	p.used++
	return p.all[p.used-1][:transport.Headroom]
}

// scratch is memory that lives for one call.
type scratch struct {
	values []byte
	frame  []byte
	head   []byte
	near   []nearSeg
	sorted []nearSeg
	turns  []turn
	lines  []line
	vers   []uint32
	views  []grid.Chunk
}

// bundler fills the packets of one session in one flush.
type bundler struct {
	s      *Shard
	o      *Session
	out    []transport.Datagram
	b      []byte
	limit  int
	base   grid.Chunk
	open   bool
	headed bool // the packet has its KindFlush frame
	fresh  int  // length right after the head
	paid   int  // bytes of the packet that the budget has paid for
	mends  bool // between two flushes
	run    run
}

// headSize is more than a KindFlush frame takes: kind, length, epoch, flush, time, three chunk varints.
const headSize = 2 + 7 + 30

// room makes sure that the open packet can take n more bytes of records. A record that is larger than a packet on a narrow
// path may use all that the carrier takes.
func (w *bundler) room(n int) {
	if w.open && len(w.b)-transport.Headroom+n+w.head() > w.limit {
		if !w.headed || len(w.b) > w.fresh {
			w.flush()
		}
	}
	if !w.open {
		w.begin()
		for len(w.b)-transport.Headroom+n+w.head() > w.limit && w.o.conn.Carries() {
			w.flush() // reliable pieces filled it
			w.begin()
		}
	}
	if !w.headed {
		w.headed = true
		f := wire.Flush{Epoch: w.o.epoch, Flush: w.s.flush, Time: w.s.ms(), Base: w.base}
		w.s.scratch.head = f.Append(w.s.scratch.head[:0])
		w.b = session.AppendFrame(w.b, wire.KindFlush, w.s.scratch.head)
		w.fresh = len(w.b)
	}
}

// size is what the open packet has.
func (w *bundler) size() int { return len(w.b) - transport.Headroom }

func (w *bundler) head() int {
	if w.headed {
		return 0
	}
	return headSize
}

func (w *bundler) begin() {
	w.b = w.o.conn.AppendReliable(w.s.now, w.o.conn.Begin(w.s.now, w.s.packets.get()), w.limit)
	w.open, w.headed, w.fresh, w.paid = true, false, len(w.b), 0
}

// pay lets the budget pay for bytes of the open packet.
func (w *bundler) pay(n int) {
	w.paid += n
	w.o.budget.pay(n)
}

func (w *bundler) flush() {
	if !w.open {
		return
	}
	w.endRun()
	w.open = false
	pn := w.o.conn.Commit(w.s.now, w.b, w.headed)
	if w.headed {
		w.o.sent.commit(pn)
	}
	w.pay(len(w.b) - transport.Headroom - w.paid)
	w.out = append(w.out, transport.Datagram{To: w.o.To, Buf: w.b})
	w.s.stats.Packets++
	w.s.stats.Bytes += uint64(len(w.b) - transport.Headroom)
}

// bundle builds the packets of one session: what it is told reliably, departures, its own records, introductions by nearness,
// then the shared segments in its reach, nearest first. While not all of that fits the budget, every other flush begins with
// the segments, so that neither starves the other.
func (s *Shard) bundle(o *Session, out []transport.Datagram) []transport.Datagram {
	if o.closing != nil {
		return out
	}
	w := bundler{s: s, o: o, out: out, limit: min(o.conn.Limit(s.now), transport.MaxPayload)}
	if len(o.views) > 0 {
		w.base = o.views[0]
	}
	o.budget.refill(s.now)
	o.lacking = false
	if !o.ready { // what an end hears of entities before it has taken the Welcome is of another world to it
	} else if !o.silent {
		o.catchUp()
		w.feedFirst()
		near, size := o.nearSegments()
		turned := o.starved && s.flush&1 != 0
		o.starved = false
		if turned {
			w.segments(near, size)
		}
		w.departs()
		w.ownRecords()
		w.introductions()
		if !turned {
			w.segments(near, size)
		}
		if len(o.intros)+len(o.own)+len(o.leaves)+len(o.marks.list) > 0 {
			s.work, s.retry, o.starved = true, true, true
		}
	}
	w.once()
	w.flush()
	w.feed()
	w.reliable()
	return w.out
}

// control builds the packets of a session that only carry acks and what is reliable.
func (s *Shard) control(o *Session, out []transport.Datagram) []transport.Datagram {
	if o.closing != nil || len(o.events.once) == 0 && !o.conn.WantsSend(s.now) {
		return out
	}
	w := bundler{s: s, o: o, out: out, limit: min(o.conn.Limit(s.now), transport.MaxPayload)}
	w.once()
	w.flush()
	w.reliable()
	return w.out
}

// reliable sends what is reliable, or an ack, until nothing wants to leave.
func (w *bundler) reliable() {
	for range 64 {
		if !w.o.conn.WantsSend(w.s.now) {
			break
		}
		w.begin()
		w.flush()
	}
}

// catchUp makes dirty what the session missed while it was silent.
func (o *Session) catchUp() {
	s := o.shard
	if o.skipped == 0 || !s.retains() {
		o.skipped = 0
		return
	}
	for i := range o.pairs.list {
		if p := &o.pairs.list[i]; p.state == known {
			e := s.table.ByHandle(p.handle)
			o.dirty(p, e, e.Since(o.skipped-1)&s.visible(e)&^e.Class.Init)
		}
	}
	o.skipped = 0
}

func (w *bundler) departs() {
	s, o := w.s, w.o
	keep := o.leaves[:0]
	for _, h := range o.leaves {
		p := o.pairs.get(h)
		if p == nil || p.state != leaving || p.pkt != 0 || p.flags&kept != 0 {
			continue
		}
		if !o.budget.left() {
			p.flags |= kept // once in the list
			keep = append(keep, h)
			continue
		}
		e := s.table.ByHandle(h)
		m := wire.Depart{Handle: h, ID: e.ID, Inc: e.Inc, Nonce: e.Nonce}
		switch {
		case !s.admits(o, e): // it looks as if it had gone out of reach
		case e.Dead:
			m.Why, m.By, m.Cert = e.Why, e.By, e.Cert
		case e.Silent:
			m.Why = wire.WhyStale
		}
		s.scratch.frame = m.Append(s.scratch.frame[:0])
		w.frame(wire.KindDepart, s.scratch.frame)
		p.pkt = uint32(o.conn.Next())
		o.sent.own = append(o.sent.own, ownRef{handle: h, kind: refDepart})
		s.stats.Departs++
	}
	for _, h := range keep {
		o.pairs.get(h).flags &^= kept
	}
	o.leaves = keep
}

// frame writes a frame into the packets and counts it against what is the observer's own.
func (w *bundler) frame(kind byte, body []byte) {
	w.endRun()
	w.room(session.FrameSize(len(body)))
	w.b = session.AppendFrame(w.b, kind, body)
	w.pay(session.FrameSize(len(body)))
}

// ownRecords sends what is dirty for this observer alone, as current values, within its budget, what has waited longest first.
func (w *bundler) ownRecords() {
	s, o := w.s, w.o
	keep := o.own[:0]
	for i := range o.own {
		it := o.own[i]
		e := s.table.ByHandle(it.handle)
		p := o.pairs.get(it.handle)
		if it.role {
			m := wire.Role{Handle: e.Handle, Term: e.Term, Flags: e.Flags, Owner: e.Owner}
			s.scratch.frame = m.Append(s.scratch.frame[:0])
			w.frame(wire.KindRole, s.scratch.frame)
			o.sent.own = append(o.sent.own, ownRef{handle: e.Handle, kind: refRole})
			it.role = false
		}
		if it.tie && !w.mends { // it may be newer than the flush
			s.scratch.frame = s.tieFrame(s.scratch.frame[:0], e)
			w.frame(wire.KindTie, s.scratch.frame)
			o.sent.own = append(o.sent.own, ownRef{handle: e.Handle, kind: refTie})
			it.tie = false
		}
		it.mask &= s.visible(e)
		if mask := w.due(p, e, it.mask) &^ e.Apart(); mask != 0 && o.budget.left() {
			w.record(e, mask)
			o.sent.own = append(o.sent.own, ownRef{handle: e.Handle, kind: refDelta, mask: mask})
			s.stats.OwnRecords++
			it.mask &^= mask
		}
		if it.mask != 0 && !w.mends {
			it.mask = w.apart(e, it.mask)
		}
		if w.mends && s.cfg.Faults.MendForgotten {
			it.mask = 0
		}
		p.pkt = 0
		if it.mask != 0 || it.tie {
			keep = append(keep, it)
			p.pkt = uint32(len(keep))
		}
	}
	o.own = keep
}

// introductions sends baselines, nearest first, within the budget.
func (w *bundler) introductions() {
	s, o := w.s, w.o
	if len(o.intros) == 0 {
		o.endMark()
		return
	}
	keep := o.intros[:0]
	for _, h := range o.intros { // what changed its mind meanwhile, or is here twice because it was forgotten in between
		if p := o.pairs.get(h); p != nil && p.flags&queued != 0 {
			p.flags &^= queued
			if p.state == introducing && p.pkt == 0 {
				keep = append(keep, h)
			}
		}
	}
	o.intros = keep
	for _, h := range keep {
		o.pairs.get(h).flags |= queued
	}
	o.nearestFirst()
	keep = o.intros[:0]
	for _, h := range o.intros {
		p, e := o.pairs.get(h), s.table.ByHandle(h)
		if !o.budget.left() || !o.resolves(e.Class) || w.mends && e.Dirty != 0 {
			keep = append(keep, h)
			continue
		}
		mask := s.visible(e) &^ e.Apart()
		if !s.retains() && e.Born != s.flush {
			if mask &= spoken(e.Class); !s.repeating[h] {
				mask = 0 // only who is there hears the spawn
			}
		}
		m := wire.Intro{Handle: h, Gen: e.Gen, Num: e.Class.Num, ClassID: e.Class.ID, ClassHash: e.Class.Hash, ID: e.ID, Inc: e.Inc,
			Term: e.Term, Flags: e.Flags, Owner: e.Owner, Nonce: e.Nonce, Chunk: e.Place.Chunk, Mask: mask}
		s.scratch.frame = e.AppendValues(m.Append(s.scratch.frame[:0], w.base), mask)
		w.frame(wire.KindIntro, s.scratch.frame)
		w.tieBeside(e)
		p.flags = p.flags&^queued | named
		p.pkt, p.v = uint32(o.conn.Next()), s.flush
		if mask == 0 && !s.retains() && spoken(e.Class) != 0 {
			p.v = 0 // until the spawn is repeated
		}
		o.sent.own = append(o.sent.own, ownRef{handle: h, kind: refIntro})
		s.stats.Intros++
	}
	o.intros = keep
	o.endMark()
}
