package throng

import (
	"errors"
	"fmt"

	"github.com/throng-dev/throng/internal/registry"
	"github.com/throng-dev/throng/internal/wire"
)

// A call goes:
//
//	ToReach, … ─► may it be sent from here? ─► payload ─► registry.Event: with the values that its entity has here
//	           └► handlers of this client, if it is a recipient itself

// Errors of the methods of Event. They are wrapped with the event, and with what it is about.
var (
	// ErrBackpressure: the events that are under way wait for slow recipients, or come faster than the relay allows.
	ErrBackpressure = errors.New("too many events are under way: send fewer, or this one again later")
	// ErrTooLarge: the relay takes no such payload.
	ErrTooLarge = errors.New("the payload is too large: split it; one that is sent once has at most 900 bytes")
	// ErrNoAuthority: the world has no trusted server.
	ErrNoAuthority = errors.New("no trusted server is in the world: World.Players lists who is")
	// ErrEvent: the event is not in the schema.
	ErrEvent = errors.New("the event is not in the schema: pass it to NewSchema")
	// ErrAbout: more than one entity was given.
	ErrAbout = errors.New("an event is about one entity: put the ids of others into its payload")
)

// ToReach sends to every client that has e in reach.
func (e *Event[T]) ToReach(w *World, about Object, v T) error {
	return w.sendEvent(e.event, wire.ToReach, PlayerID{}, []Object{about}, &v)
}

// ToWorld sends to every client in the world, however far. It may be about an entity.
func (e *Event[T]) ToWorld(w *World, v T, about ...Object) error {
	return w.sendEvent(e.event, wire.ToWorld, PlayerID{}, about, &v)
}

// ToOwner sends to the client of the player that owns an entity when the event reaches the relay. If none does, because the host drives it,
// the error is ErrNoOwner.
func (e *Event[T]) ToOwner(w *World, about Object, v T) error {
	return w.sendEvent(e.event, wire.ToOwner, PlayerID{}, []Object{about}, &v)
}

// ToHost sends to whoever is host when the event reaches the relay; ErrNoHost if nobody is now. It may be about an entity.
func (e *Event[T]) ToHost(w *World, v T, about ...Object) error {
	return w.sendEvent(e.event, wire.ToHost, PlayerID{}, about, &v)
}

// ToPlayer sends to a player who is in the world, else ErrNoPlayer. It may be about an entity.
func (e *Event[T]) ToPlayer(w *World, to PlayerID, v T, about ...Object) error {
	return w.sendEvent(e.event, wire.ToPlayer, to, about, &v)
}

// ToAuthority sends to the trusted servers of the world; ErrNoAuthority if there is none. It may be about an entity.
func (e *Event[T]) ToAuthority(w *World, v T, about ...Object) error {
	return w.sendEvent(e.event, wire.ToAuthority, PlayerID{}, about, &v)
}

// sendEvent sends *v, a payload of ev.
func (w *World) sendEvent(ev *event, to wire.To, who PlayerID, about []Object, v any) error {
	defer w.leave(w.enter("event"))
	fail := func(err error) error {
		if len(about) > 0 && about[0] != nil {
			return fmt.Errorf("throng: sending %s about %T %v: %w", ev.name, about[0], about[0].entity().id, err)
		}
		return fmt.Errorf("throng: sending %s: %w", ev.name, err)
	}
	kind := w.kinds[ev]
	var b *body
	switch {
	case kind == nil:
		return fail(ErrEvent)
	case w.phase == Closed:
		return fail(ErrClosed)
	case w.phase != Live:
		return fail(ErrNotLive)
	case len(about) > 1:
		return fail(ErrAbout)
	case len(about) == 1:
		if about[0] != nil {
			b = w.bodyOf(about[0])
		}
		if b == nil || b.gone || b.e.c.Mirrors() {
			return fail(ErrForeign)
		}
	}
	here, err := w.hears(ev, to, who, b)
	if err != nil {
		return fail(err)
	}
	payload, err := ev.plan.Append(nil, v)
	if err != nil {
		return fail(err)
	}
	if here != onlyHere {
		if err := w.emit(kind, to, who, b, ev.cfg.Reliable, payload); err != nil {
			return fail(err)
		}
	}
	w.keepEcho(ev, b, payload)
	if here == notHere {
		return nil
	}
	info := EventInfo{World: w, From: w.self, FromHost: w.isHost(), Local: true, Direct: to >= wire.ToOwner}
	if b != nil {
		info.Entity, info.ID = b.o, b.e.id
	}
	w.handle(ev, &info, payload)
	return nil
}

// Where the handlers of the sender stand.
const (
	notHere = iota
	alsoHere
	onlyHere
)

// hears decides whether the sender is a recipient, and whether there is one (B-102).
func (w *World) hears(ev *event, to wire.To, who PlayerID, b *body) (int, error) {
	mine := func(is bool) (int, error) {
		if is {
			return onlyHere, nil
		}
		return notHere, nil
	}
	switch to {
	case wire.ToOwner:
		if b.e.owner.IsZero() {
			return 0, ErrNoOwner
		}
		return mine(b.e.owner == w.self)
	case wire.ToHost:
		if w.host.IsZero() {
			return 0, ErrNoHost
		}
		return mine(w.isHost())
	case wire.ToPlayer:
		if who == w.self && !who.IsZero() {
			return onlyHere, nil
		}
		if _, there := w.players[who]; !there {
			return 0, ErrNoPlayer
		}
		return notHere, nil
	case wire.ToAuthority:
		for _, p := range w.players {
			if p.Authority && p.ID != w.self {
				if w.authority {
					return alsoHere, nil
				}
				return notHere, nil
			}
		}
		if !w.authority {
			return 0, ErrNoAuthority
		}
		return onlyHere, nil
	}
	if ev.cfg.OthersOnly {
		return notHere, nil
	}
	return alsoHere, nil
}

// emit hands an event to the registry, with the slots of its entity that were written here since they were last sent.
func (w *World) emit(kind *registry.EventKind, to wire.To, who PlayerID, b *body, reliable bool, payload []byte) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	now := w.now()
	err := w.reg.MayEvent(now, reliable, len(payload))
	if err == nil {
		var c *registry.Copy
		changed := uint64(0)
		if b != nil {
			c = b.e.c
			if b.drives && b.e.shadow != nil && !w.cfg.NoProperties {
				changed = b.e.shadow.Diff(b.e.ptr, w.auto(b))
			}
		}
		_, err = w.reg.Event(now, kind, to, wire.PlayerID(who.Bytes()), c, changed, reliable, payload)
	}
	switch err {
	case registry.ErrCredit:
		return ErrBackpressure
	case registry.ErrTooLarge:
		return ErrTooLarge
	case registry.ErrNoEvents:
		return ErrNotLive
	}
	return err
}

// auto are the slots of a body that are compared with its shadow each tick.
func (w *World) auto(b *body) uint64 {
	l := b.hooks.class.layout
	auto := l.Auto
	if w.authority {
		auto |= l.Auth &^ l.Init
	}
	if b.e.role == RoleHost && !b.hooks.class.cfg.AutoDiffHosted {
		auto = 0 // B-026: the host sends what it marks
	}
	return auto
}
