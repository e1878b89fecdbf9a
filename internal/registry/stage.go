package registry

import (
	"time"

	"github.com/throng-dev/throng/internal/wire"
)

// What arrives waits for the game, in memory that is lent to a copy only while something does:
//
//	merge, assign, override ─► Copy.stage ─► Staged, once the game ticks ─► Applied: the memory is for the next
//
// A game that does not tick costs at most the newest values of its entities: beyond maxBacklog records in all, those of a
// copy become one, in which the newest of each slot stands.

// Bounds of what waits.
const (
	maxWaiting  = 8192 // records of all copies together until they are merged (B-063)
	maxCopyWait = 64   // records of one copy
	maxLent     = 8192 // stages kept for reuse
	stageRest   = 10 * time.Second
)

// stage is what waits for the owner of one copy.
type stage struct {
	list []staged
	buf  []byte
}

// staged is a record: the slots to write among those it has.
type staged struct {
	apply, mask uint64
	from, to    int32
	timing      Timing
}

// Lender lends memory to the copies of a registry, for what waits. The zero value is empty. Registries may share one if one goroutine
// owns them all and applies what waits of each before it turns to the next: then the memory that they lend is in the processor's cache.
type Lender struct {
	free    []*stage
	lent    int
	most    int // lent at once since restAt was set
	restAt  time.Duration
	scratch []byte
	waiting int  // records, of all copies
	newest  bool // keep nothing but the newest of each slot
	merged  uint64
	timing  Timing // of the record at hand

	in      []arrival // records of the segment at hand
	touched uint32    // nobody reads it
}

// SetBacklog says whether records of one entity wait each for itself, as far as the bounds allow, or merge at once.
func (r *Registry) SetBacklog(on bool) { r.stages.newest = !on }

// Backlog is how many records wait for the owner, and how many were merged into newer ones while they did.
func (r *Registry) Backlog() (waiting int, merged uint64) { return r.stages.waiting, r.stages.merged }

// stage keeps a record for the owner. The bytes are copied.
func (c *Copy) stage(apply, mask uint64, values []byte) {
	if c.wait == nil {
		c.wait = c.Class.rest.lend()
	}
	w := c.wait
	at := int32(len(w.buf))
	w.buf = append(w.buf, values...)
	w.list = append(w.list, staged{apply, mask, at, int32(len(w.buf)), c.Class.rest.timing})
	c.Class.rest.waiting++
	if len(w.buf) > 2*wire.MaxValues && w.full() || len(w.list) > maxCopyWait || len(w.list) > 1 && (c.Class.rest.newest || c.Class.rest.waiting > maxWaiting) {
		c.compact()
	}
}

func (s *Lender) lend() *stage {
	s.lent++
	s.most = max(s.most, s.lent)
	if n := len(s.free); n > 0 {
		w := s.free[n-1]
		s.free[n-1], s.free = nil, s.free[:n-1]
		return w
	}
	return &stage{}
}

// rest gives back, now and then, what was not needed lately: a crowd that arrives takes more than one that is there.
func (s *Lender) rest(now time.Duration) {
	if now < s.restAt {
		return
	}
	if keep := s.most + s.most/4 + 16; len(s.free) > keep {
		s.free = append(make([]*stage, 0, keep), s.free[:keep]...)
	}
	s.most, s.restAt = s.lent, now+stageRest
}

// full reports whether more waits than a copy may have, beside what travelled apart, or of that.
func (w *stage) full() bool {
	apart := 0
	for _, s := range w.list {
		if n := int(s.to - s.from); n > wire.MaxRecorded {
			apart += n
		}
	}
	return len(w.buf)-apart > 2*wire.MaxValues || apart > wire.MaxApart
}

// compact keeps the newest value of each slot only.
func (c *Copy) compact() {
	var last [wire.MaxSlots][]byte
	all := uint64(0)
	var newest Timing
	c.Staged(func(apply, mask uint64, values []byte) {
		if apply&c.Class.Motion != 0 {
			newest = c.Class.rest.timing
		}
		for i := range c.Class.Slots {
			if mask>>i&1 == 0 {
				continue
			}
			l := c.Class.ValueLen(i, values)
			if apply>>i&1 != 0 {
				last[i] = values[:l]
				all |= 1 << i
			}
			values = values[l:]
		}
	})
	s, w := c.Class.rest, c.wait
	b := s.scratch[:0]
	for i := range c.Class.Slots {
		if all>>i&1 != 0 {
			b = append(b, last[i]...)
		}
	}
	w.buf, s.scratch = b, w.buf[:0]
	s.waiting -= len(w.list) - 1
	s.merged += uint64(len(w.list) - 1)
	w.list = append(w.list[:0], staged{all, all, 0, int32(len(b)), newest})
}

// Staged calls f for every record that waits, oldest first: values holds the slots of mask, those in apply are to be written.
func (c *Copy) Staged(f func(apply, mask uint64, values []byte)) {
	if c.wait == nil {
		return
	}
	was := c.Class.rest.timing
	for _, s := range c.wait.list {
		c.Class.rest.timing = s.timing
		f(s.apply, s.mask, c.wait.buf[s.from:s.to])
	}
	c.Class.rest.timing = was
}

// Applied drops what waits.
func (c *Copy) Applied() {
	w := c.wait
	if w == nil {
		return
	}
	s := c.Class.rest
	s.waiting -= len(w.list)
	s.lent--
	c.wait = nil
	if w.list, w.buf = w.list[:0], w.buf[:0]; len(s.free) < maxLent && cap(w.buf) <= 4*wire.MaxValues {
		s.free = append(s.free, w)
	}
}
