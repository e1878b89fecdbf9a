// Package throng keeps the objects of a multiplayer game the same on every screen.
//
// A game declares structs. One client drives each value of them, by writing its fields as in any other program; all others
// that are near enough hold a proxy whose fields follow. In between stands a relay, which keeps the newest value of
// every field, so that whoever comes late, or lost a packet, gets it. There is no code to generate and no call for each
// field.
//
// # Quick start
//
// Declare what is replicated, in a package that all programs of the game share:
//
//	type Lantern struct {
//		throng.Entity
//		Pos   throng.Vec3 `rep:"position"`
//		Lit   bool        `rep:""`
//		Fuel  float32     `rep:"owner"`
//		flame *Sprite     // without a tag: stays here
//	}
//
//	var (
//		Lanterns = throng.NewClass[Lantern]("lantern", throng.ClassConfig{})
//		Schema   = throng.MustSchema(Lanterns)
//	)
//
// Say what should happen when something comes from elsewhere, and join:
//
//	w, err := throng.Join(ctx, addr, Schema, throng.Config{
//		TokenSource: token.DevSource(addr, "ada"), // for a relay on this machine; later your backend
//		World:       "meadow",
//		Hooks: []throng.Hook{Lanterns.Bind(throng.Hooks[Lantern]{
//			OnSpawn: func(w *throng.World, l *Lantern, local bool) { l.flame = newSprite() },
//			OnRep:   func(l *Lantern, c throng.Changes) { l.flame.Show(l.Lit) },
//		})},
//	})
//
// Spawn, then let the game loop tick the world. A client sees what is near its avatar; without one, or SetViewpoints, it sees only
// what has no position. What is written in step leaves with the same tick:
//
//	mine := &Lantern{Lit: true}
//	if err := w.Spawn(mine, throng.AsAvatar()); err != nil { … }
//	for running {
//		if err := w.Tick(func() { mine.Pos = player.Hand() }); err != nil { … }
//		for l := range Lanterns.All(w) {
//			draw(l)
//		}
//	}
//
// # The rep tag
//
// A field with the tag `rep:""` replicates whenever its value changes. Words, with commas between them, change that:
//
//	owner      goes to the owner's client only
//	manual     leaves when World.MarkDirty names it, not when it changes
//	heartbeat  is repeated at an interval, changed or not
//	init       goes along with the spawn, never after
//	position   says where the entity is; without such a field it is seen from everywhere
//	auth, persist  are a trusted server's, see package authority: clients cannot write such a field
//
// Fields may be bools, sized integers, floats, strings, time.Duration, [NetID], [PlayerID], [Vec2], [Vec3], types made of
// one of these, and structs of them. A struct is one field: it is compared and sent as a whole, so that what belongs
// together arrives together. A struct embedded without a tag is not: its fields count as if they stood in its place. A
// class has at most 64 fields. [NewSchema] refuses everything else with the reason. An init field may also hold slices, arrays
// and maps, as the payload of an [Event] may.
//
// # Concurrency
//
// What the package guarantees, and what it asks for:
//
//  1. A World belongs to the goroutine that calls its Tick. Every other method is called there, every hook runs there.
//     World.Post is the exception: it may be called from anywhere, and runs its function there.
//  2. Hooks run within Tick and before its step, except those that a call such as Spawn or Destroy causes: these run
//     within the call. What comes from one sender comes in the order it was sent; between senders there is no order. Of events
//     only reliable ones are in order, those of one sender about one entity, or about none.
//  3. Fields first, hooks then: all fields of a delta are written before its OnRep, and all of a new entity before its
//     OnSpawn.
//  4. What a hook does counts here at once, and leaves with the tick it runs in.
//  5. Nothing that other clients or the relay send can panic or come out as an error of a call. It is counted, and logged
//     at a bounded rate.
//  6. The package keeps nothing that it hands to a hook, nor may the hook keep it, unless its description says so. The
//     entity is the game's: it may be kept, but is no longer followed after its OnDestroy.
//  7. Two calls into a World at the same time are a bug of the program. They are noticed, and panic with a message that
//     names Post.
//  8. Only Join blocks. A hook may call everything but Tick and Close. Config is copied by Join: to change it
//     afterwards changes nothing.
//
// Ids, classes, schemas and vectors never change by themselves: any goroutine may use them.
//
// # Consistency
//
// Promised:
//
//   - What a proxy holds in a field, its driver sent at some time. It never goes back to an older value while the
//     entity lives and stays in reach.
//   - When the writing stops and packets get through again, everybody in reach ends up with the value that was sent
//     last, whatever was lost in between and however late they joined. No heartbeat is needed for that.
//   - At most one client drives an entity at any time, also while it changes hands. Its id stays the same.
//   - One body for an id: OnSpawn and OnDestroy run once for each, in that order, with everything else in between.
//
// Not promised:
//
//   - Every value in between. Newer ones replace older ones that are still waiting, so a field that went from 1 by 2 to 3
//     may be seen going from 1 to 3.
//   - That fields arrive together that were changed together. Those of one struct do, two fields usually do.
//   - An order between entities, or the same moment on all screens.
//   - The last writes of a client that disappeared before the relay had them.
//   - Truth. A client may write what it likes into what it owns, and a game that cannot have that must check it where
//     players cannot reach. Do not keep money here.
//
// A field that is manual and not marked, or belongs to a host-owned entity and was not pushed, was not sent: the promises
// are about what was.
package throng
