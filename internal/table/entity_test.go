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
	e.Set(0, []byte{1, 2, 3, 4}, 10, 0)
	e.Set(1, []byte{2, 8, 9}, 11, 0)
	e.Set(2, []byte{5}, 12, 0)
	e.Set(3, []byte{1, 7}, 13, 0)
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
	e.Set(2, []byte{1}, 3, 0)
	if got := e.Since(1<<32 - 1); got != 0b100 {
		t.Fatalf("%b", got)
	}
}

// The values of an entity never outgrow its introduction: what does not fit travels apart, as far as there is room for that.
func TestValuesAreBounded(t *testing.T) {
	_, e := mixed(t)
	if _, ok := e.Set(1, make([]byte, wire.MaxValues), 1, 0); ok {
		t.Fatal("more than fits")
	}
	set := func(i, size int, ver uint32, room, grew int, apart uint64) {
		t.Helper()
		g, ok := e.Set(i, make([]byte, size), ver, room)
		if !ok || g != grew || e.Apart() != apart || len(e.Value(i)) != size || e.Size() > wire.MaxValues {
			t.Fatalf("slot %d of %d B: %v, grew %d, %b apart, %d B in records", i, size, ok, g, e.Apart(), e.Size())
		}
	}
	refused := func(i, size, room int) {
		t.Helper()
		was, apart, held := e.Size(), e.Apart(), len(e.Value(i))
		if _, ok := e.Set(i, make([]byte, size), 99, room); ok || e.Size() != was || e.Apart() != apart || len(e.Value(i)) != held || e.Since(98) != 0 {
			t.Fatalf("slot %d of %d B is stored", i, size)
		}
	}
	set(1, wire.MaxRecorded, 1, 0, 0, 0)
	set(3, 95, 2, 0, 0, 0) // 1,000 B with the five of the other slots
	refused(3, 200, wire.MaxRecorded-1)
	set(3, 96, 3, 1<<20, wire.MaxRecorded, 0b10) // the longest moves
	refused(3, wire.MaxRecorded+1, wire.MaxRecorded)
	set(3, wire.MaxRecorded+1, 4, wire.MaxRecorded+1, wire.MaxRecorded+1, 0b1010)
	refused(3, wire.MaxValue+1, 1<<20)
	set(3, wire.MaxValue, 5, 1<<20, wire.MaxValue-wire.MaxRecorded-1, 0b1010)
	set(1, 10, 6, 0, -wire.MaxRecorded, 0b1000)
	set(3, 10, 7, 0, -wire.MaxValue, 0)
	if cap(e.Value(3)) > wire.MaxValues {
		t.Error("the memory of a large value stays")
	}
	set(1, 2000, 8, 1<<20, 2000, 0b10)
	if n := e.DropApart(); n != 2000 || e.Apart() != 0 || len(e.Value(1)) != 1 {
		t.Errorf("dropped %d B", n)
	}
}

// All values of an entity are one reliable message: those that travel apart are bounded together.
func TestApartIsBounded(t *testing.T) {
	c := class(t, wire.Slot{}, wire.Slot{}, wire.Slot{}, wire.Slot{}, wire.Slot{Words: wire.WordInit}, wire.Slot{Words: wire.WordPosition})
	e := create(New(1, 10), 0, 1, c)
	for i := range 2 {
		if _, ok := e.Set(i, make([]byte, wire.MaxValue), 1, 1<<20); !ok {
			t.Fatal("a large value")
		}
	}
	if _, ok := e.Set(2, make([]byte, wire.MaxValue), 1, 1<<20); ok {
		t.Fatal("more than one message takes")
	}
	for _, i := range []int{4, 5} {
		if _, ok := e.Set(i, make([]byte, wire.MaxValues), 1, 1<<20); ok {
			t.Fatal("what must be in the introduction travels apart")
		}
		if _, ok := e.Set(i, make([]byte, 950), 1, 1<<20); !ok || e.Apart() != 3 {
			t.Fatal("what must be in the introduction fits it")
		}
		e.Set(i, []byte{0}, 1, 0)
	}
	e.Set(3, make([]byte, 800), 1, 0)
	if grew, ok := e.Set(4, make([]byte, 900), 1, 1<<20); !ok || grew != 800 || e.Apart() != 0b1011 {
		t.Fatalf("what may travel apart does not make room: %v, grew %d, %b", ok, grew, e.Apart())
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
	e.Set(1, []byte{4, 1, 2, 3, 4}, 1, 0)
	b := make([]byte, 0, 100)
	v, w := []byte{1, 2, 3, 4}, []byte{4, 1, 2, 3, 4}
	if n := testing.AllocsPerRun(100, func() {
		e.Set(0, v, 2, 0)
		e.Set(1, w, 2, 0)
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
	e.Set(1, []byte{1, 2}, 9, 0)
	if !e.Cut() || !e.Waits(3) || e.Waits(2) || e.Captured() != 1<<30 || e.Since(8) != 2 || !e.Overtaken(1, 77) || e.Overtaken(1, 78) {
		t.Error("what is kept of motion met something else")
	}
	if e.SetWaits(3, false); e.Waits(3) || !e.Cut() {
		t.Error("a ring's bit")
	}
}
