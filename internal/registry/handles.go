package registry

// handles is what a registry knows by handle: one table for what every record asks, which copy it is about and what is newest about its
// handle. An open table of one kind of slot is half of what two maps take, and a record finds its slot with one miss of the cache.
// Handles are not taken out: the fence of one that left orders what is still under way.
type handles struct {
	slots []handle
	n     int
}

type handle struct {
	fence uint64 // twice the stamp of the newest item about it, and one more if a packet brought that
	c     *Copy  // nil: nothing has it
	h     uint32 // 0: the slot is free
}

// at is where a handle stands, or would.
func (t *handles) at(h uint32) int {
	i := int(uint64(h*0x9e3779b1) * uint64(len(t.slots)) >> 32)
	for t.slots[i].h != h && t.slots[i].h != 0 {
		if i++; i == len(t.slots) {
			i = 0
		}
	}
	return i
}

// find returns the slot of a handle, valid until the next slot; nil: there is none.
func (t *handles) find(h uint32) *handle {
	if t.n == 0 || h == 0 {
		return nil
	}
	if s := &t.slots[t.at(h)]; s.h != 0 {
		return s
	}
	return nil
}

// slot returns the slot of a handle, which must not be 0, valid until the next slot.
func (t *handles) slot(h uint32) *handle {
	if s := t.find(h); s != nil {
		return s
	}
	if 8*t.n >= 7*len(t.slots) {
		was := t.slots
		t.slots = make([]handle, 16+len(was)*3/2)
		for _, s := range was {
			if s.h != 0 {
				t.slots[t.at(s.h)] = s
			}
		}
	}
	t.n++
	s := &t.slots[t.at(h)]
	s.h = h
	return s
}

// copy returns who has a handle; nil: nobody.
func (t *handles) copy(h uint32) *Copy {
	if s := t.find(h); s != nil {
		return s.c
	}
	return nil
}

// free takes a handle from a copy, if that has it.
func (t *handles) free(c *Copy) {
	if s := t.find(c.Handle); s != nil && s.c == c {
		s.c = nil
	}
}

// bind gives a copy its handle.
func (t *handles) bind(c *Copy) {
	if c.Handle != 0 { // 0 stands for none, whoever says it
		t.slot(c.Handle).c = c
	}
}

// fence is what orders items about a handle; 0: nothing does.
func (t *handles) fence(h uint32) uint64 {
	if s := t.find(h); s != nil {
		return s.fence
	}
	return 0
}
