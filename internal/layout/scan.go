package layout

import (
	"reflect"
	"slices"
	"strings"
)

// scan is the walk over one struct type.
type scan struct {
	cfg    Config
	l      *Layout
	faults []error
	motion map[string]string // fields of the motion struct: name → canonical type
	joined bool              // no other field since the last slot
}

// group scans the fields of t, which starts at offset base of the entity, and returns the slots found.
func (s *scan) group(t reflect.Type, base uintptr, path string) {
	from := len(s.l.Slots)
	for i := range t.NumField() {
		f := t.Field(i)
		at, name := base+f.Offset, join(path, f.Name)
		tag, tagged := f.Tag.Lookup("rep")
		switch {
		case tagged:
			s.slot(f, at, name, tag)
		case slices.Contains(s.cfg.Skip, f.Type):
			s.joined = false
		case f.Anonymous && f.Type.Kind() == reflect.Struct:
			s.group(f.Type, at, name)
		default:
			s.untagged(f, name)
			s.joined = s.joined && f.Type.Size() == 0
		}
	}
	if len(s.l.Slots) <= MaxSlots {
		s.l.fields[place{base, t}] = ones(len(s.l.Slots)) &^ ones(from)
	}
}

// untagged finds fields that look as if they were meant to be replicated and are not.
func (s *scan) untagged(f reflect.StructField, path string) {
	if f.Anonymous && f.Type.Kind() == reflect.Pointer && hasTags(f.Type.Elem(), nil) {
		s.fault("B-013", path, "", "is embedded by pointer and holds fields with rep tags", "embed "+f.Type.Elem().String()+" by value")
	}
	if tag := strings.TrimSpace(string(f.Tag)); tag == "rep" || strings.HasPrefix(tag, "rep:") || strings.HasPrefix(tag, "rep ") {
		s.fault("B-011", path, tag, "is no well-formed tag", "write `rep:\"\"` with the words between the quotes")
	}
}

// slot adds the slot of tagged field f, or the faults that keep it out.
func (s *scan) slot(f reflect.StructField, at uintptr, path, tag string) {
	before := len(s.faults)
	words, wrong := ParseWords(tag)
	for _, w := range wrong {
		s.fault("B-011", path, w.Word, w.Problem, w.Remedy)
	}
	c := s.field(f, at, path, words)
	if words.Has(Position) && len(s.faults) == before {
		s.position(&c, path)
	}
	if c.width > MaxValue {
		s.fault("B-013", path, "", "is too large: a value has at most 16 KiB on the wire", "split it into several fields")
	}
	if typ, ok := s.motion[f.Name]; ok && typ == c.canon && len(s.faults) == before {
		s.fault("B-016", path, "", "also stands in the motion struct "+s.cfg.Motion.String()+", which keeps it",
			"remove the rep tag here, or the field there")
	}
	if len(s.faults) > before {
		s.joined = false
		return
	}

	sl := Slot{Path: path, Go: f.Type, Offset: at, Size: f.Type.Size(), Joined: s.joined, Atoms: c.atoms}
	sl.Field = Field{Name: f.Name, Type: c.canon, Words: words, Width: c.width}
	if c.varies {
		sl.Width, sl.Framed = 0, c.leaf == nil && f.Type.Kind() == reflect.Struct
	}
	if words.Has(Position) {
		sl.XYZ = c.leaf.XYZ
	}
	if len(s.l.Slots) < MaxSlots {
		s.l.fields[place{at, f.Type}] = 1 << len(s.l.Slots)
	}
	s.l.Slots = append(s.l.Slots, sl)
	s.joined = true
}

// field compiles the type of a tagged field.
func (s *scan) field(f reflect.StructField, at uintptr, path string, words Words) (c compiled) {
	switch {
	case f.Name == "_":
		s.fault("B-013", path, "", "is blank and has a rep tag", "give it a name, or remove the tag")
		return c
	case !f.IsExported():
		s.fault("B-013", path, "", "is not exported and has a rep tag", "export it, or remove the tag")
		return c
	}
	before := len(s.faults)
	c = s.compile(f.Type, at, path, false)
	if words.Has(Init) && len(s.faults) > before && s.cfg.Init != nil {
		leaf, faults := s.cfg.Init(s.l.Type.String(), path, f.Type)
		if s.faults = append(s.faults[:before], faults...); len(faults) == 0 {
			return s.leaf(leaf, f.Type, at, path)
		}
	}
	return c
}

// position makes c the class's position slot.
func (s *scan) position(c *compiled, path string) {
	if c.leaf == nil || c.leaf.Axes == 0 {
		s.fault("B-011", path, "position", "does not fit type "+c.canon, "use throng.Vec3, throng.Vec2 or one of their quantised forms")
		return
	}
	for _, other := range s.l.Slots {
		if other.Words.Has(Position) {
			s.fault("B-011", path, "position", "stands a second time, after "+other.Path, "an entity is in one place: keep one")
			return
		}
	}
	for i := range c.atoms {
		c.atoms[i].Finite = true
	}
}

// namesOf lists the fields of a motion struct by name with their canonical types.
func (s *scan) namesOf(t reflect.Type) map[string]string {
	if t == nil || t.Kind() != reflect.Struct {
		return nil
	}
	before, names := len(s.faults), map[string]string{}
	for _, f := range reflect.VisibleFields(t) {
		if f.IsExported() && !f.Anonymous {
			names[f.Name] = s.compile(f.Type, 0, f.Name, false).canon
		}
	}
	// What a motion struct may hold is not decided here.
	s.faults = s.faults[:before]
	return names
}

func join(path, name string) string {
	if path == "" {
		return name
	}
	return path + "." + name
}

func ones(n int) uint64 { return 1<<n - 1 }
