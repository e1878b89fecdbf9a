package conformance

import (
	"flag"
	"testing"

	"github.com/throng-dev/throng/internal/registry"
	"github.com/throng-dev/throng/internal/shard"
	"github.com/throng-dev/throng/internal/wire"
)

var (
	programs = flag.Int("programs", 700, "random programs to play in each mode")
	first    = flag.Uint64("seed", 1, "first seed")
)

// TestPrograms is: no loss, double or reordering of packets loses a write, leaves a zombie or makes two drivers.
func TestPrograms(t *testing.T) {
	for name, opt := range map[string]Options{
		"one lane":     {},
		"two lanes":    {Reach: 2, PropertyReach: 1},
		"restarts":     {Restarts: true},
		"decay":        {Reach: 3, PropertyReach: 3, Decay: wire.DecayLinear5},
		"decay lanes":  {Reach: 2, PropertyReach: 1, Decay: wire.DecayExponential},
		"pass-through": {PassThrough: true},
		"audiences":    {Audiences: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			checked, slots := 0, 0
			for seed := *first; seed < *first+uint64(*programs); seed++ {
				res := Run(seed, opt)
				if res.Bad != "" {
					opt.Log = true
					for _, l := range Run(seed, opt).Log {
						t.Log(l)
					}
					t.Fatalf("seed %d: %s", seed, res.Bad)
				}
				checked += res.Checked
				slots += res.Slots
			}
			if checked == 0 || slots == 0 && !opt.PassThrough {
				t.Fatal("no program left anything to compare")
			}
			t.Logf("%d programs, %d pairs and %d slots compared", *programs, checked, slots)
		})
	}
}

// TestFaultsAreFound proves that TestPrograms can fail: each planted fault is found by some program.
func TestFaultsAreFound(t *testing.T) {
	for name, opt := range map[string]Options{
		"R-01 one version an entity":         {Client: registry.Faults{OneVersion: true}},
		"R-10 unknown counts as delivered":   {Relay: shard.Faults{AckUnknown: true}},
		"R-20 driver applies its echo":       {Client: registry.Faults{EchoApplied: true}},
		"R-35 guest forgotten":               {Relay: shard.Faults{GuestForgotten: true}},
		"R-04 handle reused early":           {Relay: shard.Faults{ReuseNow: true}},
		"R-20 override numbers ignored":      {Relay: shard.Faults{OverrideLost: true}},
		"R-14 no fence":                      {Client: registry.Faults{NoFence: true}},
		"R-15 role forgotten while learning": {Relay: shard.Faults{RoleForgotten: true}},
		"R-21 waiting copy applies":          {Client: registry.Faults{WaitingApplies: true}},
		"R-22a destroy is final":             {Client: registry.Faults{DestroyFinal: true}},
		"R-16 bind without nonce":            {Client: registry.Faults{NoNonce: true}},
		"B-071 last value kept":              {Relay: shard.Faults{LevelForgotten: true}, Reach: 3, PropertyReach: 3, Decay: wire.DecayLinear5},
		"R-31 segments for all":              {Relay: shard.Faults{SegmentsForAll: true}, Audiences: true},
		"R-31 a deny is forgotten":           {Relay: shard.Faults{DenyForgotten: true}, Audiences: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for seed := uint64(1); seed <= 20000; seed++ {
				if res := Run(seed, opt); res.Bad != "" {
					t.Logf("seed %d: %s", seed, res.Bad)
					return
				}
			}
			t.Error("not found")
		})
	}
}

// TestSeedsRepeat: a failure must play again exactly.
func TestSeedsRepeat(t *testing.T) {
	for seed := uint64(1); seed < 20; seed++ {
		a, b := Run(seed, Options{Log: true, Restarts: true}), Run(seed, Options{Log: true, Restarts: true})
		if a.Packets != b.Packets || a.Stats != b.Stats || len(a.Log) != len(b.Log) {
			t.Fatalf("seed %d: %d packets, then %d", seed, a.Packets, b.Packets)
		}
	}
}
