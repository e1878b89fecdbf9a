package delta

import (
	"math/bits"
	"strings"
	"testing"

	"github.com/throng-dev/throng/internal/layout"
)

// TestShadowStartsAtSpawn proves that what the spawn announced is not sent again (B-022).
func TestShadowStartsAtSpawn(t *testing.T) {
	pl := planOf[lantern](t)
	for range 100 {
		p := pl.Pointer(newLantern())
		if d := pl.NewShadow(p).Diff(p, pl.Layout.All); d != 0 {
			t.Fatalf("%b differ", d)
		}
	}
}

// TestDiffNamesEachSlot proves that a change of one slot is found, as that slot, in every mask that holds it.
func TestDiffNamesEachSlot(t *testing.T) {
	pl := planOf[lantern](t)
	changes := []func(*lantern){
		func(e *lantern) { e.Pos.Z++ }, func(e *lantern) { e.Lit = !e.Lit }, func(e *lantern) { e.Pose++ }, func(e *lantern) { e.HP-- },
		func(e *lantern) { e.Glow.Power++ }, func(e *lantern) { e.Fuel++ }, func(e *lantern) { e.Name += "!" }, func(e *lantern) { e.Maker.b++ },
		func(e *lantern) { e.Left++ }, func(e *lantern) { e.Yaw++ },
	}
	for i, change := range changes {
		e := newLantern()
		p := pl.Pointer(e)
		s := pl.NewShadow(p)
		change(e)
		for _, mask := range []uint64{pl.Layout.All, 1 << i, ^uint64(0), pl.Layout.All &^ (1 << i), 0} {
			if got, want := s.Diff(p, mask), mask&(1<<i); got != want {
				t.Errorf("slot %d in %b: %b, want %b", i, mask, got, want)
			}
		}
		s.Adopt(p, pl.Layout.All&^(1<<i))
		if s.Diff(p, pl.Layout.All) != 1<<i {
			t.Errorf("slot %d: what was not sent is not dirty any more", i)
		}
		s.Adopt(p, 1<<i)
		if s.Diff(p, pl.Layout.All) != 0 {
			t.Errorf("slot %d: what was sent is still dirty", i)
		}
	}
}

// TestUntaggedFieldsAreNobodysBusiness proves that fields without a tag do not count, wherever they lie.
func TestUntaggedFieldsAreNobodysBusiness(t *testing.T) {
	type mixed struct {
		A    uint8 `rep:""`
		Mine uint8
		B    uint16 `rep:""`
		C    uint16 `rep:"manual"`
		D    uint32 `rep:""`
	}
	pl := planOf[mixed](t)
	e := &mixed{}
	p := pl.Pointer(e)
	s := pl.NewShadow(p)
	e.Mine, e.C = 9, 9
	if d := s.Diff(p, pl.Layout.Auto); d != 0 {
		t.Errorf("%b differ", d)
	}
	for _, r := range pl.runs {
		if r.mask&0b1 != 0 && r.size != 1 {
			t.Errorf("the compare of A covers %d bytes: other fields too", r.size)
		}
		if auto := r.mask & pl.Layout.Auto; auto != 0 && auto != r.mask {
			t.Errorf("a run holds %b, of which only %b is compared each tick", r.mask, auto)
		}
	}
}

// TestImageAlignment proves that a shadow keeps numbers as aligned as the struct does, on random layouts.
func TestImageAlignment(t *testing.T) {
	for seed := range uint64(200) {
		pl := newSubject(seed).pl
		for i := range pl.ops {
			if o := &pl.ops[i]; o.form < layout.String && (o.at-o.off)%8 != 0 {
				t.Fatalf("seed %d: offset %d is kept at %d", seed, o.off, o.at)
			}
		}
	}
}

// TestSixtyFourSlots proves the last bit of a mask.
func TestSixtyFourSlots(t *testing.T) {
	for seed := uint64(0); ; seed++ {
		s := newSubject(seed)
		if len(s.pl.Layout.Slots) < 50 {
			continue
		}
		if n := bits.OnesCount64(s.pl.Layout.All); n != len(s.pl.Layout.Slots) || len(s.pl.slots) != n {
			t.Errorf("%d slots, %d in the mask", len(s.pl.Layout.Slots), n)
		}
		return
	}
}

// TestPointerRefuses proves that no memory but the plan's own type is ever looked at.
func TestPointerRefuses(t *testing.T) {
	pl := planOf[lantern](t)
	for _, bad := range []any{nil, (*lantern)(nil), lantern{}, &coat{}, 7} {
		func() {
			defer func() {
				if s, _ := recover().(string); !strings.Contains(s, "where a non-nil *delta.lantern is needed") {
					t.Errorf("%T: %q", bad, s)
				}
			}()
			pl.Pointer(bad)
		}()
	}
}

// TestSlotOf proves that &e.Field finds its slot, and another entity's does not (protocol.md §9).
func TestSlotOf(t *testing.T) {
	pl := planOf[lantern](t)
	e, other := newLantern(), newLantern()
	p := pl.Pointer(e)
	for i, f := range []any{&e.Pos, &e.Lit, &e.Pose, &e.HP, &e.Glow, &e.Fuel, &e.Name, &e.Maker, &e.Left, &e.Yaw} {
		if mask, err := pl.SlotOf(p, f); mask != 1<<i || err != nil {
			t.Errorf("field %d: %b, %v", i, mask, err)
		}
		if got := pl.Field(p, i); got != f {
			t.Errorf("Field(%d) = %p, want %p", i, got, f)
		}
	}
	if mask, err := pl.SlotOf(p, e); mask != pl.Layout.All || err != nil {
		t.Errorf("the entity: %b, %v", mask, err)
	}
	for _, tc := range []struct {
		field any
		want  string
	}{
		{&other.Fuel, "does not point into this delta.lantern"},
		{&e.Glow.Power, "delta.lantern.Glow.Power is inside a slot"},
		{&e.flame, "delta.lantern.flame is not replicated"},
		{e.Fuel, "a float32 where a field of delta.lantern is named: pass its address"},
		{(*float32)(nil), "where a field of delta.lantern is named"},
		{nil, "where a field of delta.lantern is named"},
	} {
		if mask, err := pl.SlotOf(p, tc.field); mask != 0 || err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%b, %v; want %q", mask, err, tc.want)
		}
	}
}

// TestNoPosition: a class without one is global.
func TestNoPosition(t *testing.T) {
	pl := planOf[numbers](t)
	if _, _, _, ok := pl.Position(pl.Pointer(&numbers{})); ok || pl.Layout.Position != -1 {
		t.Error("a class without position has one")
	}
}

// TestNoSlots proves that an entity may replicate nothing.
func TestNoSlots(t *testing.T) {
	pl := planOf[struct{ A int }](t)
	p := pl.Pointer(&struct{ A int }{})
	s := pl.NewShadow(p)
	s.Adopt(p, layout.MaxSlots)
	b, refused := pl.Append(nil, p, ^uint64(0))
	if s.Diff(p, ^uint64(0)) != 0 || len(b) != 0 || refused != 0 {
		t.Error("something from nothing")
	}
	if _, n, err := pl.Apply(p, 0, 0, []byte{1}); n != 0 || err != nil {
		t.Error(n, err)
	}
}
