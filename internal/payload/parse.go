package payload

import (
	"bytes"
	"encoding/binary"
	"math"
	"reflect"
)

// decoder reads one value.
type decoder struct {
	left int // elements that may still come
}

// value sets v from the front of b and returns what is behind.
func (d *decoder) value(b []byte, n *node, v reflect.Value, depth int) (rest []byte, err error) {
	if depth > MaxDepth {
		return b, ErrDepth
	}
	if n.op <= opFloat64 {
		if len(b) < n.width {
			return b, ErrTruncated
		}
		return b[n.width:], number(b[:n.width], n, v)
	}
	switch n.op {
	case opString:
		s, rest, err := cut(b)
		if err == nil {
			v.SetString(string(s))
		}
		return rest, err
	case opBytes:
		s, rest, err := cut(b)
		switch {
		case err != nil:
			return rest, err
		case len(s) == 0:
			v.SetZero()
			return rest, nil
		}
		if d.left -= len(s); d.left < 0 {
			return rest, ErrElements
		}
		v.SetBytes(bytes.Clone(s))
		return rest, nil
	case opSlice:
		count, b, err := d.count(b, n.elem.min)
		if err != nil {
			return b, err
		}
		if v.SetZero(); count == 0 {
			return b, nil
		}
		v.Set(reflect.MakeSlice(n.typ, count, count))
		return d.elements(b, n, v, depth)
	case opArray:
		return d.elements(b, n, v, depth)
	case opMap:
		return d.table(b, n, v, depth)
	case opStruct:
		for _, f := range n.fields {
			if b, err = d.value(b, f.node, v.Field(f.index), depth+1); err != nil {
				return b, err
			}
		}
		return b, nil
	}
	return coded(b, n, v)
}

func (d *decoder) elements(b []byte, n *node, v reflect.Value, depth int) (_ []byte, err error) {
	for i := range v.Len() {
		if b, err = d.value(b, n.elem, v.Index(i), depth+1); err != nil {
			return b, err
		}
	}
	return b, nil
}

// count reads how many elements follow, of which each takes at least least bytes.
func (d *decoder) count(b []byte, least int) (int, []byte, error) {
	c, n := binary.Uvarint(b)
	if n <= 0 || n > 1 && b[n-1] == 0 { // one form for a number
		return 0, b, ErrTruncated
	}
	b = b[n:]
	if c > uint64(len(b)/max(least, 1)) {
		return 0, b, ErrTruncated
	}
	if d.left -= int(c); d.left < 0 {
		return 0, b, ErrElements
	}
	return int(c), b, nil
}

func (d *decoder) table(b []byte, n *node, v reflect.Value, depth int) ([]byte, error) {
	count, b, err := d.count(b, n.key.min+n.elem.min)
	if err != nil {
		return b, err
	}
	if v.SetZero(); count == 0 {
		return b, nil
	}
	m := reflect.MakeMapWithSize(n.typ, count)
	var last []byte
	for i := range count {
		key, val := reflect.New(n.typ.Key()).Elem(), reflect.New(n.typ.Elem()).Elem()
		rest, err := d.value(b, n.key, key, depth+1)
		if err != nil {
			return rest, err
		}
		form := b[:len(b)-len(rest)]
		if i > 0 && bytes.Compare(last, form) >= 0 {
			return rest, ErrOrder
		}
		last = form
		if b, err = d.value(rest, n.elem, val, depth+1); err != nil {
			return b, err
		}
		m.SetMapIndex(key, val)
	}
	v.Set(m)
	return b, nil
}

// cut reads a length and as many bytes.
func cut(b []byte) (s, rest []byte, err error) {
	l, n := binary.Uvarint(b)
	if n <= 0 || n > 1 && b[n-1] == 0 || l > uint64(len(b)-n) {
		return nil, b, ErrTruncated
	}
	return b[n : n+int(l) : n+int(l)], b[n+int(l):], nil
}

func number(b []byte, n *node, v reflect.Value) error {
	var u uint64
	for i, x := range b {
		u |= uint64(x) << (8 * i)
	}
	switch n.op {
	case opBool:
		v.SetBool(u == 1)
		if u > 1 {
			return ErrBool
		}
	case opInt:
		shift := 64 - 8*n.width
		v.SetInt(int64(u<<shift) >> shift)
	case opUint:
		v.SetUint(u)
	case opFloat32:
		f := math.Float32frombits(uint32(u))
		if v.SetFloat(float64(f)); bits32(f) != uint32(u) {
			return ErrFloat
		}
	case opFloat64:
		f := math.Float64frombits(u)
		if v.SetFloat(f); bits64(f) != u {
			return ErrFloat
		}
	}
	return nil
}

func coded(b []byte, n *node, v reflect.Value) ([]byte, error) {
	body, rest := b, b
	switch {
	case n.width == 0:
		var err error
		if body, rest, err = cut(b); err != nil {
			return b, err
		}
	case len(b) < n.width:
		return b, ErrTruncated
	default:
		body, rest = b[:n.width:n.width], b[n.width:]
	}
	took, err := n.codec.Parse(body, v.Addr().Interface())
	if err == nil && took != len(body) {
		err = ErrCodec
	}
	return rest, err
}
