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
	return k.appendRecord(b, o, k.layout.Persist)
}

// ReadPersist sets the persist fields of o to what a record says. left are the fields of the record that this build does not
// have, or has with another type. On an error nothing was set.
func (s *Schema) ReadPersist(o Object, record []byte) (left []string, err error) {
	k := s.mustClass(o)
	_, left, err = k.readRecord(o, record, k.layout.Persist)
	return left, err
}

// AppendFields is AppendPersist for fields of any kind, given by their addresses.
func (s *Schema) AppendFields(b []byte, o Object, fields ...any) []byte {
	k := s.mustClass(o)
	return k.appendRecord(b, o, k.slotsOf(k.plan.Pointer(o), fields...))
}

// ReadFields is ReadPersist for a record of AppendFields. It returns the addresses of the fields that had other values before.
func (s *Schema) ReadFields(o Object, record []byte) (changed []any, err error) {
	k := s.mustClass(o)
	mask, _, err := k.readRecord(o, record, k.layout.All)
	for p := k.plan.Pointer(o); mask != 0; mask &= mask - 1 {
		changed = append(changed, k.plan.Field(p, bits.TrailingZeros64(mask)))
	}
	return changed, err
}

func (c *class) appendRecord(b []byte, o Object, mask uint64) []byte {
	p := c.plan.Pointer(o)
	b = append(b, persistVersion)
	at := len(b)
	n := 0
	b = append(b, 0)
	var mem [64]byte
	for m := mask; m != 0; m &= m - 1 {
		i := bits.TrailingZeros64(m)
		value, refused := c.plan.Append(mem[:0], p, 1<<i)
		if refused != 0 {
			continue
		}
		f := &c.layout.Slots[i].Field
		b = appendBytes(appendBytes(appendBytes(b, f.Name), f.Type), value)
		n++
	}
	b[at] = byte(n) // a class has at most 64 slots
	return b
}

func (c *class) readRecord(o Object, record []byte, mask uint64) (changed uint64, left []string, err error) {
	p := c.plan.Pointer(o)
	if len(record) < 2 || record[0] != persistVersion {
		return 0, nil, ErrPersist
	}
	type piece struct {
		slot  int
		value []byte
	}
	var mem [4]piece
	pieces := mem[:0]
	b := record[2:]
	for range record[1] {
		var f [3][]byte // name, type, value
		for i := range f {
			if f[i], b, err = takeBytes(b); err != nil {
				return 0, nil, err
			}
		}
		slot := -1
		for m := mask; m != 0; m &= m - 1 {
			i := bits.TrailingZeros64(m)
			if d := &c.layout.Slots[i].Field; d.Name == string(f[0]) && d.Type == string(f[1]) {
				slot = i
			}
		}
		if slot < 0 {
			left = append(left, string(f[0]))
			continue
		}
		if n, err := c.plan.Skip(1<<slot, f[2]); err != nil || n != len(f[2]) {
			return 0, nil, fmt.Errorf("%w: field %s", ErrPersist, f[0])
		}
		pieces = append(pieces, piece{slot, f[2]})
	}
	if len(b) != 0 {
		return 0, nil, ErrPersist
	}
	for _, v := range pieces {
		did, _, err := c.plan.Apply(p, 1<<v.slot, 1<<v.slot, v.value)
		if err != nil {
			return changed, nil, fmt.Errorf("%w: %w", ErrPersist, err)
		}
		changed |= did
	}
	return changed, left, nil
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
