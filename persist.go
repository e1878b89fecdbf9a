package throng

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math/bits"
)

// What an authority keeps of an entity beyond a restart:
//
//	persist fields ─► AppendPersist ─► version · n × (path · type · value) ─► a store ─► ReadPersist ─► persist fields
//
// A record names its fields, so it outlives a build that adds, removes or moves some: what has the same path and the same type
// is read, the rest is reported.

// persistVersion is the first byte of a record.
const persistVersion = 1

// ErrPersist: bytes that AppendPersist did not write.
var ErrPersist = errors.New("throng: reading a persistent record: it is damaged, or of a newer build")

// Persists reports whether the class of o has persist fields in this schema.
func (s *Schema) Persists(o Object) bool {
	k := s.classOf(o)
	return k != nil && k.layout.Persist != 0
}

// AppendPersist appends the persist fields of o to b, for ReadPersist. Values that cannot be sent, such as a NaN in a position, are
// left out. It panics if o is of no class of this schema.
func (s *Schema) AppendPersist(b []byte, o Object) []byte {
	k := s.mustClass(o)
	p := k.plan.Pointer(o)
	b = append(b, persistVersion)
	at := len(b)
	n := 0
	b = append(b, 0)
	var value []byte
	for m := k.layout.Persist; m != 0; m &= m - 1 {
		i := bits.TrailingZeros64(m)
		out, refused := k.plan.Append(value[:0], p, 1<<i)
		if value = out; refused != 0 {
			continue
		}
		f := &k.layout.Slots[i].Field
		b = appendBytes(appendBytes(appendBytes(b, f.Name), f.Type), value)
		n++
	}
	b[at] = byte(n) // a class has at most 64 slots
	return b
}

// ReadPersist sets the persist fields of o to what a record says. left are the fields of the record that this build does not
// have, or has with another type. On an error nothing was set.
func (s *Schema) ReadPersist(o Object, record []byte) (left []string, err error) {
	k := s.mustClass(o)
	p := k.plan.Pointer(o)
	if len(record) < 2 || record[0] != persistVersion {
		return nil, ErrPersist
	}
	type piece struct {
		slot  int
		value []byte
	}
	var pieces []piece
	b := record[2:]
	for range record[1] {
		var f [3][]byte // path, type, value
		for i := range f {
			if f[i], b, err = takeBytes(b); err != nil {
				return nil, err
			}
		}
		slot := -1
		for m := k.layout.Persist; m != 0; m &= m - 1 {
			i := bits.TrailingZeros64(m)
			if d := &k.layout.Slots[i].Field; d.Name == string(f[0]) && d.Type == string(f[1]) {
				slot = i
			}
		}
		if slot < 0 {
			left = append(left, string(f[0]))
			continue
		}
		if n, err := k.plan.Skip(1<<slot, f[2]); err != nil || n != len(f[2]) {
			return nil, fmt.Errorf("%w: field %s", ErrPersist, f[0])
		}
		pieces = append(pieces, piece{slot, f[2]})
	}
	if len(b) != 0 {
		return nil, ErrPersist
	}
	for _, v := range pieces {
		if _, _, err := k.plan.Apply(p, 1<<v.slot, 1<<v.slot, v.value); err != nil {
			return nil, fmt.Errorf("%w: %w", ErrPersist, err)
		}
	}
	return left, nil
}

// ClassName is the name that the class of o has in this schema; empty if it has none.
func (s *Schema) ClassName(o Object) string {
	if k := s.classOf(o); k != nil {
		return k.name
	}
	return ""
}

func (s *Schema) mustClass(o Object) *class {
	k := s.classOf(o)
	if k == nil {
		panic(fmt.Sprintf("throng: %T is of no class of this schema: give its class to NewSchema", o))
	}
	return k
}

func appendBytes[T string | []byte](b []byte, s T) []byte {
	return append(binary.AppendUvarint(b, uint64(len(s))), s...)
}

func takeBytes(b []byte) (s, rest []byte, err error) {
	n, w := binary.Uvarint(b)
	if w <= 0 || n > uint64(len(b)-w) {
		return nil, nil, ErrPersist
	}
	return b[w : w+int(n)], b[w+int(n):], nil
}
