package load

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/throng-dev/throng"
	"github.com/throng-dev/throng/internal/grid"
	"github.com/throng-dev/throng/internal/quant"
	"github.com/throng-dev/throng/internal/registry"
	"github.com/throng-dev/throng/internal/session"
	"github.com/throng-dev/throng/internal/udp"
	"github.com/throng-dev/throng/internal/wire"
	"github.com/throng-dev/throng/transport"
)

// sink is a client without game structs: the same session, registry, bytes, acks and phase lock, but no goroutine, no
// reflection and no hooks. It is for counts of clients that ordinary ones on one core cannot serve.
//
//	tick: Receive without waiting ─► registry ─► decode what changed ─► at a replication tick: walk, Send
type sink struct {
	*seat
	name string
	rng  *rand.Rand
	at   throng.Vec2
	side float64
	goal *throng.Vec2
	rest bool
	idle bool // it has no avatar, and looks from nowhere
	gate *gate

	conn     transport.Conn
	ready    bool          // there is something to read
	wake     time.Duration // something is to be done then, even if nothing comes
	sess     *session.Conn
	reg      *registry.Registry
	class    *registry.Class
	s        State
	copy     *registry.Copy
	next     time.Duration // replication tick
	frame    time.Duration // between two ticks
	lastTick time.Duration
	now      time.Duration
	take     func(payload []byte)
	lend     registry.Buffers
	changes  []*registry.Copy
	out      [][]byte
	buffers  [][]byte
	used     int
	err      error
}

// sinkClass has the slots of Walker.
func sinkClass() *wire.Class {
	c := &wire.Class{ID: 1, Hash: 1, Name: "load walker", Slots: []wire.Slot{
		{Words: wire.WordPosition, Name: "Pos"}, {Width: 1, Name: "Yaw"}, {Width: 1, Name: "Anim"}}}
	c.Index()
	return c
}

func newSink(m *meter, name string, seed uint64, side float64) *sink {
	k := &sink{seat: m.seat(), name: name, rng: rand.New(rand.NewPCG(seed, 2)), side: side}
	k.at = somewhere(k.rng, side)
	k.sess = session.New(session.Config{})
	k.reg = registry.New(registry.Config{Encode: k.encode, World: Level, Agent: "throng load", Nonce: k.rng.Uint32()})
	k.class = k.reg.AddClass(sinkClass(), nil)
	k.take = k.receive
	k.lend = k.buffer
	return k
}

// join opens the connection. The world is entered while the sink is ticked.
func (k *sink) join(ctx context.Context, g *gate) error {
	token, err := g.tokens(k.name)(ctx)
	if err != nil {
		return err
	}
	k.gate = g
	k.ready = true
	k.conn, err = g.dialer(k.index).Dial(ctx, g.addr, token)
	return err
}

// socket is what its connection reads from.
func (k *sink) socket() *udp.Conn {
	if t, ok := k.conn.(*tapConn); ok {
		return t.Conn.(*udp.Conn)
	}
	return k.conn.(*udp.Conn)
}

func (k *sink) enter(now time.Duration) error {
	k.now = now
	k.reg.Connect(now, k.sess)
	return nil
}

func (k *sink) receive(payload []byte) {
	k.ready = true
	if err := k.sess.Receive(k.now, payload, k.reg.Handler(k.now)); err != nil && !errors.Is(err, session.ErrMalformed) {
		k.err = err
	}
}

// sinkRest is the longest time that a sink does nothing: its carrier keeps alive and finds out that the other end is gone.
const sinkRest = 250 * time.Millisecond

// tick does nothing in the frames in which nothing came and nothing is due: those are most.
func (k *sink) tick(now time.Duration) {
	if k.err != nil || !k.ready && now < k.wake && (k.copy == nil || now < k.next) {
		k.lastTick = now
		return
	}
	k.frame += (min(now-k.lastTick, interval) - k.frame) / 8
	k.now, k.lastTick, k.ready = now, now, false // receive sets it again: there may be more than one batch
	if err := k.conn.Receive(k.m.start, k.take); err != nil && k.err == nil {
		k.err = err
	}
	k.sess.Expire(now, k.reg.Handler(now))
	if k.reg.Welcomed && k.copy == nil && !k.idle {
		k.spawn()
	}
	k.reg.Announce()
	k.apply()
	tick := k.copy != nil && now >= k.next
	if tick {
		if k.next += interval; k.next <= now {
			k.next = now + interval
		}
		k.next += k.lock()
		k.diff()
	}
	k.send(tick)
	k.ticked()
	if r := k.reg.Refused; r != nil && k.err == nil {
		k.err = fmt.Errorf("throng: the relay refused %s: %s (code %d)", k.name, r.Text, r.Code)
	}
	k.wake = now + sinkRest
	if at, ok := k.sess.Deadline(); ok {
		k.wake = min(k.wake, at)
	}
}

func (k *sink) spawn() {
	k.self = throng.PlayerIDFrom(k.reg.Welcome.Player)
	id := k.self.AvatarID()
	k.s = stateAt(k.at, uint8(k.rng.Uint32()), 0)
	k.avatar = k.m.born(id, k.self, k.s, k.now)
	k.next = k.now
	k.copy = k.reg.Spawn(id.Bytes(), k.class, k.reg.Welcome.Player, wire.EntityAvatar, func(c *registry.Copy) { k.copy = c })
}

// diff is a replication tick: the sink walks, and says so.
func (k *sink) diff() {
	mask := k.reg.Lost(k.copy)
	if k.rest {
		k.avatar.resting = true
	} else {
		was := k.s
		if k.goal != nil {
			k.at, k.goal = *k.goal, nil
		} else {
			k.at = walk(k.rng, k.at, k.side)
		}
		k.s = stateAt(k.at, was.Yaw+6, was.Anim+1)
		k.m.sent(k.avatar, k.s, k.now)
		mask |= 1<<1 | 1<<2
		if k.s.X != was.X || k.s.Y != was.Y {
			mask |= 1 << 0
		}
	}
	if mask != 0 {
		k.reg.Mark(k.copy, mask)
	}
}

// lock is what a World does to leave shortly before the relay flushes. A sink looks for packets when it ticks, so that it
// sees round trips that are longer than they are, by up to a frame; it is told instead what the way is like.
func (k *sink) lock() time.Duration {
	flush := time.Duration(k.reg.Welcome.Profile.FlushMS) * time.Millisecond
	offset, ok := k.reg.Offset()
	if k.gate.noPhaseLock || !ok || flush <= 0 || interval%flush != 0 {
		return 0
	}
	before := min(2*time.Millisecond+2*k.gate.jitter+k.frame, interval/2)
	d := (-before - (k.next + offset + 2*k.gate.delay)) % interval
	if d < 0 {
		d += interval
	}
	if d > interval/2 {
		d -= interval
	}
	return max(-2*time.Millisecond, min(2*time.Millisecond, d))
}

func (k *sink) encode(_ *registry.Copy, mask uint64, b []byte) (out []byte, sent uint64, at grid.Chunk) {
	if mask&1 != 0 {
		start := len(b)
		b = append(b, 0)
		b, _ = quant.AppendVec2(b, [2]float64{float64(k.s.X), float64(k.s.Y)}, 1) // a State is finite
		b[start] = byte(len(b) - start - 1)
	}
	if mask&2 != 0 {
		b = append(b, k.s.Yaw)
	}
	if mask&4 != 0 {
		b = append(b, k.s.Anim)
	}
	at, _ = grid.Of(float64(k.s.X), float64(k.s.Y), 0, ChunkSize)
	return b, mask, at
}

// body is what a sink has of an entity.
type body struct {
	s State
	p *pair
}

// apply decodes what came.
func (k *sink) apply() {
	k.changes = k.reg.Changed(k.changes[:0])
	for _, c := range k.changes {
		if c == k.copy {
			if c.Gone && k.err == nil {
				k.err = fmt.Errorf("throng: the relay took the avatar of %s: %v", k.name, c.Why)
			}
			continue
		}
		b, _ := c.Data.(*body)
		if c.Gone {
			if b != nil && b.p != nil {
				b.p.departed(k.seat)
			}
			continue
		}
		first := b == nil
		if first {
			b = new(body)
			c.Data, c.Shown = b, true
		}
		was := b.s
		c.Staged(func(apply, mask uint64, values []byte) { k.decode(c, b, apply, mask, values) })
		c.Applied()
		k.reg.Release(c)
		switch {
		case first:
			b.p = k.spawned(throng.NetIDFrom(c.ID), b.s)
		case b.s != was && b.p != nil:
			k.changed(b.p, b.s)
		}
	}
	clear(k.changes)
}

func (k *sink) decode(c *registry.Copy, b *body, apply, mask uint64, values []byte) {
	for i := range c.Class.Slots {
		if mask>>i&1 == 0 {
			continue
		}
		n := c.Class.ValueLen(i, values)
		v := values[:n]
		values = values[n:]
		switch {
		case apply>>i&1 == 0:
		case i == 0:
			_, skip := binary.Uvarint(v)
			at, err := quant.ParseVec2(v[skip:], 1)
			if err != nil {
				k.m.strange++
			}
			b.s.X, b.s.Y = int16(at[0]), int16(at[1])
		case i == 1:
			b.s.Yaw = v[0]
		default:
			b.s.Anim = v[0]
		}
	}
}

func (k *sink) send(tick bool) {
	k.used = 0
	k.out = k.reg.Send(k.now, tick, transport.MaxPayload, transport.Headroom, k.lend, k.out[:0])
	if len(k.out) > 0 {
		_ = k.conn.Send(k.out) // what the carrier cannot take is lost, as it may be anywhere on the way
	}
}

func (k *sink) buffer() []byte {
	if k.used == len(k.buffers) {
		k.buffers = append(k.buffers, transport.NewBuffer())
	}
	k.used++
	return k.buffers[k.used-1][:transport.Headroom]
}

// leave says goodbye.
func (k *sink) leave() {
	for range 3 {
		b := k.sess.Begin(k.now, transport.NewBuffer())
		b = session.AppendClose(b, uint16(wire.CloseGoodbye), "")
		k.sess.Commit(k.now, b, false)
		_ = k.conn.Send([][]byte{b})
	}
	k.conn.Close()
}

func (k *sink) holdings(yield func(holding) bool) {
	on := true
	k.reg.Each(func(c *registry.Copy) {
		b, _ := c.Data.(*body)
		if !on || c != k.copy && b == nil {
			return
		}
		h := holding{id: throng.NetIDFrom(c.ID), owner: throng.PlayerIDFrom(c.Owner), term: uint64(c.Term), role: throng.RoleProxy, n: 3}
		s := k.s
		if c == k.copy {
			h.role, h.drives = throng.RoleOwner, c.Drives()
		} else {
			s = b.s
		}
		h.slots, h.cell = [4]int64{int64(s.X)<<16 | int64(uint16(s.Y)), int64(s.Yaw), int64(s.Anim)}, s.Cell()
		on = yield(h)
	})
}
