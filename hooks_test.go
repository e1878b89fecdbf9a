package throng

import (
	"fmt"
	"strings"
	"testing"
)

// TestBind proves that a Hook reaches the right functions with the right object, and has nothing where nothing was given.
func TestBind(t *testing.T) {
	knights := NewClass[knight]("knight", ClassConfig{})
	if h := knights.Bind(Hooks[knight]{}); h.class != knights.class || h.onSpawn != nil || h.onRep != nil || h.onOwner != nil || h.onDestroy != nil || h.onSlots != nil {
		t.Errorf("no hooks make %+v", h)
	}
	k := new(knight)
	var ran []string
	note := func(e *knight, args ...any) {
		if e != k {
			t.Errorf("ran for another object")
		}
		ran = append(ran, fmt.Sprint(args...))
	}
	h := knights.Bind(Hooks[knight]{
		OnSpawn:   func(_ *World, e *knight, local bool) { note(e, "spawn ", local) },
		OnRep:     func(e *knight, c Changes) { note(e, "rep ", c) },
		OnOwner:   func(_ *World, e *knight, was PlayerID) { note(e, "owner ", was.IsZero()) },
		OnDestroy: func(_ *World, e *knight, d Departure) { note(e, "destroy ", d.Why) },
	})
	h.onSpawn(nil, k, true)
	h.onRep(k, changesOf(knights.class, k, "Pos"))
	h.onOwner(nil, k, PlayerID{})
	h.onDestroy(nil, k, Departure{Why: OutOfReach})
	if got := strings.Join(ran, ", "); got != "spawn true, rep Pos, owner true, destroy out of reach" {
		t.Errorf("ran %s", got)
	}
}

// TestOnRepField proves that a field's notify knows its slots (B-015).
func TestOnRepField(t *testing.T) {
	knights := NewClass[knight]("knight", ClassConfig{})
	k, ran := new(knight), 0
	notify := func(e *knight) {
		if ran++; e != k {
			t.Error("ran for another object")
		}
	}
	h := knights.OnRep(func(e *knight) any { return &e.Sword }, notify)
	if h.onSlots(k); h.class != knights.class || h.slots != changesOf(knights.class, k, "Sword").mask || ran != 1 {
		t.Errorf("%+v ran %d times", h, ran)
	}
	h = knights.OnRep(func(e *knight) any { return &e.Gear }, notify)
	if h.slots != changesOf(knights.class, k, "Gear.Hat", "Gear.Coat").mask {
		t.Errorf("an embedded struct has slots %b", h.slots)
	}

	for want, f := range map[string]func(){
		"throng.knight.Mood is not replicated": func() { knights.OnRep(func(e *knight) any { return &e.Mood }, notify) },
		"does not point into this":             func() { knights.OnRep(func(*knight) any { return &k.Sword }, notify) },
		"pass its address":                     func() { knights.OnRep(func(e *knight) any { return e.Sword }, notify) },
		"OnRep without a notify":               func() { knights.OnRep(func(e *knight) any { return &e.Sword }, nil) },
	} {
		if got := panicOf(f); !strings.Contains(got, want) || !strings.HasPrefix(got, "throng: ") {
			t.Errorf("panics with %q, want %q", got, want)
		}
	}
}

// TestOnRepBeforeSchema proves that a hook on a field at fault leaves the fault to NewSchema, which tells it with all others.
func TestOnRepBeforeSchema(t *testing.T) {
	type chest struct {
		Entity
		Items []int32 `rep:""`
	}
	h := NewClass[chest]("chest", ClassConfig{}).OnRep(func(e *chest) any { return &e.Items }, func(*chest) {})
	if h.slots != 0 {
		t.Errorf("slots %b", h.slots)
	}
}

func TestReasons(t *testing.T) {
	var got []string
	for r := range Traveled + 2 {
		got = append(got, r.String())
	}
	if got := strings.Join(got, ", "); got != "DepartReason(0), destroyed, stale, session released, timed out, out of reach, replaced, traveled, DepartReason(8)" {
		t.Error(got)
	}
}
