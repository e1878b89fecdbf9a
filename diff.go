package throng

import (
	"math/bits"
	"time"

	"github.com/throng-dev/throng/internal/grid"
	"github.com/throng-dev/throng/internal/registry"
	"github.com/throng-dev/throng/internal/wire"
)

// diff compares what this client drives with what it sent, and marks what changed (B-020).
func (w *World) diff(now time.Duration) {
	keep := w.driven[:0]
	for _, b := range w.driven {
		if b.gone || !b.drives {
			b.listed = false
			continue
		}
		keep = append(keep, b)
		l, cfg := b.hooks.class.layout, &b.hooks.class.cfg
		auto := l.Auto
		if b.e.role == RoleHost && !cfg.AutoDiffHosted {
			auto = 0 // B-026: the host sends what it marks
		}
		if b.seen != nil { // B-015: what was told once is not told again while it cannot be sent
			if news := b.seen.Diff(b.e.ptr, auto); news != 0 {
				w.user(func() { w.notify(b, news) })
				if b.gone || !b.drives {
					continue
				}
				b.seen.Adopt(b.e.ptr, auto)
			}
		}
		mask := b.e.shadow.Diff(b.e.ptr, auto)
		if w.keyframe > 0 && l.Keyframe != 0 && now >= b.frame && !b.quiet && !cfg.NoHeartbeat {
			b.frame = now + w.keyframe
			b.e.c.Keyframe = true
			mask |= l.Keyframe
		}
		w.mu.Lock()
		w.reg.Mark(b.e.c, mask|w.reg.Lost(b.e.c))
		w.mu.Unlock()
	}
	clear(w.driven[len(keep):])
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
	out, refused := k.plan.Append(b, bd.e.ptr, mask)
	sent = mask
	if refused != 0 {
		sent = mask &^ refused
		out, _ = k.plan.Append(b, bd.e.ptr, sent)
		i := bits.TrailingZeros64(refused)
		w.log.Warn("throng: a field cannot be sent and stays as it was for the others", "id", bd.e.id, "class", k.name, "err", k.plan.Refusal(bd.e.ptr, i))
	}
	if x, y, z, ok := k.plan.Position(bd.e.ptr); ok {
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
	return out, sent, at
}
