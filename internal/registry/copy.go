package registry

import (
	"time"

	"github.com/throng-dev/throng/internal/grid"
	"github.com/throng-dev/throng/internal/wire"
)

// Class is a class as this client knows it.
type Class struct {
	wire.Class
	Num   uint32 // the world's number; 0: not told yet
	Local uint32 // this client's number; 0: this build does not have the class, or has it with another layout
	Data  any    // the owner's

	rest  *Lender // of the registry
	other bool    // this build has the class, with another layout
	met   bool    // of a foreign class: an entity of it was introduced
}

// Copy is one entity as this client knows it. The exported fields are for the owner to read; Data, Shown and Mark are its own.
//
// A Copy stands for one body: an entity that leaves and comes back is another Copy.
type Copy struct {
	// Fields stand by use: what every record needs first, then by size. A client holds thousands of copies, and every byte is paid in each:
	// what few of them have is behind a pointer (TestProxyBudget).

	Class   *Class
	Chunk   grid.Chunk // where it was said to be last
	drives  bool
	waiting bool // lost the drive: everything is ignored until a baseline of a higher term
	changed bool // in the registry's list
	// Gone is set when the body must leave; Why says how, and Ails by whom.
	Gone   bool
	verSet uint64
	base   uint32        // version of all that are set, but of the motion slot, while there are no vers; else the newest of all
	Handle uint32        // 0: the relay has not told
	wait   *stage        // records for the owner; nil: none
	vers   *versions     // per slot; nil: all that are set are of base
	heard  time.Duration // when a record or an introduction named it last; 0: never
	Data   any           // the owner's: its body
	proof  *proof        // of the drive; nil: this client has none
	Ails   *Ails         // nil: nothing is wrong with it
	bonds  *bonds        // nil: none

	ID        wire.ID
	Inc, Term wire.Count
	Owner     wire.PlayerID
	Mark      uint64

	moved uint32 // version of the motion slot while there are no vers
	nonce uint32
	Sent  int32  // bytes of values that left last; 0: none yet
	n     uint16 // highest override applied
	Flags uint16
	Gen   uint8

	Why       wire.Why
	ZeroOwner bool // asks the owner to clear the slots in Class.Owner: they are somebody else's now
	Keyframe  bool // the owner's: a keyframe is among what is marked
	Cut       bool // asks the next record with motion to say that the entity was put where it is
	Still     bool // what records with motion say until it changes: the entity rests where it is
	Shown     bool // the owner's: the body exists for the game

	beat    bool // the next record need not carry anything
	pending bool // announced, not bound
	old     bool // of an older relay epoch
	placed  bool // stands on every client: leaving reach only unbinds it
	listed  bool // in the registry's order
	marked  bool // in the registry's list of copies to send
	mirror  bool // of what this client sends (B-121)
	echoed  bool // driven here, and told the owner that it came back

	unspoken bool // introduced without its spawn, where values are not kept
}

// Drives reports whether this client drives the entity: its values are the source.
func (c *Copy) Drives() bool { return c.drives && !c.waiting }

// Bound reports whether the relay has accepted the entity.
func (c *Copy) Bound() bool { return c.Handle != 0 && !c.old }

// Hosted reports whether the host drives the entity.
func (c *Copy) Hosted() bool { return c.Flags&wire.EntityHosted != 0 }

// Pending reports whether the entity was announced and the relay has not answered.
func (c *Copy) Pending() bool { return c.pending }

// Waiting reports whether the copy has lost the drive and waits for the values of the next driver.
func (c *Copy) Waiting() bool { return c.waiting }

// LostSlots are those whose last packet was lost: they go out again.
func (c *Copy) LostSlots() uint64 {
	if c.proof == nil {
		return 0
	}
	return c.proof.lost
}

// Version is the flush of the newest value of slot i; false if none came.
func (c *Copy) Version(i int) (uint32, bool) { return c.ver(i), c.verSet>>i&1 != 0 }

// olderThan returns the slots of mask whose held version is not newer than a flush.
func (c *Copy) olderThan(flush uint32, mask uint64) uint64 {
	for i := range c.Class.Slots {
		if c.verSet>>i&1 != 0 && int32(c.ver(i)-flush) > 0 {
			mask &^= 1 << i
		}
	}
	return mask
}

// current is what the values of a copy will be once the owner has applied what waits: what the owner holds, overlaid by what
// is staged. A revoke may come before the game saw the assign; the release must not send what the body held before.
func (r *Registry) current(c *Copy, mask uint64, b []byte) (out []byte, sent uint64, at grid.Chunk) {
	if c.wait == nil {
		return r.cfg.Encode(c, mask, b)
	}
	c.compact()
	waits := c.wait.list[0].mask
	at = c.Chunk
	var held []byte
	if need := mask &^ waits; need != 0 {
		held, sent, at = r.cfg.Encode(c, need, nil)
	}
	if p := c.Class.Position; p >= 0 && waits>>p&1 != 0 {
		at = c.Chunk
	}
	staged := c.wait.buf
	for i := range c.Class.Slots {
		bit := uint64(1) << i
		if waits&bit != 0 {
			l := c.Class.ValueLen(i, staged)
			if mask&bit != 0 {
				b = append(b, staged[:l]...)
			}
			staged = staged[l:]
		} else if sent&bit != 0 {
			l := c.Class.ValueLen(i, held)
			b = append(b, held[:l]...)
			held = held[l:]
		}
	}
	return b, sent | waits&mask, at
}
