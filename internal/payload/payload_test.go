package payload

import (
	"errors"
	"math"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/throng-dev/throng/internal/layout"
)

type (
	stance uint8
	id     struct{ A, B uint64 }
	tree   struct {
		Name string
		Kids []tree
		By   map[string]tree
	}
	Base struct{ Seq uint32 }
	all  struct {
		Base
		Ok    bool
		I8    int8
		I64   int64
		U16   uint16
		F     float32
		D     float64
		S     string
		Wait  time.Duration
		Kind  stance
		Blob  []byte
		Names []string
		Grid  [2][3]int16
		Set   map[id]struct{}
		Count map[string][]uint32
		Deep  map[int8]map[stance][]string
		Tree  tree
		Code  shout
	}
	shout string
)

// shouts is a codec of varying width.
var shouts = layout.CodecOf(0, func(b []byte, v *shout) ([]byte, error) {
	if *v == "fail" {
		return b, errors.New("fail")
	}
	for _, c := range []byte(*v) { // bytes: strings.ToUpper makes broken UTF-8 longer
		if 'a' <= c && c <= 'z' {
			c -= 'a' - 'A'
		}
		b = append(b, c)
	}
	return b, nil
}, func(b []byte, v *shout) (int, error) { *v = shout(b); return len(b), nil })

var testConfig = Config{Of: "test", Leaves: map[reflect.Type]layout.Leaf{reflect.TypeFor[shout](): {Name: "shout", Codec: shouts}}}

func planOf[T any](t testing.TB) *Plan {
	t.Helper()
	p, faults := Of(reflect.TypeFor[T](), testConfig)
	if len(faults) > 0 {
		t.Fatal(errors.Join(faults...))
	}
	return p
}

func round[T any](t *testing.T, v T) (T, []byte) {
	t.Helper()
	p := planOf[T](t)
	b, err := p.Append([]byte("front"), &v)
	if err != nil {
		t.Fatal(err)
	}
	var got T
	if err := p.Parse(b[5:], &got); err != nil {
		t.Fatalf("%x: %v", b[5:], err)
	}
	return got, b[5:]
}

func full() all {
	return all{Base: Base{9}, Ok: true, I8: -3, I64: math.MinInt64, U16: 65535, F: 1.5, D: -math.MaxFloat64, S: "text", Wait: -time.Second, Kind: 7,
		Blob: []byte{1, 2, 3}, Names: []string{"a", "", "c"}, Grid: [2][3]int16{{1, -2, 3}, {4, 5, -6}}, Set: map[id]struct{}{{1, 2}: {}, {0, 3}: {}},
		Count: map[string][]uint32{"x": {1}, "y": {2, 3}}, Deep: map[int8]map[stance][]string{-1: {3: {"q"}}},
		Tree: tree{Name: "root", Kids: []tree{{Name: "kid"}, {Kids: []tree{{}}}}, By: map[string]tree{"b": {Name: "leaf"}}}, Code: "HEY"}
}

func TestB100PayloadsOfAnyShape(t *testing.T) {
	v := full()
	if got, _ := round(t, v); !reflect.DeepEqual(got, v) {
		t.Errorf("%+v\nbecame\n%+v", v, got)
	}
	if got, b := round(t, all{}); !reflect.DeepEqual(got, all{}) {
		t.Errorf("%x: %+v", b, got)
	}
	if got, _ := round(t, []int32{1, 2}); !reflect.DeepEqual(got, []int32{1, 2}) {
		t.Error(got)
	}
	if _, b := round(t, struct{}{}); len(b) != 0 {
		t.Errorf("nothing takes %x", b)
	}
	if got, _ := round(t, all{Names: []string{}, Set: map[id]struct{}{}, Blob: []byte{}}); got.Names != nil || got.Set != nil || got.Blob != nil {
		t.Error("what is empty is read as nil")
	}
}

// What a map holds has one form, however Go walks through it.
func TestMapsAreInOrder(t *testing.T) {
	m := map[int32]string{}
	for i := range int32(100) {
		m[i*7919%101-50] = "v"
	}
	p := planOf[map[int32]string](t)
	first, _ := p.Append(nil, &m)
	for range 20 {
		if again, _ := p.Append(nil, &m); string(again) != string(first) {
			t.Fatal("two forms of one map")
		}
	}
}

func TestB041PayloadsFollowOneForm(t *testing.T) {
	for what, tc := range map[string]struct {
		plan *Plan
		into any
		b    []byte
		want error
	}{
		"bool":             {planOf[bool](t), new(bool), []byte{2}, ErrBool},
		"NaN":              {planOf[float32](t), new(float32), []byte{1, 0, 0xc0, 0x7f}, ErrFloat},
		"-0":               {planOf[float64](t), new(float64), []byte{0, 0, 0, 0, 0, 0, 0, 0x80}, ErrFloat},
		"short":            {planOf[int32](t), new(int32), []byte{1, 2}, ErrTruncated},
		"rest":             {planOf[int8](t), new(int8), []byte{1, 2}, ErrRest},
		"string":           {planOf[string](t), new(string), []byte{9, 'x'}, ErrTruncated},
		"length":           {planOf[string](t), new(string), []byte{0x81, 0, 'x'}, ErrTruncated},
		"P48 count":        {planOf[[]int64](t), new([]int64), []byte{0xff, 0xff, 0xff, 0xff, 0x0f}, ErrTruncated},
		"P48 nested count": {planOf[[][]uint8](t), new([][]uint8), []byte{1, 0xff, 0xff, 0x03}, ErrTruncated},
		"map twice":        {planOf[map[uint8]bool](t), new(map[uint8]bool), []byte{2, 1, 0, 1, 1}, ErrOrder},
		"map backwards":    {planOf[map[uint8]struct{}](t), new(map[uint8]struct{}), []byte{2, 5, 4}, ErrOrder},
		"too large":        {planOf[string](t), new(string), make([]byte, MaxBytes+1), ErrTooLarge},
		"empty":            {planOf[string](t), new(string), nil, ErrTruncated},
		"behind nothing":   {planOf[struct{}](t), new(struct{}), []byte{0}, ErrRest},
	} {
		if err := tc.plan.Parse(tc.b, tc.into); err != tc.want {
			t.Errorf("%s: %v, want %v", what, err, tc.want)
		}
	}
}

func TestPayloadBounds(t *testing.T) {
	deep := tree{}
	for range MaxDepth {
		deep = tree{Kids: []tree{deep}}
	}
	for what, err := range map[string]error{
		"depth":    second(planOf[tree](t).Append(nil, &deep)),
		"elements": second(planOf[[]map[uint16]struct{}](t).Append(nil, ptr(make([]map[uint16]struct{}, MaxElements+1)))),
		"bytes":    second(planOf[[]string](t).Append(nil, ptr([]string{strings.Repeat("x", MaxBytes/2), strings.Repeat("y", MaxBytes/2)}))),
		"one byte": second(planOf[string](t).Append(nil, ptr(strings.Repeat("x", MaxBytes)))),
		"keys":     second(planOf[map[float64]int8](t).Append(nil, ptr(map[float64]int8{math.NaN(): 1, math.Float64frombits(math.Float64bits(math.NaN()) + 1): 2}))),
		"codec":    second(planOf[[]shout](t).Append(nil, ptr([]shout{"x", "fail"}))),
	} {
		if err == nil {
			t.Errorf("%s: no error", what)
		}
	}
	if b, err := planOf[[]shout](t).Append([]byte("keep"), ptr([]shout{"x", "fail"})); string(b) != "keep" || err == nil {
		t.Errorf("after an error: %q, %v", b, err)
	}
	// A peer nests deeper than any sender may.
	b := []byte(strings.Repeat("\x00\x01", MaxDepth) + "\x00\x00")
	for range MaxDepth + 1 {
		b = append(b, 0)
	}
	if err := planOf[tree](t).Parse(b, new(tree)); err != ErrDepth {
		t.Errorf("a deep tree: %v", err)
	}
}

func second(_ []byte, err error) error { return err }
func ptr[T any](v T) *T                { return &v }

type (
	secret struct{ a int32 }
	bad    struct {
		A int
		B []uint
		C map[string]*int32
		D []any
		E func()
		F chan int8
		G uintptr
		H complex64
		I [0]int8
		J []struct{}
		K secret
		L struct {
			X int32 `rep:"owner"`
		}
		M map[string]map[string]error
		N [4][]complex128
		O []huge
	}
	big  [1000]byte
	huge struct{ V big }
)

// All faults are told at once, each with the way to the field and what to do.
func TestB013PayloadsRefused(t *testing.T) {
	cfg := testConfig
	cfg.Leaves = map[reflect.Type]layout.Leaf{reflect.TypeFor[big](): {Name: "big", Codec: layout.CodecOf(0,
		func(b []byte, v *big) ([]byte, error) { return b, nil }, func(b []byte, v *big) (int, error) { return 0, nil })}}
	_, faults := Of(reflect.TypeFor[bad](), cfg)
	text := errors.Join(faults...).Error()
	for _, want := range []string{"test.A (int) has a size", "test.B[] (uint) has a size", "test.C[] (*int32) is a pointer", "test.D[] (interface {}) is an interface",
		"test.E (func()) is a function", "test.F (chan int8) is a channel", "test.G (uintptr) is an address", "test.H (complex64) is complex",
		"test.I ([0]int8) has no size", "test.J[] (struct {}) has no size", "test.K.a is not exported", `test.L.X: word "owner" stands inside a value`,
		"test.M[][] (error) is an interface", "test.N[][] (complex128) is complex", "test.O ([]payload.huge) has elements that take 1000 bytes of memory, and as few as 1"} {
		if !strings.Contains(text, want) {
			t.Errorf("nothing says %q", want)
		}
	}
	if len(faults) != 16 {
		t.Errorf("%d faults:\n%s", len(faults), text)
	}
	for _, typ := range []reflect.Type{reflect.TypeFor[*int32](), reflect.TypeFor[[MaxBytes + 1]byte](), reflect.TypeFor[map[any]bool]()} {
		if _, faults := Of(typ, testConfig); len(faults) != 1 {
			t.Errorf("%v: %v", typ, faults)
		}
	}
}

// TestCanon pins the texts that hashes are made of.
func TestCanon(t *testing.T) {
	type renamed struct {
		Name string
		Kids []renamed
		By   map[string]renamed
	}
	if got, want := planOf[tree](t).Canon(), "struct{Name string; Kids []^2; By map[string]^2}"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if planOf[renamed](t).Hash() != planOf[tree](t).Hash() {
		t.Error("the name of a type counts")
	}
	if got, want := planOf[map[id]struct{}](t).Canon(), "map[struct{A uint64; B uint64}]struct{}"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if got, want := planOf[[2]shout](t).Hash(), uint64(0x1be5bb5e1ca10322); got != want {
		t.Errorf("%#x, want %#x: if that is meant, raise the protocol version", got, want)
	}
}
