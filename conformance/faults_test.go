package conformance

import (
	"testing"

	"github.com/throng-dev/throng/internal/registry"
	"github.com/throng-dev/throng/internal/shard"
)

// planted are rules broken on purpose, and the mode whose programs find it.
var planted = []struct {
	name string
	mode string
	opt  Options
}{
	{"R-01 one version an entity", "one lane", Options{Client: registry.Faults{OneVersion: true}}},
	{"R-10 unknown counts as delivered", "one lane", Options{Relay: shard.Faults{AckUnknown: true}}},
	{"R-20 driver applies its echo", "one lane", Options{Client: registry.Faults{EchoApplied: true}}},
	{"R-35 guest forgotten", "one lane", Options{Relay: shard.Faults{GuestForgotten: true}}},
	{"R-04 handle reused early", "one handle", Options{Relay: shard.Faults{ReuseNow: true}}},
	{"R-20 override numbers ignored", "one lane", Options{Relay: shard.Faults{OverrideLost: true}}},
	{"R-14 no fence", "one lane", Options{Client: registry.Faults{NoFence: true}}},
	{"R-15 role forgotten while learning", "one lane", Options{Relay: shard.Faults{RoleForgotten: true}}},
	{"R-21 waiting copy applies", "hand-overs", Options{Client: registry.Faults{WaitingApplies: true}}},
	{"R-22a destroy is final", "one lane", Options{Client: registry.Faults{DestroyFinal: true}}},
	{"R-16 bind without nonce", "one lane", Options{Client: registry.Faults{NoNonce: true}}},
	{"R-31 segments for all", "audiences", Options{Relay: shard.Faults{SegmentsForAll: true}}},
	{"R-31 a deny is forgotten", "audiences", Options{Relay: shard.Faults{DenyForgotten: true}}},
	{"B-071 last value kept", "decay", Options{Relay: shard.Faults{LevelForgotten: true}}},
	{"R-11 acked, then dropped", "one lane", Options{Client: registry.Faults{AckedDropped: true}}},
	{"R-14 binds and assigns without stamp", "comings and goings", Options{Client: registry.Faults{NoStamp: true}}},
	{"R-16 announcement lost to an introduction", "comings and goings", Options{Client: registry.Faults{PendingLost: true}}},
	{"R-13 lists gone, loss forgotten", "one lane", Options{Relay: shard.Faults{ListsForgotten: true}}},
	{"R-20 numbers outlive their term", "hand-overs", Options{Relay: shard.Faults{NumbersKept: true}}},
	{"R-22 a hand-over keeps the term", "one lane", Options{Relay: shard.Faults{SameTerm: true}}},
	{"B-024 owner slots for all", "one lane", Options{Relay: shard.Faults{OwnerTold: true}}},
	{"R-24 no end mark", "restarts", Options{Client: registry.Faults{NoEndMark: true}}},
	{"R-24 only drivers announce again", "restarts", Options{Client: registry.Faults{CertDropped: true}}},
	{"R-24 a restart forgets a destroy", "restarts", Options{Client: registry.Faults{DestroyForgot: true}}},
	{"R-24 what is gone is taken again", "restarts", Options{Relay: shard.Faults{GoneForgotten: true}}},
	{"R-33 crossing forgotten", "tiny budget", Options{Relay: shard.Faults{CrossForgotten: true}}},
	{"R-33 edge forgotten", "tiny budget", Options{Relay: shard.Faults{EdgeForgotten: true}}},
	{"R-33 mark forgotten", "tiny budget", Options{Relay: shard.Faults{MarkForgotten: true}}},
	{"R-34 who is near is overlooked", "one lane", Options{Relay: shard.Faults{NearForgotten: true}}},
	{"R-13 what is not mended is forgotten", "one lane", Options{Relay: shard.Faults{MendForgotten: true}}},
	{"R-51 an event does not wait for the introduction", "events", Options{Relay: shard.Faults{EventEarly: true}}},
	{"R-51 an event overtakes the announcement", "events", Options{Relay: shard.Faults{EventOvertakes: true}}},
	{"R-52 an event does not wait for values", "events", Options{Relay: shard.Faults{EventBlind: true}}},
	{"R-06 a value apart is forgotten at the introduction", "one lane", Options{Relay: shard.Faults{ApartForgotten: true}}},
	{"R-06 a value apart is forgotten behind another", "one lane", Options{Relay: shard.Faults{ApartOnce: true}}},
	{"R-06 a value apart leaves after a deny", "audiences", Options{Relay: shard.Faults{ApartTold: true}}},
	{"R-06 a value apart that is late is applied", "one lane", Options{Client: registry.Faults{ApartStale: true}}},
	{"R-06 a value apart that must wait is forgotten", "one lane", Options{Client: registry.Faults{ApartSent: true}}},
	{"the Bound is an eighth", "one lane", Options{Play: Faults{Hasty: true}}},
	{"R-24 terms of a new start repeat", "restarts", Options{Play: Faults{SameStart: true}}},
}

// seldom are faults that few programs find, and how many find nothing at first: they are not played every time.
var seldom = map[string]uint64{
	"R-13 lists gone, loss forgotten":           3000,
	"R-14 binds and assigns without stamp":      5700,
	"R-16 announcement lost to an introduction": 3200,
	"R-16 bind without nonce":                   2400,
}

// TestFaultsAreFound proves that TestPrograms can fail: each planted fault is found by some program.
func TestFaultsAreFound(t *testing.T) {
	for i, f := range planted {
		if raced && i >= 6 {
			break // the rest is found without the race detector, ten times faster
		}
		t.Run(f.name, func(t *testing.T) {
			t.Parallel()
			for seed := seldom[f.name] + 1; seed <= 20000; seed++ {
				if _, res := Generate(seed, f.mode, f.opt); res.Bad != "" {
					t.Logf("seed %d: %s", seed, res.Bad)
					return
				}
			}
			t.Error("not found")
		})
	}
}
