package wire

import (
	"math/bits"
	"math/rand/v2"
	"testing"
)

func FuzzValue(f *testing.F) {
	seed(f, "message", MsgValue, func(b []byte) { f.Add(b) })
	f.Fuzz(func(t *testing.T, b []byte) {
		roundTrip(t, b, 0, ParseValue, func(m *Value) []byte { return m.Append(nil)[1:] })
	})
}

func FuzzValueUp(f *testing.F) {
	seed(f, "message", MsgValueUp, func(b []byte) { f.Add(b) })
	f.Fuzz(func(t *testing.T, b []byte) {
		roundTrip(t, b, 0, ParseValueUp, func(m *ValueUp) []byte { return m.Append(nil)[1:] })
	})
}

// what travels apart leaves what fits a record; nothing does that need not, nor what may not.
func TestApart(t *testing.T) {
	c := &Class{Slots: []Slot{{Width: 8, Words: WordPosition}, {}, {Width: 100}, {}, {Words: WordInit}, {}}}
	if !c.Index() {
		t.Fatal("class")
	}
	rng := rand.New(rand.NewPCG(1, 2))
	for range 2000 {
		mask := rng.Uint64() & c.All
		var values []byte
		var size [6]int
		for m := mask; m != 0; m &= m - 1 {
			i := bits.TrailingZeros64(m)
			at := len(values)
			if w := int(c.Slots[i].Width); w > 0 {
				values = append(values, make([]byte, w)...)
			} else {
				n := []int{rng.IntN(20), rng.IntN(800), rng.IntN(2000)}[rng.IntN(3)]
				if i == 4 {
					n = rng.IntN(700)
				}
				values = appendText(values, string(make([]byte, n)))
			}
			size[i] = len(values) - at
		}
		apart := c.Apart(mask, values)
		rest, longest := len(values), 0
		for i, n := range size {
			switch {
			case apart>>i&1 != 0:
				rest -= n
			case c.Movable()>>i&1 != 0:
				longest = max(longest, n)
			}
		}
		if apart&^(mask&c.Movable()) != 0 || rest > MaxValues || longest > MaxRecorded {
			t.Fatalf("sizes %v: %b apart leaves %d bytes", size, apart, rest)
		}
		for i, n := range size {
			if apart>>i&1 != 0 && n <= MaxRecorded && rest+n <= MaxValues && n < longest {
				t.Fatalf("sizes %v: slot %d need not travel apart", size, i)
			}
		}
		if len(values) <= MaxRecorded && apart != 0 {
			t.Fatalf("sizes %v: %b apart", size, apart)
		}
	}
}

// Fits takes whole values of slots that may travel apart, nothing else.
func TestFits(t *testing.T) {
	c := &Class{Slots: []Slot{{Width: 2}, {}, {Words: WordInit}, {Words: WordPosition}}}
	c.Index()
	long := appendText(nil, string(make([]byte, MaxValue)))
	for name, tt := range map[string]struct {
		slot uint8
		v    []byte
		want bool
	}{
		"whole":       {1, []byte{2, 8, 9}, true},
		"longest":     {1, long[:0:0], false},
		"short":       {1, []byte{3, 8, 9}, false},
		"behind":      {1, []byte{1, 8, 9}, false},
		"none":        {1, nil, false},
		"fixed":       {0, []byte{1, 2}, false},
		"init":        {2, []byte{1, 2}, false},
		"position":    {3, []byte{1, 2}, false},
		"no slot":     {4, []byte{1, 2}, false},
		"far slot":    {255, []byte{1, 2}, false},
		"too long":    {1, long, false},
		"most it may": {1, appendText(nil, string(make([]byte, MaxValue-3))), true},
	} {
		if got := c.Fits(tt.slot, tt.v); got != tt.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}
