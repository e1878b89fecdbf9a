package vet

import (
	"fmt"
	"go/token"
	"go/types"
	"reflect"
	"strings"

	"github.com/throng-dev/throng/internal/layout"
)

// about says which analyzer reports a fault.
type about uint8

const (
	aTag about = iota
	aType
	aHint
)

// fault is what layout would say, and where it belongs in the source.
type fault struct {
	layout.Fault
	about about
	pos   token.Pos
}

// text is the message: the runtime's, without the name of the package in front.
func (f *fault) text() string { return strings.TrimPrefix(f.Error(), "throng: ") }

// scan is the walk over one struct type: layout.scan on the types of the compiler. What they are asked in common is
// compared by TestAgreement.
type scan struct {
	pkg    *types.Package // being vetted: faults are told at its fields
	throng *types.Package // nil: not imported
	sizes  types.Sizes
	name   string    // of the struct
	pos    token.Pos // where to tell what no field of pkg leads to

	motion  types.Type // nil: none
	shared  map[string]string
	faults  []fault
	trail   []*types.Var // fields from the struct to the one at hand, up to the slot
	slots   int
	over    string // the slot above the limit
	overPos token.Pos
	placed  string // the position slot
}

// run scans t, a named struct type.
func (s *scan) run(t types.Type) []fault {
	s.name = nameOf(t)
	if s.motion != nil {
		s.shared = s.namesOf(s.motion)
	}
	s.group(structOf(t), "")
	if s.slots > layout.MaxSlots {
		s.fault(aTag, "B-010", s.over, "", fmt.Sprintf("is slot %d of %d, and a class has at most %d", layout.MaxSlots+1, s.slots, layout.MaxSlots),
			"put fields that change together into one struct field, or split the class")
		s.faults[len(s.faults)-1].pos = s.overPos
	}
	return s.faults
}

func (s *scan) fault(a about, rule, path, word, problem, remedy string) {
	s.faults = append(s.faults, fault{layout.Fault{Rule: rule, Type: s.name, Field: path, Word: word, Problem: problem, Remedy: remedy}, a, s.at()})
}

// at is the innermost field of the trail that stands in the package being vetted.
func (s *scan) at() token.Pos {
	for i := len(s.trail) - 1; i >= 0; i-- {
		if s.trail[i].Pkg() == s.pkg {
			return s.trail[i].Pos()
		}
	}
	return s.pos
}

func (s *scan) group(st *types.Struct, path string) {
	for i := range st.NumFields() {
		f := st.Field(i)
		name := join(path, f.Name())
		tag, tagged := reflect.StructTag(st.Tag(i)).Lookup("rep")
		s.trail = append(s.trail, f)
		switch {
		case tagged:
			s.slot(f, name, tag)
		case is(f.Type(), "Entity"):
		case f.Embedded() && structOf(f.Type()) != nil:
			s.group(structOf(f.Type()), name)
		default:
			s.untagged(f, name, st.Tag(i))
		}
		s.trail = s.trail[:len(s.trail)-1]
	}
}

func (s *scan) untagged(f *types.Var, path, tag string) {
	p, _ := types.Unalias(f.Type()).(*types.Pointer)
	switch {
	case f.Embedded() && p != nil && is(p.Elem(), "Entity"):
		s.fault(aType, "B-010", path, "", "is embedded by pointer, so every body would need one made for it", "embed throng.Entity by value")
	case f.Embedded() && p != nil && hasTags(p.Elem(), nil):
		s.fault(aTag, "B-013", path, "", "is embedded by pointer and holds fields with rep tags", "embed "+nameOf(p.Elem())+" by value")
	case !f.Embedded() && hasTags(f.Type(), nil) && p == nil && !holdsEntity(f.Type()) && !onlyPlaces(f.Type()):
		s.fault(aHint, "B-010", path, "", "has no rep tag, so the tags inside "+nameOf(f.Type())+" have no effect",
			"embed it, which makes each of its fields a slot, or tag it, which makes all of it one slot")
	}
	if tag := strings.TrimSpace(tag); tag == "rep" || strings.HasPrefix(tag, "rep:") || strings.HasPrefix(tag, "rep ") {
		s.fault(aTag, "B-011", path, tag, "is no well-formed tag", "write `rep:\"\"` with the words between the quotes")
	}
}

func (s *scan) slot(f *types.Var, path, tag string) {
	before := len(s.faults)
	words, wrong := layout.ParseWords(tag)
	for _, w := range wrong {
		s.fault(aTag, "B-011", path, w.Word, w.Problem, w.Remedy)
	}
	c := s.field(f, path, words)
	if words.Has(layout.Position) && len(s.faults) == before && !c.open {
		s.position(c, path)
	}
	if c.width > layout.MaxValue {
		s.fault(aType, "B-013", path, "", "is too large: a value has at most 16 KiB on the wire", "split it into several fields")
	}
	typ, shares := s.shared[f.Name()]
	shares = shares && len(s.faults) == before
	if shares && typ == c.canon {
		s.fault(aTag, "B-016", path, "", "also stands in the motion struct "+nameOf(s.motion)+", which keeps it",
			"remove the rep tag here, or the field there")
	}
	if len(s.faults) > before {
		return
	}
	if shares {
		s.fault(aHint, "B-016", path, "", "has the name of a field of the motion struct "+nameOf(s.motion)+", and another type, so both are sent",
			"rename one if they differ, else give both one type")
	}
	if words.Has(layout.Owner | layout.Heartbeat) {
		s.fault(aHint, "B-027", path, "heartbeat", "stands with owner, and what goes to the owner alone is in no keyframe", "drop heartbeat, or drop owner")
	}
	if s.slots++; s.slots == layout.MaxSlots+1 {
		s.over, s.overPos = path, s.at()
	}
	if words.Has(layout.Position) {
		s.placed = path
	}
}

func (s *scan) field(f *types.Var, path string, words layout.Words) (c compiled) {
	switch {
	case f.Name() == "_":
		s.fault(aTag, "B-013", path, "", "is blank and has a rep tag", "give it a name, or remove the tag")
		return c
	case !f.Exported():
		s.fault(aTag, "B-013", path, "", "is not exported and has a rep tag", "export it, or remove the tag")
		return c
	}
	before := len(s.faults)
	if c = s.compile(f.Type(), path, false); words.Has(layout.Init) && len(s.faults) > before {
		s.faults = s.faults[:before]
		return s.payload(f.Type(), path)
	}
	return c
}

func (s *scan) position(c compiled, path string) {
	switch {
	case c.axes == 0:
		s.fault(aTag, "B-011", path, "position", "does not fit type "+c.canon, "use throng.Vec3, throng.Vec2 or one of their quantised forms")
	case s.placed != "":
		s.fault(aTag, "B-011", path, "position", "stands a second time, after "+s.placed, "an entity is in one place: keep one")
	}
}

// namesOf lists the fields of a motion struct, those of embedded ones too, by name with their canonical types.
func (s *scan) namesOf(t types.Type) map[string]string {
	before, names := len(s.faults), map[string]string{}
	var walk func(st *types.Struct)
	walk = func(st *types.Struct) {
		if st == nil {
			return
		}
		var embedded []*types.Struct
		for f := range st.Fields() {
			if f.Embedded() {
				embedded = append(embedded, structOf(f.Type()))
			} else if _, hidden := names[f.Name()]; f.Exported() && !hidden {
				names[f.Name()] = s.compile(f.Type(), f.Name(), false).canon
			}
		}
		for _, e := range embedded {
			walk(e)
		}
	}
	walk(structOf(t))
	s.faults = s.faults[:before]
	return names
}

// hasTags reports whether struct t, or one embedded in it, has a field with a rep tag.
func hasTags(t types.Type, seen []types.Type) bool {
	if p, ok := types.Unalias(t).(*types.Pointer); ok {
		t = p.Elem()
	}
	st := structOf(t)
	for _, before := range seen {
		if types.Identical(before, t) {
			return false
		}
	}
	if st == nil {
		return false
	}
	for i := range st.NumFields() {
		f := st.Field(i)
		if _, ok := reflect.StructTag(st.Tag(i)).Lookup("rep"); ok || f.Embedded() && hasTags(f.Type(), append(seen, t)) {
			return true
		}
	}
	return false
}

// onlyPlaces reports whether the only tag in a struct is a position: then it is a motion struct, of which an entity may well keep one.
func onlyPlaces(t types.Type) bool {
	st := structOf(t)
	if st == nil {
		return false
	}
	n := 0
	for i := range st.NumFields() {
		tag, ok := reflect.StructTag(st.Tag(i)).Lookup("rep")
		if ok && tag != "position" || st.Field(i).Embedded() {
			return false
		}
		if ok {
			n++
		}
	}
	return n == 1
}
