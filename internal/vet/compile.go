package vet

import (
	"go/types"
	"reflect"
	"strings"
)

// compiled is a type taken apart, as far as faults depend on it. See layout.compiled.
type compiled struct {
	canon string
	width int64
	axes  int
	open  bool // depends on a type parameter: the instances tell
}

// compile takes the type of a slot, or of a part of one, apart. It follows layout.compile case by case. open admits
// fields that are not exported: t is part of a leaf.
func (s *scan) compile(t types.Type, path string, open bool) (c compiled) {
	t = types.Unalias(t)
	if l, ok := s.leafOf(t); ok && !open {
		switch {
		case l.problem != "":
			s.fault(aType, "B-012", path, "", "("+nameOf(t)+") "+l.problem, l.remedy)
		case !l.coded:
			c = s.compile(t, path, true)
		}
		if !depends(t) && s.sizes.Sizeof(t) == 0 {
			s.fault(aType, "B-013", path, "", "("+nameOf(t)+") has no size, so nothing to send", "use a bool, or remove the field")
		}
		c.canon, c.axes = l.canon, l.axes
		return c
	}
	if is(t, "Entity") {
		s.fault(aType, "B-013", path, "", "is another entity", "use its throng.NetID")
		return c
	}
	if _, ok := t.(*types.TypeParam); ok {
		return compiled{open: true}
	}
	kind := kindOf(t)
	if refused := refusals[kind]; refused != nil {
		s.fault(aType, "B-013", path, "", "("+nameOf(t)+") "+refused.Problem, refused.Remedy)
		return c
	}
	if st := structOf(t); st != nil {
		return s.structure(t, st, path, open)
	}
	c.canon = kind.String()
	if kind != reflect.String {
		c.width = s.sizes.Sizeof(t)
	}
	if n, ok := t.(*types.Named); ok && n.Obj().Name() == "Duration" && n.Obj().Pkg() != nil && n.Obj().Pkg().Path() == "time" {
		c.canon = "duration"
	}
	return c
}

func (s *scan) structure(t types.Type, st *types.Struct, path string, open bool) (c compiled) {
	if !depends(t) && s.sizes.Sizeof(t) == 0 {
		s.fault(aType, "B-013", path, "", "("+nameOf(t)+") has no size, so nothing to send", "use a bool, or remove the field")
		return c
	}
	var names []string
	for i := range st.NumFields() {
		f := st.Field(i)
		name := join(path, f.Name())
		if f.Name() == "_" {
			continue
		}
		if !f.Exported() && !open && (!f.Embedded() || structOf(f.Type()) == nil) {
			s.fault(aType, "B-013", name, "", "is not exported, so "+nameOf(t)+" keeps its meaning to itself",
				"export the field, or give the type a throng.NetCodec")
			continue
		}
		if tag := reflect.StructTag(st.Tag(i)).Get("rep"); tag != "" {
			s.fault(aTag, "B-011", name, tag, "stands inside a slot, where it has no effect", "a struct is one slot: move the words to its field, or embed the struct without a tag")
		}
		in := s.compile(f.Type(), name, open)
		names = append(names, f.Name()+" "+in.canon)
		c.width += in.width
		c.open = c.open || in.open
	}
	if len(names) == 0 {
		s.fault(aType, "B-013", path, "", "("+nameOf(t)+") has no fields, so nothing to send", "use a bool, or remove the field")
	}
	c.canon = "struct{" + strings.Join(names, "; ") + "}"
	return c
}

// depends reports whether the size of t depends on a type parameter.
func depends(t types.Type) bool {
	switch u := types.Unalias(t).(type) {
	case *types.TypeParam:
		return true
	case *types.Array:
		return depends(u.Elem())
	case *types.Named:
		return depends(u.Underlying())
	case *types.Struct:
		for f := range u.Fields() {
			if depends(f.Type()) {
				return true
			}
		}
	}
	return false
}

func join(path, name string) string {
	if path == "" {
		return name
	}
	return path + "." + name
}
