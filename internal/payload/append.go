package payload

import (
	"bytes"
	"encoding/binary"
	"math"
	"reflect"
	"slices"
)

// encoder writes one value.
type encoder struct {
	from, limit int // where the value starts, and the most it takes
	elements    int
}

func (e *encoder) value(b []byte, n *node, v reflect.Value, depth int) (_ []byte, err error) {
	switch {
	case depth > MaxDepth:
		return b, ErrDepth
	case len(b)-e.from > e.limit:
		return b, ErrTooLarge
	}
	switch n.op {
	case opBool:
		if v.Bool() {
			return append(b, 1), nil
		}
		return append(b, 0), nil
	case opInt:
		return appendNumber(b, n.width, uint64(v.Int())), nil
	case opUint:
		return appendNumber(b, n.width, v.Uint()), nil
	case opFloat32:
		return binary.LittleEndian.AppendUint32(b, bits32(float32(v.Float()))), nil
	case opFloat64:
		return binary.LittleEndian.AppendUint64(b, bits64(v.Float())), nil
	case opString:
		s := v.String()
		if len(s) > e.limit {
			return b, ErrTooLarge
		}
		return append(binary.AppendUvarint(b, uint64(len(s))), s...), nil
	case opBytes:
		s := v.Bytes()
		if len(s) > e.limit {
			return b, ErrTooLarge
		}
		if e.elements += len(s); e.elements > MaxElements {
			return b, ErrElements
		}
		return append(binary.AppendUvarint(b, uint64(len(s))), s...), nil
	case opSlice:
		if e.elements += v.Len(); e.elements > MaxElements {
			return b, ErrElements
		}
		b = binary.AppendUvarint(b, uint64(v.Len()))
		fallthrough
	case opArray:
		for i := range v.Len() {
			if b, err = e.value(b, n.elem, v.Index(i), depth+1); err != nil {
				return b, err
			}
		}
		return b, nil
	case opMap:
		return e.table(b, n, v, depth)
	case opStruct:
		for _, f := range n.fields {
			if b, err = e.value(b, f.node, v.Field(f.index), depth+1); err != nil {
				return b, err
			}
		}
		return b, nil
	}
	return e.coded(b, n, v)
}

// table writes a map by the bytes of its keys.
func (e *encoder) table(b []byte, n *node, v reflect.Value, depth int) (_ []byte, err error) {
	type entry struct{ from, value, to int }
	if e.elements += v.Len(); e.elements > MaxElements {
		return b, ErrElements
	}
	b = binary.AppendUvarint(b, uint64(v.Len()))
	start := len(b)
	entries := make([]entry, 0, v.Len())
	key, val := reflect.New(n.typ.Key()).Elem(), reflect.New(n.typ.Elem()).Elem() // codecs want addresses
	for it := v.MapRange(); it.Next(); {
		t := entry{from: len(b)}
		key.SetIterKey(it)
		if b, err = e.value(b, n.key, key, depth+1); err != nil {
			return b, err
		}
		t.value = len(b)
		val.SetIterValue(it)
		if b, err = e.value(b, n.elem, val, depth+1); err != nil {
			return b, err
		}
		t.to = len(b)
		entries = append(entries, t)
	}
	slices.SortFunc(entries, func(x, y entry) int { return bytes.Compare(b[x.from:x.value], b[y.from:y.value]) })
	sorted := make([]byte, 0, len(b)-start)
	for i, t := range entries {
		if i > 0 {
			if l := entries[i-1]; bytes.Equal(b[l.from:l.value], b[t.from:t.value]) {
				return b, ErrKeys
			}
		}
		sorted = append(sorted, b[t.from:t.to]...)
	}
	return append(b[:start], sorted...), nil
}

func (e *encoder) coded(b []byte, n *node, v reflect.Value) ([]byte, error) {
	start := len(b)
	if n.width == 0 {
		b = append(b, 0)
	}
	from := len(b)
	b, err := n.codec.Append(b, v.Addr().Interface())
	if err != nil {
		return b, err
	}
	size := len(b) - from
	switch {
	case n.width != 0 && size != n.width || size < 0:
		return b, ErrCodec
	case n.width != 0:
	case size < 0x80:
		b[start] = byte(size)
	default:
		var head [binary.MaxVarintLen64]byte
		b = slices.Replace(b, start, from, head[:binary.PutUvarint(head[:], uint64(size))]...)
	}
	return b, nil
}

func appendNumber(b []byte, width int, v uint64) []byte {
	switch width {
	case 1:
		return append(b, byte(v))
	case 2:
		return binary.LittleEndian.AppendUint16(b, uint16(v))
	case 4:
		return binary.LittleEndian.AppendUint32(b, uint32(v))
	}
	return binary.LittleEndian.AppendUint64(b, v)
}

// bits32 and bits64 write every NaN as one and −0 as +0 (B-021).
func bits32(f float32) uint32 {
	switch {
	case f != f:
		return 0x7fc00000
	case f == 0:
		return 0
	}
	return math.Float32bits(f)
}

func bits64(f float64) uint64 {
	switch {
	case f != f:
		return 0x7ff8000000000000
	case f == 0:
		return 0
	}
	return math.Float64bits(f)
}
