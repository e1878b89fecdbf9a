package shard

import (
	"github.com/throng-dev/throng/internal/grid"
	"github.com/throng-dev/throng/internal/table"
	"github.com/throng-dev/throng/internal/wire"
)

// Views are the chunks that a session looks from. Read only, valid until the session's next packet.
func (o *Session) Views() []grid.Chunk { return o.views }

// Silent reports whether nothing came from a session for longer than the silence clock allows.
func (o *Session) Silent() bool { return o.silent }

// Owned is how many entities a session drives.
func (o *Session) Owned() int { return o.owned }

// Driver is the player whose session drives an entity; zero if nobody does.
func (s *Shard) Driver(e *table.Entity) wire.PlayerID {
	if o := s.session(e.Driver); o != nil {
		return o.Player
	}
	return wire.PlayerID{}
}
