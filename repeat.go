package throng

import (
	"time"

	"github.com/throng-dev/throng/internal/wire"
)

// In a world that keeps no values (B-053):
//
//	driven here, Static: its spawn is repeated every 4 s ─► those who came since hear it
//	elsewhere: heard of without its spawn ─► Static: nothing yet; Dynamic: with its first change a body, of defaults ─► OnAppeared
//	           the spawn, if it comes ─► OnSpawn, on that body, once

// repeatEvery is how often the spawn of a Static entity is said again.
const repeatEvery = 4 * time.Second

// repeat says the spawns that are due again.
func (w *World) repeat(now time.Duration) {
	if w.profile.Retain || w.phase != Live {
		return
	}
	if w.repeats == nil {
		w.repeats = map[*body]time.Duration{}
	}
	if len(w.repeats) > 2*len(w.driven)+16 {
		for b := range w.repeats {
			if b.gone || !b.drives {
				delete(w.repeats, b)
			}
		}
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, b := range w.driven {
		if b.gone || !b.drives || b.hooks.class.cfg.Mode == Dynamic || b.e.c.Flags&wire.EntityPlaced != 0 || !b.e.c.Bound() {
			continue
		}
		switch at, ok := w.repeats[b]; {
		case !ok:
			w.repeats[b] = now + repeatEvery
		case now >= at:
			w.repeats[b] = at + repeatEvery
			w.reg.Repeat(b.e.c)
		}
	}
}
