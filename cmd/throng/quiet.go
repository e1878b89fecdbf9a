package main

import (
	"context"
	"fmt"
	"math"
	"time"

	"github.com/throng-dev/throng"
	"github.com/throng-dev/throng/internal/load"
)

const (
	// calm is how long nothing may happen anywhere until the world counts as quiet, patience how long that may take.
	calm     = time.Second
	patience = 30 * time.Second
	// resends is how many round trips a lost packet may take to be noticed, when timers have backed off: twice the doubled
	// round trip and its variance. On a busy machine that is longer than calm.
	resends = 16
)

// quiet waits until no client has been told anything for a while. The bots must stand still.
func (d *demo) quiet(ctx context.Context) error {
	snap, err := d.relay.Snapshot()
	if err != nil {
		return err
	}
	wait := calm
	for _, w := range snap.Worlds {
		for _, s := range w.Sessions {
			wait = max(wait, min(resends*s.RTT, patience/2))
		}
	}
	ticker := time.NewTicker(frame)
	defer ticker.Stop()
	begin := d.m.now()
	last, since := d.activity(), begin
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-ticker.C:
		}
		now := d.m.now()
		switch a := d.activity(); {
		case a != last:
			last, since = a, now
		case now-since >= wait:
			return nil
		}
		if now-begin > patience {
			return fmt.Errorf("the world does not become quiet: something still happens %v after the last change", patience)
		}
	}
}

// activity changes whenever a client is told something, or the relay notices that it has to say it again.
func (d *demo) activity() uint64 {
	r := d.relay.Stats().Replication
	return d.m.events.Load() + r.RecordCopies + r.OwnRecords + r.Intros + r.Departs + r.Lost
}

// findings are what the comparison at the end found.
type findings struct {
	wrong, pairs, slots int
	texts               []string // of the first few
}

func (f *findings) add(b *bot, id throng.NetID, format string, args ...any) {
	if f.wrong++; len(f.texts) < load.ShownFaults {
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
	here := chunkOf(b.walker.Pos.Vec2())
	for o := range b.w.Entities() {
		id := idOf(o)
		switch want := truth[id]; {
		case want == nil && b.w.Explain(o).Mirror: // with loopback; its driver is b itself
		case want == nil:
			f.pairs++
			f.add(b, id, "extra: it was destroyed")
		case trackOf(want).owner == b: // a driver holds what it drives wherever that is
		case here.far(chunkOf(stateOf(want).pos)) > 2: // one chunk beyond reach is still held
			f.pairs++
			f.add(b, id, "extra: it is out of reach")
		}
	}
	for id, want := range truth {
		if trackOf(want).owner == b {
			m.driven(f, b, want)
			continue
		}
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

// driven looks at what b drives itself. That is no pair: there is nobody to disagree with.
func (m *meter) driven(f *findings, b *bot, o throng.Object) {
	if have, ok := b.w.Find(idOf(o)); !ok || have != o || !b.w.Drives(o) {
		f.add(b, idOf(o), "its owner does not drive it any more")
	}
}

// same compares what b holds with what its driver holds.
func (f *findings) same(b *bot, have, want throng.Object) {
	id := idOf(want)
	owner := trackOf(want).owner
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
		f.standing(b, &h.Entity, owner)
		check("Pos", h.Pos, w.Pos)
		check("Facing", h.Facing, w.Facing)
		check("Name", h.Name, w.Name)
	case *Lantern:
		w, ok := want.(*Lantern)
		if !ok {
			f.add(b, id, "it is a lantern, its driver says %T", want)
			return
		}
		f.standing(b, &h.Entity, owner)
		check("Pos", h.Pos, w.Pos)
		check("Lit", h.Lit, w.Lit)
		check("Held", h.Held, w.Held)
		check("Hue", h.Hue, w.Hue)
		if h.Fuel != 0 {
			f.add(b, id, "Fuel is %v, which only the owner may know", h.Fuel)
		}
	}
}

// standing compares who owns the entity, and what b's copy of it is.
func (f *findings) standing(b *bot, e *throng.Entity, owner *bot) {
	if e.Owner() != owner.w.Self() {
		f.add(b, e.NetID(), "its owner is %v instead of %v", e.Owner(), owner.w.Self())
	}
	if e.Role() != throng.RoleProxy {
		f.add(b, e.NetID(), "its role is %v instead of %v", e.Role(), throng.RoleProxy)
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
