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

	other bool // this build has the class, with another layout
	met   bool // of a foreign class: an entity of it was introduced
}

// Copy is one entity as this client knows it. The exported fields are for the owner to read; Data, Shown and Mark are its own.
//
// A Copy stands for one body: an entity that leaves and comes back is another Copy.
type Copy struct {
	// Fields stand by size, not by sense: a client holds thousands of copies, and every gap is paid in each.

	ID        wire.ID
	Inc, Term wire.Count
	Class     *Class
	Owner     wire.PlayerID
	Chunk     grid.Chunk // where it was said to be last

	// Gone is set when the body must leave; Why and By say how. While it lives By is who wrote Uninvited last.
	By wire.PlayerID
	// Rejected are slots the relay does not apply, with the reason last told.
	Rejected uint64
	// Uninvited are slots that somebody wrote who may not, in vain; By is who it was last (B-083). The owner clears it.
	Uninvited uint64

	// Audience is who may know of it, as this client decided as an authority; nil: it did not.
	Audience *wire.Audience

	Data any // the owner's: its body
	Mark uint64

	bonds   *bonds     // nil: none
	proof   *proof     // of the drive; nil: this client has none
	revoked wire.Count // the relay asked for the drive held under this term; 0: no
	large   uint64     // slots that had no room at the relay: they go out again when they fit
	lost    uint64     // slots whose packet was lost: they go out again
	vers    []uint32   // per slot; nil: all that are set are of base
	verSet  uint64
	heard   time.Duration // when a record or an introduction named it last; 0: never
	wait    *stage        // records for the owner; nil: none
	rest    *stages

	Sent   int32  // bytes of values that left last; 0: none yet
	Handle uint32 // 0: the relay has not told
	base   uint32
	count  uint32 // of a mirror: what it took; with the fault OneVersion the version of the entity
	nonce  uint32
	n      uint16 // highest override applied
	Flags  uint16

	Gen            uint8
	Why            wire.Why
	Refused        uint8 // why an announcement came to nothing: a wire.Refused reason
	Spared         uint8 // why a Destroy of this client's came to nothing: a wire.Refused reason. The owner clears it.
	RejectedReason uint8
	// RejectedEnds is set when the relay applies again what it had rejected.
	RejectedEnds bool
	Gone         bool
	ZeroOwner    bool // asks the owner to clear the slots in Class.Owner: they are somebody else's now
	Keyframe     bool // the owner's: a keyframe is among what is marked
	Cut          bool // asks the next record with motion to say that the entity was put where it is
	Still        bool // what records with motion say until it changes: the entity rests where it is
	Shown        bool // the owner's: the body exists for the game

	drives  bool
	beat    bool // the next record need not carry anything
	waiting bool // lost the drive: everything is ignored until a baseline of a higher term
	pending bool // announced, not bound
	old     bool // of an older relay epoch
	placed  bool // stands on every client: leaving reach only unbinds it
	changed bool // in the registry's list
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
func (c *Copy) LostSlots() uint64 { return c.lost }

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
