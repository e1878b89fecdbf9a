package throng

import (
	"fmt"
	"strings"
	"time"

	"github.com/throng-dev/throng/internal/grid"
)

// IsReplicated reports whether entities of a class replicate: what is an [Object], or a [Class]; it is in the schema, and has at
// least one field that replicates. Whether the object is in a world does not matter.
func (s *Schema) IsReplicated(what any) bool {
	var c *class
	switch v := what.(type) {
	case interface{ core() *class }:
		c = v.core()
	case Object:
		c = s.classOf(v)
	}
	return c != nil && s.byID[c.id] == c && len(c.layout.Slots) > 0
}

// LastSentBytes is how many bytes of values this client last sent of an entity, with its announcement or a delta: −1 if it does not
// drive it, 0 if nothing was sent yet. Whether somebody received them it does not tell.
func (w *World) LastSentBytes(o Object) int {
	defer w.leave(w.enter("LastSentBytes"))
	b := w.bodyOf(o)
	if b == nil || b.gone || !b.drives {
		return -1
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	return int(b.e.c.Sent)
}

// Explanation is what a client knows of one entity, for people who wonder why it is as it is.
type Explanation struct {
	ID    NetID
	Class string // empty: it is in no world
	Role  Role
	Owner PlayerID
	// Term counts the drivers of the entity, Incarnation the lives under its id; the relay numbers them. 0: it has not yet.
	Term, Incarnation uint64
	Drives            bool
	Pending           bool // it was announced, and the relay has not answered
	Waiting           bool // it lost the drive here, and the values of the next driver have not come
	Bound             bool // the relay knows it in this session
	Gone              bool // it has left; only its OnDestroy, or its delay, is still to come
	Mirror            bool // of what this client sends: see Config.Loopback
	// Far is true beyond the property reach: all but the position may be older than what its driver sent.
	Far      bool
	LastSent int // see World.LastSentBytes
	Fields   []FieldExplanation
	// Motion is how a proxy of a Dynamic class is drawn; nil: no sample came, or it is driven here.
	Motion *MotionExplanation
}

// FieldExplanation is what a client knows of one field of an entity.
type FieldExplanation struct {
	Name string
	// Version is the relay's flush from which the value came, the higher the newer; false: none came, as on the driver.
	Version  uint32
	Received bool
	Written  bool   // its value is this client's: it drives the entity, and the field is not the authority's, or it is the authority
	Marked   bool   // it leaves with the next replication tick
	Resend   bool   // the packet that carried it was lost: it leaves again
	Far      bool   // it may be older than what its driver sent: the entity is beyond the property reach
	Rejected string // why the relay does not apply what this client sent; empty: it does
}

// Explain says what this client knows of an entity.
func (w *World) Explain(o Object) Explanation {
	defer w.leave(w.enter("Explain"))
	e := o.entity()
	b := w.bodyOf(o)
	if b == nil {
		return Explanation{ID: e.id, LastSent: -1}
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	c, k := e.c, b.hooks.class
	x := Explanation{ID: e.id, Class: k.name, Role: e.role, Owner: e.owner, Term: uint64(c.Term), Incarnation: uint64(c.Inc), Drives: b.drives,
		Pending: c.Pending(), Waiting: c.Waiting(), Bound: c.Bound(), Gone: b.gone, Mirror: c.Mirrors(), LastSent: -1}
	if b.drives {
		x.LastSent = int(c.Sent)
	}
	x.Far = !b.drives && !x.Mirror && k.position >= 0 && w.far(c.Chunk)
	if b.track != nil {
		m := b.track.explain()
		x.Motion = &m
	}
	for i := range c.Class.Slots {
		bit := uint64(1) << i
		f := FieldExplanation{Name: k.pathOf(i), Marked: c.Mark&bit != 0, Resend: b.drives && c.LostSlots()&bit != 0, Far: x.Far && i != k.position,
			Written: b.drives && (w.authority || k.layout.Auth&bit == 0)}
		f.Version, f.Received = c.Version(i)
		if d := b.drive; d != nil && d.rejected&bit != 0 {
			f.Rejected = refusedText(d.why)
		}
		x.Fields = append(x.Fields, f)
	}
	return x
}

// far reports whether a chunk is beyond the property reach of every viewpoint. It is called under mu.
func (w *World) far(at grid.Chunk) bool {
	reach := int64(w.profile.PropertyReach)
	if w.profile.PropertyReach == w.profile.Reach {
		return false // what is seen is seen whole
	}
	for _, v := range w.views {
		if c, ok := w.chunk(v.X, v.Y, v.Z); ok && c.Distance(at) <= reach {
			return false
		}
	}
	if len(w.views) == 0 {
		b := w.byID.Find(w.self.AvatarID().Bytes())
		return b == nil || b.e.c.Chunk.Distance(at) > reach
	}
	return true
}

// String tells all of it: one line for the entity, one for each field.
func (x Explanation) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%v", x.ID)
	if x.Class == "" {
		return b.String() + ": in no world"
	}
	owner := "the host"
	switch {
	case x.Mirror:
		owner = "nobody"
	case !x.Owner.IsZero():
		owner = x.Owner.String()
	}
	fmt.Fprintf(&b, " %s: %v, owned by %s, incarnation %#x, term %#x", x.Class, x.Role, owner, x.Incarnation, x.Term)
	for _, f := range []struct {
		is   bool
		text string
	}{
		{x.Drives, "driven here"}, {x.Pending, "announced, not answered"}, {x.Waiting, "waits for the values of its next driver"},
		{!x.Bound && !x.Pending && !x.Mirror, "not known to the relay"}, {x.Gone, "gone"}, {x.Mirror, "a mirror"}, {x.Far, "beyond the property reach"},
	} {
		if f.is {
			b.WriteString(", " + f.text)
		}
	}
	if x.LastSent >= 0 {
		fmt.Fprintf(&b, ", last sent %d B", x.LastSent)
	}
	if m := x.Motion; m != nil {
		fmt.Fprintf(&b, "\n  drawn %v ago from %d samples, one every %v, late by %v, varying by %v", m.Delay.Round(time.Millisecond), m.Samples, m.Interval, m.Late, m.Jitter)
		if m.Still {
			b.WriteString(", at rest")
		}
	}
	for _, f := range x.Fields {
		fmt.Fprintf(&b, "\n  %-16s", f.Name)
		switch {
		case f.Received:
			fmt.Fprintf(&b, " version %d", f.Version)
		case f.Written:
			b.WriteString(" written here")
		default:
			b.WriteString(" never received")
		}
		if f.Far {
			b.WriteString(", may be older than its driver's")
		}
		if f.Marked {
			b.WriteString(", leaves with the next tick")
		}
		if f.Resend {
			b.WriteString(", was lost and leaves again")
		}
		if f.Rejected != "" {
			b.WriteString(", not applied by the relay: " + f.Rejected)
		}
	}
	return b.String()
}
