package throng

import (
	"slices"
	"time"

	"github.com/throng-dev/throng/internal/registry"
	"github.com/throng-dev/throng/internal/wire"
)

// Update is a motion value as it came, for games that draw what moves in their own way, or look at what others send.
type Update struct {
	ID      NetID
	Class   string // its name
	ClassID uint32
	// Motion is the number of the type that is streamed, the same in every build that means the same. The class may be one that this build
	// lacks.
	Motion uint32
	// Time is the relay's, when the value was captured; World.RelayTime is the same clock. Timed is false if the driver's time is not known: with
	// the first value of an entity. Time is then when it left the relay.
	Time  time.Duration
	Timed bool
	Still bool // the entity stands there
	Cut   bool // turns over when the entity was put elsewhere, instead of moving there
	// Bytes is the value in wire form. It is valid while OnUpdates runs.
	Bytes []byte
}

// maxUpdates bounds what waits for a game that does not tick; beyond it the oldest are lost.
const maxUpdates = 8192

// updates is what came since the last Tick.
type updates struct {
	list  []Update
	from  []int // of Bytes in bytes
	bytes []byte
	types map[*registry.Class]uint32
	lost  uint64
}

// SetUpdates switches Config.OnUpdates on or off, as the switch updates.batch does. It is on at first if there is an OnUpdates.
func (w *World) SetUpdates(on bool) {
	defer w.leave(w.enter("SetUpdates"))
	w.mu.Lock()
	defer w.mu.Unlock()
	w.wantUpdates(on)
}

func (w *World) wantUpdates(on bool) {
	w.batching = on
	w.reg.OnMotion(nil)
	if w.updates = (updates{}); on && w.cfg.OnUpdates != nil {
		w.updates.types = map[*registry.Class]uint32{}
		w.reg.OnMotion(w.noteUpdate)
	}
}

// noteUpdate keeps a motion value for OnUpdates. It is called under mu.
func (w *World) noteUpdate(c *registry.Copy, at registry.Timing, value []byte) {
	u := &w.updates
	if len(u.list) >= maxUpdates {
		u.lost++
		half := len(u.list) / 2
		cut := u.from[half]
		u.list, u.from = slices.Delete(u.list, 0, half), slices.Delete(u.from, 0, half)
		u.bytes = append(u.bytes[:0], u.bytes[cut:]...)
		for i := range u.from {
			u.from[i] -= cut
		}
	}
	id, ok := u.types[c.Class]
	if !ok {
		for _, s := range c.Class.Slots {
			if s.Words&wire.WordMotion != 0 {
				id = motionID(s.Type)
			}
		}
		u.types[c.Class] = id
	}
	u.list = append(u.list, Update{ID: NetIDFrom(c.ID), Class: c.Class.Name, ClassID: c.Class.ID, Motion: id, Time: time.Duration(at.At) * time.Millisecond,
		Timed: at.Timed, Still: at.Still, Cut: at.Cut})
	u.from = append(u.from, len(u.bytes))
	u.bytes = append(u.bytes, value...)
}

// tellUpdates runs OnUpdates with what came since the last Tick.
func (w *World) tellUpdates() {
	if w.cfg.OnUpdates == nil {
		return
	}
	w.mu.Lock()
	u := &w.updates
	u.list, w.told.list = w.told.list[:0], u.list
	u.from, w.told.from = w.told.from[:0], u.from
	u.bytes, w.told.bytes = w.told.bytes[:0], u.bytes
	w.mu.Unlock()
	t := &w.told
	if len(t.list) == 0 {
		return
	}
	for i := range t.list {
		to := len(t.bytes)
		if i+1 < len(t.list) {
			to = t.from[i+1]
		}
		t.list[i].Bytes = t.bytes[t.from[i]:to:to]
	}
	w.user(func() { w.cfg.OnUpdates(w, t.list) })
}

// RelayTime is what the relay's clock shows now, as well as this client knows: it lags by the shortest way down. It is false before the
// relay said anything.
func (w *World) RelayTime() (time.Duration, bool) {
	w.reads("RelayTime")
	ms, ok := w.clock.Now(w.now())
	return time.Duration(ms * float64(time.Millisecond)), ok
}
