package registry

import (
	"encoding/binary"
	"math/rand/v2"
	"testing"

	"github.com/throng-dev/throng/internal/wire"
)

// The index and the table of handles hold what maps would, over any order of changes.
func TestIndexIsAMap(t *testing.T) {
	for seed := range uint64(20) {
		rnd := rand.New(rand.NewPCG(seed, 5))
		x, want := NewIndex(func(c *Copy) *wire.ID { return &c.ID }), map[wire.ID]*Copy{}
		var id wire.ID
		for i := range 20000 {
			binary.LittleEndian.PutUint64(id[:], rnd.Uint64N(50+200*(seed%5)))
			switch c := want[id]; {
			case rnd.IntN(2) == 0 && (i/4000)%2 == 0 || rnd.IntN(4) == 0:
				c = &Copy{ID: id}
				want[id] = c
				x.Put(c)
			case c != nil && rnd.IntN(8) == 0:
				x.Delete(&Copy{ID: id}) // another of that id
			case c != nil:
				delete(want, id)
				x.Delete(c)
			}
			if x.Find(id) != want[id] || x.Len() != len(want) {
				t.Fatalf("seed %d, step %d: %p for %v, want %p; %d of %d", seed, i, x.Find(id), id, want[id], x.Len(), len(want))
			}
		}
		n := 0
		x.All(func(c *Copy) {
			if n++; want[c.ID] != c {
				t.Fatalf("seed %d: %v", seed, c.ID)
			}
		})
		for id, c := range want {
			if x.Find(id) != c {
				t.Fatalf("seed %d: %v is lost", seed, id)
			}
		}
		if n != len(want) {
			t.Fatalf("seed %d: %d of %d", seed, n, len(want))
		}
	}
}

func TestHandlesAreMaps(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 6))
	var x handles
	copies, fences := map[uint32]*Copy{}, map[uint32]uint64{}
	for i := range 50000 {
		h := 1 + rnd.Uint32N(3000)
		if rnd.IntN(8) == 0 {
			h = h<<20 | 1<<31
		}
		switch c := x.copy(h); rnd.IntN(4) {
		case 0:
			x.free(&Copy{Handle: h}) // another that says it
			if c != nil {
				x.free(c)
				delete(copies, h)
			}
		case 1:
			c = &Copy{Handle: h}
			x.bind(c)
			copies[h] = c
		case 2:
			x.slot(h).fence = uint64(i)
			fences[h] = uint64(i)
		}
		if x.copy(h) != copies[h] || x.fence(h) != fences[h] {
			t.Fatalf("step %d, handle %d", i, h)
		}
	}
	for h, c := range copies {
		if x.copy(h) != c || x.fence(h) != fences[h] {
			t.Fatalf("handle %d", h)
		}
	}
	if x.bind(&Copy{}); x.copy(0) != nil || x.find(0) != nil {
		t.Error("0 is a handle")
	}
}

// A copy knows the version of each slot, in however little memory.
func TestR01VersionsOfSlots(t *testing.T) {
	for seed := range uint64(200) {
		rnd := rand.New(rand.NewPCG(seed, 7))
		n := 1 + rnd.IntN(12)
		k := &Class{Class: wire.Class{Slots: make([]wire.Slot, n), All: 1<<n - 1}}
		if seed%3 > 0 {
			k.Motion = 1 << rnd.IntN(n)
		}
		c, want := &Copy{Class: k}, map[int]uint32{}
		for step := range 40 {
			mask, ver := rnd.Uint64N(1<<n), uint32(10+step/2)
			switch rnd.IntN(4) {
			case 0:
				mask = k.All
			case 1, 2:
				mask = k.Motion
			}
			c.setVer(mask, ver)
			for i := range n {
				if mask>>i&1 != 0 {
					want[i] = ver
				}
				if v, ok := c.Version(i); ok != (want[i] != 0) || ok && v != want[i] {
					t.Fatalf("seed %d, step %d: slot %d has %d, %v, want %d", seed, step, i, v, ok, want[i])
				}
			}
		}
	}
}
