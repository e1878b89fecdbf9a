package shard

import (
	"github.com/throng-dev/throng/internal/table"
	"github.com/throng-dev/throng/internal/wire"
)

// Bounds of a player's classes. A game announces its own, the same for all, so that only the first to come is charged.
const (
	shareClasses = 256
	shareBytes   = 256 << 10
)

// share is what a player has put into the world; it is kept while there is something.
func (s *Shard) share(p wire.PlayerID) *table.Share {
	h := s.shares[p]
	if h == nil {
		h = &table.Share{Player: p}
		s.shares[p] = h
	}
	return h
}

// made is how many entities of a player live.
func (s *Shard) made(p wire.PlayerID) int {
	if h := s.shares[p]; h != nil {
		return h.Entities
	}
	return 0
}

// discharge takes an entity that died off its maker's share.
func (s *Shard) discharge(e *table.Entity) {
	if e.Apart() != 0 {
		s.chargeApart(e, -e.DropApart())
	}
	h := e.Maker
	if h == nil {
		return
	}
	e.Maker = nil
	if h.Entities--; h.Empty() {
		delete(s.shares, h.Player)
	}
}

// mayAdd counts a class that is new to the world against a player, or refuses it.
func (s *Shard) mayAdd(p wire.PlayerID, bytes int) bool {
	h := s.share(p)
	ok := h.Classes < shareClasses && h.Bytes+bytes <= shareBytes
	if ok {
		h.Classes++
		h.Bytes += bytes
	} else if h.Empty() {
		delete(s.shares, p)
	}
	return ok
}
