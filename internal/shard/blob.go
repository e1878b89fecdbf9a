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
	first   uint32 // number of segs[0]; segments are numbered over the life of the shard
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

// segment is one unit of copying: b[from:to] of the blob.
type segment struct {
	chunk    grid.Chunk
	from, to int32
	ents     span
	lane     uint8
	aud      uint32 // who gets it: one audience
	records  int32
}

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
	b.entries, b.b, b.global = b.entries[:0], b.b[:0], span{}
	b.segs, b.ents = s.lists.recycle()
	b.first = s.lists.next
	split := s.cfg.Profile.PropertyReach < s.cfg.Profile.Reach
	for _, e := range s.dirty {
		mask := e.Dirty & s.visible(e) &^ e.Class.Init
		if mask == 0 || e.Dead || e.Silent {
			continue
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
	s.encode()
	s.lists.add(s.flush, s.now, b.segs, b.ents)
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

// encode writes the sorted entries as segments.
func (s *Shard) encode() {
	b := &s.blob
	var w wire.Segment
	var last *entry
	var region grid.Region
	start := 0
	closeSegment := func() {
		if last == nil {
			return
		}
		b.b = w.B
		b.segs = append(b.segs, segment{chunk: last.chunk, from: int32(start), to: int32(len(b.b)), lane: last.lane, aud: last.aud,
			ents: span{int32(len(b.ents) - w.N), int32(len(b.ents))}, records: int32(w.N)})
		i := int32(len(b.segs))
		if last.global {
			b.global.to = i
		} else {
			region = last.region
			r, ok := b.regions[region]
			if !ok {
				r.from = i - 1
			}
			r.to = i
			b.regions[region] = r
		}
		last = nil
	}
	for i := range b.entries {
		t := &b.entries[i]
		if last != nil && (t.chunk != last.chunk || t.lane != last.lane || t.aud != last.aud || t.global != last.global || t.e.Class != last.e.Class ||
			len(w.B)-start+t.e.Size() > wire.MaxSegment) {
			closeSegment()
		}
		if last == nil {
			start = len(b.b)
			w.Reset(b.b, t.e.Class.Num, &t.e.Class.Class, t.chunk)
		}
		last = t
		w.Begin(t.e.Handle, t.e.Place.Chunk, t.mask, s.sample(t.e))
		w.B = t.e.AppendValues(w.B, t.mask)
		b.ents = append(b.ents, listed{t.mask, t.e.Handle})
	}
	closeSegment()
	s.stats.Segments += uint64(len(b.segs))
	s.stats.SegmentRecords += uint64(len(b.ents))
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

// find returns the records of a segment, or nil and false if its flush was dropped.
func (l *lists) find(seg uint32) ([]listed, bool) {
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
		return nil, false
	}
	f := &l.flushes[i]
	e := f.segs[seg-f.first].ents
	return f.ents[e.from:e.to], true
}
