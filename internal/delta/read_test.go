package delta

import (
	"bytes"
	"reflect"
	"testing"

	"github.com/throng-dev/throng/internal/layout"
)

type readable struct {
	A bool
	B int8
	C uint16
	D int32
	E uint64
	F float32
	G float64
	H string
}

// Read takes what Append makes, and refuses all that Apply refuses.
func FuzzRead(f *testing.F) {
	l, err := layout.Of(reflect.TypeFor[struct {
		V readable `rep:""`
	}](), "one", layout.Config{})
	if err != nil {
		f.Fatal(err)
	}
	type one = struct {
		V readable `rep:""`
	}
	pl := Compile(l)
	v := one{readable{true, -2, 3, -4, 5, 6.5, -7.25, "eight"}}
	good, _ := pl.Append(nil, pl.Pointer(&v), 1)
	f.Add(good)
	f.Add(good[:5])
	f.Fuzz(func(t *testing.T, b []byte) {
		var read, applied one
		err := pl.Reader(PtrTo(&read), 0).Read(b)
		_, n, want := pl.Apply(pl.Pointer(&applied), 1, 1, b)
		if ok := want == nil && n == len(b); (err == nil) != ok {
			t.Fatalf("%x: %v, Apply says %v after %d of %d", b, err, want, n, len(b))
		}
		if err != nil {
			return
		}
		x, _ := pl.Append(nil, PtrTo(&read), 1)
		y, _ := pl.Append(nil, PtrTo(&applied), 1)
		if !bytes.Equal(x, y) {
			t.Fatalf("%x: %+v, Apply makes %+v", b, read, applied)
		}
	})
}
