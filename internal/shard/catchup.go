package shard

import (
	"cmp"
	"slices"

	"github.com/throng-dev/throng/internal/table"
)

// catchKey names a catch-up blob: what changed at a place since a flush.
type catchKey struct {
	place
	since uint32
	near  bool // within the property reach: all slots, else those of presence
}

// catchUp returns the segments of what changed at a place since a flush, as it is now. They are built once for all observers that
// lack the same, behind the segments of the flush and numbered like them, so that a loss of one is handled alike.
func (s *Shard) catchUp(k catchKey) span {
	b := &s.blob
	if at, ok := b.catch[k]; ok {
		return at
	}
	if b.catch == nil {
		b.catch = make(map[catchKey]span)
	}
	at := span{from: int32(len(b.segs))}
	b.late = b.late[:0]
	if k.global {
		for _, e := range s.global {
			b.lacks(s, e, k)
		}
	} else if cell := s.grid.Cell(k.chunk); cell != nil {
		for _, h := range cell.Handles {
			b.lacks(s, s.table.ByHandle(h), k)
		}
	}
	slices.SortFunc(b.late, func(a, b entry) int {
		return cmp.Or(cmp.Compare(a.aud, b.aud), cmp.Compare(a.e.Class.Num, b.e.Class.Num), cmp.Compare(a.e.Handle, b.e.Handle))
	})
	s.encode(b.late, k.since)
	at.to = int32(len(b.segs))
	b.catch[k] = at
	s.stats.CatchUps++
	return at
}

// lacks enters an entity into the catch-up blob that is being built.
func (b *blob) lacks(s *Shard, e *table.Entity, k catchKey) {
	if e.Dead || e.Silent {
		return
	}
	mask := e.Since(k.since) & s.visible(e) &^ (e.Class.Init | e.Apart())
	lane := uint8(laneBoth)
	if !k.near && e.Class.Position >= 0 {
		mask &= e.Class.Presence
		lane = lanePresence
	}
	if mask != 0 {
		b.late = append(b.late, entry{chunk: k.chunk, global: k.global, lane: lane, aud: s.audiences.at(e), mask: mask, e: e})
	}
}
