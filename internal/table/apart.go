package table

import (
	"bytes"
	"math/bits"

	"github.com/throng-dev/throng/internal/wire"
)

// Apart are the slots whose values are in no record: each goes to every observer by itself. Few entities ever have one: the mask
// takes memory when the first has.
func (e *Entity) Apart() uint64 {
	if n := e.Class.words; len(e.vers) > n {
		return uint64(e.vers[n]) | uint64(e.vers[n+1])<<32
	}
	return 0
}

func (e *Entity) setApart(mask uint64) {
	n := e.Class.words
	if len(e.vers) == n {
		if mask == 0 {
			return
		}
		e.vers = append(e.vers, 0, 0)
	}
	e.vers[n], e.vers[n+1] = uint32(mask), uint32(mask>>32)
}

// ApartSize is the bytes of the values that travel apart.
func (e *Entity) ApartSize() (n int) {
	for m := e.Apart(); m != 0; m &= m - 1 {
		n += len(e.vars[e.Class.off[bits.TrailingZeros64(m)]])
	}
	return n
}

// sort stores a value of a variable slot, after it has decided which values travel apart: what is large, then the largest, until the
// others fit a record. What travels apart goes on to do so until it is set again.
func (e *Entity) sort(i int, v []byte, room int) (grew int, ok bool) {
	at := &e.vars[e.Class.off[i]]
	was, apart, size := *at, e.Apart(), e.ApartSize()
	bit := uint64(1) << i
	*at = v
	if e.setApart(apart &^ bit); len(v) > wire.MaxRecorded && e.Class.Movable()&bit != 0 {
		e.setApart(apart | bit)
	}
	for fits := true; fits && e.Size() > wire.MaxValues; {
		fits = e.moveLongest()
	}
	grew = e.ApartSize() - size
	if e.Size() > wire.MaxValues || len(v) > wire.MaxValue || e.ApartSize() > wire.MaxApart || grew > max(room, 0) {
		*at = was
		e.setApart(apart)
		return 0, false
	}
	if e.Apart()&bit == 0 && cap(was) <= wire.MaxValues {
		*at = append(was[:0], v...)
	} else {
		*at = bytes.Clone(v) // its size, no more: it may be large, and it may have been
	}
	return grew, true
}

// moveLongest lets the longest value that may do so travel apart.
func (e *Entity) moveLongest() bool {
	most, slot := 0, uint64(0)
	for m := e.Class.Movable() &^ e.Apart(); m != 0; m &= m - 1 {
		i := bits.TrailingZeros64(m)
		if n := len(e.vars[e.Class.off[i]]); n > most {
			most, slot = n, 1<<i
		}
	}
	e.setApart(e.Apart() | slot)
	return slot != 0
}

// DropApart forgets the values that travel apart, of an entity that died, and returns how many bytes they were.
func (e *Entity) DropApart() int {
	n := e.ApartSize()
	if n == 0 {
		return 0
	}
	for m := e.Apart(); m != 0; m &= m - 1 {
		e.vars[e.Class.off[bits.TrailingZeros64(m)]] = []byte{0}
	}
	e.setApart(0)
	return n
}
