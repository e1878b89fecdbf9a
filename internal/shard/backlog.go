package shard

import (
	"cmp"
	"slices"
	"time"
)

// What happens when an observer's budget is smaller than what changes in its reach:
//
//	segments of this flush ─┐
//	                        ├─► one turn for each chunk ─► by score ─► copied, while the budget lasts
//	marks of earlier ones ──┘                                      └─► a mark: the observer lacks what changed since
//
// The score of a chunk is how long the observer has lacked it times how near it is, so that near chunks go first and none starves. A
// chunk that was held back waits for its turn, every 1st, 2nd, 4th or 8th flush by its ring, the same flush for all observers: what
// they then lack is the same, and one catch-up blob serves all of them.

// turn is a chunk that has something for an observer.
type turn struct {
	place
	score    int64
	from, to int32  // segments of this flush: those of near from from to to
	mark     bool   // in backlog: those are held in the catch-up blob too
	since    uint32 // the segments hold what changed after it
	may      bool   // it is its turn
	guest    bool   // beyond reach: it gets no mark
	period   uint32
}

// rings an observer's reach falls into: the own chunk, and thirds of the rest.
const rings = 4

// period is how often a held-back chunk is served, in flushes.
func (o *Session) period(k place) uint32 {
	reach := int64(o.shard.cfg.Profile.Reach)
	if k.global || reach == 0 {
		return 1
	}
	ring := (min(o.chunkDistance(k.chunk), reach)*(rings-1) + reach - 1) / reach
	return 1 << min(ring, rings-1)
}

// segments copies what changed in reach, as much as the budget lasts for.
func (w *bundler) segments(near []nearSeg, size int) {
	o := w.o
	if len(o.marks.list) == 0 && float64(size) <= o.budget.tokens {
		for _, n := range near {
			w.copySegment(n.seg)
		}
		return
	}
	for i := range w.turns(near) {
		w.serve(near, &w.s.scratch.turns[i])
	}
}

// turns lists what the observer should get, the most urgent first.
func (w *bundler) turns(near []nearSeg) []turn {
	s, o := w.s, w.o
	list := s.scratch.turns[:0]
	for i := 0; i < len(near); {
		g := &s.blob.segs[near[i].seg]
		t := turn{place: g.place, from: int32(i), guest: near[i].dist > int64(s.cfg.Profile.Reach), since: g.since, may: true}
		for ; i < len(near) && s.blob.segs[near[i].seg].place == t.place; i++ {
			if since := s.blob.segs[near[i].seg].since; int32(since-t.since) < 0 {
				t.since = since // thinned motion changed earlier
			}
		}
		t.to = int32(i)
		if !t.guest {
			t.period = o.period(t.place)
		}
		t.score = int64(1<<rings) / int64(max(t.period, 1))
		if m := o.marks.get(t.place); m != nil {
			m.seen = s.flush
			if int32(t.since-m.since) < 0 {
				m.since = t.since
			}
			w.backlog(&t, m)
		}
		list = append(list, t)
	}
	for i := range o.marks.list {
		if m := &o.marks.list[i]; m.seen != s.flush {
			t := turn{place: m.place, period: o.period(m.place)}
			w.backlog(&t, m)
			list = append(list, t)
		}
	}
	slices.SortStableFunc(list, func(a, b turn) int { return cmp.Compare(b.score, a.score) })
	s.scratch.turns = list
	return list
}

// backlog fills in what the mark of a chunk says.
func (w *bundler) backlog(t *turn, m *mark) {
	s := w.s
	late := s.now-m.at > s.cfg.MaxStale
	if late && !m.late {
		m.late = true
		s.stats.Late++
	}
	t.mark = true
	t.may = m.soon || late || s.flush%t.period == 0 || w.o.budget.rich()
	t.score = int64(1<<rings) / int64(t.period) * int64(s.flush-m.since)
	switch {
	case late:
		t.score += 1 << 40
	case m.soon:
		t.score += int64(1<<rings) / int64(t.period)
	}
}

// serve copies what a chunk has for the observer, or notes that it lacks it.
func (w *bundler) serve(near []nearSeg, t *turn) {
	s, o := w.s, w.o
	if t.mark {
		if t.may && o.budget.left() {
			w.catchUp(t.place)
		}
		return
	}
	segs := near[t.from:t.to]
	if o.budget.left() {
		for i, n := range segs {
			if !o.budget.left() && !w.fits(segs[i:]) {
				for _, n := range segs[i:] {
					w.single(n.seg)
				}
				return
			}
			w.copySegment(n.seg)
		}
		return
	}
	if !s.retains() || s.cfg.Faults.MarkForgotten {
		return
	}
	s.stats.Held++
	if t.guest {
		for _, n := range segs {
			w.single(n.seg)
		}
		return
	}
	o.marks.set(t.place, t.since&^(t.period-1), s.now, false)
}

// catchUp serves the backlog of a chunk.
func (w *bundler) catchUp(k place) {
	s, o := w.s, w.o
	m := o.marks.get(k)
	at := s.catchUp(catchKey{k, m.since, k.global || o.chunkDistance(k.chunk) <= int64(s.cfg.Profile.PropertyReach)})
	o.marks.remove(k)
	for i := at.from; i < at.to; i++ {
		if !o.gets(&s.blob.segs[i]) {
			continue
		}
		if !o.budget.left() && s.blob.size(i, at.to) > int(o.budget.depth()) {
			for ; i < at.to; i++ {
				if o.gets(&s.blob.segs[i]) {
					w.single(i)
				}
			}
			return
		}
		w.copySegment(i)
	}
}

// fits reports whether the budget may be overdrawn for the rest of a chunk.
func (w *bundler) fits(segs []nearSeg) bool {
	size := 0
	for _, n := range segs {
		size += w.s.blob.size(n.seg, n.seg+1)
	}
	return size <= int(w.o.budget.depth())
}

// size is how many bytes segments take.
func (b *blob) size(from, to int32) int {
	if from >= to {
		return 0
	}
	return int(b.segs[to-1].to - b.segs[from].from)
}

// single makes dirty singly what a segment holds that the observer knows.
func (w *bundler) single(i int32) {
	g := &w.s.blob.segs[i]
	if w.s.retains() {
		w.o.guests(w.s.blob.ents[g.ents.from:g.ents.to])
	}
}

// Oldest is how long the observer has lacked what changed in some chunk of its reach; 0: it lacks nothing.
func (o *Session) Oldest(now time.Duration) (age time.Duration) {
	for i := range o.marks.list {
		age = max(age, now-o.marks.list[i].at)
	}
	return age
}
