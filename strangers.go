package throng

import (
	"github.com/throng-dev/throng/internal/layout"
	"github.com/throng-dev/throng/internal/wire"
)

// maxStrangers bounds how many foreign classes are remembered, so that each is logged once.
const maxStrangers = 1024

type stranger struct {
	id   uint32
	hash uint64
}

// strangers logs, once each, the classes of the world that this build cannot show: because it lacks them, or because its layout is
// another (B-018, B-028). Nothing of their entities is applied; Stats.Foreign counts what came.
func (w *World) strangers() {
	w.mu.Lock()
	list := w.reg.Strangers
	w.reg.Strangers = nil
	w.mu.Unlock()
	for _, c := range list {
		k := stranger{c.ID, c.Hash}
		if w.strange[k] || len(w.strange) >= maxStrangers {
			continue
		}
		if w.strange == nil {
			w.strange = make(map[stranger]bool)
		}
		w.strange[k] = true
		if ours := w.schema.byID[c.ID]; ours != nil {
			w.log.Warn("throng: a class has another layout in this world: its entities are not shown here until both builds declare it alike",
				"cat", "state", "class", c.Name, "difference", layout.FirstDifference(ours.fields(), fields(c)))
			continue
		}
		w.log.Warn("throng: this build lacks a class of the world: its entities are not shown here, add it to the schema",
			"cat", "entity", "class", c.Name, "id", c.ID)
		if w.cfg.OnUnknownClass != nil {
			w.user(func() { w.cfg.OnUnknownClass(w, c.Name, c.ID) })
		}
	}
}

// fields reads what an announcement says of a class. Its words are those of package layout.
func fields(c *wire.Class) []layout.Field {
	out := make([]layout.Field, len(c.Slots))
	for i, s := range c.Slots {
		out[i] = layout.Field{Name: s.Name, Type: s.Type, Words: layout.Words(s.Words), Width: int(s.Width)}
	}
	return out
}
