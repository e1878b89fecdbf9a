package throng

import (
	"crypto/sha256"

	"github.com/throng-dev/throng/internal/registry"
	"github.com/throng-dev/throng/internal/wire"
)

// With loopback every delta that leaves comes back at once, to a mirror of its entity:
//
//	registry.Send ─► reflect: the bytes are kept ─► the next apply: registry.Reflect ─► applyCopy ─► OnSpawn, OnRep of the mirror
//
// From registry.Reflect on it is the path of what the relay sends. Nothing of a mirror is ever sent.

// reflection is a record that waits for the next apply.
type reflection struct {
	c        *registry.Copy
	mask     uint64
	from, to int // in World.reflected
	at       registry.Timing
}

// SetLoopback switches [Config.Loopback] on or off. When it goes off the mirrors leave.
func (w *World) SetLoopback(on bool) {
	defer w.leave(w.enter("SetLoopback"))
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.loopback = on; on {
		return
	}
	for _, b := range w.list {
		w.endMirror(b, Departure{Why: OutOfReach})
	}
}

// Mirror returns the mirror of an entity that this client drives; false if it has none. See [Config.Loopback].
func (w *World) Mirror(o Object) (Object, bool) {
	defer w.leave(w.enter("Mirror"))
	b := w.bodyOf(o)
	if b == nil || b.mirror() == nil {
		return nil, false
	}
	m, _ := b.mirror().Data.(*body)
	if m == nil || m.gone {
		return nil, false
	}
	return m.o, true
}

// mirrorID follows from the entity's, so that it is the same in every run and meets no other.
func mirrorID(id NetID) wire.ID {
	b := id.Bytes()
	h := sha256.Sum256(append([]byte("throng mirror id\x00"), b[:]...))
	return wire.ID(h[:16])
}

// reflect is registry.Config.Sent. It is called on the game's goroutine, under mu.
func (w *World) reflect(c *registry.Copy, mask uint64, values []byte) {
	if !w.loopback {
		return
	}
	b, _ := c.Data.(*body)
	if b == nil || b.gone {
		return
	}
	d := b.driving()
	if d.mirror == nil {
		k := b.hooks.class
		d.mirror = w.reg.Mirror(mirrorID(b.e.id), w.classes[k])
		// What a proxy would have been introduced with: init fields, and those that would have left when they changed.
		first := k.layout.Init
		if b.e.role != RoleHost || k.cfg.AutoDiffHosted {
			first |= k.layout.Auto
		}
		first &^= mask
		from := len(w.reflected)
		out, refused := k.plan.Append(w.reflected, b.e.ptr, first)
		if refused != 0 {
			first &^= refused
			out, _ = k.plan.Append(w.reflected, b.e.ptr, first)
		}
		w.reflected = out
		w.reflections = append(w.reflections, reflection{d.mirror, first, from, len(out), registry.Timing{}})
	}
	var at registry.Timing
	if mask&c.Class.Motion != 0 {
		at = registry.Timing{At: w.reg.CaptureMS, Timed: true, Still: c.Still}
	}
	from := len(w.reflected)
	w.reflected = append(w.reflected, values...)
	w.reflections = append(w.reflections, reflection{d.mirror, mask, from, len(w.reflected), at})
}

// applyReflections lets mirrors receive. It is called under mu.
func (w *World) applyReflections() {
	for _, r := range w.reflections {
		if r.c.Gone {
			continue
		}
		w.reg.Reflect(r.c, r.mask, w.reflected[r.from:r.to], r.at)
		w.applyCopy(r.c)
	}
	clear(w.reflections)
	w.reflections, w.reflected = w.reflections[:0], w.reflected[:0]
}

// endMirror makes the mirror of b leave, if it has one.
func (w *World) endMirror(b *body, d Departure) {
	c := b.mirror()
	if c == nil {
		return
	}
	b.drive.mirror, c.Gone = nil, true
	if l, _ := c.Data.(*loading); l != nil {
		w.endLoad(l)
	}
	if m, _ := c.Data.(*body); m != nil && !m.gone {
		d.Local = false
		w.remove(m, d)
	}
}
