package delta

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math"
	"reflect"
	"strings"

	"github.com/throng-dev/throng/internal/layout"
)

// The oracle does by reflection what the package does by offsets. It shares no code with it and knows no plan: types
// are walked anew at every call, so that a mistake in a plan cannot hide in both.

// encode writes v; pos says that it is part of a position.
func encode(b []byte, v reflect.Value, pos bool) ([]byte, error) {
	if c, ok := codecs[v.Type()]; ok {
		p := reflect.New(v.Type())
		p.Elem().Set(v)
		out, err := c.codec.Append(nil, p.Interface())
		if err != nil {
			return nil, err
		}
		if c.codec.Width() == 0 {
			b = binary.AppendUvarint(b, uint64(len(out)))
		}
		return append(b, out...), nil
	}
	switch v.Kind() {
	case reflect.Bool:
		if v.Bool() {
			return append(b, 1), nil
		}
		return append(b, 0), nil
	case reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return appendBits(b, uint64(v.Int()), v.Type().Size()), nil
	case reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return appendBits(b, v.Uint(), v.Type().Size()), nil
	case reflect.Float32, reflect.Float64:
		f := v.Float()
		switch {
		case pos && (math.IsNaN(f) || math.IsInf(f, 0)):
			return nil, errors.New("not finite")
		case f == 0:
			return append(b, make([]byte, v.Type().Size())...), nil // also for −0
		case v.Kind() == reflect.Float64 && f != f:
			return appendBits(b, 0x7ff8<<48, 8), nil
		case f != f:
			return appendBits(b, 0x7fc0<<16, 4), nil
		case v.Kind() == reflect.Float64:
			return appendBits(b, math.Float64bits(f), 8), nil
		}
		return appendBits(b, uint64(math.Float32bits(float32(f))), 4), nil
	case reflect.String:
		if v.Len() > layout.MaxValue {
			return nil, errors.New("too long")
		}
		return append(binary.AppendUvarint(b, uint64(v.Len())), v.String()...), nil
	}
	var body []byte
	var err error
	for i := range v.NumField() {
		if body, err = encode(body, v.Field(i), pos); err != nil {
			return nil, err
		}
	}
	return append(b, body...), nil
}

// encodeSlot writes a slot: a struct of varying width has the length of the whole in front.
func encodeSlot(v reflect.Value, s *layout.Slot) ([]byte, error) {
	body, err := encode(nil, v, s.Words.Has(layout.Position))
	if err == nil && isFramed(v.Type()) {
		if len(body) > layout.MaxValue {
			return nil, errors.New("too long")
		}
		body = append(binary.AppendUvarint(nil, uint64(len(body))), body...)
	}
	return body, err
}

// decode sets v from b; v is a copy that is thrown away on an error.
func decode(b []byte, v reflect.Value, pos bool) (rest []byte, err error) {
	if c, ok := codecs[v.Type()]; ok {
		body, rest, err := cutOracle(b, c.codec.Width())
		if err != nil {
			return nil, err
		}
		p := reflect.New(v.Type())
		if n, err := c.codec.Parse(body, p.Interface()); err != nil || n != len(body) {
			return nil, errors.New("codec")
		}
		v.Set(p.Elem())
		return rest, nil
	}
	size := int(v.Type().Size())
	if v.Type() == reflect.TypeFor[id]() {
		if len(b) < 16 {
			return nil, ErrTruncated
		}
		v.Set(reflect.ValueOf(id{binary.LittleEndian.Uint64(b), binary.LittleEndian.Uint64(b[8:])}))
		return b[16:], nil
	}
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			if b, err = decode(b, v.Field(i), pos); err != nil {
				return nil, err
			}
		}
		return b, nil
	case reflect.String:
		body, rest, err := cutOracle(b, 0)
		v.SetString(string(body))
		return rest, err
	}
	if len(b) < size {
		return nil, ErrTruncated
	}
	var u uint64
	for i := range size {
		u |= uint64(b[i]) << (8 * i)
	}
	switch v.Kind() {
	case reflect.Bool:
		if u > 1 {
			return nil, ErrBool
		}
		v.SetBool(u == 1)
	case reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		v.SetInt(int64(u<<(64-8*size)) >> (64 - 8*size))
	case reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		v.SetUint(u)
	default:
		f := math.Float64frombits(u)
		if size == 4 {
			f = float64(math.Float32frombits(uint32(u)))
		}
		if pos && (math.IsNaN(f) || math.IsInf(f, 0)) {
			return nil, ErrNotFinite
		}
		v.SetFloat(f)
	}
	return b[size:], nil
}

func decodeSlot(b []byte, v reflect.Value, s *layout.Slot) (rest []byte, err error) {
	pos := s.Words.Has(layout.Position)
	if !isFramed(v.Type()) {
		return decode(b, v, pos)
	}
	body, rest, err := cutOracle(b, 0)
	if err != nil {
		return nil, err
	}
	if body, err = decode(body, v, pos); err == nil && len(body) > 0 {
		err = ErrLength
	}
	return rest, err
}

func cutOracle(b []byte, width int) (body, rest []byte, err error) {
	if width == 0 {
		n, w := binary.Uvarint(b)
		if w <= 0 || n > layout.MaxValue || w != len(binary.AppendUvarint(nil, n)) {
			return nil, nil, ErrLength
		}
		b, width = b[w:], int(n)
	}
	if len(b) < width {
		return nil, nil, ErrTruncated
	}
	return b[:width], b[width:], nil
}

func appendBits(b []byte, u uint64, size uintptr) []byte {
	for i := range size {
		b = append(b, byte(u>>(8*i)))
	}
	return b
}

func isFramed(t reflect.Type) bool {
	if _, leaf := testLeaves[t]; leaf || t.Kind() != reflect.Struct {
		return false
	}
	return varies(t)
}

func varies(t reflect.Type) bool {
	if c, ok := codecs[t]; ok {
		return c.codec.Width() == 0
	}
	if t.Kind() == reflect.Struct {
		for i := range t.NumField() {
			if varies(t.Field(i).Type) {
				return true
			}
		}
	}
	return t.Kind() == reflect.String
}

// field returns the field of slot s in the entity v.
func field(v reflect.Value, s *layout.Slot) reflect.Value {
	for name := range strings.SplitSeq(s.Path, ".") {
		v = v.FieldByName(name)
	}
	return v
}

// oracleAppend is Plan.Append.
func oracleAppend(l *layout.Layout, v reflect.Value, mask uint64) (out []byte, refused uint64) {
	for i := range l.Slots {
		if mask>>i&1 == 1 {
			b, err := encodeSlot(field(v, &l.Slots[i]), &l.Slots[i])
			if out = append(out, b...); err != nil {
				refused |= 1 << i
			}
		}
	}
	if refused != 0 {
		out = nil
	}
	return out, refused
}

// oracleDiff is Shadow.Diff: which slots of mask differ between two entities.
func oracleDiff(l *layout.Layout, before, now reflect.Value, mask uint64) (changed uint64) {
	for i := range l.Slots {
		s := &l.Slots[i]
		a, errA := encodeSlot(field(before, s), s)
		b, errB := encodeSlot(field(now, s), s)
		if mask>>i&1 == 1 && ((errA == nil) != (errB == nil) || errA == nil && !bytes.Equal(a, b)) {
			changed |= 1 << i
		}
	}
	return changed
}

// oracleApply is Plan.Apply on a copy of v, which it returns.
func oracleApply(l *layout.Layout, v reflect.Value, mask, apply uint64, b []byte) (after reflect.Value, changed uint64, rest []byte, err error) {
	after = clone(v)
	for i := range l.Slots {
		if mask>>i&1 == 0 {
			continue
		}
		s := &l.Slots[i]
		target := field(after, s)
		in := reflect.New(target.Type()).Elem()
		if b, err = decodeSlot(b, in, s); err != nil {
			return v, 0, nil, err
		}
		old, oldErr := encodeSlot(target, s)
		next, nextErr := encodeSlot(in, s)
		if apply>>i&1 == 1 && (oldErr != nil || nextErr != nil || !bytes.Equal(old, next)) {
			target.Set(in)
			changed |= 1 << i
		}
	}
	if mask&^l.All != 0 {
		return v, 0, nil, ErrSlot
	}
	return after, changed, b, nil
}

func clone(v reflect.Value) reflect.Value {
	c := reflect.New(v.Type()).Elem()
	c.Set(v)
	return c
}
