package layout

import (
	"math"
	"reflect"
)

// Config tells a layout about types it cannot know, since it may not import them.
type Config struct {
	// Skip are the types that make a struct an entity. Embedded in a class they are passed over; inside a field they are
	// refused, an entity is no value. Empty: none.
	Skip []reflect.Type

	// Leaves are types that are replicated as a whole, whatever they are made of.
	Leaves map[reflect.Type]Leaf

	// Find is asked for types that are not in Leaves, such as those with a codec of their own. Nil: there are none.
	Find func(reflect.Type) (Leaf, bool)

	// Init is asked for the type of an init field that could not be a replicated value: such a field is never compared
	// and may hold what an event may (B-013). Nil: init fields hold what others do.
	//
	// of and field name the field for faults; with faults it is no init field either.
	Init func(of, field string, t reflect.Type) (l Leaf, faults []error)

	// Motion is the struct of the class's continuous channel, which keeps the fields it shares with the class (B-016).
	// Nil: none.
	Motion reflect.Type
}

// Leaf describes one type that is replicated as a whole.
type Leaf struct {
	Name  string // canonical name, part of the layout hash; not the Go name
	Codec Codec  // nil: field by field as plain memory, unexported fields too
	Axes  int    // 2 or 3: may be a position; 0: may not

	// XYZ reads a position from v, which is a *T. Needed if Axes is set; z is 0 with two axes.
	XYZ func(v any) (x, y, z float64)

	// Blend is how two values are blended if their memory is float64s alone. A leaf without codec is blended number by number.
	Blend Blend

	// Problem and Remedy are what a Fault says of the type if it cannot be used after all. Empty: it can.
	Problem, Remedy string
}

// Codec gives a type its own form on the wire. Two values are the same value if they have the same bytes, so whatever a
// codec rounds away is never compared (B-021).
//
// v is always a *T. The methods keep neither b nor v and may be called from several goroutines.
type Codec interface {
	// Width is the number of bytes of every value; 0 if it varies, and a length is then written in front.
	Width() int

	// Append writes v behind b. An error says that the value cannot be sent; what was appended is then cut off.
	Append(b []byte, v any) ([]byte, error)

	// Parse sets all of v, whatever it held before, and returns how many bytes it took. It refuses what it cannot read
	// and allocates no more than b can pay for (B-041). After an error the contents of v do not matter.
	Parse(b []byte, v any) (n int, err error)
}

// CodecOf makes a Codec from functions that know the type.
func CodecOf[T any](width int, append func([]byte, *T) ([]byte, error), parse func([]byte, *T) (int, error)) Codec {
	return codec[T]{width, append, parse}
}

type codec[T any] struct {
	width  int
	append func([]byte, *T) ([]byte, error)
	parse  func([]byte, *T) (int, error)
}

func (c codec[T]) Width() int                             { return c.width }
func (c codec[T]) Append(b []byte, v any) ([]byte, error) { return c.append(b, v.(*T)) }
func (c codec[T]) Parse(b []byte, v any) (int, error)     { return c.parse(b, v.(*T)) }

// XYZOf makes Leaf.XYZ from a function that knows the type.
func XYZOf[T any](read func(*T) (x, y, z float64)) func(any) (x, y, z float64) {
	return func(v any) (x, y, z float64) { return read(v.(*T)) }
}

// Finite reports whether a position is somewhere: no NaN, no infinity.
func Finite(x, y, z float64) bool {
	// The difference of an infinity or NaN with itself is NaN; of everything else it is zero.
	d := (x - x) + (y - y) + (z - z)
	return !math.IsNaN(d)
}

func (c *Config) leaf(t reflect.Type) (Leaf, bool) {
	if l, ok := c.Leaves[t]; ok {
		return l, true
	}
	if c.Find != nil {
		return c.Find(t)
	}
	return Leaf{}, false
}
