package load

import (
	"fmt"
	"slices"

	"github.com/throng-dev/throng"
)

// holding is what a client has of one entity, in the form that the wire has.
type holding struct {
	id     throng.NetID
	slots  [4]int64
	n      int // slots
	cell   Cell
	owner  throng.PlayerID
	term   uint64
	role   throng.Role
	drives bool
}

// findings are what the comparison at the end found.
type findings struct {
	wrong, pairs, slots, zombies, lost int
	texts                              []string // of the first few
}

const shownFindings = 10

func (f *findings) add(c client, id throng.NetID, format string, args ...any) {
	if f.wrong++; len(f.texts) < shownFindings {
		f.texts = append(f.texts, fmt.Sprintf("wrong after quiet: %s, entity %v: %s", c.title(), id, fmt.Sprintf(format, args...)))
	}
}

// judge compares, for every client, what it should hold with what it holds. The truth about an entity is what its driver holds.
// Nobody may tick meanwhile.
func judge(clients []client) *findings {
	f := new(findings)
	held := make([]map[throng.NetID]*holding, len(clients))
	truth := map[throng.NetID]*holding{}
	for i, c := range clients {
		held[i] = map[throng.NetID]*holding{}
		for h := range c.holdings {
			held[i][h.id] = &h
			if h.drives {
				if other := truth[h.id]; other != nil {
					f.add(c, h.id, "a second client drives it")
				}
				truth[h.id] = &h
			}
		}
	}
	near := map[Cell][]*holding{}
	for _, t := range truth {
		near[t.cell] = append(near[t.cell], t)
	}
	f.hosts(clients)
	seen := map[throng.NetID]uint64{} // slots whose last value somebody else holds
	watched := map[throng.NetID]bool{}
	for i, c := range clients {
		here, ok := c.place()
		if !ok {
			continue
		}
		for dx := int16(-Reach); dx <= Reach; dx++ {
			for dy := int16(-Reach); dy <= Reach; dy++ {
				for _, t := range near[Cell{here.X + dx, here.Y + dy}] {
					h := held[i][t.id]
					if h == nil {
						f.pairs++
						f.add(c, t.id, "missing")
					} else if h != t {
						watched[t.id] = true
					}
				}
			}
		}
		for id, h := range held[i] {
			t := truth[id]
			if t == h {
				continue // nobody to disagree with
			}
			f.pairs++
			switch {
			case t == nil:
				f.zombies++
				f.add(c, id, "extra: nobody drives it")
			case here.Far(t.cell) > Reach+1:
				f.zombies++
				f.add(c, id, "extra: it is %d chunks away", here.Far(t.cell))
			default:
				seen[id] |= f.same(c, h, t)
			}
		}
	}
	for id := range watched {
		for i := range truth[id].n {
			if seen[id]>>i&1 == 0 {
				f.lost++
			}
		}
	}
	slices.Sort(f.texts)
	return f
}

// same compares a copy with its driver's. It returns the slots that agree.
func (f *findings) same(c client, h, t *holding) (agree uint64) {
	for i := range t.n {
		f.slots++
		if h.n == t.n && h.slots[i] == t.slots[i] {
			agree |= 1 << i
			continue
		}
		f.add(c, h.id, "slot %d is %d, its driver says %d", i, h.slots[i], t.slots[i])
	}
	role := throng.RoleProxy
	if t.role == throng.RoleHost {
		role = throng.RoleHost
	}
	switch {
	case h.owner != t.owner:
		f.add(c, h.id, "its owner is %v instead of %v", h.owner, t.owner)
	case h.role != role:
		f.add(c, h.id, "its role is %v instead of %v", h.role, role)
	case h.term != t.term:
		f.add(c, h.id, "its term is %#x instead of %#x", h.term, t.term)
	}
	return agree
}

// hosts compares who clients think is host.
func (f *findings) hosts(clients []client) {
	var first throng.PlayerID
	for i, c := range clients {
		p, ok := c.(*player)
		if !ok {
			return
		}
		switch h, known := p.w.Host(); {
		case !known:
			f.add(c, throng.NetID{}, "it does not know who is host")
		case i == 0:
			first = h
		case h != first:
			f.add(c, throng.NetID{}, "its host is %v, that of another %v", h, first)
		}
	}
}

// place is where a client looks from.
func (p *player) place() (Cell, bool) { return p.avatar.cell(), p.e != nil }
func (k *sink) place() (c Cell, ok bool) {
	if k.avatar == nil {
		return c, false
	}
	return k.avatar.cell(), true
}

func (p *player) holdings(yield func(holding) bool) {
	for o := range p.w.Entities() {
		x := p.w.Explain(o)
		h := holding{id: x.ID, owner: x.Owner, term: x.Term, role: x.Role, drives: x.Drives}
		switch e := o.(type) {
		case *Walker:
			s := e.state()
			h.slots, h.n, h.cell = [4]int64{int64(s.X)<<16 | int64(uint16(s.Y)), int64(s.Yaw), int64(s.Anim)}, 3, s.Cell()
		case *Thing:
			h.slots, h.n, h.cell = e.slots()
		}
		if !yield(h) {
			return
		}
	}
}
