package table

// Entities with motion keep two more words, behind the versions: few fields of an Entity cost more than they would as such.
//
//	captured   when the value of the motion slot was captured, in ms of the relay's clock; 0: there is none
//	bits       bit 0: turns over whenever the motion was cut; bit 1: it rests there; from bit 8 on what Waits says
const motionWords = 2

func (e *Entity) word(i int) *uint32 { return &e.vers[2*len(e.Class.Slots)+i] }

// Captured is when the value of the motion slot was captured, in ms of the relay's clock; 0: there is none. All in this file
// is for entities with motion only.
func (e *Entity) Captured() uint32 { return *e.word(0) }

// Stamp notes when the value of the motion slot was captured. Times of an entity ascend, whatever happens to its driver's clock,
// so that newer values are drawn later.
func (e *Entity) Stamp(at uint32) {
	if was := e.Captured(); was != 0 && int32(at-was) <= 0 {
		at = was + 1
	}
	*e.word(0) = max(at, 1)
}

// Cut is a bit that tells values before and after a jump apart: see wire.Sample.
func (e *Entity) Cut() bool { return *e.word(1)&1 != 0 }

// TurnCut notes a jump.
func (e *Entity) TurnCut() { *e.word(1) ^= 1 }

// Still reports whether the entity rests where it is.
func (e *Entity) Still() bool { return *e.word(1)&2 != 0 }

// SetStill notes that it does, or does not.
func (e *Entity) SetStill(on bool) {
	*e.word(1) &^= 2
	if on {
		*e.word(1) |= 2
	}
}

// Waits reports whether ring level l of the owner has the entity in its list.
func (e *Entity) Waits(l int) bool { return *e.word(1)>>(8+l)&1 != 0 }

// SetWaits notes that it has, or has no longer.
func (e *Entity) SetWaits(l int, on bool) {
	*e.word(1) &^= 1 << (8 + l)
	if on {
		*e.word(1) |= 1 << (8 + l)
	}
}
