package registry

import (
	"math/rand/v2"
	"testing"

	"github.com/throng-dev/throng/internal/wire"
)

// TestVersionsAreOneForEachSlot is R-01 for any order of records: which slots are older, and which version is the newest, is what a table of
// all versions says, however few of them a copy keeps.
func TestVersionsAreOneForEachSlot(t *testing.T) {
	for seed := range uint64(400) {
		rng := rand.New(rand.NewPCG(seed, 1))
		k := &wire.Class{Slots: make([]wire.Slot, 1+rng.IntN(8))}
		if rng.IntN(2) == 0 {
			k.Slots[rng.IntN(len(k.Slots))].Words = wire.WordMotion
		}
		k.Index()
		c := &Copy{Class: &Class{Class: *k}}
		held := map[int]uint32{}
		at := rng.Uint32() // it may wrap around
		for range 60 {
			at += rng.Uint32N(4)
			ver := at - rng.Uint32N(8)
			if rng.IntN(30) == 0 { // a new session
				c.verSet = 0
				clear(held)
			}
			mask := rng.Uint64() & k.All
			want, newest := uint64(0), uint32(0)
			for i := range k.Slots {
				if v, ok := held[i]; mask>>i&1 != 0 && (!ok || int32(ver-v) > 0) {
					want |= 1 << i
				}
			}
			if got := c.older(mask, ver); got != want {
				t.Fatalf("seed %d: of %b older than %d are %b, want %b of %v", seed, mask, ver, got, want, held)
			}
			if want == 0 {
				continue
			}
			c.setVer(want, ver)
			for i := range k.Slots {
				if want>>i&1 != 0 {
					held[i] = ver
				}
			}
			newest = ver
			for i, v := range held {
				if got, ok := c.Version(i); !ok || got != v {
					t.Fatalf("seed %d: slot %d has %d, want %d", seed, i, got, v)
				}
				if int32(v-newest) > 0 {
					newest = v
				}
			}
			if got := c.newest(); got != newest {
				t.Fatalf("seed %d: the newest is %d, want %d of %v", seed, got, newest, held)
			}
		}
	}
}
