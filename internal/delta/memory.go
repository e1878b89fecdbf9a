package delta

import (
	"fmt"
	"reflect"
	"unsafe"
)

// Ptr points at an entity, or at the image a Shadow keeps of one. The zero Ptr points at nothing.
//
// Everything below trusts two facts: Plan.Pointer admits only the plan's own type, and offsets come from reflection on
// that type. What is read as a number holds no pointer, and strings are read and written as strings, so the collector
// sees all it must.
type Ptr struct{ p unsafe.Pointer }

// Pointer returns where obj is. It panics if obj is not a non-nil pointer to the plan's struct: the one place where
// that is checked. The entity lives as long as the Ptr.
func (pl *Plan) Pointer(obj any) Ptr {
	v := reflect.ValueOf(obj)
	if v.Kind() != reflect.Pointer || v.Type().Elem() != pl.Layout.Type || v.IsNil() {
		panic(fmt.Sprintf("throng: delta: %T where a non-nil *%s is needed", obj, pl.Layout.Type))
	}
	return Ptr{v.UnsafePointer()}
}

// newImage returns n bytes of zeroed memory that start at a multiple of 8.
func newImage(n uintptr) Ptr {
	if n == 0 {
		return Ptr{}
	}
	return Ptr{unsafe.Pointer(unsafe.SliceData(make([]uint64, (n+7)/8)))}
}

// PtrTo returns where v is: for structs of which a plan was made, by those who know their type.
func PtrTo[T any](v *T) Ptr { return Ptr{unsafe.Pointer(v)} }

func (p Ptr) addr() uintptr { return uintptr(p.p) }

func (p Ptr) u8(off uintptr) *uint8          { return (*uint8)(unsafe.Add(p.p, off)) }
func (p Ptr) u16(off uintptr) *uint16        { return (*uint16)(unsafe.Add(p.p, off)) }
func (p Ptr) u32(off uintptr) *uint32        { return (*uint32)(unsafe.Add(p.p, off)) }
func (p Ptr) u64(off uintptr) *uint64        { return (*uint64)(unsafe.Add(p.p, off)) }
func (p Ptr) f32(off uintptr) *float32       { return (*float32)(unsafe.Add(p.p, off)) }
func (p Ptr) f64(off uintptr) *float64       { return (*float64)(unsafe.Add(p.p, off)) }
func (p Ptr) triple(off uintptr) *[3]float64 { return (*[3]float64)(unsafe.Add(p.p, off)) }
func (p Ptr) quad(off uintptr) *[4]float64   { return (*[4]float64)(unsafe.Add(p.p, off)) }
func (p Ptr) str(off uintptr) *string        { return (*string)(unsafe.Add(p.p, off)) }
func (p Ptr) mem(off, n uintptr) []byte      { return unsafe.Slice((*byte)(unsafe.Add(p.p, off)), n) }

// value returns a *T, T being the type at off. No allocation: a pointer fits an interface.
func (p Ptr) value(off uintptr, t reflect.Type) any {
	return reflect.NewAt(t, unsafe.Add(p.p, off)).Interface()
}

// zero clears the value of type t at off.
func (p Ptr) zero(off uintptr, t reflect.Type) {
	reflect.NewAt(t, unsafe.Add(p.p, off)).Elem().SetZero()
}

// pointers reports whether values of type t hold something the collector must see.
func pointers(t reflect.Type) bool {
	switch t.Kind() {
	case reflect.Array:
		return t.Len() > 0 && pointers(t.Elem())
	case reflect.Struct:
		for i := range t.NumField() {
			if pointers(t.Field(i).Type) {
				return true
			}
		}
		return false
	case reflect.Pointer, reflect.UnsafePointer, reflect.Interface, reflect.Func, reflect.Chan, reflect.Map, reflect.Slice, reflect.String:
		return true
	}
	return false
}
