package shard

import (
	"math/bits"
	"time"

	"github.com/throng-dev/throng/internal/table"
	"github.com/throng-dev/throng/internal/wire"
)

// Motion may be thinned with distance (B-071). Each distance has a level: at level l a motion value goes out at every 2^l-th tick of
// 100 ms at most, the newest there is then.
//
//	dirty motion ─► level 0: this flush
//	             └► level 1…: the level's list ─► the flush at which the level is due: one segment for all of that level
//
// An observer takes the segments of the level that its distance has, and no other: what is shared stays shared, and nothing is kept
// for an observer but the level at which it holds an entity, so that it can be given what it lacks when that changes. An entity
// stays in a list until its level is due, moving or not, so the last value always arrives. Slots that are not motion are never
// thinned.

// decayTick is the period of level 0, for which nothing is thinned.
const decayTick = 100 * time.Millisecond

const (
	maxLevel  = 4
	levels    = maxLevel + 1
	laneThin  = laneProperty + 1 // + level: a motion lane of a world with decay
	levelBits = 5                // where the level stands in the flags of a pair
)

// decay is what the shard keeps of it.
type decay struct {
	on    bool
	level [256]uint8 // by distance
	max   int
	wait  [levels][]*table.Entity
	due   [levels]time.Duration // of a list that has something
	last  [levels]uint32        // flush at which the level was served last
	prior [levels]uint32        // and the one before: what a level carries changed after it
}

// share is which part of the motion values an observer at a distance gets, in a hundredth.
func share(rule uint8, d, reach int64) int64 {
	switch rule {
	case wire.DecayExponential:
		return 100 >> max(0, min(d-1, 7))
	case wire.DecayLinear50, wire.DecayLinear25, wire.DecayLinear10, wire.DecayLinear5:
		least := [...]int64{wire.DecayLinear50: 50, wire.DecayLinear25: 25, wire.DecayLinear10: 10, wire.DecayLinear5: 5}[rule]
		return 100 - (100-least)*d/max(reach, 1)
	}
	return 100
}

func newDecay(p *wire.Profile) (t decay) {
	reach := int64(p.Reach)
	for d := range t.level {
		part := max(1, share(p.Decay, min(int64(d), reach), reach)) // ring reach+1 is that of guests
		l := min(bits.Len64(uint64(100/part))-1, maxLevel)
		t.level[d] = uint8(l)
		t.max = max(t.max, l)
	}
	t.on = t.max > 0
	return t
}

// at is the level of a distance.
func (t *decay) at(d int64) uint8 { return t.level[max(0, min(d, int64(len(t.level)-1)))] }

// add puts the motion of an entity, changed since the last flush, into the lists of all levels above 0.
func (t *decay) add(now time.Duration, e *table.Entity) {
	for l := 1; l <= t.max; l++ {
		if e.Waits(l) {
			continue
		}
		if len(t.wait[l]) == 0 {
			period := decayTick << l
			t.due[l] = now - now%period + period
		}
		e.SetWaits(l, true)
		t.wait[l] = append(t.wait[l], e)
	}
}

// next is when a level is due; false: none has anything.
func (t *decay) next() (at time.Duration, ok bool) {
	for l := 1; l <= t.max; l++ {
		if len(t.wait[l]) > 0 && (!ok || t.due[l] < at) {
			at, ok = t.due[l], true
		}
	}
	return at, ok
}

// thin puts the motion of the dirty entities into the levels, and the levels that are due into the blob.
func (s *Shard) thin() {
	t := &s.decay
	for l := 1; l <= t.max; l++ {
		if len(t.wait[l]) == 0 || t.due[l] > s.now {
			continue
		}
		for _, e := range t.wait[l] {
			e.SetWaits(l, false)
			if !e.Dead && !e.Silent {
				s.blob.enter(e, s.audiences.at(e), e.Class.Motion, uint8(laneThin+l))
			}
		}
		clear(t.wait[l])
		t.wait[l], t.prior[l], t.last[l] = t.wait[l][:0], t.last[l], s.flush
	}
	t.prior[0], t.last[0] = s.flush-1, s.flush
}

// relevel gives an observer what it lacks of an entity whose level at it changed.
func (o *Session) relevel(p *pair, e *table.Entity, d int64) {
	s := o.shard
	if !s.decay.on || e.Class.Motion == 0 || p.state != known {
		return
	}
	was, is := p.flags>>levelBits, s.decay.at(d)
	if was == is {
		return
	}
	p.flags = p.flags&(1<<levelBits-1) | is<<levelBits
	if s.retains() && !s.cfg.Faults.LevelForgotten {
		o.dirty(p, e, e.Since(s.decay.last[min(was, maxLevel)])&e.Class.Motion)
	}
}

// ready reports whether a level is due.
func (t *decay) ready(now time.Duration) bool {
	at, ok := t.next()
	return ok && at <= now
}
