package conformance

import (
	"encoding/hex"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/throng-dev/throng/internal/layout"
	"github.com/throng-dev/throng/internal/payload"
)

// node stands in itself.
type node struct {
	Name string
	Kids []node
}

// ink has a codec of varying width.
type ink string

var inks = payload.Config{Of: "payload", Leaves: map[reflect.Type]layout.Leaf{reflect.TypeFor[ink](): {Name: "codec ink", Codec: layout.CodecOf(0,
	func(b []byte, v *ink) ([]byte, error) { return append(b, *v...), nil },
	func(b []byte, v *ink) (int, error) { *v = ink(b); return len(b), nil })}}}

// payloads are pointers to the values of vectors/payload.txt.
var payloads = []any{
	p(true), p(int8(-3)), p(uint16(0xfffe)), p(int32(-70_000)), p(int64(math.MinInt64)), p(float32(math.Inf(-1))), p(math.NaN()), p(math.Copysign(0, -1)),
	p(time.Second), p("hé\x00"), p(struct{}{}), p([]byte{1, 2, 255}), p([]int16{1, -1}), p([]int16(nil)), p([2][2]uint8{{1, 2}, {3, 4}}),
	p(map[string]int8{"b": 1, "a": 2, "": 3}), p(map[int16]struct{}{-1: {}, 256: {}, 2: {}}), p(map[uint8][]string{9: {"x", ""}, 8: nil}),
	p(struct {
		A uint8
		B []struct{ C, D bool }
		E ink
	}{5, []struct{ C, D bool }{{true, false}}, "blue"}),
	p(node{"root", []node{{"a", nil}, {"b", []node{{}}}}}), p([]ink{"", ink(strings.Repeat("i", 200))}),
}

func p[T any](v T) *T { return &v }

// TestPayloadVectors holds the forms of payloads, and the hashes by which clients find out whether they mean the same.
func TestPayloadVectors(t *testing.T) {
	var b strings.Builder
	b.WriteString("# Payloads of events: docs/spec/wire.md, section Payloads. ink is a codec of varying width whose bytes are the text.\n")
	b.WriteString("value | type | hash | bytes\n")
	for _, v := range payloads {
		plan, faults := payload.Of(reflect.TypeOf(v).Elem(), inks)
		if len(faults) > 0 {
			t.Fatal(faults)
		}
		form, err := plan.Append(nil, v)
		if err != nil {
			t.Fatal(err)
		}
		shown := fmt.Sprintf("%+v", reflect.ValueOf(v).Elem())
		if s, ok := v.(*string); ok {
			shown = fmt.Sprintf("%+q", *s)
		}
		fmt.Fprintf(&b, "%s | %s | %#016x | %s\n", shown, plan.Canon(), plan.Hash(), hex.EncodeToString(form))
		again := reflect.New(reflect.TypeOf(v).Elem())
		if err := plan.Parse(form, again.Interface()); err != nil {
			t.Errorf("%+v: %v", shown, err)
		}
		if back, err := plan.Append(nil, again.Interface()); err != nil || string(back) != string(form) {
			t.Errorf("%s: %x, then %x", shown, form, back)
		}
	}
	path := filepath.Join(vectorDir, "payload.txt")
	have, err := os.ReadFile(path)
	if *rewrite && err != nil {
		if err := os.WriteFile(path, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if string(have) != b.String() {
		t.Errorf("%s is not what is made now; bytes may change with wire.Version only. Now:\n%s", path, b.String())
	}
}
