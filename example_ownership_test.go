package throng_test

import (
	"fmt"
	"time"

	"github.com/throng-dev/throng"
)

type Raft struct {
	throng.Entity
	Pos   throng.Vec2 `rep:"position"`
	Crew  int32       `rep:""`
	Sails bool        `rep:""`
}

var Rafts = throng.NewClass[Raft]("raft", throng.ClassConfig{
	OnOwnerGone: throng.Keep(5 * time.Minute), // its owner finds it again
})

// Who drives an entity decides who gets it next.
func ExampleWorld_RequestOwnership() {
	cfg := throng.Config{World: "lake", OnOwnershipRequest: func(w *throng.World, e throng.Object, from throng.PlayerID) bool {
		raft, ok := e.(*Raft)
		return ok && raft.Crew == 0 // nobody is aboard: take it
	}}
	_ = cfg

	var w *throng.World // joined with cfg
	take := func(raft *Raft) error {
		if w.Drives(raft) {
			return nil
		}
		return w.RequestOwnership(raft) // OnOwner tells if it comes; a no is silence
	}
	_ = take
}

// A raft goes to whoever owns the pier it lies at.
func ExampleWorld_GrantToOwnerOf() {
	moor := func(w *throng.World, raft, pier throng.Object) {
		if err := w.GrantToOwnerOf(raft, pier); err != nil { // of what the host drives there is no owner: use GrantToHost
			fmt.Println(err)
		}
	}
	_ = moor
}

// One raft differs from its class: anybody may take it, and the host may not correct it. Both hold whoever owns it.
func ExampleWithAutoGrant() {
	launch := func(w *throng.World) error {
		return w.Spawn(&Raft{}, throng.WithAutoGrant(true), throng.WithHostOverride(throng.OwnerOnly))
	}
	_ = launch
}

// To another level on the same connection; what the player is there is spawned when it has arrived.
func ExampleWorld_Travel() {
	cfg := throng.Config{World: "lake", OnState: func(w *throng.World, s throng.ConnState) {
		switch {
		case s.Phase == throng.Live && s.Err != nil:
			fmt.Println("still here:", s.Err)
		case s.Phase == throng.Live:
			_ = w.Spawn(&Raft{}, throng.AsAvatar())
		}
	}}
	_ = cfg
	leave := func(w *throng.World) error { return w.Travel("open sea") }
	_ = leave
}

// What a world does with writes by those who may not is the relay's setting.
func ExampleTrust() {
	warn := func(w *throng.World) {
		if p := w.Profile(); p.Trust != throng.TrustStrict {
			fmt.Println("others may write to what they do not drive:", p.Trust)
		}
	}
	_ = warn
	fmt.Println(throng.TrustStrict, throng.TrustObserve, throng.TrustAll)
	// Output: strict observe trust
}
