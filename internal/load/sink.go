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
//	turn: Receive without waiting ─► registry ─► decode what changed ─► at a replication tick: walk, Send
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

	conn  transport.Conn
	sock  *udp.Conn // that conn reads from
	sess  *session.Conn
	reg   *registry.Registry
	class *registry.Class
	s     State
	copy  *registry.Copy
	next  time.Duration // replication tick
	now   time.Duration
	take  func(payload []byte)
	all   *sinks
	err   error
}

// sinks are what all sinks of a run share: one goroutine turns them, one after another, so that this stays in the processor's cache.
type sinks struct {
	class   *wire.Class
	lender  registry.Lender
	lend    registry.Buffers
	changes []*registry.Copy
	out     [][]byte
	buffers [][]byte
	used    int
	touched int32 // nobody reads it
}

func (s *sinks) buffer() []byte {
	if s.used == len(s.buffers) {
		s.buffers = append(s.buffers, transport.NewBuffer())
	}
	s.used++
	return s.buffers[s.used-1][:transport.Headroom]
}

// sinkClass has the slots of Walker.
func sinkClass() *wire.Class {
	c := &wire.Class{ID: 1, Hash: 1, Name: "load walker", Slots: []wire.Slot{
		{Words: wire.WordPosition, Name: "Pos"}, {Width: 1, Name: "Yaw"}, {Width: 1, Name: "Anim"}}}
	c.Index()
	return c
}

func newSink(m *meter, name string, seed uint64, side float64) *sink {
	k := &sink{seat: m.seat(), all: &m.sinks, name: name, rng: rand.New(rand.NewPCG(seed, 2)), side: side}
	k.at = somewhere(k.rng, side)
	k.sess = session.New(session.Config{Prompt: true})
	if k.all.class == nil {
		k.all.class = sinkClass()
		k.all.lend = k.all.buffer
	}
	k.reg = registry.New(registry.Config{Encode: k.encode, Lender: &k.all.lender, World: Level, Agent: "throng load", Nonce: k.rng.Uint32()})
	k.class = k.reg.AddClass(k.all.class, nil)
	k.take = k.receive
	return k
}

// join opens the connection. The world is entered while the sink is ticked.
func (k *sink) join(ctx context.Context, g *gate) error {
	token, err := g.tokens(k.name)(ctx)
	if err != nil {
		return err
	}
	k.gate = g
	if k.conn, err = g.dialer(k.index).Dial(ctx, g.addr, token); err != nil {
		return err
	}
	if t, ok := k.conn.(*tapConn); ok {
		k.sock = t.Conn.(*udp.Conn)
	} else {
		k.sock = k.conn.(*udp.Conn)
	}
	return nil
}

func (k *sink) enter(now time.Duration) error {
	k.now = now
	k.reg.Connect(now, k.sess)
	return nil
}

func (k *sink) receive(payload []byte) {
	if err := k.sess.Receive(k.now, payload, k.reg.Handler(k.now)); err != nil && !errors.Is(err, session.ErrMalformed) {
		k.err = err
	}
}

// sinkRest is the longest time that a sink does nothing: its carrier keeps alive and finds out that the other end is gone.
const sinkRest = 250 * time.Millisecond

// turn is a Tick in which there is something to read, or to do, or may be. frame is how long one takes. wake is when the next is due even if
// nothing comes: the Ticks in between would do nothing, and those are most.
func (k *sink) turn(now, frame time.Duration) (wake time.Duration) {
	if k.err != nil {
		return now + sinkRest
	}
	k.now = now
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
		k.next += k.lock(frame)
		k.diff()
	}
	k.send(tick)
	k.ticked()
	if r := k.reg.Refused; r != nil && k.err == nil {
		k.err = fmt.Errorf("throng: the relay refused %s: %s (code %d)", k.name, r.Text, r.Code)
	}
	if k.sock.More() {
		return now
	}
	wake = now + sinkRest
	if at, ok := k.sess.Deadline(); ok {
		wake = min(wake, at)
	}
	if k.copy != nil {
		wake = min(wake, k.next)
	}
	return wake
}

// tick is turn for whoever has no wheel.
func (k *sink) tick(now time.Duration) { k.turn(now, frame) }

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

// lock is what a World does to leave shortly before the relay flushes.
func (k *sink) lock(frame time.Duration) time.Duration {
	flush := time.Duration(k.reg.Welcome.Profile.FlushMS) * time.Millisecond
	if k.gate.noPhaseLock || flush <= 0 || interval%flush != 0 {
		return 0
	}
	rtt, jitter := k.sess.RTT()
	return k.reg.Shift(k.next, interval, frame, rtt, jitter)
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

// apply decodes what came.
func (k *sink) apply() {
	all := k.all
	all.changes = k.reg.Changed(all.changes[:0])
	// What the changes are compared with is fetched side by side: the pairs and tracks of thousands of sinks do not fit the processor's cache.
	for _, c := range all.changes {
		if p, _ := c.Data.(*pair); p != nil && p.t != nil {
			all.touched += p.t.count
		}
	}
	for _, c := range all.changes {
		if c == k.copy {
			if c.Gone && k.err == nil {
				k.err = fmt.Errorf("throng: the relay took the avatar of %s: %v", k.name, c.Why)
			}
			continue
		}
		p, _ := c.Data.(*pair)
		if c.Gone {
			if p != nil && p.t != nil {
				p.departed(k.seat)
			}
			continue
		}
		var v State
		if p != nil {
			v = p.state
		}
		c.Staged(func(apply, mask uint64, values []byte) { k.decode(c, &v, apply, mask, values) })
		c.Applied()
		k.reg.Release(c)
		switch {
		case p == nil:
			if p = k.spawned(throng.NetIDFrom(c.ID), v); p == nil {
				p = &pair{state: v}
			}
			c.Data, c.Shown = p, true
		case v == p.state:
		case p.t != nil:
			k.changed(p, v)
		default:
			p.state = v
		}
	}
	clear(all.changes)
}

func (k *sink) decode(c *registry.Copy, s *State, apply, mask uint64, values []byte) {
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
			s.X, s.Y = int16(at[0]), int16(at[1])
		case i == 1:
			s.Yaw = v[0]
		default:
			s.Anim = v[0]
		}
	}
}

func (k *sink) send(tick bool) {
	all := k.all
	all.used = 0
	all.out = k.reg.Send(k.now, tick, transport.MaxPayload, transport.Headroom, all.lend, all.out[:0])
	if len(all.out) > 0 {
		_ = k.conn.Send(all.out) // what the carrier cannot take is lost, as it may be anywhere on the way
	}
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
		p, _ := c.Data.(*pair)
		if !on || c != k.copy && p == nil {
			return
		}
		h := holding{id: throng.NetIDFrom(c.ID), owner: throng.PlayerIDFrom(c.Owner), term: uint64(c.Term), role: throng.RoleProxy, n: 3}
		s := k.s
		if c == k.copy {
			h.role, h.drives = throng.RoleOwner, c.Drives()
		} else {
			s = p.state
		}
		h.slots, h.cell = [4]int64{int64(s.X)<<16 | int64(uint16(s.Y)), int64(s.Yaw), int64(s.Anim)}, s.Cell()
		on = yield(h)
	})
}
