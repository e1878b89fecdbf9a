package registry

import (
	"slices"
	"time"

	"github.com/throng-dev/throng/internal/grid"
	"github.com/throng-dev/throng/internal/session"
	"github.com/throng-dev/throng/internal/trace"
	"github.com/throng-dev/throng/internal/wire"
)

// Spawn announces an entity that this client made. The id must be free here; Find tells. bind gives the copy its body before
// its values are read.
func (r *Registry) Spawn(id wire.ID, k *Class, owner wire.PlayerID, flags uint16, bind func(*Copy)) *Copy {
	r.nonce++
	hosted := flags&(wire.EntityHosted|wire.EntityPlaced) != 0
	c := &Copy{ID: id, Class: k, Owner: owner, Flags: flags, Shown: true, nonce: r.nonce, pending: true, drives: !hosted,
		placed: flags&wire.EntityPlaced != 0}
	r.add(c)
	bind(c)
	if r.isReady { // else Announce will
		r.announce(c)
	}
	return c
}

// Destroy ends an entity: at once where this client drives it, else when the relay accepts.
func (r *Registry) Destroy(c *Copy, self wire.PlayerID) {
	if c.mirror {
		return
	}
	r.queue(wire.AppendEntity(nil, wire.MsgDestroy, &wire.Entity{ID: c.ID, Inc: c.Inc, Nonce: c.nonce}))
	if !c.drives && !c.pending {
		return
	}
	if c.Inc > 0 { // R-22a: no tombstone until the relay confirms
		r.mine[c.ID] = c.Inc
	}
	r.drop(c, wire.WhyDestroyed, self, r.cfg.Faults.DestroyFinal && c.Inc > 0, nil)
}

// Request asks for the drive.
func (r *Registry) Request(c *Copy) {
	if c.mirror {
		return
	}
	r.queue(wire.AppendEntity(nil, wire.MsgRequest, &wire.Entity{ID: c.ID, Inc: c.Inc}))
}

// Release answers a revoke with the present values of all slots. The owner calls it for every copy that changed; it does
// nothing for those that nobody asked for, or that moved on since.
func (r *Registry) Release(c *Copy) {
	p := c.proof
	if p == nil || p.revoked == 0 {
		return
	}
	asked := p.revoked
	p.revoked = 0
	if c.Gone || c.drives || c.Term != asked {
		return
	}
	r.release(c)
}

func (r *Registry) release(c *Copy) {
	m := wire.Entity{ID: c.ID, Inc: c.Inc, Term: c.Term, N: c.n}
	m.Values, m.Mask, m.Chunk = r.current(c, r.writable(c), nil)
	r.queue(wire.AppendEntity(nil, wire.MsgRelease, &m))
}

// Override sends the present values of the slots in mask as the host's correction.
func (r *Registry) Override(c *Copy, mask uint64) {
	if c.mirror {
		return
	}
	m := wire.Entity{ID: c.ID, Inc: c.Inc}
	m.Values, m.Mask, m.Chunk = r.current(c, mask, nil)
	r.queue(wire.AppendEntity(nil, wire.MsgOverrideUp, &m))
}

// Mark says that slots of a driven copy must leave with the next Send.
func (r *Registry) Mark(c *Copy, mask uint64) {
	if c.Mark |= mask; c.Mark != 0 {
		r.list(c)
	}
}

// list makes the next Send with tick look at a copy.
func (r *Registry) list(c *Copy) {
	if !c.marked {
		c.marked = true
		r.marks = append(r.marks, c)
	}
}

// Beat makes a driven copy leave a sign of life with the next tick, if nothing else of it leaves.
func (r *Registry) Beat(c *Copy) {
	c.beat = true
	r.list(c)
}

// Lost returns the slots of a driven copy whose last packet was lost. Give them to Mark with the next tick.
func (r *Registry) Lost(c *Copy) uint64 { return c.LostSlots() }

// Buffers gives packets memory: a buffer of length transport.Headroom with room for one payload.
type Buffers func() []byte

// Send builds the packets that must leave now. With tick, the marked slots of driven copies are among them, as one
// replication tick: what a copy cannot send yet stays marked. limit is what the carrier takes in one payload.
func (r *Registry) Send(now time.Duration, tick bool, limit, headroom int, buffer Buffers, out [][]byte) [][]byte {
	if r.conn == nil {
		return out
	}
	r.now = now
	r.stages.rest(now)
	if len(r.backlog) > 0 {
		r.unblock()
	}
	if r.full && now >= r.roomAt { // what is driven now is room too
		r.roomAt = now + time.Second/4
		r.makeRoom()
	}
	p := packer{r: r, now: now, limit: min(limit, r.conn.Limit(now)), headroom: headroom, buffer: buffer, out: out}
	if tick && r.Welcomed {
		r.tick++
		r.landed()
		first := len(p.out)
		p.deltas()
		p.twin(first)
	}
	p.once()
	p.flush()
	for range 64 {
		if !r.conn.WantsSend(now) {
			break
		}
		p.begin()
		p.flush()
	}
	return p.out
}

type packer struct {
	r        *Registry
	now      time.Duration
	limit    int
	headroom int
	buffer   Buffers
	out      [][]byte
	b        []byte
	frames   int // where the frames of b start that are not reliable
	open     bool
	frame    int // where the open KindDeltas frame starts
	class    *Class
	d        wire.Deltas
	records  int
}

func (p *packer) begin() {
	r := p.r
	p.b = r.conn.AppendReliable(p.now, r.conn.Begin(p.now, p.buffer()), p.limit)
	p.open, p.frames, p.class, p.records = true, len(p.b), nil, 0
}

func (p *packer) flush() {
	if !p.open {
		return
	}
	p.endFrame()
	p.open = false
	pn := p.r.conn.Commit(p.now, p.b, p.records > 0)
	if p.records > 0 {
		p.r.sent.commit(pn)
		p.r.uplink = uplink{pn: pn, sent: p.now}
	}
	p.out = append(p.out, p.b)
}

func (p *packer) endFrame() {
	if p.class != nil {
		p.b = p.d.B
		session.EndFrame(p.b, p.frame)
		p.class = nil
	}
}

// deltas writes the marked copies, by class and handle, as many to a packet as fit (B-073).
func (p *packer) deltas() {
	r := p.r
	keep, ready := r.keep[:0], r.marks[:0]
	for _, c := range r.marks {
		switch {
		case !c.Drives() || c.Gone:
			c.marked, c.Mark, c.beat = false, 0, false
		case !c.Bound() || c.pending || c.Class.Num == 0:
			keep = append(keep, c) // a spawn carries what it has; later changes wait for the bind
		default:
			ready = append(ready, c)
		}
	}
	slices.SortFunc(ready, func(a, b *Copy) int {
		if a.Class.Num != b.Class.Num {
			return int(a.Class.Num) - int(b.Class.Num)
		}
		return int(int64(a.Handle) - int64(b.Handle))
	})
	values := r.values
	for _, c := range ready {
		var sent uint64
		var chunk grid.Chunk
		r.retry(c)
		values, sent, chunk = r.current(c, c.Mark, values[:0])
		c.found(c.Mark)
		beat := c.beat
		c.Mark, c.marked, c.beat = 0, false, false
		if sent == 0 && !beat {
			continue
		}
		record := values
		all := sent
		if apart := c.Class.Apart(sent, values); apart != 0 {
			later := r.sendApart(c, apart, sent, values, false)
			values, record = cut(c.Class, sent, sent&^later, values, nil), cut(c.Class, sent, sent&^apart, values, nil)
			if all, sent = sent&^later, sent&^apart; later != 0 {
				c.Mark, c.marked = later, true
				keep = append(keep, c)
			}
		}
		d := wire.Delta{Handle: c.Handle, Gen: c.Gen, Term: c.Term.N(), N: c.n, Mask: sent, Chunk: chunk}
		if sent&c.Class.Motion != 0 {
			d.Cut, d.Still, c.Cut = c.Cut, c.Still, false
		}
		if sent != 0 || beat {
			p.record(c, &d, record)
		}
		if all == 0 {
			if beat {
				r.stats.Beats++
			}
			continue
		}
		c.Chunk, c.Sent = chunk, int32(len(values))
		r.tr.delta(trace.Out, c, all, len(values), 0, c.pathOf(), "")
		if r.cfg.Sent != nil {
			r.cfg.Sent(c, all, values)
		}
	}
	if cap(values) <= 4*wire.MaxValues {
		r.values = values
	}
	clear(r.marks)
	r.marks, r.keep = append(r.marks[:0], keep...), keep[:0]
}

// most is more than the head of a record and, for the first of a frame, of the frame takes.
const (
	recordHead = 5 + 1 + 5 + 3 + 8 + 31
	frameHead  = 3 + 2 + 2 + 30 + 2
)

func (p *packer) record(c *Copy, d *wire.Delta, values []byte) {
	size := recordHead + len(values)
	if p.open && p.length()+size+frameHead > p.limit {
		p.flush()
	}
	if !p.open {
		p.begin()
		for p.length()+size+frameHead > p.limit && p.r.conn.Carries() {
			p.flush() // reliable pieces filled it
			p.begin()
		}
	}
	if p.class != c.Class {
		p.endFrame()
		if c.Class.Motion != 0 {
			p.b, p.frame = session.BeginFrame(p.b, wire.KindMotion)
			p.b = wire.AppendMotion(p.b, p.r.CaptureMS)
		} else {
			p.b, p.frame = session.BeginFrame(p.b, wire.KindDeltas)
		}
		p.d.Reset(p.b, p.r.tick, d.Chunk, c.Class.Num, &c.Class.Class)
		p.class = c.Class
	}
	p.d.Begin(d)
	p.d.B = append(p.d.B, values...)
	p.records++
	p.r.sent.add(sentRef{c, c.Term, d.Mask, d.Cut})
}

func (p *packer) length() int {
	if p.class != nil {
		return len(p.d.B) - p.headroom
	}
	return len(p.b) - p.headroom
}

// lostPacket: what a lost packet carried goes out again as current values.
func (r *Registry) lostPacket(pn uint64) {
	refs := r.sent.lost(pn)
	if len(refs) > 0 {
		r.stats.Lost++
	}
	r.tr.lost(pn, refs)
	for _, s := range refs {
		if (s.c.drives || s.c.gives()) && !s.c.Gone && s.c.Term == s.term {
			s.c.lose(s.mask)
			s.c.Cut = s.c.Cut || s.cut
		}
	}
}

// Handler returns the session.Handler of the registry at time now.
func (r *Registry) Handler(now time.Duration) session.Handler {
	r.now = now
	return (*handler)(r)
}

type handler Registry

func (h *handler) Acked(pn uint64) {
	(*Registry)(h).arrivedApart(pn)
	h.confirmed = max(h.now, 1)
	h.sent.acked(pn)
}
func (h *handler) Lost(pn uint64)                          { (*Registry)(h).lostPacket(pn) }
func (h *handler) Frame(pn uint64, kind byte, body []byte) { (*Registry)(h).Frame(pn, kind, body) }
func (h *handler) Message(stamp uint64, stream int, msg []byte) {
	(*Registry)(h).Message(stamp, stream, msg)
}
