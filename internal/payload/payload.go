// Package payload turns plain values of any shape into bytes.
//
//	type ─► Of: every type in it judged, taken apart once ─► Plan ─► Append: value → bytes;  Parse: bytes → a value of its own
//
// What a slot may hold a payload may hold too, in the same form: numbers little-endian, every NaN as one, −0 as +0, a string or a
// codec of varying width behind its length. Beyond that:
//
//	slice    uvarint n · n × element           an empty one is read as nil
//	array    the elements
//	map      uvarint n · n × (key · value)     by the bytes of the keys, ascending; each once
//
// Types may hold themselves, in a slice or a map. A value has one form: what parses, appends to the same bytes, unless a codec of the
// game has several. A parser allocates no more than a small multiple of what came.
package payload

import (
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"reflect"

	"github.com/throng-dev/throng/internal/layout"
)

// Bounds of a value.
const (
	MaxBytes    = 32 << 10 // of the form, where a Config sets no other
	MaxElements = 64 << 10 // of all slices and maps together
	MaxDepth    = 64       // of values within values

	// PerByte is how many bytes of memory an element may take for each that it takes at least on the wire: then a count that a
	// stranger wrote cannot cost more than a multiple of what it sent. A slice is 24 bytes here and 1 there.
	PerByte = 64
)

// Errors of Append and Parse.
var (
	ErrTooLarge  = errors.New("the value is too large: send less at once")
	ErrElements  = fmt.Errorf("the value has more than %d elements: send less at once", MaxElements)
	ErrDepth     = fmt.Errorf("the value is nested more than %d deep: flatten it", MaxDepth)
	ErrKeys      = errors.New("two keys of a map have the same form: use keys that differ on the wire")
	ErrTruncated = errors.New("the value ends too early")
	ErrRest      = errors.New("bytes are left behind the value")
	ErrBool      = errors.New("a bool is neither 0 nor 1")
	ErrFloat     = errors.New("a float is not written in its one form")
	ErrOrder     = errors.New("the keys of a map do not ascend")
	ErrCodec     = errors.New("a codec wrote or read another number of bytes than its width")
)

// Config tells about types that this package cannot know.
type Config struct {
	// Of names what holds the value, for faults: a struct, a payload. Field is the path to the value in it; empty: it is the value.
	Of, Field string
	// Skip, Leaves and Find are those of layout.Config. A leaf without a codec is plain memory, exported fields only.
	Skip   []reflect.Type
	Leaves map[reflect.Type]layout.Leaf
	Find   func(reflect.Type) (layout.Leaf, bool)
	// Limit is the most bytes a value takes. 0: MaxBytes.
	Limit int
}

// Plan is a type taken apart. It never changes, any goroutine may use it.
type Plan struct {
	canon string
	typ   reflect.Type
	root  *node
	limit int
}

// Of takes type t apart. The faults are all there are, each a *layout.Fault; there is no plan then.
func Of(t reflect.Type, cfg Config) (*Plan, []error) {
	c := compiler{cfg: cfg, nodes: map[reflect.Type]*node{}}
	p := &Plan{typ: t, limit: cfg.Limit}
	if p.limit == 0 {
		p.limit = MaxBytes
	}
	if t.Kind() == reflect.Struct && t.NumField() == 0 { // nothing to say but that it was said
		p.root, p.canon = &node{op: opStruct, typ: t}, "struct{}"
		return p, nil
	}
	p.root, p.canon = c.compile(t, cfg.Field)
	c.judge()
	if least := p.root.min; least > p.limit {
		c.fault("B-013", cfg.Field, "", fmt.Sprintf("(%v) takes at least %d bytes", t, least), fmt.Sprintf("send less at once: at most %d", p.limit))
	}
	if len(c.faults) > 0 {
		return nil, c.faults
	}
	return p, nil
}

// Canon is what two builds must agree on, as text: see layout.Field.Type. A type that stands in itself is written ^n there, n structs
// further out.
func (p *Plan) Canon() string { return p.canon }

// Hash is the number by which two builds find out that they mean the same: SHA-256 over Canon, truncated to 64 bits.
func (p *Plan) Hash() uint64 {
	h := sha256.Sum256([]byte("payload " + p.canon))
	return binary.LittleEndian.Uint64(h[:])
}

// Append writes *v, a T, behind b. After an error b is as it was.
func (p *Plan) Append(b []byte, v any) ([]byte, error) {
	e := encoder{from: len(b), limit: p.limit}
	out, err := e.value(b, p.root, p.deref(v), 0)
	if err != nil {
		return b, err
	}
	if len(out)-len(b) > p.limit {
		return b, ErrTooLarge
	}
	return out, nil
}

// Parse sets *v, a T, from all of b. It keeps nothing of b. After an error the contents of *v do not matter.
func (p *Plan) Parse(b []byte, v any) error {
	if len(b) > p.limit {
		return ErrTooLarge
	}
	d := decoder{left: MaxElements}
	rest, err := d.value(b, p.root, p.deref(v), 0)
	if err == nil && len(rest) > 0 {
		err = ErrRest
	}
	return err
}

func (p *Plan) deref(v any) reflect.Value {
	r := reflect.ValueOf(v)
	if r.Type() != reflect.PointerTo(p.typ) {
		panic(fmt.Sprintf("throng: a %T given to a payload of %s", v, p.typ))
	}
	return r.Elem()
}

// Codec makes the plan a codec of a slot, of varying width.
func (p *Plan) Codec() layout.Codec { return codec{p} }

type codec struct{ *Plan }

func (c codec) Width() int { return 0 }

func (c codec) Parse(b []byte, v any) (int, error) { return len(b), c.Plan.Parse(b, v) }
