package throng

import (
	"github.com/throng-dev/throng/internal/wire"
)

// Undelivered is a reliable event that was sent from here and reached nobody, which only the relay could know.
type Undelivered struct {
	Event string
	About NetID // zero: nothing
	Why   UndeliveredReason
}

// UndeliveredReason is why an event reached nobody.
type UndeliveredReason uint8

const (
	UndeliveredGone   UndeliveredReason = wire.UndeliveredGone   // what it was about ended before
	UndeliveredNobody UndeliveredReason = wire.UndeliveredNobody // no owner, host or authority, or the player left
	UndeliveredRights UndeliveredReason = wire.UndeliveredRights // this client may only look on
	UndeliveredLimit  UndeliveredReason = wire.UndeliveredLimit  // it is larger than the relay takes
	UndeliveredTravel UndeliveredReason = wire.UndeliveredEpoch  // this client left the world before
	UndeliveredKind   UndeliveredReason = wire.UndeliveredKind   // the world has too many kinds of events
)

// String returns the reason in words.
func (r UndeliveredReason) String() string {
	return nameOf("UndeliveredReason", int(r), "UndeliveredReason(0)", "what it was about is gone", "there is nobody of that kind", "this client may not", "too large", "this client left the world",
		"too many kinds of events")
}

// undelivered tells of events that came to nothing, and of kinds that this build does not know.
func (w *World) undelivered() {
	w.mu.Lock()
	list, strange := w.reg.Undelivered, w.reg.StrangeEvents
	w.reg.Undelivered, w.reg.StrangeEvents = nil, nil
	w.mu.Unlock()
	for _, u := range list {
		x := Undelivered{w.schema.events[u.Kind-1].name, NetIDFrom(u.ID), UndeliveredReason(u.Reason)}
		if w.cfg.OnUndelivered != nil {
			w.user(func() { w.cfg.OnUndelivered(w, x) })
			continue
		}
		w.warn("throng: an event reached nobody", "cat", "event", "event", x.Event, "about", x.About, "why", x.Why)
	}
	for _, k := range strange {
		if !k.Other() {
			w.warn("throng: this build lacks an event of the world: it is not heard here, add it to the schema", "cat", "event", "event", k.Name, "id", k.ID)
			continue
		}
		ours := ""
		for _, e := range w.schema.events {
			if e.id == k.ID {
				ours = e.plan.Canon()
			}
		}
		w.warn("throng: an event has another payload in this world: it is not heard here until both builds declare it alike", "cat", "event",
			"event", k.Name, "here", ours, "there", k.Type)
	}
}
