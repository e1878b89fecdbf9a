package shard

import (
	"cmp"
	"math"
	"slices"
	"time"

	"github.com/throng-dev/throng/transport"
)

// A flush:
//
//	what changed ─► presence ─► blob, once ─► for each session: packets ─► a handful at a time ─► carrier

// heavy is the number of changes in half a second above which the world flushes at multiples of its interval only. Below, a
// flush for each change costs nothing that matters, and adds no latency.
const heavy = 100

// Gaps between two calls of Flush that do something: 1,000 flushes a second is what 16 bits of their number allow;
// what is only reliable or an ack can wait a little longer where there is much to do.
const (
	flushGap   = time.Millisecond
	controlGap = 5 * time.Millisecond
)

// hasWork reports whether the next flush would tell somebody something about entities.
func (s *Shard) hasWork() bool {
	return s.work || len(s.dirty)+len(s.moved) > 0 || s.decay.on && s.decay.ready(s.now)
}

// advance moves the clock of the shard.
func (s *Shard) advance(now time.Duration) {
	if !s.hasWork() {
		s.calm = now
	}
	s.now = now
}

func (s *Shard) interval() time.Duration {
	return time.Duration(s.cfg.Profile.FlushMS) * time.Millisecond
}

// due is when the work at hand may leave: at once while little happens, so that an idle world adds no latency; at the next
// multiple of the flush interval when much does, so that bytes are shared. Clients aim at such multiples. It is the next one
// behind the moment at which there began to be work: one that passed while there was none is not made up for, or the first change of a
// crowd that is early would have a flush for itself.
func (s *Shard) due() time.Duration {
	at := max(s.flushed+flushGap, s.calm)
	if s.load+float64(len(s.dirty)) >= heavy || s.retry || s.cfg.Heavy {
		if i := s.interval(); at%i != 0 {
			at += i - at%i
		}
	}
	return at
}

// Wake returns when Flush should be called next.
func (s *Shard) Wake() time.Duration {
	at := min(s.wake, s.dues.first())
	if len(s.roster.news) > 0 {
		at = min(at, s.rosterDue())
	}
	if s.urgent {
		at = s.now
	}
	gap := flushGap
	if s.load >= heavy {
		gap = controlGap
	}
	at = max(at, s.passed+gap)
	if s.hasWork() {
		at = min(at, s.due())
	} else if due, ok := s.decay.next(); ok {
		at = min(at, due)
	}
	return at
}

// Flush builds what every session must get now: everything about entities if that is due, else what is reliable and acks.
// The datagrams are appended to out; their buffers are valid until the next call. Flush may be called at any time; Wake says
// when it is worth it.
func (s *Shard) Flush(now time.Duration, out []transport.Datagram) []transport.Datagram {
	return s.FlushTo(now, out, nil)
}

// FlushTo is Flush that hands over while it builds: whenever a handful of datagrams is ready, send gets them and their buffers are
// used again, so that the first leave before the last are built. What is returned is the rest, which send did not get.
func (s *Shard) FlushTo(now time.Duration, out []transport.Datagram, send func([]transport.Datagram)) []transport.Datagram {
	s.advance(now)
	s.passed, s.urgent = now, false
	s.packets.reset(now)
	s.tellRoster()
	s.callDue()
	s.timers() // before the count: what it changes is of this flush
	full := s.hasWork() && now >= s.due()
	if full {
		s.load = s.load*math.Exp2(-(now-s.flushed).Seconds()/0.35) + float64(len(s.dirty)) // halves in 0.35 s: about the changes of 0.5 s
		s.flushed, s.work, s.retry = now, false, false
		s.flush++
		s.stats.Flushes++
		s.presence()
		s.buildBlob()
		s.callNear()
	}
	s.wake, s.mendable = s.nextTimer(), mendable{}
	list, first := s.turns(full)
	if s.cfg.Overlooked != nil {
		s.overlooked(full)
	}
	for i := range list {
		if i += first; i >= len(list) {
			i -= len(list)
		}
		o := list[i]
		if !o.called || !o.open {
			continue
		}
		out = s.serve(o, full, out)
		if send != nil && len(out) >= handful {
			send(out)
			out = out[:0]
			s.packets.reuse()
		}
	}
	clear(list)
	if full {
		s.lists.add(s.flush, now, s.blob.segs, s.blob.ents)
		s.finish()
	}
	return out
}

// handful is how many datagrams are built before they leave: as many as one call of the system takes.
const handful = 64

// turns takes the list of who was called, in the order in which they are served, and who is first.
//
// A flush of a crowd takes milliseconds, which the last waits: everybody is last at times, and moves there in small steps, since a path
// whose delay jumps looks longer than it is.
func (s *Shard) turns(full bool) (list []*Session, first int) {
	list, all := s.called, s.allCalled
	s.called, s.allCalled = s.serving[:0], false                         // for the next pass, to which this one may call
	if all || 4*len(list) > len(s.sessions) && s.cfg.Overlooked == nil { // more than it takes to order them
		list = append(list[:0], s.sessions...)
		for _, o := range list {
			o.called = o.called || all
		}
	} else if full && len(list) > 1 {
		slices.SortFunc(list, func(a, b *Session) int { return cmp.Compare(a.number, b.number) })
	}
	s.serving = list
	if full {
		s.front += uint32(len(list)/64 + 1)
	}
	if len(list) > 0 {
		first = int(s.front % uint32(len(list)))
	}
	return list, first
}

// serve builds the datagrams of one session.
func (s *Shard) serve(o *Session, full bool, out []transport.Datagram) []transport.Datagram {
	s.stats.Served++
	o.conn.Expire(s.now, o)
	o.assess()
	o.guardApart()
	o.tellClasses()
	o.tellKinds()
	o.hear()
	o.release()
	o.passEvents()
	o.tellEvents()
	switch {
	case full:
		out = s.bundle(o, out)
	case s.mends(o):
		out = s.mend(o, out)
	default:
		if !o.looked && len(s.moved) == 0 {
			o.endMark() // what it waited for may have become its own to drive
		}
		out = s.control(o, out)
	}
	o.called = false
	if o.plan(); o.waits() {
		o.call()
	}
	return out
}
