package layout

import (
	"errors"
	"reflect"
	"strings"
)

// Blend is how a value between two others is made.
type Blend uint8

const (
	Step      Blend = iota // there is none: the earlier stands
	Linear                 // each number for itself
	Angles                 // degrees, each by the shorter arc
	Rotation               // a unit quaternion, by the shorter arc
	Direction              // a vector of length 1
)

// MotionName is the name of the slot that a motion struct makes, which no field has.
const MotionName = "(motion)"

// MotionStruct is the struct of a class's continuous channel as one slot: Slots[0] of its layout.
type MotionStruct struct {
	*Layout
	Where *Leaf   // of the field that places the entity; nil: none does
	At    uintptr // offset of that field
	Go    reflect.Type
}

// MotionOf makes the slot of struct type t, the motion of the class called name. One of its fields may be tagged position; its other
// fields need no tags.
func MotionOf(t reflect.Type, name string, cfg Config) (*MotionStruct, error) {
	m := &MotionStruct{Layout: &Layout{Name: name, Type: t, Position: -1, fields: map[place]uint64{}}}
	s := scan{cfg: cfg, l: m.Layout}
	var c compiled
	words := Motion
	if _, leaf := cfg.leaf(t); leaf || t.Kind() != reflect.Struct {
		c = s.compile(t, 0, t.String(), false)
	} else {
		c = s.motionFields(t, m)
	}
	if m.Where != nil {
		words |= Position
	}
	if len(s.faults) > 0 {
		return nil, errors.Join(s.faults...)
	}
	sl := Slot{Path: MotionName, Go: t, Size: t.Size(), Atoms: c.atoms}
	sl.Field = Field{Name: MotionName, Type: c.canon, Words: words, Width: c.width}
	if c.varies {
		sl.Width, sl.Framed = 0, c.leaf == nil && t.Kind() == reflect.Struct
	}
	m.Slots = []Slot{sl}
	m.finish()
	m.Position = -1
	return m, nil
}

// motionFields is structure for a motion struct, whose fields may have one word.
func (s *scan) motionFields(t reflect.Type, m *MotionStruct) (c compiled) {
	var names []string
	for i := range t.NumField() {
		f := t.Field(i)
		if f.Name == "_" {
			continue
		}
		if !f.IsExported() && (!f.Anonymous || f.Type.Kind() != reflect.Struct) {
			s.fault("B-013", f.Name, "", "is not exported, so "+t.String()+" keeps its meaning to itself", "export the field, or leave it out of the motion struct")
			continue
		}
		words, wrong := ParseWords(f.Tag.Get("rep"))
		for _, w := range wrong {
			s.fault("B-011", f.Name, w.Word, w.Problem, w.Remedy)
		}
		if rest := words &^ Position; rest != 0 {
			s.fault("B-011", f.Name, rest.String(), "stands in a motion struct, whose fields leave together", "remove it, or make the field one of the class")
		}
		in := s.compile(f.Type, f.Offset, f.Name, false)
		switch {
		case !words.Has(Position):
		case in.leaf == nil || in.leaf.Axes == 0:
			s.fault("B-011", f.Name, "position", "does not fit type "+in.canon, "use throng.Vec3, throng.Vec2 or one of their quantised forms")
		case m.Where != nil:
			s.fault("B-011", f.Name, "position", "stands a second time", "an entity is in one place: keep one")
		default:
			m.Where, m.At, m.Go = in.leaf, f.Offset, f.Type
			for j := range in.atoms {
				in.atoms[j].Finite = true
			}
		}
		names = append(names, f.Name+" "+in.canon)
		c.atoms = append(c.atoms, in.atoms...)
		c.width += in.width
		c.varies = c.varies || in.varies
	}
	if len(names) == 0 {
		s.fault("B-013", t.String(), "", "has no fields, so nothing to send", "give the motion struct what moves")
	}
	c.canon = "struct{" + strings.Join(names, "; ") + "}"
	return c
}

// Stream makes the position slot the class's motion, for a class that streams and has no motion struct.
func (l *Layout) Stream() {
	l.Slots[l.Position].Words |= Motion
	l.Hash = HashOf(l.Fields())
}
