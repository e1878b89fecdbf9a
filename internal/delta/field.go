package delta

import (
	"fmt"
	"reflect"

	"github.com/throng-dev/throng/internal/layout"
)

// SlotOf resolves a field argument such as &e.Fuel to the slots it means: see layout.Layout.At.
func (pl *Plan) SlotOf(p Ptr, field any) (mask uint64, err error) {
	v := reflect.ValueOf(field)
	if v.Kind() != reflect.Pointer || v.IsNil() {
		return 0, fmt.Errorf("throng: a %T where a field of %s is named: pass its address, as in &e.Field", field, pl.Layout.Type)
	}
	// Outside of the entity the difference wraps or is too large, which At tells from a field.
	return pl.Layout.At(v.Pointer()-p.addr(), v.Type().Elem())
}

// Field returns slot i as a pointer to the field, for those who know its type or print it.
func (pl *Plan) Field(p Ptr, i int) any {
	s := &pl.Layout.Slots[i]
	return p.value(s.Offset, s.Go)
}

// FieldAt is the same for a piece of a slot, of type t at an offset from the start of the struct.
func (pl *Plan) FieldAt(p Ptr, off uintptr, t reflect.Type) any { return p.value(off, t) }

// Position reads the position slot of an entity. It is not ok if the class has none, or the position is nowhere.
func (pl *Plan) Position(p Ptr) (x, y, z float64, ok bool) {
	if pl.xyz == nil {
		return 0, 0, 0, false
	}
	x, y, z = pl.xyz(pl.Field(p, pl.Layout.Position))
	return x, y, z, layout.Finite(x, y, z)
}
