package table

import (
	"bytes"
	"testing"

	"github.com/throng-dev/throng/internal/wire"
)

func mixed(t testing.TB) (*Table, *Entity) {
	c := class(t, wire.Slot{Width: 4}, wire.Slot{}, wire.Slot{Width: 1}, wire.Slot{})
	tb := New(1, 10)
	return tb, create(tb, 0, 1, c)
}

func TestValues(t *testing.T) {
	_, e := mixed(t)
	if got := e.AppendValues(nil, e.Class.All); !bytes.Equal(got, []byte{0, 0, 0, 0, 0, 0, 0}) || e.Size() != len(got) {
		t.Fatalf("fresh: %x, size %d", got, e.Size())
	}
	e.Set(0, []byte{1, 2, 3, 4}, 10)
	e.Set(1, []byte{2, 8, 9}, 11)
	e.Set(2, []byte{5}, 12)
	e.Set(3, []byte{1, 7}, 13)
	if got := e.AppendValues(nil, e.Class.All); !bytes.Equal(got, []byte{1, 2, 3, 4, 2, 8, 9, 5, 1, 7}) || e.Size() != len(got) {
		t.Fatalf("all: %x, size %d", got, e.Size())
	}
	if got := e.AppendValues(nil, 0b1010); !bytes.Equal(got, []byte{2, 8, 9, 1, 7}) {
		t.Fatalf("two: %x", got)
	}
	if got := e.Since(11); got != 0b1100 {
		t.Fatalf("since 11: %b", got)
	}
}

// Since compares serially: the flush number wraps.
func TestSinceWraps(t *testing.T) {
	_, e := mixed(t)
	for i := range e.Class.Slots {
		e.vers[i] = 1<<32 - 2
	}
	e.Set(2, []byte{1}, 3)
	if got := e.Since(1<<32 - 1); got != 0b100 {
		t.Fatalf("%b", got)
	}
}

// The values of an entity never outgrow its introduction.
func TestValuesAreBounded(t *testing.T) {
	_, e := mixed(t)
	if e.Set(1, make([]byte, wire.MaxValues), 1) {
		t.Fatal("more than fits")
	}
	free := wire.MaxValues - e.Size()
	if !e.Set(1, make([]byte, free+1), 2) || e.Size() != wire.MaxValues {
		t.Fatalf("size %d", e.Size())
	}
	if e.Set(3, make([]byte, 2), 3) || e.Since(0) != 2 || len(e.Value(3)) != 1 {
		t.Fatal("one byte more")
	}
	if !e.Set(1, []byte{0}, 4) || !e.Set(3, make([]byte, 2), 5) {
		t.Fatal("there is room again")
	}
}

// upstream ticks order writes within a term, by serial comparison; a new term begins anew. R-20: so do overrides.
func TestTermsForget(t *testing.T) {
	_, e := mixed(t)
	if e.Overtaken(0, 0) {
		t.Fatal("nothing was written")
	}
	e.Wrote(0, 1<<32-1)
	for tick, want := range map[uint32]bool{1<<32 - 2: true, 1<<32 - 1: true, 0: false, 5: false} {
		if e.Overtaken(0, tick) != want {
			t.Errorf("tick %d", tick)
		}
	}
	if e.Overridden(0, 0) {
		t.Fatal("nothing was overridden")
	}
	e.N = 3
	e.Override(0)
	if !e.Overridden(0, 2) || e.Overridden(0, 3) || e.Overridden(1, 0) {
		t.Fatal("override 3 of slot 0")
	}
	e.NewTerm(9)
	if e.Overtaken(0, 0) || e.Overridden(0, 0) || e.N != 0 || e.Term != 9 {
		t.Fatal("a new term remembers the old one")
	}
}

func TestNoAllocations(t *testing.T) {
	_, e := mixed(t)
	e.Set(1, []byte{4, 1, 2, 3, 4}, 1)
	b := make([]byte, 0, 100)
	v, w := []byte{1, 2, 3, 4}, []byte{4, 1, 2, 3, 4}
	if n := testing.AllocsPerRun(100, func() {
		e.Set(0, v, 2)
		e.Set(1, w, 2)
		b = e.AppendValues(b[:0], e.Class.All)
	}); n != 0 {
		t.Fatalf("%v allocations", n)
	}
}

// times of capture ascend whatever the driver's clock does, and a jump is one bit; nothing of it meets the versions.
func TestR41StampsAscend(t *testing.T) {
	c := &wire.Class{Name: "walker", Slots: []wire.Slot{{Width: 1}, {Width: 2, Words: wire.WordMotion}}}
	if !c.Index() {
		t.Fatal("class")
	}
	e := New(1, 10).Create(0, wire.ID{1}, 1, 1, NewClass(1, c))
	for _, s := range []struct{ at, want uint32 }{{0, 1}, {100, 100}, {90, 101}, {101, 102}, {1<<32 - 1, 103}, {1 << 30, 1 << 30}} {
		if e.Stamp(s.at); e.Captured() != s.want {
			t.Fatalf("stamp %d: %d, want %d", s.at, e.Captured(), s.want)
		}
	}
	e.TurnCut()
	e.SetWaits(3, true)
	e.Wrote(1, 77)
	e.Set(1, []byte{1, 2}, 9)
	if !e.Cut() || !e.Waits(3) || e.Waits(2) || e.Captured() != 1<<30 || e.Since(8) != 2 || !e.Overtaken(1, 77) || e.Overtaken(1, 78) {
		t.Error("what is kept of motion met something else")
	}
	if e.SetWaits(3, false); e.Waits(3) || !e.Cut() {
		t.Error("a ring's bit")
	}
}
