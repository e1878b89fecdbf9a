package shard

import (
	"testing"
	"time"

	"github.com/throng-dev/throng/internal/grid"
	"github.com/throng-dev/throng/internal/table"
	"github.com/throng-dev/throng/internal/wire"
)

// B-071: which ring gets motion how often.
func TestB071Levels(t *testing.T) {
	for name, tt := range map[string]struct {
		rule, reach uint8
		want        []uint8 // by distance
	}{
		"none":               {wire.DecayNone, 8, []uint8{0, 0, 0, 0, 0, 0, 0, 0, 0, 0}},
		"exponential":        {wire.DecayExponential, 8, []uint8{0, 0, 1, 2, 3, 4, 4, 4, 4, 4}},
		"exponential, reach": {wire.DecayExponential, 2, []uint8{0, 0, 1, 1}},
		"linear 50":          {wire.DecayLinear50, 8, []uint8{0, 0, 0, 0, 0, 0, 0, 0, 1, 1}},
		"linear 25":          {wire.DecayLinear25, 8, []uint8{0, 0, 0, 0, 0, 0, 1, 1, 2, 2}},
		"linear 10":          {wire.DecayLinear10, 8, []uint8{0, 0, 0, 0, 0, 1, 1, 2, 3, 3}},
		"linear 5":           {wire.DecayLinear5, 8, []uint8{0, 0, 0, 0, 0, 1, 1, 2, 4, 4}},
		"own chunk only":     {wire.DecayLinear5, 0, []uint8{0, 0}},
		"unknown":            {99, 8, []uint8{0, 0, 0, 0, 0, 0, 0, 0, 0}},
	} {
		d := newDecay(&wire.Profile{Reach: tt.reach, Decay: tt.rule})
		for i, want := range tt.want {
			if got := d.at(int64(i)); got != want {
				t.Errorf("%s: level %d at distance %d, want %d", name, got, i, want)
			}
		}
	}
}

// strider is a class with motion and a plain slot.
func strider() *wire.Class {
	c := &wire.Class{ID: 9, Hash: 9, Name: "strider", Slots: []wire.Slot{{Width: 2, Words: wire.WordMotion | wire.WordPosition}, {Width: 1}}}
	if !c.Index() {
		panic("class")
	}
	return c
}

// B-071: who is far gets motion less often, all else as often as anybody, and the value at which it stopped.
func TestB071FarRingsAreThinned(t *testing.T) {
	prof := DefaultProfile()
	prof.Decay = wire.DecayExponential
	s := New(0, Config{Profile: prof, Settle: -1})
	if s.decay.max != 4 {
		t.Fatal("no decay")
	}
	e := s.table.Create(0, wire.ID{1}, 1, 1, table.NewClass(1, strider()))
	s.place(e, grid.Chunk{})
	enters := [levels]int{}
	now := time.Duration(0)
	last := [levels]byte{}
	step := func(moving bool) {
		if moving {
			s.set(e, 0, []byte{byte(now / (100 * time.Millisecond)), 1})
			s.set(e, 1, []byte{1})
		}
		s.now = now
		if !s.hasWork() {
			return
		}
		s.flush++
		s.presence()
		s.buildBlob()
		for _, b := range s.blob.entries {
			if b.lane >= laneThin {
				enters[b.lane-laneThin]++
				last[b.lane-laneThin] = b.e.Value(0)[0]
			}
		}
		s.finish()
	}
	const n = 320
	for range n {
		step(true)
		now += 100 * time.Millisecond
	}
	for range 16 { // it stands: every level gets the last value, within its period
		step(false)
		now += 100 * time.Millisecond
	}
	for l, got := range enters {
		if want := n >> l; got < want || got > want+1 {
			t.Errorf("level %d: %d values of %d, want %d", l, got, n, want)
		}
		if last[l] != byte((n-1)%256) {
			t.Errorf("level %d ends at %d", l, last[l])
		}
	}
	if s.hasWork() {
		t.Error("something waits for ever")
	}
}
