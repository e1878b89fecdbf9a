package throng

// With loopback of events each event that is sent comes back at once, as another client would hear it:
//
//	sendEvent ─► keepEcho: the bytes are kept ─► the next hear: echoes ─► handlers
//
// What a handler sends because of that does not come back again.

// echo is an event that waits for the next Tick.
type echo struct {
	event   *event
	id      NetID
	payload []byte
}

// SetEventLoopback switches loopback of events on or off, as the switch loopback.event does: every event that this client sends is heard here once more, in the next
// Tick, as another client would hear it, whomever it is for. So handlers can be tried alone. What it is about is then the mirror of the
// entity, if it has one: see [World.SetLoopback].
func (w *World) SetEventLoopback(on bool) {
	defer w.leave(w.enter("SetEventLoopback"))
	if w.echoing = on; !on {
		w.kept = nil
	}
}

func (w *World) keepEcho(ev *event, b *body, payload []byte) {
	if !w.echoing || w.inEcho {
		return
	}
	x := echo{event: ev, payload: payload}
	if b != nil {
		x.id = b.e.id
	}
	w.kept = append(w.kept, x)
}

// echoes runs the handlers of what was kept.
func (w *World) echoes() {
	if len(w.kept) == 0 {
		return
	}
	kept := w.kept
	w.kept, w.inEcho = nil, true
	defer func() { w.inEcho = false }()
	for _, x := range kept {
		info := EventInfo{World: w, From: w.self, ID: x.id, Loopback: true}
		if b := w.byID.Find(x.id.Bytes()); b != nil && !b.gone {
			info.Entity = b.o
			if c := b.mirror(); c != nil {
				if m, _ := c.Data.(*body); m != nil && !m.gone {
					info.Entity, info.ID = m.o, m.e.id
				}
			}
		} else if !x.id.IsZero() {
			info.Gone = OutOfReach
		}
		w.handle(x.event, &info, x.payload)
	}
}
