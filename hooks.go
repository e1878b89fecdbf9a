package throng

import (
	"context"
	"fmt"
)

// Hooks is the behaviour of a class. Every field may be nil. All hooks run inside World.Tick or inside the call that
// caused them, on that goroutine, and may call everything of the World except Tick and Close.
type Hooks[T any] struct {
	// Load fetches what the entity needs before it can be seen. The proxy appears, with OnSpawn, when it has returned nil; what
	// arrives of it meanwhile is kept, the newest of each field. It runs on a goroutine of its own and must not touch the World but for Post;
	// Config.MaxLoads of all run at once, for one entity one at a time. ctx ends when the entity is destroyed or out of reach, and when the World is closed,
	// which waits for it. An error is logged and given to Config.OnLoadFailed: the entity is not seen until it comes anew, and is
	// loaded again then. What is spawned here is not loaded. With several Hooks of a class one Load follows the other.
	Load func(ctx context.Context, id NetID) error

	// OnSpawn runs once on each client that gets the entity: fields, owner and role are set. local: it was spawned here.
	OnSpawn func(w *World, e *T, local bool)

	// OnRep runs after a change was written to e, once for all fields that came together, and only if a value differs
	// from before. Where the change was made it runs only with ClassConfig.NotifyDriver.
	OnRep func(e *T, c Changes)

	// OnOwner runs when the owner changes after the spawn. was is zero if the host drove it.
	OnOwner func(w *World, e *T, was PlayerID)

	// OnDestroy runs once when the entity leaves this client. Its fields still hold the last values.
	OnDestroy func(w *World, e *T, d Departure)

	// Reset prepares the struct of a proxy that has left for the pool of its class; see ClassConfig.Pool. With it, the game clears
	// what is its own in e, and may keep what is dear, such as a sprite to show again; fields that replicate are cleared behind it.
	// Without it the whole struct is cleared.
	Reset func(e *T)
}

// Hook is behaviour for a world, made by [Class.Bind], [Class.OnRep] or [Event.Handle] and given in Config.Hooks. A class may have any
// number: they run in that order.
type Hook struct {
	class *class
	event *event // instead: made by Event.Handle

	// Made by Bind. Each may be nil.
	onSpawn   func(w *World, o Object, local bool)
	onRep     func(o Object, c Changes)
	onOwner   func(w *World, o Object, was PlayerID)
	onDestroy func(w *World, o Object, d Departure)
	load      func(ctx context.Context, id NetID) error
	reset     func(o Object)

	// Made by OnRep: onSlots runs if one of the slots changed.
	slots   uint64
	onSlots func(o Object)

	// Made by Event.Handle. v is a *T.
	onEvent func(i EventInfo, v any)
}

// Bind makes a Hook of h.
func (c *Class[T]) Bind(h Hooks[T]) Hook {
	out := Hook{class: c.class, load: h.Load}
	if h.Reset != nil {
		out.reset = func(o Object) { h.Reset(any(o).(*T)) }
	}
	if h.OnSpawn != nil {
		out.onSpawn = func(w *World, o Object, local bool) { h.OnSpawn(w, any(o).(*T), local) }
	}
	if h.OnRep != nil {
		out.onRep = func(o Object, c Changes) { h.OnRep(any(o).(*T), c) }
	}
	if h.OnOwner != nil {
		out.onOwner = func(w *World, o Object, was PlayerID) { h.OnOwner(w, any(o).(*T), was) }
	}
	if h.OnDestroy != nil {
		out.onDestroy = func(w *World, o Object, d Departure) { h.OnDestroy(w, any(o).(*T), d) }
	}
	return out
}

// OnRep makes a Hook of one field's notify. field says which one: it is called now, with a T of its own, and returns the
// address of the field there. An embedded struct without a tag stands for the fields inside. OnRep panics if that is not
// a replicated field, or notify is nil.
//
// notify runs when Hooks.OnRep would, after it, if the field is among the changes; once, however many fields it stands
// for.
func (c *Class[T]) OnRep(field func(*T) any, notify func(*T)) Hook {
	if notify == nil {
		panic(fmt.Sprintf("throng: class %q: OnRep without a notify: pass the function to run", c.class.name))
	}
	out := Hook{class: c.class, onSlots: func(o Object) { notify(any(o).(*T)) }}
	if c.class.plan != nil { // else NewSchema says why
		e := new(T)
		out.slots = c.class.slotsOf(c.class.plan.Pointer(e), field(e))
	}
	return out
}

// Departure says how an entity left a client.
type Departure struct {
	Why DepartReason
	By  PlayerID // who destroyed it, as the relay knows them; zero: nobody did, or not a player
	// Refused is why the relay did not register what this client announced: ErrIDHeld, ErrGone, ErrLimit and others; nil: it did.
	Refused error
	Local   bool // Destroy was called here
}

// DepartReason is why an entity left a client. Only after Destroyed is it gone for everybody.
type DepartReason uint8

const (
	Destroyed       DepartReason = iota + 1 // somebody who may destroyed it
	Stale                                   // its owner's session fell silent
	SessionReleased                         // its owner's session ended
	TimedOut                                // nothing was heard of it for Config.EntityTimeout
	OutOfReach                              // it is too far away; it may come back as another body
	Replaced                                // another body took its id
	Traveled                                // this client left for another world
)

// String returns the reason in words, such as "out of reach".
func (r DepartReason) String() string {
	return nameOf("DepartReason", int(r), "DepartReason(0)", "destroyed", "stale", "session released", "timed out", "out of reach", "replaced", "traveled")
}
