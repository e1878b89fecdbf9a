// Package layout turns the rep tags of a struct into slots: which fields travel, in what order, in what form.
//
//	struct type ─► scan ─► tagged field ─► words (may they stand together?) ─► compile (may the type travel?) ─► Slot
//	                          └─ embedded struct: scanned in place                                                │
//	                                                       Layout ◄─ hash, masks, field table ◄───────────────────┘
//
// All of it runs once per class, when a schema is made. What the tick needs is laid down in offsets and masks, which
// package delta compiles further; reflection is not used again.
package layout

import (
	"errors"
	"fmt"
	"reflect"
)

// MaxSlots is the most slots a layout has: a mask of slots is one uint64.
const MaxSlots = 64

// MaxValue is the most bytes one slot's value takes on the wire, its leading length excluded.
const MaxValue = 16 << 10

// Layout is the replicated part of one struct type. It never changes after Of and is safe for concurrent use.
type Layout struct {
	Name     string       // of the class
	Type     reflect.Type // the struct
	Slots    []Slot       // in declaration order, embedded structs in place (B-010)
	Hash     uint64       // see HashOf
	Position int          // the slot tagged position; -1: none, the class is global

	// Masks of slots, bit i for Slots[i].
	All       uint64
	Auto      uint64 // compared every tick by the driver: neither manual nor init nor auth
	Owner     uint64
	Manual    uint64
	Heartbeat uint64
	Keyframe  uint64 // what a keyframe carries: heartbeat and not owner (B-027)
	Init      uint64
	Auth      uint64
	Persist   uint64

	fields map[place]uint64
}

// Of makes the layout of struct type t for the class called name.
//
// The error joins every fault of the type, each a *Fault. The layout is then still usable, without the fields at fault,
// for a lenient schema (B-013); it is nil if nothing sensible is left: t is no struct, or has more than MaxSlots slots.
func Of(t reflect.Type, name string, cfg Config) (*Layout, error) {
	if t.Kind() != reflect.Struct {
		return nil, &Fault{Rule: "B-010", Type: t.String(), Problem: "is not a struct",
			Remedy: "declare a struct that embeds throng.Entity"}
	}
	s := scan{cfg: cfg, l: &Layout{Name: name, Type: t, Position: -1, fields: map[place]uint64{}}}
	s.motion = s.namesOf(cfg.Motion)
	s.group(t, 0, "")
	if n := len(s.l.Slots); n > MaxSlots {
		s.fault("B-010", s.l.Slots[MaxSlots].Path, "", fmt.Sprintf("is slot %d of %d, and a class has at most %d", MaxSlots+1, n, MaxSlots),
			"put fields that change together into one struct field, or split the class")
		return nil, errors.Join(s.faults...)
	}
	s.l.finish()
	return s.l, errors.Join(s.faults...)
}

// finish derives from the slots what is looked up at run time.
func (l *Layout) finish() {
	for i, s := range l.Slots {
		bit := uint64(1) << i
		l.All |= bit
		if !s.Words.Any(Manual | Init | Auth) {
			l.Auto |= bit
		}
		if s.Words.Has(Heartbeat) && !s.Words.Has(Owner) {
			l.Keyframe |= bit
		}
		if s.Words.Has(Position) {
			l.Position = i
		}
		for _, m := range []struct {
			word Words
			mask *uint64
		}{{Owner, &l.Owner}, {Manual, &l.Manual}, {Heartbeat, &l.Heartbeat}, {Init, &l.Init}, {Auth, &l.Auth}, {Persist, &l.Persist}} {
			if s.Words.Has(m.word) {
				*m.mask |= bit
			}
		}
	}
	l.Hash = HashOf(l.Fields())
}

// Fields is what may be told to others about the slots: the description that rides along with an announcement.
func (l *Layout) Fields() []Field {
	fs := make([]Field, len(l.Slots))
	for i, s := range l.Slots {
		fs[i] = s.Field
	}
	return fs
}
