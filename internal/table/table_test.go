package table

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/throng-dev/throng/internal/wire"
)

func class(t testing.TB, slots ...wire.Slot) *Class {
	t.Helper()
	c := &wire.Class{ID: 1, Hash: 2, Slots: slots}
	if !c.Index() {
		t.Fatal("class")
	}
	return NewClass(1, c)
}

func id(n int) (i wire.ID) {
	i[0], i[1], i[2] = byte(n), byte(n>>8), byte(n>>16)
	i[15] = 1
	return i
}

func create(tb *Table, now time.Duration, n int, c *Class) *Entity {
	return tb.Create(now, id(n), tb.NextInc(), tb.NextTerm(), c)
}

// a handle is used again only after Free and the rest, oldest first, with the next generation.
func TestR04HandlesRest(t *testing.T) {
	tb, c := New(1, 10), class(t)
	a, b := create(tb, 0, 1, c), create(tb, 0, 2, c)
	if a.Handle != 1 || b.Handle != 2 || a.Gen != 1 || b.Gen != 1 {
		t.Fatalf("handles %d %d, generations %d %d", a.Handle, b.Handle, a.Gen, b.Gen)
	}
	tb.Kill(a, wire.WhyReleased)
	tb.Kill(b, wire.WhyReleased)
	if x := create(tb, time.Hour, 3, c); x.Handle != 3 {
		t.Fatalf("handle %d was not freed, only killed", x.Handle)
	}
	if tb.ByHandle(1) != a || tb.ByID(a.ID) != nil {
		t.Fatal("a dead entity keeps its handle and loses its id")
	}
	tb.Free(10*time.Second, b)
	tb.Free(11*time.Second, a)
	tb.Free(11*time.Second, a) // twice is once
	if tb.ByHandle(1) != nil || tb.ByHandle(2) != nil {
		t.Fatal("a free handle still leads somewhere")
	}
	if x := create(tb, 10*time.Second+rest-1, 4, c); x.Handle != 4 {
		t.Fatalf("handle %d before its rest was over", x.Handle)
	}
	if x := create(tb, 11*time.Second+rest, 5, c); x.Handle != 2 || x.Gen != 2 {
		t.Fatalf("handle %d generation %d, want the oldest, 2, in its second", x.Handle, x.Gen)
	}
	if x := create(tb, 11*time.Second+rest, 6, c); x.Handle != 1 || x.Gen != 2 {
		t.Fatalf("handle %d generation %d", x.Handle, x.Gen)
	}
	if x := create(tb, 12*time.Second+rest, 7, c); x.Handle != 5 {
		t.Fatalf("handle %d", x.Handle)
	}
}

// The generation of a handle has 8 bits and wraps.
func TestGenerationsWrap(t *testing.T) {
	tb, c := New(1, 1), class(t)
	tb.SetRest(0)
	for i := range 600 {
		e := create(tb, 0, i, c)
		if e == nil || e.Handle != 1 || e.Gen != uint8(i+1) {
			t.Fatalf("%d: %+v", i, e)
		}
		tb.Kill(e, wire.WhyReleased)
		tb.Free(0, e)
	}
}

func TestFullTable(t *testing.T) {
	tb, c := New(1, 3), class(t)
	var all []*Entity
	for i := range 3 {
		all = append(all, create(tb, 0, i, c))
	}
	if create(tb, 0, 9, c) != nil {
		t.Fatal("a fourth of three")
	}
	tb.Kill(all[0], wire.WhyReleased)
	if create(tb, 0, 9, c) == nil || tb.Len() != 3 {
		t.Fatal("the dead take no room")
	}
}

// Dead entities that sessions still hold keep their handles; their number is bounded, and no handle is beyond the format.
func TestHandlesAreBounded(t *testing.T) {
	tb, c := New(1, 2), class(t)
	n := 0
	for e := create(tb, 0, n, c); e != nil; e = create(tb, 0, n, c) {
		tb.Kill(e, wire.WhyReleased)
		if n++; n > 1000 {
			t.Fatal("no end")
		}
	}
	if n != 2*2+64 {
		t.Errorf("%d handles", n)
	}
	tb = New(1, wire.MaxHandle)
	tb.ents = make([]*Entity, wire.MaxHandle) // as if all below the last were taken
	tb.gens = make([]uint8, wire.MaxHandle)
	if e := create(tb, 0, 1, c); e == nil || e.Handle != wire.MaxHandle {
		t.Fatalf("%+v", e)
	}
	if create(tb, 0, 2, c) != nil {
		t.Fatal("a handle that no message can name")
	}
}

// what was destroyed stays destroyed, and the oldest are forgotten when there are too many.
func TestR25GoneListIsBounded(t *testing.T) {
	tb, c := New(1, 10), class(t)
	e := create(tb, 0, 0, c)
	tb.Kill(e, wire.WhyDestroyed)
	if tb.Gone(e.ID) != e.Inc {
		t.Fatal("destroyed and not gone")
	}
	r := create(tb, 0, -1, c)
	tb.Kill(r, wire.WhyReleased)
	if tb.Gone(r.ID) != 0 {
		t.Fatal("released is not destroyed")
	}
	tb.SetGone(e.ID, e.Inc-1, false)
	if tb.Gone(e.ID) != e.Inc {
		t.Fatal("an older incarnation hides a newer")
	}
	for i := 1; i < maxGone+100; i++ {
		tb.SetGone(id(i), 1, false)
		tb.SetGone(id(i), 2, false) // again is not another
	}
	if len(tb.gone.inc) != maxGone || len(tb.gone.order) != maxGone {
		t.Fatalf("%d and %d", len(tb.gone.inc), len(tb.gone.order))
	}
	if tb.Gone(id(99)) != 0 || tb.Gone(id(100)) != 2 || tb.Gone(id(maxGone+99)) != 2 {
		t.Fatal("not the oldest were forgotten")
	}
}

// terms and incarnations are unique over all entities, and greater than all of an older start.
func TestR24CountsAreUnique(t *testing.T) {
	terms, incs := map[wire.Count]bool{}, map[wire.Count]bool{}
	var last wire.Count
	for start := uint32(1); start < 4; start++ {
		tb := New(start, 10)
		for range 1000 {
			term, inc := tb.NextTerm(), tb.NextInc()
			if terms[term] || incs[inc] || term <= last {
				t.Fatalf("term %x, inc %x", term, inc)
			}
			terms[term], incs[inc], last = true, true, term
		}
	}
}

// Random lives: ids, handles and generations never mix up two entities.
func TestRandomLives(t *testing.T) {
	for seed := range uint64(20) {
		rng := rand.New(rand.NewPCG(seed, 7))
		tb, c := New(1, 50), class(t)
		var now time.Duration
		live, dead := map[int]*Entity{}, []*Entity{}
		freed := map[uint32]time.Duration{}
		gens := map[uint32]uint8{}
		for range 5000 {
			now += time.Duration(rng.IntN(200)) * time.Millisecond
			switch n := rng.IntN(80); {
			case live[n] == nil:
				e := create(tb, now, n, c)
				if e == nil {
					if len(live) < 50 && len(dead) == 0 {
						t.Fatal("full without being full")
					}
					continue
				}
				if at, ok := freed[e.Handle]; ok && now < at+rest {
					t.Fatalf("seed %d: handle %d after %v", seed, e.Handle, now-at)
				}
				if e.Gen != gens[e.Handle]+1 {
					t.Fatalf("seed %d: generation %d after %d", seed, e.Gen, gens[e.Handle])
				}
				gens[e.Handle], live[n] = e.Gen, e
			case rng.IntN(2) == 0:
				tb.Kill(live[n], wire.WhyReleased)
				dead = append(dead, live[n])
				delete(live, n)
			default:
				if len(dead) > 0 {
					e := dead[0]
					dead = dead[1:]
					tb.Free(now, e)
					freed[e.Handle] = now
				}
			}
			for n, e := range live {
				if tb.ByHandle(e.Handle) != e || tb.ByID(id(n)) != e {
					t.Fatalf("seed %d: entity %d is lost", seed, n)
				}
			}
			if tb.Len() != len(live) {
				t.Fatalf("seed %d: %d live, want %d", seed, tb.Len(), len(live))
			}
		}
	}
}

// of an id that began anew, the end of a life before says nothing; yet that life is over for good.
func TestR25ReviveKeepsWhatEnded(t *testing.T) {
	tb, c := New(1, 10), class(t)
	e := create(tb, 0, 0, c)
	e.Flags |= wire.EntityPlaced
	tb.Kill(e, wire.WhyDestroyed)
	was := e.Inc
	tb.Revive(e.ID)
	tb.SetGone(e.ID, was, false)
	if tb.Gone(e.ID) != 0 || tb.Ended(e.ID) != was {
		t.Fatalf("gone %x, ended %x", tb.Gone(e.ID), tb.Ended(e.ID))
	}
	e = create(tb, 0, 0, c)
	e.Flags |= wire.EntityPlaced
	tb.SetGone(e.ID, e.Inc-1, true)
	if tb.Gone(e.ID) != 0 || tb.Ended(e.ID) != max(was, e.Inc-1) {
		t.Fatalf("while it lives: gone %x, ended %x", tb.Gone(e.ID), tb.Ended(e.ID))
	}
	tb.Kill(e, wire.WhyDestroyed)
	if tb.Gone(e.ID) != e.Inc || tb.Ended(e.ID) != e.Inc {
		t.Fatalf("destroyed again: gone %x, ended %x", tb.Gone(e.ID), tb.Ended(e.ID))
	}
}
