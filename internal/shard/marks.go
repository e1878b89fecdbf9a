package shard

import (
	"time"

	"github.com/throng-dev/throng/internal/grid"
	"github.com/throng-dev/throng/internal/table"
)

// place names what segments are sorted by: a chunk, or what has no position.
type place struct {
	chunk  grid.Chunk
	global bool
}

// mark is the backlog of an observer in one chunk: it lacks what changed there since a flush. Only chunks in backlog have one.
type mark struct {
	place
	since uint32        // it has all up to this flush
	at    time.Duration // when it was made
	soon  bool          // of a loss: it waits for no turn
	late  bool          // counted as too old
	seen  uint32        // flush in which it is among the candidates
}

// marks is the backlog of an observer, dense, with an index.
type marks struct {
	list  []mark
	index map[place]int32
}

func (m *marks) get(k place) *mark {
	if len(m.list) == 0 {
		return nil
	}
	if i, ok := m.index[k]; ok {
		return &m.list[i]
	}
	return nil
}

// set says that the observer lacks what changed at k since a flush.
func (m *marks) set(k place, since uint32, now time.Duration, soon bool) {
	if old := m.get(k); old != nil {
		if int32(since-old.since) < 0 {
			old.since = since
		}
		old.soon = old.soon || soon
		return
	}
	if m.index == nil {
		m.index = make(map[place]int32)
	}
	m.index[k] = int32(len(m.list))
	m.list = append(m.list, mark{place: k, since: since, at: now, soon: soon})
}

func (m *marks) remove(k place) {
	i, ok := m.index[k]
	if !ok {
		return
	}
	last := len(m.list) - 1
	if int(i) != last {
		m.list[i] = m.list[last]
		m.index[m.list[i].place] = i
	}
	m.list = m.list[:last]
	delete(m.index, k)
	if last == 0 && cap(m.list) > 256 {
		*m = marks{}
	}
}

// left is called for an entity that crosses out of a chunk at this flush. If the observer has a backlog there, catch-up blobs of
// that chunk will not hold the entity any more: what it lacks becomes dirty for it alone.
func (o *Session) left(e *table.Entity) {
	if len(o.marks.list) == 0 || o.shard.cfg.Faults.CrossForgotten || e.Class.Position < 0 || e.Prev == e.Place.Chunk {
		return
	}
	if m := o.marks.get(place{chunk: e.Prev}); m != nil {
		if p := o.pairs.get(e.Handle); p != nil && p.state == known {
			o.dirty(p, e, e.Since(m.since)&o.shard.visible(e)&^e.Class.Init)
		}
	}
}

// dropMarks ends the backlog in chunks that are no longer within reach: what the observer lacks there becomes dirty singly.
func (o *Session) dropMarks() {
	s := o.shard
	for i := 0; i < len(o.marks.list); {
		m := o.marks.list[i]
		if m.global || o.chunkDistance(m.chunk) <= int64(s.cfg.Profile.Reach) {
			i++
			continue
		}
		if cell := s.grid.Cell(m.chunk); cell != nil && !s.cfg.Faults.EdgeForgotten {
			for _, h := range cell.Handles {
				if p := o.pairs.get(h); p != nil && p.state == known {
					e := s.table.ByHandle(h)
					o.dirty(p, e, e.Since(m.since)&s.visible(e)&^e.Class.Init)
				}
			}
		}
		o.marks.remove(m.place) // puts the last one here
	}
}
