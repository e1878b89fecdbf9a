package throng

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// Gear is embedded without a tag: its fields are slots of their own.
type Gear struct {
	Hat, Coat uint8 `rep:""`
}

type knight struct {
	Entity
	Pos Vec3 `rep:"position"`
	Gear
	Sword struct{ Length, Weight float32 } `rep:""`
	Mood  int8                             // not replicated
}

// changesOf makes the Changes of k with the named fields.
func changesOf(c *class, k Object, names ...string) Changes {
	ch := Changes{class: c, ptr: c.plan.Pointer(k)}
	for i, s := range c.layout.Slots {
		if slices.Contains(names, s.Path) {
			ch.mask |= 1 << i
		}
	}
	return ch
}

func TestHas(t *testing.T) {
	c := NewClass[knight]("knight", ClassConfig{}).class
	k := new(knight)
	for _, tc := range []struct {
		changed string
		fields  []any
		want    bool
	}{
		{"Sword", []any{&k.Sword}, true},
		{"Sword", []any{&k.Pos}, false},
		{"Sword", []any{&k.Pos, &k.Sword}, true},
		{"Sword", []any{k}, true},
		{"Sword", []any{&k.Gear}, false},
		{"Sword", nil, false},
		{"", []any{&k.Pos, k}, false},
		{"Gear.Coat", []any{&k.Coat}, true},
		{"Gear.Coat", []any{&k.Hat}, false},
		{"Gear.Coat", []any{&k.Gear}, true},
		{"Pos", []any{&k.Pos}, true},
	} {
		if got := changesOf(c, k, tc.changed).Has(tc.fields...); got != tc.want {
			t.Errorf("%q changed: Has(%T) is %v", tc.changed, tc.fields, got)
		}
	}
	if (Changes{}).Has(&k.Pos) {
		t.Error("the zero Changes has something")
	}
}

// TestHasOfNoField proves that naming what is no field panics with its name and the remedy, in every run (B-025).
func TestHasOfNoField(t *testing.T) {
	c := NewClass[knight]("knight", ClassConfig{}).class
	k, other := new(knight), new(knight)
	for _, tc := range []struct {
		field any
		want  string
	}{
		{&k.Mood, "throng.knight.Mood is not replicated: give it a rep tag"},
		{&k.Entity, "throng.knight.Entity is not replicated"},
		{&k.Sword.Weight, "throng.knight.Sword.Weight is inside a slot: a struct is one slot, pass &Sword"},
		{&other.Sword, "does not point into this throng.knight: pass the address of a field of the same entity"},
		{k.Sword, "where a field of throng.knight is named: pass its address"},
		{nil, "a <nil> where a field"},
		{(*Vec3)(nil), "a *throng.Vec3 where a field"},
	} {
		for _, ch := range []Changes{changesOf(c, k, "Sword"), changesOf(c, k)} {
			if got := panicOf(func() { ch.Has(&k.Sword, tc.field) }); !strings.Contains(got, tc.want) {
				t.Errorf("Has(%T) panics with %q, want %q", tc.field, got, tc.want)
			}
		}
	}
}

// panicOf returns what f panics with, in words; empty if it returns.
func panicOf(f func()) (s string) {
	defer func() {
		if v := recover(); v != nil {
			s = fmt.Sprint(v)
		}
	}()
	f()
	return ""
}

// TestLenientHas proves that a field which a lenient schema goes without may still be named.
func TestLenientHas(t *testing.T) {
	type chest struct {
		Entity
		Lid   bool    `rep:""`
		Items []int32 `rep:""`
	}
	c := NewClass[chest]("chest", ClassConfig{}).class
	e := new(chest)
	if ch := changesOf(c, e, "Lid"); ch.Has(&e.Items) || !ch.Has(&e.Items, &e.Lid) {
		t.Error("a refused field has changed, or hides another")
	}
}

func TestNames(t *testing.T) {
	c := NewClass[knight]("knight", ClassConfig{}).class
	ch := changesOf(c, new(knight), "Sword", "Gear.Hat", "Pos")
	if got := fmt.Sprint(ch); got != "Pos Gear.Hat Sword" {
		t.Errorf("names are %s", got)
	}
	for name := range ch.Names() {
		if name != "Pos" {
			t.Errorf("%s comes first", name)
		}
		break
	}
	if got := (Changes{}).String(); got != "" {
		t.Errorf("the zero Changes is %q", got)
	}
}

// TestHasAllocates proves that asking in a hook costs no memory.
func TestHasAllocates(t *testing.T) {
	c := NewClass[knight]("knight", ClassConfig{}).class
	k := new(knight)
	ch := changesOf(c, k, "Sword")
	if n := testing.AllocsPerRun(100, func() { ch.Has(&k.Pos, &k.Gear, &k.Sword) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func BenchmarkHas(b *testing.B) {
	c := NewClass[knight]("knight", ClassConfig{}).class
	k := new(knight)
	ch := changesOf(c, k, "Sword")
	b.ReportAllocs()
	for b.Loop() {
		ch.Has(&k.Sword)
	}
}
