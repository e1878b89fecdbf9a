package registry

import "github.com/throng-dev/throng/internal/wire"

// Ails is what few copies have: what went wrong for one, and by whom. The owner clears what it has told the game.
type Ails struct {
	// By is who ended a copy that is Gone; while it lives it is who wrote Uninvited last.
	By wire.PlayerID
	// Uninvited are slots that somebody wrote who may not, in vain; By is who it was last (B-083).
	Uninvited uint64
	// Rejected are slots the relay does not apply, with the reason last told.
	Rejected uint64
	large    uint64 // slots that had no room at the relay: they go out again when they fit

	RejectedReason uint8
	RejectedEnds   bool  // the relay applies again what it had rejected
	Refused        uint8 // why an announcement came to nothing: a wire.Refused reason
	Spared         uint8 // why a Destroy of this client's came to nothing: a wire.Refused reason
}

// ail returns what is wrong with a copy, to change it.
func (c *Copy) ail() *Ails {
	if c.Ails == nil {
		c.Ails = new(Ails)
	}
	return c.Ails
}

// end says that the body must leave.
func (c *Copy) end(why wire.Why, by wire.PlayerID, refused uint8) {
	c.Gone, c.Why = true, why
	if c.Ails != nil || by != (wire.PlayerID{}) || refused != 0 {
		t := c.ail()
		if t.By = by; refused != 0 {
			t.Refused = refused
		}
	}
}

// Ended says who ended a copy that is gone, and why an announcement came to nothing; zero: nobody, and it did not.
func (c *Copy) Ended() (by wire.PlayerID, refused uint8) {
	if c.Ails == nil {
		return by, 0
	}
	return c.Ails.By, c.Ails.Refused
}
