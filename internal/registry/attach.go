package registry

import (
	"github.com/throng-dev/throng/internal/trace"
	"github.com/throng-dev/throng/internal/wire"
)

// What an entity goes with:
//
//	here it is driven:  Attach ─► Copy.parent ─► the relay, again behind every announcement;  Attached: the relay's word
//	elsewhere:          Tie frames, newest flush first ─► Copy.tied, a handle

// Parent returns the copy that c is attached to; nil if there is none, or this client does not hold it.
func (r *Registry) Parent(c *Copy) *Copy {
	b := c.bonds
	switch {
	case b == nil:
		return nil
	case c.drives:
		return r.byID.Find(b.parent)
	}
	if p := r.handles.copy(b.tied); p != nil && p.Gen == b.gen {
		return p
	}
	return nil
}

// Attached reports whether a copy is attached, held here or not what it is attached to.
func (c *Copy) Attached() bool {
	b := c.bonds
	return b != nil && (c.drives && b.parent != wire.ID{} || !c.drives && b.tied != 0)
}

// Attach makes a driven copy go with another; nil: with none.
func (r *Registry) Attach(c, parent *Copy) {
	b := c.bond()
	if b.parent = (wire.ID{}); parent != nil {
		b.parent = parent.ID
	}
	if c.Handle != 0 || c.pending && r.isReady {
		r.tellParent(c)
	}
}

// tellParent says what a copy goes with. The relay keeps it until both are there.
func (r *Registry) tellParent(c *Copy) {
	m := wire.Attach{ID: c.ID, Inc: c.Inc, Nonce: c.nonce, Parent: c.bonds.parent}
	r.queue(m.Append(nil, wire.MsgAttach))
}

// attached takes the relay's word what a driven copy goes with.
func (r *Registry) attached(body []byte) error {
	m, err := wire.ParseAttach(wire.MsgAttached, body)
	if err != nil {
		return err
	}
	if c := r.byID.Find(m.ID); c != nil && c.Inc == m.Inc {
		b := c.bond()
		b.parent, b.attachRefused = m.Parent, m.Reason
		r.change(c)
	}
	return nil
}

// tie takes a Tie frame.
func (r *Registry) tie(pn uint64, m *wire.Tie) {
	c := r.handles.copy(m.Handle)
	if c == nil {
		r.stats.Unknown++
		r.tr.drop(trace.UnknownHandle, wire.ID{}, uint64(m.Handle), nil, 0, 0)
		return
	}
	if r.fenced(m.Handle, pn, false, false) {
		return
	}
	b := c.bond()
	if b.set && int32(r.cur.Flush-b.ver) < 0 {
		r.stats.Overtaken++
		return
	}
	b.tied, b.gen, b.ver, b.set, b.parent = m.Parent, m.Gen, r.cur.Flush, true, wire.ID{}
	if p := r.handles.copy(m.Parent); p != nil && p.Gen == m.Gen {
		b.parent = p.ID // for the time when it is driven here
	}
	r.change(c)
}
