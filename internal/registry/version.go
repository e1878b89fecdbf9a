package registry

import (
	"bytes"
	"math/bits"

	"github.com/throng-dev/throng/internal/wire"
)

// ver is the version of slot i, if it is set. What was introduced and has not changed since has one version for all
// and one more for what moves all the time.
func (c *Copy) ver(i int) uint32 {
	switch {
	case c.vers != nil:
		return c.vers.of[i]
	case c.Class.Motion>>i&1 != 0:
		return c.moved
	}
	return c.base
}

// versions are those of the slots of a copy, in one piece of memory if they are few.
type versions struct {
	of  []uint32
	few [6]uint32
}

func newVersions(n int, all uint32) *versions {
	v := &versions{}
	if v.of = v.few[:min(n, len(v.few))]; n > len(v.few) {
		v.of = make([]uint32, n)
	}
	for i := range v.of {
		v.of[i] = all
	}
	return v
}

// setVer gives slots a version.
func (c *Copy) setVer(mask uint64, ver uint32) {
	if c.vers == nil {
		if moves := c.Class.Motion; mask&moves != 0 {
			c.moved = ver
			c.verSet |= mask & moves
			mask &^= moves
		}
		if held := c.verSet &^ c.Class.Motion; held&^mask == 0 || mask == 0 || ver == c.base {
			if mask != 0 {
				c.base = ver
			}
			c.verSet |= mask
			return
		}
		c.vers = newVersions(len(c.Class.Slots), c.base)
		for m := c.Class.Motion; m != 0; m &= m - 1 {
			c.vers.of[bits.TrailingZeros64(m)] = c.moved
			if c.verSet&m != 0 && int32(c.moved-c.base) > 0 {
				c.base = c.moved
			}
		}
	}
	if c.verSet == 0 || int32(ver-c.base) > 0 {
		c.base = ver
	}
	for m := mask & c.Class.All; m != 0; m &= m - 1 {
		c.vers.of[bits.TrailingZeros64(m)] = ver
	}
	c.verSet |= mask
}

// newest is the newest flush that a value of the copy is from; 0: it has none.
func (c *Copy) newest() uint32 {
	moves := c.verSet & c.Class.Motion
	switch {
	case c.verSet == 0:
		return 0
	case c.vers == nil && moves != 0 && (c.verSet == moves || int32(c.moved-c.base) > 0):
		return c.moved
	}
	return c.base
}

// older returns those slots of mask whose held version is older than one.
func (c *Copy) older(mask uint64, ver uint32) uint64 {
	if c.vers != nil && int32(ver-c.base) > 0 {
		return mask & c.Class.All // as nearly always: the versions, which are elsewhere, need not be fetched
	}
	out := uint64(0)
	for m := mask & c.Class.All; m != 0; m &= m - 1 {
		if i := bits.TrailingZeros64(m); c.verSet>>i&1 == 0 || int32(ver-c.ver(i)) > 0 {
			out |= 1 << i
		}
	}
	return out
}

// proof is what lets this client bring an entity back to a relay that restarted, and what else only who drives, or drove, needs.
type proof struct {
	cert []byte
	term wire.Count

	granted wire.Count // this client gave it away under this term; 0: no
	revoked wire.Count // the relay asked for the drive held under this term; 0: no
	unsent  uint64     // slots that only the release of that carried
	lost    uint64     // slots whose packet was lost: they go out again
	flown   uint64     // slots that may be in packets on their way
	flying  int32      // records of it in packets on their way
}

// prove keeps the certificate of a drive.
func (c *Copy) prove(cert []byte, term wire.Count) {
	p := c.hold()
	p.cert, p.term = bytes.Clone(cert), term
}

func (c *Copy) hold() *proof {
	if c.proof == nil {
		c.proof = &proof{}
	}
	return c.proof
}

// fly notes a record that is on its way.
func (c *Copy) fly(mask uint64) {
	p := c.hold()
	p.flying++
	p.flown |= mask
}

// land notes that one arrived, or did not.
func (p *proof) land() {
	if p.flying--; p.flying <= 0 {
		p.flying, p.flown = 0, 0
	}
}

// lose marks slots to go out again, found takes them from those.
func (c *Copy) lose(mask uint64) {
	if mask != 0 {
		c.hold().lost |= mask
	}
}

func (c *Copy) found(mask uint64) {
	if c.proof != nil {
		c.proof.lost &^= mask
	}
}

// flown are slots that may be on their way.
func (c *Copy) flown() uint64 {
	if c.proof == nil {
		return 0
	}
	return c.proof.flown
}

// give notes that this client gives the drive away.
func (c *Copy) give(unsent uint64) {
	p := c.hold()
	p.granted, p.unsent = c.Term, unsent
}

// cert is the certificate of the last drive here; nil: there is none.
func (c *Copy) cert() []byte {
	if c.proof == nil {
		return nil
	}
	return c.proof.cert
}

// certTerm is the term of the last drive here; 0: there was none.
func (c *Copy) certTerm() wire.Count {
	if c.proof == nil {
		return 0
	}
	return c.proof.term
}
