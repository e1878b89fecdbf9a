package throng

import (
	"bytes"
	"errors"
	"reflect"
	"strings"
	"testing"

	"github.com/throng-dev/throng/internal/delta"
	"github.com/throng-dev/throng/internal/layout"
)

var errTint = errors.New("no tint")

// tint is of fixed width, rounds its fields, and has one that is nobody's business.
type tint struct {
	r, g, b float32
	cache   int
}

func (t *tint) NetForm() (string, int) { return "tint", 3 }

func (t *tint) AppendNet(b []byte) ([]byte, error) {
	if t.r < 0 {
		return nil, errTint
	}
	return append(b, byte(t.r*255), byte(t.g*255), byte(t.b*255)), nil
}

func (t *tint) ParseNet(b []byte) (int, error) {
	*t = tint{r: float32(b[0]) / 255, g: float32(b[1]) / 255, b: float32(b[2]) / 255}
	return 3, nil
}

// tags is a slice, of varying width. It panics at the byte '!'.
type tags []string

func (t *tags) NetForm() (string, int) { return "tags/1", 0 }

func (t *tags) AppendNet(b []byte) ([]byte, error) {
	if len(b) != 0 {
		panic("other fields are shown to a codec")
	}
	return append(b, strings.Join(*t, ",")...), nil
}

func (t *tags) ParseNet(b []byte) (int, error) {
	if bytes.IndexByte(b, '!') >= 0 {
		return 0, []error{}[len(b)] // out of range
	}
	if *t = nil; len(b) > 0 {
		*t = strings.Split(string(b), ",")
	}
	return len(b), nil
}

// other returns bytes that were not appended to what it got.
type other uint16

func (o *other) NetForm() (string, int)             { return "other", 2 }
func (o *other) AppendNet(b []byte) ([]byte, error) { return []byte{byte(*o >> 8), byte(*o)}, nil }
func (o *other) ParseNet(b []byte) (int, error) {
	*o = other(b[0])<<8 | other(b[1])
	return 2, nil
}

type shelf struct {
	Before int16 `rep:""`
	Tint   tint  `rep:""`
	Tags   tags  `rep:""`
	Other  other `rep:""`
	After  struct {
		N    int32
		Tint tint
	} `rep:""`
}

// TestNetCodec proves that types with a codec of the game's are fields like any other (B-012).
func TestNetCodec(t *testing.T) {
	pl := quantPlan[shelf](t)
	for i, want := range []layout.Field{
		{Name: "Before", Type: "int16", Width: 2}, {Name: "Tint", Type: "codec tint", Width: 3}, {Name: "Tags", Type: "codec tags/1"},
		{Name: "Other", Type: "codec other", Width: 2}, {Name: "After", Type: "struct{N int32; Tint codec tint}", Width: 7},
	} {
		if pl.Layout.Slots[i].Field != want {
			t.Errorf("slot %d is %+v, want %+v", i, pl.Layout.Slots[i].Field, want)
		}
	}
	from, to := &shelf{Before: 7, Tint: tint{r: 1, b: 0.5, cache: 9}, Tags: tags{"oak", "old"}, Other: 0x1234}, &shelf{}
	from.After.N, from.After.Tint.g = -1, 1
	for _, room := range []int{0, 64} { // with and without space behind b
		b, refused := pl.Append(make([]byte, 0, room), pl.Pointer(from), pl.Layout.All)
		want := []byte{7, 0, 255, 0, 127, 7, 'o', 'a', 'k', ',', 'o', 'l', 'd', 0x12, 0x34, 255, 255, 255, 255, 0, 255, 0}
		if refused != 0 || !bytes.Equal(b, want) {
			t.Fatalf("%x, refused %b, want %x", b, refused, want)
		}
		if _, _, err := pl.Apply(pl.Pointer(to), pl.Layout.All, pl.Layout.All, b); err != nil || to.Other != 0x1234 || to.Tint.r != 1 || len(to.Tags) != 2 || to.After.Tint.g != 1 {
			t.Fatalf("%+v, %v", to, err)
		}
	}
	s := pl.NewShadow(pl.Pointer(from))
	from.Tint.cache, from.Tint.b = 1, 0.501
	from.Tags = tags{"oak,old"}
	if d := s.Diff(pl.Pointer(from), pl.Layout.Auto); d != 0 {
		t.Errorf("%b differ, though their bytes do not", d)
	}
	from.Tags = append(from.Tags, "odd")
	if d := s.Diff(pl.Pointer(from), pl.Layout.Auto); d != 1<<2 {
		t.Errorf("%b differ", d)
	}
	from.Tint.r = -1
	if err := pl.Refusal(pl.Pointer(from), 1); !errors.Is(err, errTint) {
		t.Error(err)
	}
}

// TestNetCodecPanics proves that bytes which make a codec panic are refused as a whole (B-029, B-130).
func TestNetCodecPanics(t *testing.T) {
	pl := quantPlan[shelf](t)
	to := &shelf{Before: 5, Tags: tags{"kept"}}
	for _, tc := range []struct {
		mask uint64
		b    []byte
		says string
	}{
		{0b101, []byte{9, 0, 4, 'b', 'a', 'd', '!'}, "throng: codec tags/1 panicked: runtime error: index out of range [4] with length 0"},
		{0b11, []byte{9, 0, 1, 2}, delta.ErrTruncated.Error()},
		{0b101, []byte{9, 0, 4, 'c', 'u', 't'}, delta.ErrTruncated.Error()},
	} {
		changed, n, err := pl.Apply(pl.Pointer(to), tc.mask, tc.mask, tc.b)
		if err == nil || err.Error() != tc.says || changed != 0 || n != 0 || to.Before != 5 || to.Tags[0] != "kept" {
			t.Errorf("%q: changed %b, read %d, %+v, %v", tc.b, changed, n, to, err)
		}
	}
}

type (
	nameless   struct{ X uint8 }
	narrow     struct{ X uint8 }
	rash       struct{ X *uint8 }
	byValue    struct{ X uint8 }
	within     struct{ tint }
	withinLink struct{ *tint }
	outside    struct {
		tint
		N int32
	}
)

func (*nameless) NetForm() (string, int)                { return "", 1 }
func (*nameless) AppendNet(b []byte) ([]byte, error)    { return b, nil }
func (*nameless) ParseNet(b []byte) (int, error)        { return 0, nil }
func (*narrow) NetForm() (string, int)                  { return "narrow", -1 }
func (*narrow) AppendNet(b []byte) ([]byte, error)      { return b, nil }
func (*narrow) ParseNet(b []byte) (int, error)          { return 0, nil }
func (r *rash) NetForm() (string, int)                  { return "rash", int(*r.X) }
func (r *rash) AppendNet(b []byte) ([]byte, error)      { return b, nil }
func (r *rash) ParseNet(b []byte) (int, error)          { return 0, nil }
func (byValue) NetForm() (string, int)                  { return "byvalue", 1 }
func (byValue) AppendNet(b []byte) ([]byte, error)      { return b, nil }
func (byValue) ParseNet(b []byte) (int, error)          { return 0, nil }
func (o *outside) NetForm() (string, int)               { return "outside", 7 }
func (o *outside) AppendNet(b []byte) ([]byte, error)   { return append(b, 1, 2, 3, 4, 5, 6, 7), nil }
func (o *outside) ParseNet(b []byte) (n int, err error) { o.N = 7; return 7, nil }

// TestNetCodecRefusals proves that what can only be a mistake is named with its remedy, all at once.
func TestNetCodecRefusals(t *testing.T) {
	type wrong struct {
		Entity
		A nameless   `rep:""`
		B narrow     `rep:""`
		C rash       `rep:""`
		D byValue    `rep:""`
		E within     `rep:""`
		F withinLink `rep:""`
		G outside    `rep:""` // fine: it has its own
		H *tint      `rep:""`
		I NetCodec   `rep:""`
	}
	_, err := NewSchema(NewClass[wrong]("wrong", ClassConfig{}))
	wantLines(t, err,
		`throng: throng.wrong.A (throng.nameless) has a NetForm without a name: return one that no other form of the game has`,
		`throng: throng.wrong.B (throng.narrow) has a NetForm of -1 bytes: return the bytes of every value, or 0 if they vary`,
		`throng: throng.wrong.C (throng.rash) has a NetForm that panics: throng: codec of throng.rash panicked: runtime error: invalid memory address or nil pointer dereference: return constants`,
		`throng: throng.wrong.D (throng.byValue) has a ParseNet that sets a copy: declare it on *throng.byValue`,
		`throng: throng.wrong.E (throng.within) gets its codec from an embedded field, which knows nothing of the others: give the field a name, or the type a codec of its own`,
		`throng: throng.wrong.F (throng.withinLink)`,
		`throng: throng.wrong.H (*throng.tint) is a pointer`,
		`throng: throng.wrong.I (throng.NetCodec) is an interface`,
	)
}

// TestNetCodecName proves that the layout hash covers the form (B-028).
func TestNetCodecName(t *testing.T) {
	hash := func(name string, width int) uint64 {
		return layout.HashOf([]layout.Field{{Name: "F", Type: "codec " + name, Width: width}})
	}
	type one struct {
		F tint `rep:""`
	}
	if h := quantPlan[one](t).Layout.Hash; h != hash("tint", 3) || h == hash("tint/2", 3) || h == hash("tint", 4) {
		t.Error("two forms have one hash")
	}
}

// FuzzNetCodec proves that any bytes are a value or change nothing, whatever the codec does.
func FuzzNetCodec(f *testing.F) {
	pl := quantPlan[shelf](f)
	b, _ := pl.Append(nil, pl.Pointer(&shelf{Tags: tags{"a", "b"}}), pl.Layout.All)
	f.Add(pl.Layout.All, b)
	f.Add(uint64(0b100), []byte{4, 'b', 'a', 'd', '!'})
	f.Fuzz(func(t *testing.T, mask uint64, b []byte) {
		to := &shelf{Before: 5, Tags: tags{"kept"}}
		changed, n, err := pl.Apply(pl.Pointer(to), mask, mask, b)
		if err != nil && (changed != 0 || n != 0 || !reflect.DeepEqual(to, &shelf{Before: 5, Tags: tags{"kept"}})) {
			t.Fatalf("%v, and %+v", err, to)
		}
	})
}
