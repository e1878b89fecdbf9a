package table

import "github.com/throng-dev/throng/internal/wire"

// Share is what a player has put into the world (B-132). It belongs to the player, not to a session or to who drives: else somebody
// could come back for more, or fill the share of others.
type Share struct {
	Player   wire.PlayerID
	Entities int
	Classes  int
	Kinds    int  // of events
	Bytes    int  // of class announcements: each is told to every session
	Apart    int  // bytes of values that travel apart
	Trusted  bool // an authority's: nothing bounds Apart but the world
}

// Empty reports whether nothing is left of it.
func (s *Share) Empty() bool { return s.Entities == 0 && s.Classes == 0 && s.Kinds == 0 }
