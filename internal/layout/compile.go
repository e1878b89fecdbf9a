package layout

import (
	"reflect"
	"slices"
	"strings"
	"time"
)

// compiled is a type taken apart.
//
// The canonical type is what two builds must agree on. A named type counts as what it is made of, so an enum may be
// renamed or move to another package, but not change its width; a struct is its fields with their names; a leaf is the
// name it was registered under, since its meaning is more than its memory.
type compiled struct {
	canon  string
	atoms  []Atom
	width  int  // on the wire; without the varying parts
	varies bool // holds a string or a codec of varying width
	leaf   *Leaf
}

var forms = map[reflect.Kind]Form{
	reflect.Bool: Bool,
	reflect.Int8: Bits8, reflect.Int16: Bits16, reflect.Int32: Bits32, reflect.Int64: Bits64,
	reflect.Uint8: Bits8, reflect.Uint16: Bits16, reflect.Uint32: Bits32, reflect.Uint64: Bits64,
	reflect.Float32: Float32, reflect.Float64: Float64, reflect.String: String,
}

const useParts = "use a struct with a field per element, an entity per element, a throng.NetCodec for the type, or an init field if it never changes"

// refusals say why a kind cannot be a replicated value, and what to do instead (B-012, B-013).
var refusals = map[reflect.Kind][2]string{
	reflect.Int:           {"has a size that differs between machines", "use int32 or int64"},
	reflect.Uint:          {"has a size that differs between machines", "use uint32 or uint64"},
	reflect.Uintptr:       {"is an address", "use uint64 if it is a number"},
	reflect.Complex64:     {"is complex", "use throng.Vec2, or a struct of two floats"},
	reflect.Complex128:    {"is complex", "use throng.Vec2, or a struct of two floats"},
	reflect.Pointer:       {"is a pointer", "use a throng.NetID for an entity, a struct by value for data"},
	reflect.Interface:     {"is an interface", "use the concrete type, or an enum that says which; for an entity a throng.NetID"},
	reflect.Func:          {"is a function", "use an enum that says what to do"},
	reflect.Chan:          {"is a channel", "use a field with the newest value"},
	reflect.UnsafePointer: {"is an unsafe pointer", "use a throng.NetID for an entity, a struct by value for data"},
	reflect.Slice:         {"is a slice", useParts},
	reflect.Map:           {"is a map", useParts},
	reflect.Array:         {"is an array", useParts},
}

// Refusal says why no value of a kind can be replicated, and what to do; empty: one can.
func Refusal(k reflect.Kind) (problem, remedy string) {
	r := refusals[k]
	return r[0], r[1]
}

// compile takes type t at offset at of the entity apart. open admits unexported fields: t is part of a leaf.
func (s *scan) compile(t reflect.Type, at uintptr, path string, open bool) (c compiled) {
	if leaf, ok := s.cfg.leaf(t); ok {
		return s.leaf(leaf, t, at, path)
	}
	if slices.Contains(s.cfg.Skip, t) {
		s.fault("B-013", path, "", "is another entity", "use its throng.NetID")
		return c
	}
	if form, ok := forms[t.Kind()]; ok {
		c.canon, c.atoms = t.Kind().String(), []Atom{{Form: form, Offset: at, Type: t}}
		if c.varies = form == String; !c.varies {
			c.width = int(t.Size())
		}
		if t == reflect.TypeFor[time.Duration]() {
			c.canon = "duration"
		}
		return c
	}
	if why, refused := refusals[t.Kind()]; refused {
		s.fault("B-013", path, "", "("+t.String()+") "+why[0], why[1])
		return c
	}
	if t.Size() == 0 {
		s.fault("B-013", path, "", "("+t.String()+") has no size, so nothing to send", "use a bool, or remove the field")
		return c
	}
	return s.structure(t, at, path, open)
}

// structure takes the fields of struct t apart: on the wire one after another, without padding.
func (s *scan) structure(t reflect.Type, at uintptr, path string, open bool) (c compiled) {
	var names []string
	for i := range t.NumField() {
		f := t.Field(i)
		name := join(path, f.Name)
		if f.Name == "_" {
			continue // padding, or a marker for the compiler: holds no value
		}
		// The exported fields of an embedded struct are exported, whatever its own name is.
		if !f.IsExported() && !open && (!f.Anonymous || f.Type.Kind() != reflect.Struct) {
			s.fault("B-013", name, "", "is not exported, so "+t.String()+" keeps its meaning to itself",
				"export the field, or give the type a throng.NetCodec")
			continue
		}
		if tag, _ := f.Tag.Lookup("rep"); tag != "" {
			s.fault("B-011", name, tag, "stands inside a slot, where it has no effect", "a struct is one slot: move the words to its field, or embed the struct without a tag")
		}
		in := s.compile(f.Type, at+f.Offset, name, open)
		names = append(names, f.Name+" "+in.canon)
		c.atoms = append(c.atoms, in.atoms...)
		c.width += in.width
		c.varies = c.varies || in.varies
	}
	if len(names) == 0 {
		s.fault("B-013", path, "", "("+t.String()+") has no fields, so nothing to send", "use a bool, or remove the field")
	}
	c.canon = "struct{" + strings.Join(names, "; ") + "}"
	return c
}

// leaf makes the atoms of a type that is replicated as a whole.
func (s *scan) leaf(l Leaf, t reflect.Type, at uintptr, path string) (c compiled) {
	switch {
	case l.Problem != "":
		s.fault("B-012", path, "", "("+t.String()+") "+l.Problem, l.Remedy)
	case l.Codec == nil:
		c = s.plain(t, at, path)
	default:
		c.atoms = []Atom{{Form: Coded, Offset: at, Type: t, Codec: l.Codec, Blend: l.Blend}}
		c.width = l.Codec.Width()
		c.varies = c.width == 0
	}
	if t.Size() == 0 {
		s.fault("B-013", path, "", "("+t.String()+") has no size, so nothing to send", "use a bool, or remove the field")
	}
	c.canon, c.leaf = l.Name, &l
	return c
}

// plain takes a leaf without codec apart as if it were no leaf.
func (s *scan) plain(t reflect.Type, at uintptr, path string) compiled {
	inner := *s
	inner.cfg.Leaves, inner.cfg.Find = nil, nil
	inner.faults = nil
	c := inner.compile(t, at, path, true)
	s.faults = append(s.faults, inner.faults...)
	return c
}

// hasTags reports whether struct t, or one embedded in it, has a field with a rep tag.
func hasTags(t reflect.Type, seen []reflect.Type) bool {
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if t.Kind() != reflect.Struct || slices.Contains(seen, t) {
		return false
	}
	for i := range t.NumField() {
		f := t.Field(i)
		if _, ok := f.Tag.Lookup("rep"); ok || f.Anonymous && hasTags(f.Type, append(seen, t)) {
			return true
		}
	}
	return false
}
