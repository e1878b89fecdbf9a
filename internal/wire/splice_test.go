package wire

import (
	"bytes"
	"math/rand/v2"
	"testing"

	"github.com/throng-dev/throng/internal/grid"
)

// bodies of segments of one class, copied behind each other with a switch between, read like the records they were made of.
func TestR30SplicedSegments(t *testing.T) {
	c := &Class{ID: 1, Hash: 1, Slots: []Slot{{Width: 4, Words: WordPosition}, {Width: 1}, {Width: 0}}}
	if !c.Index() {
		t.Fatal("class")
	}
	for seed := range uint64(500) {
		rng := rand.New(rand.NewPCG(seed, 1))
		chunk := func() grid.Chunk {
			far := int64(3)
			if rng.IntN(4) == 0 {
				far = 1 << 20
			}
			return grid.Chunk{X: rng.Int64N(far), Y: rng.Int64N(far), Z: rng.Int64N(2)}
		}
		base := chunk()
		var want []Record
		var run Segment
		var frame []byte
		for i := range 1 + rng.IntN(6) {
			first := chunk()
			var s Segment
			s.Reset(nil, 7, c, first)
			head := len(s.B)
			handle, at := uint32(0), first
			for range 1 + rng.IntN(4) {
				handle += 1 + rng.Uint32N(300)
				if len(s.B) > head && rng.IntN(5) == 0 { // one that has just left stands elsewhere
					at = chunk()
				}
				r := Record{Handle: handle, Chunk: at, Mask: 1 | rng.Uint64N(2)<<1, Values: []byte{1, 2, 3, byte(len(want))}}
				if r.Mask&2 != 0 {
					r.Values = append(r.Values, byte(seed))
				}
				s.Begin(r.Handle, r.Chunk, r.Mask, Sample{})
				s.B = append(s.B, r.Values...)
				want = append(want, r)
			}
			if i == 0 {
				frame = AppendChunk(nil, base, first)
				run.Reset(frame, 7, c, first)
			}
			run.Splice(first, s.Chunk(), s.B[head:])
			if rng.IntN(3) == 0 { // and one made for this observer alone
				r := Record{Handle: 1 + rng.Uint32N(300), Chunk: s.Chunk(), Mask: 2, Values: []byte{9}}
				run.Begin(r.Handle, r.Chunk, r.Mask, Sample{})
				run.B = append(run.B, r.Values...)
				want = append(want, r)
			}
		}
		first, num, body, err := ParseSegment(run.B, base)
		if err != nil || num != 7 {
			t.Fatalf("seed %d: class %d, %v", seed, num, err)
		}
		w := Walk(body, first, c)
		var r Record
		n := 0
		for ; w.Next(&r); n++ {
			if n >= len(want) || r.Handle != want[n].Handle || r.Chunk != want[n].Chunk || r.Mask != want[n].Mask || !bytes.Equal(r.Values, want[n].Values) {
				t.Fatalf("seed %d: record %d is %+v", seed, n, r)
			}
		}
		if w.Err() != nil || n != len(want) {
			t.Fatalf("seed %d: %d of %d records, %v", seed, n, len(want), w.Err())
		}
	}
}
