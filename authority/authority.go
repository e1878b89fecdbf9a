// Package authority is the authority plane: a trusted program that owns what must not be forged. It decides who may know of what it
// owns.
//
// The flow of a tick:
//
//	World.Tick: what arrived, hooks ─► step (the game: spawn, move, decide) ─► verdicts ─► who may know, then values
//	                                     │                                       ▲
//	                                     Spawn ─ Staged ─ Publish ─ Published ───┘ only published actors are offered
//
// A Server is a [throng.World] that joined with the authority right, and rules about actors. The relay enforces what the rules
// say: the verdict on an actor reaches it before the actor does, and to who may not know of it the relay sends not one message
// that names it.
//
// A Server belongs to the goroutine that calls Tick, as a World does; its World's Post is the exception.
package authority

import (
	"errors"
	"fmt"

	"github.com/throng-dev/throng"
)

// Life is how far an actor has come.
type Life uint8

const (
	Constructed Life = iota // a struct that the Server knows nothing of
	Staged                  // spawned, and shown to nobody: its owner may be unknown yet
	Published               // offered to viewers, by the rules
	Withdrawn               // taken from all viewers; it may be published again
	Gone                    // destroyed
)

var lives = [...]string{"constructed", "staged", "published", "withdrawn", "gone"}

// String is the word for logs.
func (l Life) String() string {
	if int(l) < len(lives) {
		return lives[l]
	}
	return fmt.Sprintf("Life(%d)", uint8(l))
}

// LifeError is a move that the life of an actor does not have.
type LifeError struct {
	Move   string // publish, withdraw, …
	Actor  string
	Is     Life
	Remedy string
}

func (e *LifeError) Error() string {
	return fmt.Sprintf("throng: %s of %s, which is %v: %s", e.Move, e.Actor, e.Is, e.Remedy)
}

var (
	// ErrPublishBeforeOwner: an actor whose owner is not known cannot be kept from its owner.
	ErrPublishBeforeOwner = errors.New("its owner is not known: publish it with OwnedBy or Ownerless, or when the rule's Owner knows")
	// ErrNoRules: the class has no rules, so nobody would ever see the actor.
	ErrNoRules = errors.New("its class has no rules, so nobody would see it: give authority.For(class, rules) in Config.Rules")
)

// Option changes how Spawn puts an actor into the world.
type Option func(*options)

type options struct {
	owned, ownerless bool
	owner            throng.PlayerID
	name             string // persistent
	spawn            []throng.SpawnOption
}

// OwnedBy says whom the actor belongs to, and publishes it. The rules decide what follows from that.
func OwnedBy(p throng.PlayerID) Option {
	return func(o *options) { o.owned, o.owner = true, p }
}

// Ownerless says that the actor belongs to nobody, and publishes it.
func Ownerless() Option { return func(o *options) { o.ownerless = true } }

// Persistent keeps the persist fields of the actor under a name of its own, in Config.Store. They are loaded before the actor is
// published.
func Persistent(name string) Option { return func(o *options) { o.name = name } }

// With passes options on to World.Spawn: WithID, WithDestroyDelay and the like.
func With(opts ...throng.SpawnOption) Option {
	return func(o *options) { o.spawn = append(o.spawn, opts...) }
}
