package registry

import (
	"hash/maphash"

	"github.com/throng-dev/throng/internal/wire"
)

// Index finds things by their id. It holds pointers and a part of each hash: less than half of what a map takes, which would hold the ids
// once more. The hashes are seeded, since ids come from others.
type Index[T any] struct {
	of    func(*T) *wire.ID
	seed  maphash.Seed
	tags  []uint32 // 0: the slot is free
	slots []*T
	n     int
}

// NewIndex returns an empty index of things that say their id.
func NewIndex[T any](of func(*T) *wire.ID) Index[T] {
	return Index[T]{of: of, seed: maphash.MakeSeed()}
}

// Len is the number of things.
func (x *Index[T]) Len() int { return x.n }

func (x *Index[T]) tag(id *wire.ID) uint32 { return uint32(maphash.Bytes(x.seed, id[:])) | 1 }

func (x *Index[T]) home(tag uint32) int { return int(uint64(tag) * uint64(len(x.tags)) >> 32) }

func (x *Index[T]) next(i int) int {
	if i++; i == len(x.tags) {
		return 0
	}
	return i
}

// at is the slot of an id, or the free one where it would stand. The index must have slots.
func (x *Index[T]) at(id *wire.ID, tag uint32) int {
	i := x.home(tag)
	for x.tags[i] != 0 && (x.tags[i] != tag || *x.of(x.slots[i]) != *id) {
		i = x.next(i)
	}
	return i
}

// Find returns what has an id, or nil.
func (x *Index[T]) Find(id wire.ID) *T {
	if x.n == 0 {
		return nil
	}
	return x.slots[x.at(&id, x.tag(&id))]
}

// Put adds a thing, in the place of what had its id.
func (x *Index[T]) Put(v *T) {
	if 4*x.n >= 3*len(x.tags) {
		x.grow()
	}
	id := x.of(v)
	tag := x.tag(id)
	i := x.at(id, tag)
	if x.tags[i] == 0 {
		x.n++
	}
	x.tags[i], x.slots[i] = tag, v
}

func (x *Index[T]) grow() {
	tags, slots := x.tags, x.slots
	size := 16 + len(tags)*3/2
	x.tags, x.slots = make([]uint32, size), make([]*T, size)
	for j, tag := range tags {
		if tag != 0 {
			i := x.home(tag)
			for x.tags[i] != 0 {
				i = x.next(i)
			}
			x.tags[i], x.slots[i] = tag, slots[j]
		}
	}
}

// Delete takes out what has an id, if that is v.
func (x *Index[T]) Delete(v *T) {
	if x.n == 0 {
		return
	}
	id := x.of(v)
	i := x.at(id, x.tag(id))
	if x.slots[i] != v {
		return
	}
	x.n--
	// What stands behind moves up, unless it is nearer to where it belongs than the gap.
	for j := x.next(i); x.tags[j] != 0; j = x.next(j) {
		if h := x.home(x.tags[j]); i < j && (h <= i || h > j) || i > j && h <= i && h > j {
			x.tags[i], x.slots[i] = x.tags[j], x.slots[j]
			i = j
		}
	}
	x.tags[i], x.slots[i] = 0, nil
}

// Clear takes out everything.
func (x *Index[T]) Clear() { x.tags, x.slots, x.n = nil, nil, 0 }

// All calls f for everything, in no order.
func (x *Index[T]) All(f func(*T)) {
	for _, v := range x.slots {
		if v != nil {
			f(v)
		}
	}
}
