package delta

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math/bits"
	"math/rand/v2"
	"reflect"
	"testing"
)

// subject is a random entity beside the means to handle it.
type subject struct {
	*rand.Rand
	pl *Plan
	v  reflect.Value // the entity, addressable
	p  Ptr
}

func newSubject(seed uint64) subject {
	r := rand.New(rand.NewPCG(seed, 1))
	pl := randomPlan(r)
	s := subject{Rand: r, pl: pl}
	return s.another()
}

// another returns a second entity of the same class.
func (s subject) another() subject {
	s.v = reflect.New(s.pl.Layout.Type).Elem()
	s.p = s.pl.Pointer(s.v.Addr().Interface())
	randomise(s.Rand, s.v)
	return s
}

// all returns the canonical bytes of everything, unsendable slots and untagged fields as they print.
func (s subject) all() []byte {
	var b []byte
	for i := range s.pl.Layout.Slots {
		v := field(s.v, &s.pl.Layout.Slots[i])
		if e, err := encodeSlot(v, &s.pl.Layout.Slots[i]); err == nil {
			b = append(b, e...)
		} else {
			b = fmt.Append(b, v)
		}
	}
	return b
}

// FuzzRoundTrip compares every function with the oracle on random types and values (B-020..B-022, B-029, B-040).
func FuzzRoundTrip(f *testing.F) {
	for seed := range uint64(200) {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, seed uint64) {
		a := newSubject(seed)
		l := a.pl.Layout
		shadow := a.pl.NewShadow(a.p)
		if d := shadow.Diff(a.p, l.All); d&^oracleUnsendable(a) != 0 {
			t.Fatalf("at once after NewShadow %b differ", d)
		}
		before := clone(a.v)
		randomise(a.Rand, a.v)

		for _, mask := range []uint64{l.All, l.Auto, a.Uint64() & l.All} {
			got, want := shadow.Diff(a.p, mask), oracleDiff(l, before, a.v, mask)
			if bad := oracleUnsendable(a); got&^bad != want&^bad {
				t.Fatalf("Diff(%b) = %b, want %b", mask, got, want)
			}
		}

		mask := a.Uint64() & l.All
		prefix := []byte("frame")
		b, refused := a.pl.Append(prefix, a.p, mask)
		want, wantRefused := oracleAppend(l, a.v, mask)
		if !bytes.Equal(b, append([]byte("frame"), want...)) || refused != wantRefused {
			t.Fatalf("Append(%b) = %x, refused %b; want %x, %b", mask, b, refused, want, wantRefused)
		}
		for rest := refused; rest != 0; rest &= rest - 1 {
			if a.pl.Refusal(a.p, bits.TrailingZeros64(rest)) == nil {
				t.Fatal("a refused slot has no refusal")
			}
		}
		mask &^= refused
		b, _ = a.pl.Append(nil, a.p, mask)

		c := a.another()
		apply := a.Uint64()
		checkApply(t, c, mask, apply, b)
		if d := oracleDiff(l, a.v, c.v, mask&apply); d != 0 {
			t.Fatalf("after Apply %b differ", d)
		}
		if changed, _, err := a.pl.Apply(c.p, mask, apply, b); changed != 0 || err != nil {
			t.Fatalf("the same again changed %b, %v", changed, err)
		}

		shadow.Adopt(a.p, mask)
		if d := shadow.Diff(a.p, mask); d != 0 {
			t.Fatalf("after Adopt %b differ", d)
		}
		a.pl.Zero(a.p, mask)
		zero := reflect.New(l.Type).Elem()
		if d := oracleDiff(l, zero, a.v, mask); d != 0 {
			t.Fatalf("after Zero %b differ", d)
		}
	})
}

// oracleUnsendable are the slots for which "did it change" has no answer.
func oracleUnsendable(s subject) (mask uint64) {
	_, mask = oracleAppend(s.pl.Layout, s.v, s.pl.Layout.All)
	return mask
}

// FuzzDeltaApply feeds random bytes to random layouts: no panic, no half application, no difference from the oracle
// (B-029, B-041, B-130).
func FuzzDeltaApply(f *testing.F) {
	for seed := range uint64(100) {
		s := newSubject(seed)
		b, refused := s.pl.Append(nil, s.p, s.pl.Layout.All)
		mask := s.pl.Layout.All &^ refused
		if refused != 0 {
			b, _ = s.pl.Append(nil, s.p, mask)
		}
		f.Add(seed, mask, ^uint64(0), b)
		f.Add(seed, mask|1<<63, ^uint64(0), b[:len(b)/2])
	}
	f.Fuzz(func(t *testing.T, seed, mask, apply uint64, b []byte) {
		s := newSubject(seed)
		checkApply(t, s, mask, apply, b)
		checkApply(t, s, mask&s.pl.Layout.All, apply, b)
		checkApply(t, s, s.Uint64()&s.pl.Layout.All, apply, b)
	})
}

// checkApply applies b to s and to the oracle and wants the same outcome.
func checkApply(t *testing.T, s subject, mask, apply uint64, b []byte) {
	t.Helper()
	l := s.pl.Layout
	before, input := s.all(), bytes.Clone(b)
	want, wantChanged, rest, wantErr := oracleApply(l, s.v, mask, apply, b)
	skipped, skipErr := s.pl.Skip(mask, b)
	changed, n, err := s.pl.Apply(s.p, mask, apply, b)
	switch {
	case (err == nil) != (wantErr == nil) || (skipErr == nil) != (err == nil):
		t.Fatalf("Apply(%b, %x): %v, Skip: %v; want %v", mask, b, err, skipErr, wantErr)
	case err != nil && (n != 0 || changed != 0 || !bytes.Equal(before, s.all())):
		t.Fatalf("Apply(%b, %x) failed with %v and yet changed %b", mask, b, err, changed)
	case err == nil && (changed != wantChanged || n != len(b)-len(rest) || skipped != n):
		t.Fatalf("Apply(%b, %x) changed %b, read %d, Skip %d; want %b, %d", mask, b, changed, n, skipped, wantChanged, len(b)-len(rest))
	case oracleDiff(l, want, s.v, l.All) != 0:
		t.Fatalf("Apply(%b, %x): slots %b hold another value", mask, b, oracleDiff(l, want, s.v, l.All))
	case !bytes.Equal(b, input):
		t.Fatal("Apply wrote to its input")
	}
	if err != nil {
		return
	}
	for short := range n {
		if _, _, err := s.pl.Apply(s.p, mask, apply, b[:short]); err == nil {
			t.Fatalf("%d of %d bytes were accepted", short, n)
		}
		if short == 100 { // long values: their ends are like their beginnings
			break
		}
	}
	// One value cut out is as long as it is among others.
	at := 0
	for rest := mask; rest != 0; rest &= rest - 1 {
		one, err := s.pl.Skip(rest&-rest, b[at:])
		if err != nil {
			t.Fatal(err)
		}
		if s.pl.Layout.Slots[bits.TrailingZeros64(rest)].Width == 0 {
			if size, w := binary.Uvarint(b[at:]); int(size)+w != one {
				t.Fatalf("a length-first value of %d+%d bytes was cut to %d", w, size, one)
			}
		}
		at += one
	}
	if at != n {
		t.Fatalf("values of %d bytes, cut one by one %d", n, at)
	}
}
