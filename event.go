package throng

import (
	"fmt"
	"math"
	"reflect"
	"time"

	"github.com/throng-dev/throng/internal/layout"
	"github.com/throng-dev/throng/internal/payload"
	"github.com/throng-dev/throng/internal/registry"
	"github.com/throng-dev/throng/internal/wire"
)

// EventConfig is the policy of an event. The zero value is sent once: it may be lost, and comes in no order.
type EventConfig struct {
	ID uint32 // the same in every build; 0: hash of the name
	// Reliable events reach everybody they are for, once, those of one sender about one entity in the order they were sent; or
	// the session of who cannot be reached ends, with a reason. Without it an event is one datagram, for what is soon followed by
	// another.
	Reliable bool
	// OthersOnly keeps the sender's own handlers from hearing what it sends to its reach or to the world.
	OthersOnly bool
}

// Event is something that happens and is over: a shot, a word of chat, the end of a round. What is to be known later too, by those who
// come later too, is a field of an entity instead. T is the payload: what a field may hold, and slices, arrays, maps and sets of
// it at any depth, up to 32 KiB; a type may hold itself, in a slice or a map. struct{} says nothing but that it happened.
//
// Make it with [NewEvent], once, in a package variable that all programs of the game share, pass it to [NewSchema] like a class, and
// give what [Event.Handle] returns to Config.Hooks. It never changes and is safe for concurrent use.
//
// The methods that send name the recipients. An event may be about an entity: then nobody hears of it before the entity was introduced
// there, and before what the sender had written to it, or held of it, at the call. It leaves with the Tick it is sent in. Errors are those of
// the call: sending to nobody is one.
//
// Who sends to its reach or to the world hears it too: its own handlers run before the call returns, with what others will get. Who sends to
// the owner, the host or a player that it is itself hears it the same way, and nothing is sent.
type Event[T any] struct{ event *event }

// NewEvent declares an event. What is wrong with it is said by [NewSchema]. Only the name and what the payload is made of matter to
// other clients: one that has another payload under the same name does not hear the event, and logs the difference.
func NewEvent[T any](name string, cfg EventConfig) *Event[T] {
	return &Event[T]{newEvent(name, cfg, reflect.TypeFor[T](), func() any { return new(T) })}
}

// Name is the name the event was declared with.
func (e *Event[T]) Name() string { return e.event.name }

// PayloadHash is the number by which clients find out whether they mean the same payload. It depends on what T is made of, not on names of types,
// and is the same on every machine.
func (e *Event[T]) PayloadHash() uint64 { return e.event.plan.Hash() }

func (e *Event[T]) addTo(d *declared) {
	if e == nil {
		d.addEvent(nil)
		return
	}
	d.addEvent(e.event)
}

// Handle makes a Hook of fn, which runs for each event that this client hears, within World.Tick, before its step and behind the hooks of what arrived with
// it; or within the call, if this client sent it. The payload is fn's own.
func (e *Event[T]) Handle(fn func(EventInfo, T)) Hook {
	if fn == nil {
		panic(fmt.Sprintf("throng: event %q: Handle without a function: pass the one to run", e.event.name))
	}
	return Hook{event: e.event, onEvent: func(i EventInfo, v any) { fn(i, *v.(*T)) }}
}

// EventInfo is what a handler is told about an event besides its payload.
type EventInfo struct {
	World *World
	// From is the player who sent it, as the relay knows them. FromHost and FromAuthority say what they were when the relay took it.
	From                    PlayerID
	FromHost, FromAuthority bool
	// Entity is what it is about, of which everything is held here that the sender had written at the call. It is nil if the event is about
	// nothing, or about something that is not here: ID then still names it, and Gone says why it is not here.
	Entity Object
	ID     NetID
	Gone   DepartReason // Destroyed, Stale, SessionReleased or OutOfReach; 0: Entity is here, or there is none
	// Time is when the relay took it, on the relay's clock, which starts anywhere; Age how long ago that was, to a few milliseconds. Both are 0 for
	// what was sent here.
	Time, Age time.Duration
	Direct    bool // it was sent to this client, as owner, host or player, not to a crowd
	Local     bool // it was sent here
	Loopback  bool // it was sent here and is heard again: see World.SetEventLoopback
}

// hearing is what a World has to do with events.
type hearing struct {
	handlers map[*event][]Hook
	kinds    map[*event]*registry.EventKind

	// The game's goroutine.
	heard   []*registry.Heard
	kept    []echo // with loopback of events
	echoing bool
	inEcho  bool

	undecodedEvents uint64 // under mu
}

// event is what all worlds and schemas share of an Event. It never changes after newEvent.
type event struct {
	name     string
	id       uint32
	cfg      EventConfig
	typ      reflect.Type
	plan     *payload.Plan // nil: the payload is at fault
	newValue func() any
	wire     wire.EventKind
	faults   []error
}

func newEvent(name string, cfg EventConfig, t reflect.Type, newValue func() any) *event {
	e := &event{name: name, id: cfg.ID, cfg: cfg, typ: t, newValue: newValue}
	if e.id == 0 {
		e.id = idOf(name)
	}
	switch {
	case name == "":
		e.fault("of %v has no name: give NewEvent one, the same in every build", t)
	case len(name) > wire.MaxName:
		e.fault("has a name of %d bytes: shorten it to at most %d", len(name), wire.MaxName)
	}
	plan, faults := payload.Of(t, payloads(t.String(), ""))
	e.faults = append(e.faults, faults...)
	if plan == nil {
		return e
	}
	e.plan = plan
	e.wire = wire.EventKind{ID: e.id, Hash: plan.Hash(), Name: name, Type: plan.Canon()[:min(len(plan.Canon()), wire.MaxType)]}
	return e
}

func (e *event) fault(format string, args ...any) {
	e.faults = append(e.faults, fmt.Errorf("throng: event %q "+format, append([]any{e.name}, args...)...))
}

// eventClash says why two events cannot be in one schema.
func eventClash(a, b *event) error {
	switch {
	case a.name == b.name:
		return fmt.Errorf("throng: event %q is declared twice, with %v and with %v: give one another name", a.name, a.typ, b.typ)
	case a.id == b.id:
		return fmt.Errorf("throng: events %q and %q have the same id %#x: set EventConfig.ID of one to a number of its own", a.name, b.name, a.id)
	}
	return nil
}

// initField is layout.Config.Init: what an event may hold.
func initField(of, field string, t reflect.Type) (l layout.Leaf, faults []error) {
	cfg := payloads(of, field)
	cfg.Limit = layout.MaxValue
	plan, faults := payload.Of(t, cfg)
	if plan == nil {
		return l, faults
	}
	return layout.Leaf{Name: plan.Canon(), Codec: plan.Codec()}, nil
}

// payloads is how values of any shape are sent: what of an entity may be a slot may be in a payload.
func payloads(of, field string) payload.Config {
	known := leaves()
	plainIDs(known)
	return payload.Config{Of: of, Field: field, Skip: []reflect.Type{reflect.TypeFor[Entity]()}, Leaves: known, Find: findNetCodec}
}

// hear runs the handlers of an event that came, and is held up by nothing any more.
func (w *World) hear() {
	for i := 0; i < len(w.heard); i++ {
		h := w.heard[i]
		ev := h.Event.Data.(*event)
		info := EventInfo{World: w, From: PlayerIDFrom(h.From), FromHost: h.Host, FromAuthority: h.Authority, ID: NetIDFrom(h.ID), Direct: h.Direct,
			Time: time.Duration(h.TimeMS) * time.Millisecond, Age: w.age(h.TimeMS)}
		if h.About != wire.AboutNothing {
			info.Entity, info.Gone = w.about(h)
		}
		w.handle(ev, &info, h.Payload)
	}
	clear(w.heard)
	w.heard = w.heard[:0]
	w.echoes()
}

// absent reports whether a copy has no body yet, and will: what is about it waits.
func (w *World) absent(c *registry.Copy) bool {
	l, _ := c.Data.(*loading)
	return l != nil && l.state < loadFailed
}

// about is the entity that an event is about, or why it is not here.
func (w *World) about(h *registry.Heard) (Object, DepartReason) {
	if h.Copy != nil {
		if b, _ := h.Copy.Data.(*body); b != nil && !b.gone && b.told {
			return b.o, 0
		}
	}
	switch {
	case h.About == wire.AboutGone:
		return nil, reason(h.Why)
	case h.Ended:
		return nil, Destroyed
	}
	return nil, OutOfReach
}

// handle runs the handlers of an event. What does not decode is what a peer may send: it is counted.
func (w *World) handle(ev *event, info *EventInfo, b []byte) {
	for _, hook := range w.handlers[ev] {
		v := ev.newValue()
		if err := ev.plan.Parse(b, v); err != nil {
			w.mu.Lock()
			w.undecodedEvents++
			w.mu.Unlock()
			w.tracer.undecodedEvent(ev, info, len(b))
			w.warn("throng: the payload of an event does not decode", "cat", "event", "event", ev.name, "from", info.From, "err", err)
			return
		}
		w.user(func() { hook.onEvent(*info, v) })
	}
}

// age is how long ago the relay's clock showed a time.
func (w *World) age(ms uint32) time.Duration {
	w.mu.Lock()
	defer w.mu.Unlock()
	offset, ok := w.reg.Offset()
	if !ok || w.sess == nil {
		return 0
	}
	rtt, _ := w.sess.RTT()
	now := uint32((w.now() + offset + rtt/2) / time.Millisecond)
	return min(max(0, time.Duration(int32(now-ms))*time.Millisecond), math.MaxInt32*time.Millisecond)
}
