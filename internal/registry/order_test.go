package registry

import (
	"math/rand/v2"
	"testing"

	"github.com/throng-dev/throng/internal/grid"
	"github.com/throng-dev/throng/internal/session"
	"github.com/throng-dev/throng/internal/wire"
)

// P01, P09, P10: an entity is introduced, changed, leaves, comes back, is destroyed, begins anew; its packets arrive in any order. At every
// instant there is one body or none, and at the end what the last packet sent says, with the newest values.
func TestP09AnyOrderEndsInOneBodyOrNone(t *testing.T) {
	k := &wire.Class{ID: 1, Hash: 1, Name: "lamp", Slots: []wire.Slot{{Width: 1, Name: "Lit"}}}
	k.Index()
	type packet struct {
		pn   uint64
		kind byte
		body []byte
	}
	for seed := range uint64(4000) {
		rng := rand.New(rand.NewPCG(seed, 9))
		id := wire.ID{1, byte(seed)}
		inc, handle, here, value := wire.NewCount(1, 1), uint32(5), false, byte(0)
		var sent []packet
		pn := uint64(0)
		add := func(kind byte, body []byte) {
			pn++
			sent = append(sent, packet{pn, kind, body})
		}
		for range 3 + rng.IntN(9) {
			switch n := rng.IntN(4); {
			case !here: // introduced, or introduced again
				value++
				m := wire.Intro{Handle: handle, Gen: 1, Num: 1, ClassID: 1, ClassHash: 1, ID: id, Inc: inc, Term: inc, Mask: 1, Values: []byte{value}}
				add(wire.KindIntro, m.Append(nil, grid.Chunk{}))
				here = true
			case n < 2:
				value++
				var s wire.Segment
				s.Reset(wire.AppendChunk(nil, grid.Chunk{}, grid.Chunk{}), 1, k, grid.Chunk{})
				s.Begin(handle, grid.Chunk{}, 1, wire.Sample{})
				add(wire.KindSegment, append(s.B, value))
			case n == 2:
				m := wire.Depart{Handle: handle, ID: id, Inc: inc}
				add(wire.KindDepart, m.Append(nil))
				here = false
			default: // destroyed; what comes next is another life under another handle
				m := wire.Depart{Handle: handle, ID: id, Inc: inc, Why: wire.WhyDestroyed}
				add(wire.KindDepart, m.Append(nil))
				here, handle, inc = false, handle+1, inc+1
			}
		}
		r := New(Config{})
		r.AddClass(k, nil)
		r.Connect(0, session.New(session.Config{}))
		r.Welcomed, r.Welcome.World, r.Welcome.Profile.Flags = true, 1, wire.ProfileRetain
		rng.Shuffle(len(sent), func(i, j int) { sent[i], sent[j] = sent[j], sent[i] })
		bodies, held := map[*Copy]byte{}, byte(0)
		for _, p := range sent {
			f := wire.Flush{Epoch: 1, Flush: uint32(p.pn)}
			h := r.Handler(0)
			h.Frame(p.pn, wire.KindFlush, f.Append(nil))
			h.Frame(p.pn, p.kind, p.body)
			for _, c := range r.Changed(nil) {
				if c.Gone {
					delete(bodies, c)
					continue
				}
				c.Shown = true
				c.Staged(func(apply, _ uint64, values []byte) {
					if apply != 0 {
						if was := bodies[c]; values[0] < was {
							t.Fatalf("seed %d: goes back from %d to %d", seed, was, values[0])
						}
						bodies[c] = values[0]
					}
				})
				c.Applied()
			}
			if len(bodies) > 1 || r.Len() != len(bodies) {
				t.Fatalf("seed %d: %d bodies, %d copies", seed, len(bodies), r.Len())
			}
		}
		for _, v := range bodies {
			held = v
		}
		// A record that overtook the introduction was void, and the relay, which knows, sends it again: only the introduction is certain.
		if (len(bodies) == 1) != here || here && held == 0 {
			t.Fatalf("seed %d: here %v, %d bodies with %d of %d", seed, here, len(bodies), held, value)
		}
	}
}
