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
	{"R-21 waiting copy applies", "one lane", Options{Client: registry.Faults{WaitingApplies: true}}},
	{"R-22a destroy is final", "one lane", Options{Client: registry.Faults{DestroyFinal: true}}},
	{"R-16 bind without nonce", "one lane", Options{Client: registry.Faults{NoNonce: true}}},
	{"R-31 segments for all", "audiences", Options{Relay: shard.Faults{SegmentsForAll: true}}},
	{"R-31 a deny is forgotten", "audiences", Options{Relay: shard.Faults{DenyForgotten: true}}},
	{"B-071 last value kept", "decay", Options{Relay: shard.Faults{LevelForgotten: true}}},
	{"R-24 terms of a new start repeat", "restarts", Options{Play: Faults{SameStart: true}}},
}

// TestFaultsAreFound proves that TestPrograms can fail: each planted fault is found by some program.
func TestFaultsAreFound(t *testing.T) {
	for _, f := range planted {
		t.Run(f.name, func(t *testing.T) {
			t.Parallel()
			for seed := uint64(1); seed <= 20000; seed++ {
				if _, res := Generate(seed, f.mode, f.opt); res.Bad != "" {
					t.Logf("seed %d: %s", seed, res.Bad)
					return
				}
			}
			t.Error("not found")
		})
	}
}
