package vet

import (
	"errors"
	"go/types"
	"reflect"
	"strings"

	"github.com/throng-dev/throng/internal/layout"
)

// leaf is a type that is replicated as a whole.
type leaf struct {
	canon string
	axes  int // 2 or 3: may be a position
	coded bool

	problem, remedy string // why it cannot be used after all
}

// leaves are the types that package throng gives to layout.Config. TestLeaves compares the two lists.
var leaves = map[string]leaf{
	"Vec2":            {canon: "vec2", axes: 2},
	"Vec3":            {canon: "vec3", axes: 3},
	"NetID":           {canon: "netid"},
	"PlayerID":        {canon: "playerid"},
	"Vec2Quantize":    {canon: "vec2quantize", axes: 2, coded: true},
	"Vec2Quantize10":  {canon: "vec2quantize10", axes: 2, coded: true},
	"Vec2Quantize100": {canon: "vec2quantize100", axes: 2, coded: true},
	"Vec3Quantize":    {canon: "vec3quantize", axes: 3, coded: true},
	"Vec3Quantize10":  {canon: "vec3quantize10", axes: 3, coded: true},
	"Vec3Quantize100": {canon: "vec3quantize100", axes: 3, coded: true},
	"Vec3Normal":      {canon: "vec3normal", coded: true},
	"Rotator":         {canon: "rotator", coded: true},
	"RotatorByte":     {canon: "rotatorbyte", coded: true},
	"Quat":            {canon: "quat", coded: true},
}

// leafOf finds out whether t is replicated as a whole: one of the types above, or one with a codec of its own.
func (s *scan) leafOf(t types.Type) (l leaf, ok bool) {
	n, named := types.Unalias(t).(*types.Named)
	if !named || s.throng == nil {
		return l, false
	}
	if isThrong(n.Obj().Pkg()) {
		if l, ok = leaves[n.Obj().Name()]; ok {
			return l, true
		}
	}
	codec, _ := s.throng.Scope().Lookup("NetCodec").(*types.TypeName)
	if codec == nil {
		return l, false
	}
	methods, _ := codec.Type().Underlying().(*types.Interface)
	if methods == nil || !types.Implements(types.NewPointer(t), methods) {
		return l, false
	}
	// What it is called is known when the game runs.
	l = leaf{canon: "codec of " + nameOf(t), coded: true}
	_, path, _ := types.LookupFieldOrMethod(t, true, nil, "NetForm")
	switch {
	case types.Implements(t, methods):
		l.problem, l.remedy = "has a ParseNet that sets a copy", "declare it on *"+nameOf(t)
	case len(path) > 1:
		l.problem, l.remedy = "gets its codec from an embedded field, which knows nothing of the others", "give the field a name, or the type a codec of its own"
	}
	return l, true
}

// specimens are types of the kinds that no slot may have.
var specimens = []reflect.Type{
	reflect.TypeFor[int](), reflect.TypeFor[uint](), reflect.TypeFor[uintptr](), reflect.TypeFor[complex64](), reflect.TypeFor[complex128](),
	reflect.TypeFor[*int8](), reflect.TypeFor[any](), reflect.TypeFor[func()](), reflect.TypeFor[chan int8](),
	reflect.TypeOf(reflect.Value.UnsafePointer).Out(0), reflect.TypeFor[[]int8](), reflect.TypeFor[map[int8]int8](), reflect.TypeFor[[1]int8](),
}

// refusals say why a kind cannot be a slot. Package layout is asked about a specimen of each, to say it in its words.
var refusals = func() map[reflect.Kind]*layout.Fault {
	m := map[reflect.Kind]*layout.Fault{}
	for _, t := range specimens {
		_, err := layout.Of(reflect.StructOf([]reflect.StructField{{Name: "F", Type: t, Tag: `rep:""`}}), "specimen", layout.Config{})
		if f := new(layout.Fault); errors.As(err, &f) {
			f.Problem = strings.TrimPrefix(f.Problem, "("+t.String()+") ")
			m[t.Kind()] = f
		}
	}
	return m
}()

// kindOf is the reflect.Kind of t, for the kinds that matter to a slot.
func kindOf(t types.Type) reflect.Kind {
	switch u := t.Underlying().(type) {
	case *types.Basic:
		return basics[u.Kind()]
	case *types.Pointer:
		return reflect.Pointer
	case *types.Interface:
		return reflect.Interface
	case *types.Signature:
		return reflect.Func
	case *types.Chan:
		return reflect.Chan
	case *types.Slice:
		return reflect.Slice
	case *types.Map:
		return reflect.Map
	case *types.Array:
		return reflect.Array
	case *types.Struct:
		return reflect.Struct
	}
	return reflect.Invalid
}

var basics = map[types.BasicKind]reflect.Kind{
	types.Bool: reflect.Bool, types.String: reflect.String,
	types.Int: reflect.Int, types.Int8: reflect.Int8, types.Int16: reflect.Int16, types.Int32: reflect.Int32, types.Int64: reflect.Int64,
	types.Uint: reflect.Uint, types.Uint8: reflect.Uint8, types.Uint16: reflect.Uint16, types.Uint32: reflect.Uint32, types.Uint64: reflect.Uint64,
	types.Float32: reflect.Float32, types.Float64: reflect.Float64, types.Complex64: reflect.Complex64, types.Complex128: reflect.Complex128,
	types.Uintptr: reflect.Uintptr, types.UnsafePointer: reflect.UnsafePointer,
}
