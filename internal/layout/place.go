package layout

import (
	"fmt"
	"reflect"
)

// place is where a field is and what it is. A struct and its first field share the offset and differ in type.
type place struct {
	offset uintptr
	typ    reflect.Type
}

// At resolves a field argument such as &e.Fuel, given as offset from the start of the entity and type pointed to. A
// slot means itself; an embedded struct that is no slot, and the entity itself, mean the slots inside. Everything else
// is an error that names what was pointed at.
func (l *Layout) At(offset uintptr, t reflect.Type) (mask uint64, err error) {
	mask, ok := l.fields[place{offset, t}]
	if ok && mask != 0 {
		return mask, nil
	}
	if offset >= l.Type.Size() {
		return 0, fmt.Errorf("throng: a *%s that does not point into this %s: pass the address of a field of the same entity", t, l.Type)
	}
	for _, s := range l.Slots {
		if offset >= s.Offset && offset < s.Offset+s.Size {
			return 0, fmt.Errorf("throng: %s.%s is inside a slot: a struct is one slot, pass &%s", l.Type, pathAt(l.Type, "", offset, t), s.Path)
		}
	}
	return 0, fmt.Errorf("throng: %s.%s is not replicated: give it a rep tag", l.Type, pathAt(l.Type, "", offset, t))
}

// pathAt names the field of type t at offset of struct in, or the outermost one that covers the offset.
func pathAt(in reflect.Type, path string, offset uintptr, t reflect.Type) string {
	for i := range in.NumField() {
		f := in.Field(i)
		if offset < f.Offset || offset >= f.Offset+f.Type.Size() {
			continue
		}
		name := join(path, f.Name)
		if offset == f.Offset && f.Type == t || f.Type.Kind() != reflect.Struct {
			return name
		}
		return pathAt(f.Type, name, offset-f.Offset, t)
	}
	return path
}
