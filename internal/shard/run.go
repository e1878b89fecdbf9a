package shard

import (
	"github.com/throng-dev/throng/internal/grid"
	"github.com/throng-dev/throng/internal/session"
	"github.com/throng-dev/throng/internal/table"
	"github.com/throng-dev/throng/internal/wire"
)

// run is the Segment frame that is open at the end of a packet: records of one class, of several chunks, from the shared bytes or
// made for this observer.
//
//	frame  kind · length · chunk · class · body of a segment · [0 · chunk · body of the next]…
//
// The relay copies bodies of segments behind each other. Between two stands a chunk switch, which takes 2 B where a frame of its own
// would take 4: a crowd has about two entities a chunk.
type run struct {
	open  bool
	class uint32
	start int // of the frame in the packet
	w     wire.Segment
}

// segmentHead is more than a segment costs beside its body: frame, class, two chunk codes that are near.
const segmentHead = 3 + 2 + 4 + 5

// extend makes ready for n bytes of records of a class, of which the first is in a chunk.
func (w *bundler) extend(num uint32, class *wire.Class, chunk grid.Chunk, n int) {
	r := &w.run
	if r.open && r.class != num {
		w.endRun()
	}
	n += segmentHead
	if w.base.Distance(chunk) > 127 || r.open && r.w.Chunk().Distance(chunk) > 127 {
		n += 60
	}
	w.room(n)
	if !r.open { // room may have closed it
		w.b, r.start = session.BeginFrame(w.b, wire.KindSegment)
		w.b = wire.AppendChunk(w.b, w.base, chunk)
		r.w.Reset(w.b, num, class, chunk)
		w.b = r.w.B
		r.open, r.class = true, num
	}
}

// copySegment puts a shared segment into the packets.
func (w *bundler) copySegment(i int32) {
	b := &w.s.blob
	g := &b.segs[i]
	w.extend(g.class, &w.s.classes[g.class-1].Class, g.chunk, int(g.to-g.from))
	was := len(w.b)
	w.run.w.B = w.b
	w.run.w.Splice(g.chunk, g.last, b.b[g.from:g.to])
	w.b = w.run.w.B
	w.pay(len(w.b) - was)
	w.o.sent.add(b.first+uint32(i), g.since)
	w.s.stats.SegmentCopies++
	w.s.stats.RecordCopies += uint64(g.records())
}

// record writes what one entity has now.
func (w *bundler) record(e *table.Entity, mask uint64) {
	w.extend(e.Class.Num, &e.Class.Class, e.Place.Chunk, e.Size()+16)
	was := len(w.b)
	w.run.w.B = w.b
	w.run.w.Begin(e.Handle, e.Place.Chunk, mask, w.s.sample(e))
	w.b = e.AppendValues(w.run.w.B, mask)
	w.pay(len(w.b) - was)
}

// endRun closes the frame. Its length takes one byte where that is enough.
func (w *bundler) endRun() {
	if !w.run.open {
		return
	}
	w.run.open = false
	w.b = session.TrimFrame(w.b, w.run.start)
}
