package main

import (
	"context"
	"fmt"
	"math"
	"time"

	"github.com/throng-dev/throng"
)

const (
	// calm is how long nothing may happen anywhere until the world counts as quiet, patience how long that may take.
	calm     = time.Second
	patience = 15 * time.Second
)

// quiet waits until no client has been told anything for a while. The bots must stand still.
func (m *meter) quiet(ctx context.Context) error {
	ticker := time.NewTicker(frame)
	defer ticker.Stop()
	begin := m.now()
	last, since := m.events.Load(), begin
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-ticker.C:
		}
		now := m.now()
		switch n := m.events.Load(); {
		case n != last:
			last, since = n, now
		case now-since >= calm:
			return nil
		}
		if now-begin > patience {
			return fmt.Errorf("the world does not become quiet: clients are still told of changes %v after the last one", patience)
		}
	}
}

// findings are what the comparison at the end found.
type findings struct {
	wrong, pairs, slots int
	texts               []string // of the first few
}

func (f *findings) add(b *bot, id throng.NetID, format string, args ...any) {
	if f.wrong++; len(f.texts) < shownFaults {
		f.texts = append(f.texts, fmt.Sprintf("wrong after quiet: %s, entity %v: %s", b.name, id, fmt.Sprintf(format, args...)))
	}
}

// compare looks at every entity that any client should hold or holds, with the eyes of that client. Nobody may tick
// meanwhile.
func (m *meter) compare() *findings {
	f := new(findings)
	truth := map[throng.NetID]throng.Object{}
	for _, b := range m.bots {
		if b.w == nil || b.dead || b.walker == nil {
			continue // that is an error of its own
		}
		truth[b.walker.NetID()] = b.walker
		for _, l := range b.lanterns {
			truth[l.NetID()] = l
		}
	}
	for _, b := range m.bots {
		if b.w != nil && !b.dead && b.walker != nil {
			m.compareOne(f, b, truth)
		}
	}
	return f
}

func (m *meter) compareOne(f *findings, b *bot, truth map[throng.NetID]throng.Object) {
	here := chunkOf(b.walker.Pos)
	for o := range b.w.Entities() {
		id := idOf(o)
		switch true := truth[id]; {
		case true == nil:
			f.pairs++
			f.add(b, id, "extra: it was destroyed")
		case here.far(chunkOf(stateOf(true).pos)) > 2: // one chunk beyond reach is still held
			f.pairs++
			f.add(b, id, "extra: it is out of reach")
		}
	}
	for id, want := range truth {
		if here.far(chunkOf(stateOf(want).pos)) > 2 {
			continue
		}
		have, ok := b.w.Find(id)
		switch {
		case ok:
			f.pairs++
			f.same(b, have, want)
		case here.far(chunkOf(stateOf(want).pos)) <= 1:
			f.pairs++
			f.add(b, id, "missing")
		}
	}
}

// same compares what b holds with what its driver holds.
func (f *findings) same(b *bot, have, want throng.Object) {
	id := idOf(want)
	owner := trackOf(want).owner
	role := throng.RoleProxy
	if owner == b {
		role = throng.RoleOwner
	}
	check := func(what string, have, want any) {
		f.slots++
		if have != want {
			f.add(b, id, "%s is %v, its driver says %v", what, have, want)
		}
	}
	switch h := have.(type) {
	case *Walker:
		w, ok := want.(*Walker)
		if !ok {
			f.add(b, id, "it is a walker, its driver says %T", want)
			return
		}
		f.standing(b, &h.Entity, owner, role)
		check("Pos", h.Pos, w.Pos)
		check("Facing", h.Facing, w.Facing)
		check("Name", h.Name, w.Name)
	case *Lantern:
		w, ok := want.(*Lantern)
		if !ok {
			f.add(b, id, "it is a lantern, its driver says %T", want)
			return
		}
		f.standing(b, &h.Entity, owner, role)
		check("Pos", h.Pos, w.Pos)
		check("Lit", h.Lit, w.Lit)
		check("Held", h.Held, w.Held)
		check("Hue", h.Hue, w.Hue)
		if owner != b && h.Fuel != 0 {
			f.add(b, id, "Fuel is %v, which only the owner may know", h.Fuel)
		}
	}
}

// standing compares who owns the entity, and what b's copy of it is.
func (f *findings) standing(b *bot, e *throng.Entity, owner *bot, role throng.Role) {
	if e.Owner() != owner.w.Self() {
		f.add(b, e.NetID(), "its owner is %v instead of %v", e.Owner(), owner.w.Self())
	}
	if e.Role() != role {
		f.add(b, e.NetID(), "its role is %v instead of %v", e.Role(), role)
	}
}

func idOf(o throng.Object) throng.NetID {
	switch e := o.(type) {
	case *Walker:
		return e.NetID()
	case *Lantern:
		return e.NetID()
	}
	return throng.NetID{}
}

// chunk is what the relay judges reach by.
type chunk struct{ x, y int64 }

func chunkOf(p throng.Vec2) chunk {
	return chunk{int64(math.Floor(p.X / chunkSize)), int64(math.Floor(p.Y / chunkSize))}
}

// far is the distance in chunks.
func (c chunk) far(d chunk) int64 {
	return max(c.x-d.x, d.x-c.x, c.y-d.y, d.y-c.y)
}
