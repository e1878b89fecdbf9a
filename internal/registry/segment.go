package registry

import (
	"slices"

	"github.com/throng-dev/throng/internal/trace"
	"github.com/throng-dev/throng/internal/wire"
)

func (r *Registry) segment(pn uint64, body []byte) error {
	chunk, num, rest, err := wire.ParseSegment(body, r.cur.Base)
	if err != nil {
		return err
	}
	k := r.classByNum(num)
	if k == nil { // then no entity of it was introduced
		r.stats.Unknown++
		r.tr.drop(trace.UnknownClass, wire.ID{}, uint64(num), nil, 0, len(rest))
		return nil
	}
	w := wire.Walk(rest, chunk, &k.Class)
	in := r.stages.in[:0]
	for more := true; more; {
		if len(in) == cap(in) {
			in = slices.Grow(in, 64)
		}
		n := len(in)
		in = in[:n+1]
		if more = w.Next(&in[n].rec); more {
			in[n].s = r.handles.find(in[n].rec.Handle)
		} else {
			in = in[:n]
		}
	}
	r.stages.in = in
	// Where a client's copies do not fit the processor's cache, they are fetched side by side here, and not one after another below.
	for i := range in {
		if s := in[i].s; s != nil && s.c != nil {
			r.stages.touched += s.c.touch()
		}
	}
	for i := range in {
		rec, s := &in[i].rec, in[i].s
		r.stats.Records++
		if s == nil || s.c == nil || s.c.Class != k { // not introduced
			r.stats.Unknown++
			r.tr.drop(trace.UnknownHandle, wire.ID{}, uint64(rec.Handle), k, rec.Mask, len(rec.Values))
			continue
		}
		c := s.c
		if 2*pn+1 < s.fence && r.fenced(rec.Handle, pn, false, false) {
			continue
		}
		if c.drives {
			r.echo(c)
			r.stats.Echo++
			r.tr.delta(trace.In, c, rec.Mask, len(rec.Values), r.cur.Flush, "", trace.Echo)
			if r.cfg.Faults.EchoApplied {
				c.stage(rec.Mask, rec.Mask, rec.Values)
				r.change(c)
			}
			continue
		}
		if c.waiting && !r.cfg.Faults.WaitingApplies {
			r.stats.Waiting++
			r.tr.delta(trace.In, c, rec.Mask, len(rec.Values), r.cur.Flush, "", trace.Waiting)
			continue
		}
		c.Chunk = rec.Chunk
		r.hear(c)
		r.stages.timing = r.timing(rec.Sample)
		r.merge(c, r.cur.Flush, rec.Mask, rec.Values)
		r.stages.timing = Timing{}
	}
	return w.Err()
}

// arrival is a record and where its handle stands.
type arrival struct {
	rec wire.Record
	s   *handle // nil: nowhere
}

// touch reads what a record will need.
func (c *Copy) touch() uint32 {
	if c.vers != nil {
		return uint32(len(c.vers.of)) + uint32(c.Gen)
	}
	return c.base
}
