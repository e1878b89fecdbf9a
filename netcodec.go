package throng

import (
	"fmt"
	"reflect"

	"github.com/throng-dev/throng/internal/layout"
)

// NetCodec gives a type a form of its own on the wire. A type T whose *T has these methods may be the type of a field,
// alone or inside a struct, whatever it is made of: a slice, a map, unexported fields, fewer bits than Go has a type for.
// There is nothing to register.
//
//	var _ throng.NetCodec = (*Palette)(nil) // tells at compile time what is missing
//
// Two values are the same if AppendNet writes the same bytes. So a field is sent when its bytes change, once in a tick,
// and what a codec rounds away never is; a field that does not change costs a call of AppendNet in each tick, unless
// it holds no pointers and its memory is the same.
//
// The methods must depend on nothing but their arguments, for they run on both sides, at any time and several times for
// one value: ParseNet first into a value that nobody sees, so that bytes which it refuses change nothing. If one of
// them panics, that is an error of this value, not the end of the program.
type NetCodec interface {
	// NetForm names the form and tells how many bytes every value has, at most 1,000; 0 if it varies, and a length
	// is then written in front. It is asked once, of a zero value, when the class is declared.
	//
	// The name is part of the layout hash: give a form that changes another name ("palette/2"), and builds that do not
	// understand each other drop the class's deltas instead of misreading them.
	NetForm() (name string, bytes int)

	// AppendNet writes the value behind b, at most 16 KiB, and returns both. With an error it is not sent and others
	// keep what they have; the log names the field.
	AppendNet(b []byte) ([]byte, error)

	// ParseNet sets the whole value, whatever it held before, from bytes that AppendNet may have written, or an
	// attacker. All of b is the value: n must come out as its length. It keeps nothing of b, and allocates no more than
	// the length of b can pay for. After an error the value does not matter.
	ParseNet(b []byte) (n int, err error)
}

var netCodec = reflect.TypeFor[NetCodec]()

// findNetCodec is layout.Config.Find.
func findNetCodec(t reflect.Type) (l layout.Leaf, ok bool) {
	if !reflect.PointerTo(t).Implements(netCodec) {
		return l, false
	}
	name, width, err := formOf(t)
	switch {
	case err != nil:
		l.Problem, l.Remedy = "has a NetForm that panics: "+err.Error(), "return constants"
	case name == "":
		l.Problem, l.Remedy = "has a NetForm without a name", "return one that no other form of the game has"
	case width < 0 || width > layout.MaxValue:
		l.Problem, l.Remedy = fmt.Sprintf("has a NetForm of %d bytes", width), "return the bytes of every value, or 0 if they vary"
	case t.Implements(netCodec):
		l.Problem, l.Remedy = "has a ParseNet that sets a copy", "declare it on *"+t.String()
	case promoted(t, name):
		l.Problem, l.Remedy = "gets its codec from an embedded field, which knows nothing of the others", "give the field a name, or the type a codec of its own"
	}
	l.Name, l.Codec = "codec "+name, userCodec{name, width}
	return l, true
}

func formOf(t reflect.Type) (name string, width int, err error) {
	defer caught(&err, "of "+t.String())
	name, width = reflect.New(t).Interface().(NetCodec).NetForm()
	return name, width, nil
}

// promoted reports whether struct t has its methods from a field embedded in it: the form then has the same name.
func promoted(t reflect.Type, name string) bool {
	if t.Kind() != reflect.Struct {
		return false
	}
	for i := range t.NumField() {
		f := t.Field(i)
		typ := f.Type
		if f.Anonymous && typ.Kind() == reflect.Pointer {
			typ = typ.Elem()
		}
		if !f.Anonymous || !reflect.PointerTo(typ).Implements(netCodec) {
			continue
		}
		if inner, _, err := formOf(typ); err != nil || inner == name {
			return true
		}
	}
	return false
}

// userCodec stands between the replication and methods of the game.
type userCodec struct {
	name  string
	width int
}

func (c userCodec) Width() int { return c.width }

// Append hands AppendNet the free end of b only: what stands before is other fields.
func (c userCodec) Append(b []byte, v any) (out []byte, err error) {
	defer caught(&err, c.name)
	tail := b[len(b):]
	own, err := v.(NetCodec).AppendNet(tail)
	if err != nil {
		return b, err
	}
	if n := len(own); n > 0 && n <= cap(tail) && &own[0] == &tail[:1][0] {
		return b[:len(b)+n], nil
	}
	return append(b, own...), nil
}

func (c userCodec) Parse(b []byte, v any) (n int, err error) {
	defer caught(&err, c.name)
	return v.(NetCodec).ParseNet(b)
}

// caught turns a panic into an error: bytes from the network must not end a program (B-130).
func caught(err *error, name string) {
	if r := recover(); r != nil {
		*err = fmt.Errorf("throng: codec %s panicked: %v", name, r)
	}
}
