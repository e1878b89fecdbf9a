package registry

import (
	"fmt"

	"github.com/throng-dev/throng/internal/wire"
)

// bonds is what few copies have: a group that they are kept to, something that they are attached to.
type bonds struct {
	group         string // as this client knows from its drive
	groupRefused  uint8
	attachRefused uint8
	audience      *wire.Audience // who may know of it, as this client decided as an authority; nil: it did not

	parent wire.ID // what it is attached to, as its driver knows; zero: nothing
	tied   uint32  // the same, as an observer knows: a handle with its generation
	gen    uint8
	set    bool // told by the relay, at a flush
	ver    uint32
}

// bond returns the bonds of a copy, to change them.
func (c *Copy) bond() *bonds {
	if c.bonds == nil {
		c.bonds = new(bonds)
	}
	return c.bonds
}

// Group is who may know of the entity, as this client knows from its drive; "": everyone.
func (c *Copy) Group() string {
	if c.bonds == nil {
		return ""
	}
	return c.bonds.group
}

// Denied returns, once, why the relay does not keep the entity to a group, and why it does not attach it; 0: it does.
func (c *Copy) Denied() (group, attach uint8) {
	if b := c.bonds; b != nil {
		group, attach = b.groupRefused, b.attachRefused
		b.groupRefused, b.attachRefused = 0, 0
	}
	return group, attach
}

// Promise gives a copy that is about to be announced a group and something to go with; "" and nil: neither.
func (c *Copy) Promise(group string, parent *Copy) {
	if group != "" {
		c.bond().group = group
	}
	if parent != nil {
		c.bond().parent = parent.ID
	}
}

// unbind forgets what an observer was told: it is told again.
func (c *Copy) unbind() {
	if b := c.bonds; b != nil {
		b.tied, b.set = 0, false
	}
}

// loose forgets what the copy goes with: the relay says so behind its assign.
func (c *Copy) loose() {
	if b := c.bonds; b != nil {
		b.parent = wire.ID{}
	}
}

// tellBonds says, before an entity is announced, what must hold from the first moment.
func (r *Registry) tellBonds(c *Copy) {
	b := c.bonds
	if b != nil && b.audience != nil {
		r.tellAudience(c)
	} else if b != nil && b.group != "" {
		r.tellGroup(c)
	}
	if b != nil && b.parent != (wire.ID{}) {
		r.tellParent(c)
	}
}

// DescribeBonds says what a copy has, for people.
func (c *Copy) DescribeBonds() string { return fmt.Sprintf("drives %v, %+v", c.drives, c.bonds) }

// Tell says who may know of a copy that is about to be announced; nil: nothing is said.
func (c *Copy) Tell(a *wire.Audience) {
	if a != nil || c.bonds != nil {
		c.bond().audience = a
	}
}
