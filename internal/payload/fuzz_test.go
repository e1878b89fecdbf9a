package payload

import (
	"math/rand/v2"
	"reflect"
	"runtime"
	"testing"
	"testing/quick"
)

// What parses appends to the same bytes, and parses to the same again; nothing panics; a few bytes cost little memory.
func FuzzPayload(f *testing.F) {
	plan := planOf[all](f)
	v := full()
	b, err := plan.Append(nil, &v)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(b)
	empty, _ := plan.Append(nil, new(all))
	f.Add(empty)
	f.Fuzz(func(t *testing.T, b []byte) {
		var v all
		if plan.Parse(b, &v) != nil {
			return
		}
		out, err := plan.Append(nil, &v)
		if err != nil || len(out) != len(b) {
			t.Fatalf("%x became %x, %v", b, out, err)
		}
		var again all
		if err := plan.Parse(out, &again); err != nil {
			t.Fatal(err)
		}
		if second, _ := plan.Append(nil, &again); string(second) != string(out) {
			t.Fatalf("%x, then %x", out, second)
		}
	})
}

// TestB041PayloadsCostWhatTheyWeigh: no input costs more memory than a multiple of its size.
func TestB041PayloadsCostWhatTheyWeigh(t *testing.T) {
	plan, rng := planOf[all](t), rand.New(rand.NewPCG(1, 2))
	v := full()
	good, _ := plan.Append(nil, &v)
	var before, after runtime.MemStats
	total := 0
	runtime.ReadMemStats(&before)
	for range 20000 {
		b := append([]byte(nil), good...)
		for range 1 + rng.IntN(4) {
			b[rng.IntN(len(b))] = byte(rng.Uint32())
		}
		total += len(b)
		_ = plan.Parse(b[:rng.IntN(len(b)+1)], new(all))
	}
	runtime.ReadMemStats(&after)
	if cost := after.TotalAlloc - before.TotalAlloc; cost > uint64(PerByte*total) {
		t.Errorf("%d bytes cost %d of memory", total, cost)
	}
}

// Whatever testing/quick makes up comes back as it was.
func TestPayloadRoundTrip(t *testing.T) {
	type made struct {
		A map[string][]int16
		B [3]map[int8]bool
		C []struct {
			X uint64
			Y map[uint8]string
		}
		D []byte
		E string
	}
	plan := planOf[made](t)
	if err := quick.Check(func(v made) bool {
		b, err := plan.Append(nil, &v)
		if err == ErrTooLarge {
			return true
		}
		var got made
		if err != nil || plan.Parse(b, &got) != nil {
			return false
		}
		b2, err := plan.Append(nil, &got)
		return err == nil && string(b) == string(b2) && reflect.DeepEqual(got.A == nil, len(v.A) == 0)
	}, &quick.Config{MaxCount: 500}); err != nil {
		t.Error(err)
	}
}
