package netcode

import (
	"math"
	"math/rand/v2"
	"testing"
)

// naiveWindow is the same rule, said with a set.
type naiveWindow struct {
	newest uint64
	seen   map[uint64]bool
}

func (n *naiveWindow) fresh(seq uint64) bool {
	return !n.seen[seq] && (seq >= n.newest || n.newest-seq < windowSize)
}

func TestWindowAgreesWithASet(t *testing.T) {
	starts := []uint64{0, 1, 255, 256, 1 << 32, 1<<63 - 300, math.MaxUint64 - 2000}
	for seed := range uint64(50) {
		r := rand.New(rand.NewPCG(seed, 1))
		var w window
		n := naiveWindow{seen: map[uint64]bool{}}
		at := starts[seed%uint64(len(starts))]
		for range 2000 {
			seq := at
			switch r.IntN(4) {
			case 0:
				seq -= min(seq, r.Uint64N(600))
			case 1:
				at += min(math.MaxUint64-at, r.Uint64N(3))
			case 2:
				if r.IntN(50) == 0 {
					at += min(math.MaxUint64-at, r.Uint64N(1000))
				}
			}
			if got, want := w.fresh(seq), n.fresh(seq); got != want {
				t.Fatalf("seed %d: fresh(%d) = %v with newest %d, want %v", seed, seq, got, w.newest, want)
			}
			if w.fresh(seq) {
				w.mark(seq)
				n.seen[seq] = true
				n.newest = max(n.newest, seq)
			}
		}
	}
}

func TestWindowAtTheLastSequence(t *testing.T) {
	var w window
	for _, seq := range []uint64{math.MaxUint64 - 1, math.MaxUint64} {
		if !w.fresh(seq) {
			t.Fatalf("%d is not fresh", seq)
		}
		w.mark(seq)
		if w.fresh(seq) {
			t.Fatalf("%d is fresh twice", seq)
		}
	}
	if !w.fresh(math.MaxUint64 - 255) {
		t.Error("the oldest in the window is refused")
	}
	if w.fresh(math.MaxUint64-256) || w.fresh(0) {
		t.Error("one behind the window is fresh")
	}
}
