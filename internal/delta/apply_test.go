package delta

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math"
	"reflect"
	"strings"
	"testing"

	"github.com/throng-dev/throng/internal/layout"
)

type parcel struct {
	Lit  bool   `rep:""`
	Pos  vec3   `rep:"position"`
	Note string `rep:""`
	Who  struct {
		Name string
		Age  uint8
		Mask bool
	} `rep:""`
	Data packed `rep:""`
	Mod  third  `rep:""`
	Own  int16  `rep:"owner"`
}

func newParcel() *parcel {
	e := &parcel{Lit: true, Pos: vec3{1, 2, 3}, Note: "note", Data: packed{9, 8}, Mod: 2, Own: -5}
	e.Who.Name, e.Who.Age, e.Who.Mask = "ann", 7, true
	return e
}

// TestGolden pins the bytes: they are what the format document says.
func TestGolden(t *testing.T) {
	pl := planOf[parcel](t)
	b, refused := pl.Append(nil, pl.Pointer(newParcel()), pl.Layout.All)
	want := "\x01" +
		"\x00\x00\x00\x00\x00\x00\xf0\x3f\x00\x00\x00\x00\x00\x00\x00\x40\x00\x00\x00\x00\x00\x00\x08\x40" +
		"\x04note" + // length, bytes
		"\x06\x03ann\x07\x01" + // length of the whole, then field after field
		"\x02\x09\x08" +
		"\x02" +
		"\xfb\xff"
	if string(b) != want || refused != 0 {
		t.Errorf("got  %x\nwant %x", b, want)
	}
}

// TestRefusedInput proves that a record that fails to decode changes nothing (B-029), with the reason it fails for.
//
// P42, P49: a fault in the middle left the slots before it written; a forged length read behind the input.
func TestRefusedInput(t *testing.T) {
	nan := binary.LittleEndian.AppendUint64(nil, math.Float64bits(math.NaN()))
	inf := binary.LittleEndian.AppendUint64(nil, math.Float64bits(math.Inf(-1)))
	for _, tc := range []struct {
		what string
		mask uint64
		b    string
		want error
	}{
		{"nothing", 1, "", ErrTruncated},
		{"bool 2", 1, "\x02", ErrBool},
		{"position NaN", 1<<1 | 1, "\x00" + string(nan) + "01234567" + "01234567", ErrNotFinite},
		{"position infinite", 1<<1 | 1, "\x00" + "01234567" + "01234567" + string(inf), ErrNotFinite},
		{"position cut", 1<<1 | 1, "\x00" + "01234567" + "01234567" + "0123456", ErrTruncated},
		{"string cut", 1<<2 | 1, "\x00\x05note", ErrTruncated},
		{"string of a length cut", 1<<2 | 1, "\x00\x80", ErrTruncated},
		{"string of a length too long", 1<<2 | 1, "\x00\x81\x80\x01", ErrTooLong},
		{"string of an endless length", 1<<2 | 1, "\x00" + strings.Repeat("\xff", 11), ErrLength},
		{"string of a length written long", 1<<2 | 1, "\x00\x84\x00note", ErrLength},
		{"struct cut", 1<<3 | 1, "\x00\x06\x03ann\x07", ErrTruncated},
		{"struct shorter than its fields", 1<<3 | 1, "\x00\x05\x03ann\x07\x01", ErrTruncated},
		{"struct longer than its fields", 1<<3 | 1, "\x00\x07\x03ann\x07\x01\x00", ErrLength},
		{"string longer than its struct", 1<<3 | 1, "\x00\x06\x06ann\x07\x01", ErrTruncated},
		{"bool in a struct", 1<<3 | 1, "\x00\x06\x03ann\x07\x02", ErrBool},
		{"codec says no", 1<<4 | 1, "\x00\x01\xff", nil},
		{"slot unknown", 1<<7 | 1, "\x00\x00", ErrSlot},
		{"slot unknown, the last", 1<<63 | 1, "\x00\x00", ErrSlot},
		{"second value bad, first good", 1<<6 | 1<<3, "\x06\x03bob\x09\x00\x01", ErrTruncated},
	} {
		pl := planOf[parcel](t)
		e := newParcel()
		changed, n, err := pl.Apply(pl.Pointer(e), tc.mask, ^uint64(0), []byte(tc.b))
		if err == nil || tc.want != nil && !errors.Is(err, tc.want) {
			t.Errorf("%s: %v, want %v", tc.what, err, tc.want)
		}
		if _, skipErr := pl.Skip(tc.mask, []byte(tc.b)); skipErr == nil || skipErr.Error() != err.Error() {
			t.Errorf("%s: Skip says %v, Apply %v", tc.what, skipErr, err)
		}
		if d := pl.NewShadow(pl.Pointer(newParcel())).Diff(pl.Pointer(e), pl.Layout.All); changed != 0 || n != 0 || d != 0 {
			t.Errorf("%s: failed and changed %b, read %d, slots %b differ", tc.what, changed, n, d)
		}
	}
}

// TestApplyMask proves that only the slots asked for are written, and the others read past.
func TestApplyMask(t *testing.T) {
	pl := planOf[parcel](t)
	from, to := newParcel(), &parcel{}
	b, _ := pl.Append(nil, pl.Pointer(from), pl.Layout.All)
	b = append(b, "the next record"...)
	changed, n, err := pl.Apply(pl.Pointer(to), pl.Layout.All, 1<<6|1<<3, b)
	if changed != 1<<6|1<<3 || string(b[n:]) != "the next record" || err != nil {
		t.Fatal(changed, n, err)
	}
	want := parcel{Own: -5}
	want.Who = from.Who
	if to.Who != want.Who || to.Own != want.Own || to.Lit || to.Note != "" || to.Data != nil || to.Pos != (vec3{}) {
		t.Errorf("%+v", to)
	}
}

// TestNoSharedMemory proves that a value read from a datagram does not live in it, nor in another value.
func TestNoSharedMemory(t *testing.T) {
	pl := planOf[parcel](t)
	a, c := &parcel{}, &parcel{}
	b, _ := pl.Append(nil, pl.Pointer(newParcel()), pl.Layout.All)
	pl.Apply(pl.Pointer(a), pl.Layout.All, pl.Layout.All, b)
	pl.Apply(pl.Pointer(c), pl.Layout.All, pl.Layout.All, b)
	clear(b)
	c.Data[0] = 77
	if a.Note != "note" || a.Who.Name != "ann" || !bytes.Equal(a.Data, packed{9, 8}) {
		t.Errorf("%+v", a)
	}
}

// TestLengths proves lengths around the sizes at which they take more bytes, and the bound.
func TestLengths(t *testing.T) {
	pl := planOf[parcel](t)
	for _, n := range []int{0, 1, 126, 127, 128, 129, 16379, 16380, 16381, 16382, 16383, 16384, 16385} {
		e, to := newParcel(), &parcel{}
		e.Note, e.Who.Name, e.Data = strings.Repeat("n", n), strings.Repeat("w", n), bytes.Repeat([]byte{5}, n)
		mask := uint64(1<<2 | 1<<3 | 1<<4)
		b, refused := pl.Append([]byte("head"), pl.Pointer(e), mask)
		var want uint64
		if n > layout.MaxValue {
			want |= 1<<2 | 1<<4
		}
		if n+len(binary.AppendUvarint(nil, uint64(n)))+2 > layout.MaxValue {
			want |= 1 << 3
		}
		if refused != want || want != 0 && string(b) != "head" {
			t.Errorf("%d: refused %b, want %b; %d bytes", n, refused, want, len(b))
		}
		b, _ = pl.Append(nil, pl.Pointer(e), mask&^refused)
		if _, took, err := pl.Apply(pl.Pointer(to), mask&^refused, mask, b); err != nil || took != len(b) {
			t.Errorf("%d: %v, read %d of %d", n, err, took, len(b))
		}
		if want == 0 && (to.Note != e.Note || to.Who.Name != e.Who.Name || !bytes.Equal(to.Data, e.Data)) {
			t.Errorf("%d: came out different", n)
		}
	}
}

// TestRefusal proves that what must not travel is named (B-041).
func TestRefusal(t *testing.T) {
	pl := planOf[parcel](t)
	e := newParcel()
	e.Pos.Y = math.Inf(1)
	e.Note = strings.Repeat("n", layout.MaxValue+1)
	b, refused := pl.Append([]byte("head"), pl.Pointer(e), pl.Layout.All)
	if refused != 0b110 || string(b) != "head" {
		t.Fatalf("refused %b, %q", refused, b)
	}
	for i, want := range map[int]string{
		1: "throng: a position that is NaN or infinite: check the step that computes it (field delta.parcel.Pos)",
		2: "throng: a value over 16 KiB: split the field (field delta.parcel.Note)",
	} {
		if err := pl.Refusal(pl.Pointer(e), i); err == nil || err.Error() != want {
			t.Errorf("%v, want %s", err, want)
		}
	}
	if err := pl.Refusal(pl.Pointer(e), 0); err != nil {
		t.Error(err)
	}
}

// TestLooseCodec proves that a position is checked though its codec reads and writes everything.
func TestLooseCodec(t *testing.T) {
	type speck struct {
		Pos loose `rep:"position"`
	}
	pl := planOf[speck](t)
	for bits, want := range map[uint32]error{0x7f800000: ErrNotFinite, 0xffc00001: ErrNotFinite, 0x3f800000: nil} {
		e := &speck{}
		b := binary.LittleEndian.AppendUint32([]byte{0, 0, 0, 0}, bits)
		if _, _, err := pl.Apply(pl.Pointer(e), 1, 1, b); !errors.Is(err, want) {
			t.Errorf("%x: %v, want %v", bits, err, want)
		}
		e.Pos.Y = float64(math.Float32frombits(bits))
		if err := pl.Refusal(pl.Pointer(e), 0); !errors.Is(err, want) {
			t.Errorf("%x: Refusal %v, want %v", bits, err, want)
		}
	}
}

// TestWrongCodec proves that a codec that breaks its word is told so, and shifts nobody.
func TestWrongCodec(t *testing.T) {
	type sealed struct{ X uint32 }
	wrong := layout.CodecOf(4, func(b []byte, v *sealed) ([]byte, error) { return append(b, 1, 2, 3), nil },
		func(b []byte, v *sealed) (int, error) { return 3, nil })
	type box struct {
		S sealed `rep:""`
	}
	l, err := layout.Of(reflect.TypeFor[box](), "box", layout.Config{Leaves: map[reflect.Type]layout.Leaf{
		reflect.TypeFor[sealed](): {Name: "sealed", Codec: wrong}}})
	if err != nil {
		t.Fatal(err)
	}
	pl := Compile(l)
	p := pl.Pointer(&box{})
	if _, refused := pl.Append(nil, p, 1); refused != 1 || !errors.Is(pl.Refusal(p, 0), ErrCodec) {
		t.Errorf("three of four bytes: %v", pl.Refusal(p, 0))
	}
	if _, _, err := pl.Apply(p, 1, 1, []byte{1, 2, 3, 4}); !errors.Is(err, ErrLength) {
		t.Errorf("three of four bytes: %v", err)
	}
}

// TestCodedPosition proves that a position with a codec is held to the same rule.
func TestCodedPosition(t *testing.T) {
	pl := planOf[coat](t)
	e := &coat{Pos: tenth{1, math.NaN(), 3}}
	p := pl.Pointer(e)
	s := pl.NewShadow(p)
	if _, refused := pl.Append(nil, p, 1); refused != 1 {
		t.Error("NaN was sent")
	}
	if err := pl.Refusal(p, 0); !errors.Is(err, ErrNotFinite) {
		t.Error(err)
	}
	if _, _, _, ok := pl.Position(p); ok {
		t.Error("NaN is a position")
	}
	if e.Pos.Y = 1e12; s.Diff(p, 1) != 1 {
		t.Error("a value that cannot be sent is not dirty")
	}
	if e.Pos.Y = 2; s.Diff(p, 1) != 1 {
		t.Error("the mended value is not dirty")
	}
	s.Adopt(p, 1)
	if x, y, z, ok := pl.Position(p); x != 1 || y != 2 || z != 3 || !ok || s.Diff(p, 1) != 0 {
		t.Error(x, y, z, ok)
	}
}
