package shard

import (
	"cmp"
	"slices"
	"time"

	"github.com/throng-dev/throng/internal/grid"
	"github.com/throng-dev/throng/internal/table"
	"github.com/throng-dev/throng/internal/wire"
)

// blob holds what changed since the last flush, in wire form, once for all observers: segments sorted by region, so
// that an observer finds those in its reach by a few map look-ups.
type blob struct {
	entries []entry
	b       []byte
	segs    []segment
	ents    []listed
	regions map[grid.Region]span
	global  span
	fresh   int32  // segments of the flush itself; behind them are those of catch-up blobs
	first   uint32 // number of segs[0]; segments are numbered over the life of the shard

	catch map[catchKey]span // catch-up blobs of this flush
	late  []entry           // scratch of catchUp
}

type span struct{ from, to int32 }

// lanes of a segment. A world with one reach has one lane.
const (
	laneBoth = iota
	lanePresence
	laneProperty
)

// entry says that an entity goes into the blob of a chunk.
type entry struct {
	region grid.Region
	chunk  grid.Chunk
	global bool
	lane   uint8
	aud    uint32
	mask   uint64
	e      *table.Entity
}

// segment is one unit of copying: b[from:to] of the blob, without the class number in front (see bundler.splice).
type segment struct {
	place
	last     grid.Chunk // of the last record: an entity that has just left stands elsewhere
	from, to int32
	ents     span
	since    uint32 // it holds what changed since this flush
	class    uint32
	lane     uint8
	aud      uint32 // who gets it: one audience
}

func (g *segment) records() int { return int(g.ents.to - g.ents.from) }

// listed is a record of a segment, remembered until its packets are decided.
type listed struct {
	mask   uint64
	handle uint32
}

func (s *Shard) buildBlob() {
	b := &s.blob
	if b.regions == nil {
		b.regions = make(map[grid.Region]span)
	}
	clear(b.regions)
	clear(b.catch)
	b.entries, b.b, b.global = b.entries[:0], b.b[:0], span{}
	b.segs, b.ents = s.lists.recycle()
	b.first = s.lists.next
	split := s.cfg.Profile.PropertyReach < s.cfg.Profile.Reach
	for _, e := range s.dirty {
		mask := e.Dirty & s.visible(e) &^ e.Class.Init
		if mask == 0 || e.Dead || e.Silent {
			continue
		}
		if e.Apart() != 0 {
			s.owe(e, mask&e.Apart())
			if mask &^= e.Apart(); mask == 0 {
				continue
			}
		}
		aud := s.audiences.at(e)
		if m := mask & e.Class.Motion; m != 0 && s.decay.on && e.Class.Position >= 0 {
			b.enter(e, aud, m, laneThin)
			s.decay.add(s.now, e)
			if mask &^= m; mask == 0 {
				continue
			}
		}
		if !split || e.Class.Position < 0 {
			b.enter(e, aud, mask, laneBoth)
			continue
		}
		if m := mask & e.Class.Presence; m != 0 {
			b.enter(e, aud, m, lanePresence)
		}
		if m := mask &^ e.Class.Presence; m != 0 {
			b.enter(e, aud, m, laneProperty)
		}
	}
	if s.decay.on {
		s.thin()
	}
	for _, e := range s.dirty {
		e.Prev = e.Place.Chunk
	}
	slices.SortFunc(b.entries, compare)
	s.encode(b.entries, s.flush-1)
	b.fresh = int32(len(b.segs))
	for i := range b.segs {
		g, at := &b.segs[i], int32(i)
		if g.global {
			b.global.to = at + 1
			continue
		}
		r, ok := b.regions[g.chunk.Region()]
		if !ok {
			r.from = at
		}
		r.to = at + 1
		b.regions[g.chunk.Region()] = r
	}
}

// enter puts an entity into the blob of its chunk and, when it crossed into it since the last flush, of the chunk it left
// per-slot versions make the double harmless.
func (b *blob) enter(e *table.Entity, aud uint32, mask uint64, lane uint8) {
	c := e.Place.Chunk
	b.entries = append(b.entries, entry{c.Region(), c, e.Class.Position < 0, lane, aud, mask, e})
	if e.Prev != c && e.Class.Position >= 0 {
		b.entries = append(b.entries, entry{e.Prev.Region(), e.Prev, false, lane, aud, mask, e})
	}
}

func compare(a, b entry) int {
	if a.global != b.global {
		if a.global {
			return -1
		}
		return 1
	}
	return cmp.Or(cmp.Compare(a.region.X, b.region.X), cmp.Compare(a.region.Y, b.region.Y), cmp.Compare(a.region.Z, b.region.Z),
		cmp.Compare(a.chunk.X, b.chunk.X), cmp.Compare(a.chunk.Y, b.chunk.Y), cmp.Compare(a.chunk.Z, b.chunk.Z),
		cmp.Compare(a.lane, b.lane), cmp.Compare(a.aud, b.aud), cmp.Compare(a.e.Class.Num, b.e.Class.Num), cmp.Compare(a.e.Handle, b.e.Handle))
}

// encode writes sorted entries as segments, behind those there are.
func (s *Shard) encode(entries []entry, since uint32) {
	b := &s.blob
	segs, ents := len(b.segs), len(b.ents)
	var w wire.Segment
	for i := 0; i < len(entries); {
		t := &entries[i]
		w.Reset(b.b, t.e.Class.Num, &t.e.Class.Class, t.chunk)
		g := segment{place: place{t.chunk, t.global}, from: int32(len(w.B)), ents: span{from: int32(len(b.ents))}, since: s.from(t.lane, since), class: t.e.Class.Num, lane: t.lane, aud: t.aud}
		for first := t; i < len(entries); i++ {
			t = &entries[i]
			if t != first && (t.chunk != first.chunk || t.lane != first.lane || t.aud != first.aud || t.global != first.global || t.e.Class != first.e.Class ||
				len(w.B)-int(g.from)+t.e.Size() > wire.MaxSegment) {
				break
			}
			g.last = t.e.Place.Chunk
			w.Begin(t.e.Handle, g.last, t.mask, s.sample(t.e))
			w.B = t.e.AppendValues(w.B, t.mask)
			b.ents = append(b.ents, listed{t.mask, t.e.Handle})
		}
		b.b = w.B
		g.to, g.ents.to = int32(len(b.b)), int32(len(b.ents))
		b.segs = append(b.segs, g)
	}
	s.stats.Segments += uint64(len(b.segs) - segs)
	s.stats.SegmentRecords += uint64(len(b.ents) - ents)
}

// from is the flush after which everything in a segment changed, if all else in the blob did after since.
func (s *Shard) from(lane uint8, since uint32) uint32 {
	if lane > laneThin {
		return s.decay.prior[lane-laneThin]
	}
	return since
}

// keepLists is how long a flush remembers which entities its segments carried.
const keepLists = time.Second

// lists remembers, for about a second, which records the segments of a flush carried.
type lists struct {
	flushes []flushList
	spare   []flushList
	next    uint32 // number of the next segment
}

type flushList struct {
	flush, first uint32
	at           time.Duration
	segs         []segment
	ents         []listed
}

// recycle returns empty slices to build into.
func (l *lists) recycle() ([]segment, []listed) {
	if n := len(l.spare); n > 0 {
		f := l.spare[n-1]
		l.spare = l.spare[:n-1]
		return f.segs[:0], f.ents[:0]
	}
	return nil, nil
}

func (l *lists) add(flush uint32, now time.Duration, segs []segment, ents []listed) {
	drop := 0
	for drop < len(l.flushes) && l.flushes[drop].at < now-keepLists {
		if len(l.spare) < 64 {
			l.spare = append(l.spare, l.flushes[drop])
		}
		drop++
	}
	if drop > 0 {
		n := copy(l.flushes, l.flushes[drop:])
		clear(l.flushes[n:])
		l.flushes = l.flushes[:n]
	}
	if len(segs) == 0 {
		if len(l.spare) < 64 && cap(segs) > 0 {
			l.spare = append(l.spare, flushList{segs: segs, ents: ents})
		}
		return
	}
	l.flushes = append(l.flushes, flushList{flush: flush, first: l.next, at: now, segs: segs, ents: ents})
	l.next += uint32(len(segs))
}

// find returns a segment and its records, or nil if its flush was dropped.
func (l *lists) find(seg uint32) (*segment, []listed) {
	i, ok := slices.BinarySearchFunc(l.flushes, seg, func(f flushList, seg uint32) int {
		switch {
		case int32(seg-f.first) < 0:
			return 1
		case int32(seg-f.first) >= int32(len(f.segs)):
			return -1
		}
		return 0
	})
	if !ok {
		return nil, nil
	}
	f := &l.flushes[i]
	g := &f.segs[seg-f.first]
	return g, f.ents[g.ents.from:g.ents.to]
}
