package shard

import (
	"math/rand/v2"
	"testing"
)

// The index answers like a map, whatever is put in and taken out.
func TestIndexIsAMap(t *testing.T) {
	for seed := range uint64(20) {
		rng := rand.New(rand.NewPCG(seed, 1))
		var x index
		want := map[uint32]int32{}
		handles := uint32(1 + rng.IntN(400))
		for i := range 5000 {
			h := 1 + rng.Uint32N(handles)
			if rng.IntN(5) > 2 {
				x.remove(h)
				delete(want, h)
			} else {
				x.set(h, int32(i))
				want[h] = int32(i)
			}
			probe := 1 + rng.Uint32N(handles)
			pos, ok := x.get(probe)
			if w, has := want[probe]; ok != has || ok && pos != w {
				t.Fatalf("seed %d: handle %d is at %d, %v, not %d, %v", seed, probe, pos, ok, w, has)
			}
		}
		if x.used != len(want) {
			t.Fatalf("%d in use, not %d", x.used, len(want))
		}
	}
}
