package throng

import (
	"math/bits"
	"time"

	"github.com/throng-dev/throng/internal/grid"
	"github.com/throng-dev/throng/internal/registry"
	"github.com/throng-dev/throng/internal/wire"
)

// diff compares what this client drives with what it sent, and marks what changed (B-020). Lost packets are reported by the
// receiving goroutine, hence the lock; it is held throughout, but for hooks.
func (w *World) diff(now time.Duration) {
	if w.noProperties() { // B-032
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	n := len(w.driven)
	keep := w.driven[:0]
	for i := range n {
		b := w.driven[i]
		if b.gone || !b.drives {
			b.listed = false
			continue
		}
		keep = append(keep, b)
		l, cfg := b.hooks.class.layout, &b.hooks.class.cfg
		auto := w.auto(b)
		d := b.driving()
		if d.seen != nil { // B-015: what was told once is not told again while it cannot be sent
			if news := d.seen.Diff(b.e.ptr, auto); news != 0 {
				w.mu.Unlock()
				w.user(func() { w.notify(b, news) })
				w.mu.Lock()
				if b.gone || !b.drives {
					continue
				}
				d.seen.Adopt(b.e.ptr, auto)
			}
		}
		mask := b.e.shadow.Diff(b.e.ptr, auto) | w.reg.Lost(b.e.c)
		d.refused &= mask // what can be sent again, or is as it was, is worth a line the next time
		// A keyframe goes with the tick nearest to its time: the first after it would stretch every interval by a tick.
		if w.keyframe > 0 && l.Keyframe != 0 && now+w.interval/2 >= b.frame && !b.quiet && !cfg.NoHeartbeat {
			b.frame = now + w.keyframe
			b.e.c.Keyframe = true
			mask |= l.Keyframe
		}
		if mask != 0 {
			w.reg.Mark(b.e.c, mask)
		}
		w.streamed(b, now)
	}
	keep = append(keep, w.driven[n:]...) // spawned by a hook
	clear(w.driven[min(len(keep), len(w.driven)):])
	w.driven = keep
}

// firstFrame spreads keyframes by id, so that they do not all fall on one tick (B-027).
func (w *World) firstFrame(id wire.ID) time.Duration {
	if w.keyframe <= 0 {
		return 0
	}
	return w.now() + time.Duration(uint64(id[0])<<8|uint64(id[1]))*w.keyframe/65536
}

// encode is registry.Encode. It is called on the game's goroutine, under mu.
func (w *World) encode(c *registry.Copy, mask uint64, b []byte) (out []byte, sent uint64, at grid.Chunk) {
	at = c.Chunk
	bd, _ := c.Data.(*body)
	if bd == nil {
		return b, 0, at
	}
	k := bd.hooks.class
	moves, whole := k.streams()
	if moves &= mask; !whole {
		moves = 0
	}
	fields := mask &^ moves
	out, refused := k.plan.Append(b, bd.e.ptr, fields)
	sent = fields &^ refused
	if refused != 0 {
		out, _ = k.plan.Append(b, bd.e.ptr, sent)
	}
	var place Vec3
	placed := false
	room := wire.MaxValues // for what must travel in a record
	if moves != 0 {
		if w.captured, place, placed = w.encodeMotion(bd, w.captured[:0]); bd.driving().stream.err != nil {
			refused, moves = refused|moves, 0
		} else {
			room -= len(w.captured)
		}
	}
	for len(out)-len(b) > min(room, wire.MaxRecorded, k.longest) {
		over := k.over(sent, out[len(b):], room)
		if over == 0 {
			break
		}
		refused |= over // it stays here
		sent &^= over
		out, _ = k.plan.Append(b, bd.e.ptr, sent)
	}
	if moves != 0 {
		out = append(out, w.captured...)
	}
	d := bd.driving()
	w.cannotSend(bd, refused&^d.refused)
	d.refused = d.refused&^mask | refused
	x, y, z, ok := k.plan.Position(bd.e.ptr)
	if placed {
		x, y, z, ok = place.X, place.Y, place.Z, place.IsFinite()
	}
	if c.Attached() { // it stands where the other does; where the other is not here, it stays where it was
		for p := w.reg.Parent(c); p != nil; p = w.reg.Parent(p) {
			at = p.Chunk
		}
	} else if ok {
		if k.axes == 2 {
			z = 0
		}
		if chunk, ok := w.chunk(x, y, z); ok {
			at = chunk
		}
	}
	if bd.e.shadow != nil {
		bd.e.shadow.Adopt(bd.e.ptr, sent)
	}
	return out, sent | moves, at
}

// cannotSend logs values that stay here, once until they can be sent again.
func (w *World) cannotSend(b *body, slots uint64) {
	for m := slots; m != 0; m &= m - 1 {
		i := bits.TrailingZeros64(m)
		k := b.hooks.class
		var err error
		if i < len(k.layout.Slots) {
			err = k.plan.Refusal(b.e.ptr, i)
		} else {
			err = b.streaming().err
		}
		if err == nil {
			err = k.tooLong(i)
		}
		w.log.Warn("throng: a field cannot be sent and stays as it was for the others", "cat", "state", "id", b.e.id, "class", k.name,
			"field", k.pathOf(i), "err", err)
	}
}
