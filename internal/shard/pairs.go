package shard

import (
	"fmt"
	"math/bits"

	"github.com/throng-dev/throng/internal/table"
)

// A pair is what a session and an entity have to do with each other. No pair: absent. A pair is 16 bytes without a
// pointer, so pkt and v mean different things in different states.
type pair struct {
	handle uint32
	pkt    uint32 // introducing, leaving: low half of the packet that says so, 0 before it left; known: index in own + 1, or 0
	v      uint32 // introducing: flush of the baseline; known and far: flush since when properties are held back
	state  state
	flags  uint8
}

type state uint8

const (
	introducing state = iota
	known
	leaving
	drives
	refused // the client has no room
)

const (
	queued    = 1 << iota // in the session's list of introductions or departures to send
	far                   // beyond the property reach
	kept                  // scratch of departs
	forgotten             // refused, until there is something new of it (B-063)
	named                 // something that names the entity went to the session: it must be told of the end
	announced             // the session announced the entity, and its introduction is the answer
)

// pairs is the set of a session, dense, with an index by handle.
type pairs struct {
	list  []pair
	index index
}

func (p *pairs) init() { p.list, p.index = nil, index{} }

func (p *pairs) len() int { return len(p.list) }

// get returns the pair of a handle, or nil. The pointer is valid until the next add or remove.
func (p *pairs) get(handle uint32) *pair {
	if i, ok := p.index.get(handle); ok {
		return &p.list[i]
	}
	return nil
}

func (p *pairs) add(handle uint32) *pair {
	p.index.set(handle, int32(len(p.list)))
	p.list = append(p.list, pair{handle: handle})
	return &p.list[len(p.list)-1]
}

func (p *pairs) remove(handle uint32) {
	i, ok := p.index.get(handle)
	if !ok {
		return
	}
	last := len(p.list) - 1
	if int(i) != last {
		p.list[i] = p.list[last]
		p.index.set(p.list[i].handle, i)
	}
	p.list = p.list[:last]
	p.index.remove(handle)
	if last == 0 && cap(p.list) > 64 {
		p.init() // a crowd has passed: give the memory back
	}
}

// each calls f for every pair, from the newest; f may remove the pair it is given.
func (p *pairs) each(f func(*pair)) {
	for i := len(p.list) - 1; i >= 0; i-- {
		if i < len(p.list) {
			f(&p.list[i])
		}
	}
}

// ownItem is what is dirty for one observer alone.
type ownItem struct {
	mask   uint64
	handle uint32
	role   bool
	tie    bool // what it is attached to
}

// item returns the own item of a known pair, a new one if there is none.
func (o *Session) item(p *pair) *ownItem {
	o.shard.work = true
	o.call()
	if p.pkt == 0 {
		o.own = append(o.own, ownItem{handle: p.handle})
		p.pkt = uint32(len(o.own))
	}
	return &o.own[p.pkt-1]
}

// dirty says that a known pair lacks the slots in mask. Of an entity beyond the property reach, what is a property waits until it
// is within again.
func (o *Session) dirty(p *pair, e *table.Entity, mask uint64) {
	if p.flags&far != 0 {
		o.holdBack(p, e, mask&^e.Class.Presence)
		mask &= e.Class.Presence
	}
	if mask != 0 {
		o.item(p).mask |= mask
	}
}

// holdBack makes sure that a far pair gets slots on the way back.
func (o *Session) holdBack(p *pair, e *table.Entity, mask uint64) {
	for ; mask != 0; mask &= mask - 1 {
		if v := e.Version(bits.TrailingZeros64(mask)) - 1; int32(v-p.v) < 0 {
			p.v = v
		}
	}
}

func (o *Session) roleDirty(p *pair) { o.item(p).role = true }

// clean drops what is dirty for a known pair. Other states have nothing.
func (o *Session) clean(p *pair) {
	if len(o.apart) > 0 {
		o.withdraw(p.handle)
	}
	if p.state == known && p.pkt != 0 {
		at, last := p.pkt-1, len(o.own)-1
		o.own[at] = o.own[last]
		if int(at) != last {
			o.pairs.get(o.own[at].handle).pkt = at + 1
		}
		o.own = o.own[:last]
	}
	p.pkt = 0
}

// Describe says what a session and an entity have to do with each other, for people.
func (o *Session) Describe(handle uint32) string {
	p := o.pairs.get(handle)
	if p == nil {
		return fmt.Sprintf("absent, ready %v, full %v, silent %v, views %v", o.ready, o.full, o.silent, o.views)
	}
	return fmt.Sprintf("%v, pkt %d, v %d, flags %b, silent %v, %d intros and %.0f tokens waiting, %d values under way, held %v", [...]string{"introducing", "known", "leaving", "drives", "refused"}[p.state],
		p.pkt, p.v, p.flags, o.silent, len(o.intros), o.budget.tokens, len(o.apart), o.conn.Holding())
}
