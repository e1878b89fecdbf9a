package conformance

import (
	"encoding/binary"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/throng-dev/throng/internal/grid"
	"github.com/throng-dev/throng/internal/memnet"
	"github.com/throng-dev/throng/internal/registry"
	"github.com/throng-dev/throng/internal/session"
	"github.com/throng-dev/throng/internal/shard"
	"github.com/throng-dev/throng/internal/wire"
	"github.com/throng-dev/throng/transport"
)

// A stand is one world with clients that a test leads by the hand: for tables of cases, and for storms, where the random programs have
// too much of everything else. An entity has four numbers, of which one is its owner's alone and one an authority's.
type stand struct {
	memnet.Sched
	testing.TB
	rng    *rand.Rand
	shard  *shard.Shard
	guests []*guest
	link   memnet.Link
	wakeAt time.Duration
	frame  time.Duration // of the clients
	every  int           // frames a replication tick
	ended  func(*shard.Session)
}

type guest struct {
	s        *stand
	i        int
	id       wire.PlayerID
	reg      *registry.Registry
	class    *registry.Class
	conn     *session.Conn
	sess     *shard.Session
	up, down memnet.Pipe
	frames   int
	cut      bool
	step     func()
	asked    func(c *registry.Copy, from wire.PlayerID) bool
	applied  map[wire.ID]uint64 // slots written since somebody looked
}

const (
	standA = iota
	standB
	standOwner
	standAuth
	standSlots
)

type standBody struct{ val, shadow [standSlots]uint32 }

func newStand(t testing.TB, seed uint64, link memnet.Link, cfg shard.Config) *stand {
	s := &stand{TB: t, rng: rand.New(rand.NewPCG(seed, 2)), link: link, frame: 25 * time.Millisecond, every: 4}
	if cfg.Profile.ChunkSize == 0 {
		cfg.Profile = shard.DefaultProfile()
	}
	cfg.Epoch, cfg.Start, cfg.World = 1, 1, "w"
	if cfg.Settle == 0 {
		cfg.Settle = -1
	}
	s.shard = shard.New(0, cfg)
	s.plan()
	return s
}

func (s *stand) plan() {
	at := max(s.shard.Wake(), s.Now())
	if s.wakeAt > s.Now() && s.wakeAt <= at {
		return
	}
	s.wakeAt = at
	s.At(at, func() {
		if s.wakeAt != s.Now() {
			return
		}
		for _, d := range s.shard.Flush(s.Now(), nil) {
			g := s.guests[d.To-1]
			if g.sess == nil || g.cut {
				continue
			}
			g.down.Link = s.link
			conn := g.conn
			s.Carry(&g.down, s.rng, d.Payload(), func(b []byte) {
				if conn == g.conn && !g.cut {
					if err := g.conn.Receive(s.Now(), b, g.reg.Handler(s.Now())); err != nil {
						s.Fatalf("guest %d: %v", g.i, err)
					}
				}
			})
		}
		for _, o := range s.shard.Failed() {
			if s.ended == nil {
				s.Fatalf("the relay ends a session: %v", o.Err())
			}
			s.ended(o)
		}
		s.wakeAt = 0
		s.plan()
	})
}

// join adds a client; the first is host.
func (s *stand) join() *guest {
	g := &guest{s: s, i: len(s.guests), applied: map[wire.ID]uint64{}}
	g.id = wire.PlayerID{byte(g.i + 1), 15: 1}
	g.reg = registry.New(registry.Config{Encode: g.encode, Zero: g.zero, World: "w", Nonce: uint32(g.i) << 20})
	c := &wire.Class{ID: 7, Hash: 77, Name: "stand", Slots: []wire.Slot{{Width: 4}, {Width: 4}, {Width: 4, Words: wire.WordOwner}, {Width: 4, Words: wire.WordAuth}}}
	c.Index()
	g.class = g.reg.AddClass(c, nil)
	s.guests = append(s.guests, g)
	g.conn = session.New(session.Config{})
	g.reg.Connect(s.Now(), g.conn)
	g.sess = s.shard.Join(s.Now(), session.New(session.Config{}), shard.Identity{To: transport.ID(g.i + 1), Player: g.id, Senior: uint64(g.i), Eligible: true}, 1)
	s.After(time.Duration(g.i)*s.frame/16, g.tick)
	return g
}

func (g *guest) encode(c *registry.Copy, mask uint64, b []byte) ([]byte, uint64, grid.Chunk) {
	d, _ := c.Data.(*standBody)
	if d == nil {
		d = new(standBody)
	}
	for i := range standSlots {
		if mask>>i&1 != 0 {
			b = binary.LittleEndian.AppendUint32(b, d.val[i])
			d.shadow[i] = d.val[i]
		}
	}
	return b, mask, grid.Chunk{}
}

func (g *guest) zero(c *registry.Copy) {
	if d, _ := c.Data.(*standBody); d != nil && c.ZeroOwner {
		c.ZeroOwner = false
		d.val[standOwner], d.shadow[standOwner] = 0, 0
	}
}

func (g *guest) apply() {
	g.reg.Announce()
	for _, c := range g.reg.Changed(nil) {
		if c.Gone {
			continue
		}
		if c.Data == nil {
			c.Data, c.Shown = new(standBody), true
		}
		d := c.Data.(*standBody)
		g.zero(c)
		c.Staged(func(apply, mask uint64, values []byte) {
			for i := range standSlots {
				if mask>>i&1 == 0 {
					continue
				}
				if apply>>i&1 != 0 {
					d.val[i] = binary.LittleEndian.Uint32(values)
					d.shadow[i] = d.val[i]
				}
				values = values[4:]
			}
			g.applied[c.ID] |= apply
		})
		c.Applied()
		g.reg.Release(c)
	}
	asked := g.reg.Requests
	g.reg.Requests = nil
	for _, q := range asked {
		if g.asked != nil && g.asked(q.Copy, q.From) {
			g.reg.Grant(q.Copy, q.From, 0)
		}
	}
}

func (g *guest) tick() {
	s := g.s
	s.After(s.frame, g.tick)
	if g.sess == nil {
		return
	}
	g.conn.Expire(s.Now(), g.reg.Handler(s.Now()))
	g.apply()
	if g.step != nil {
		g.step()
	}
	g.frames++
	rep := g.frames%s.every == 0
	if rep {
		g.reg.Each(func(c *registry.Copy) {
			if d, _ := c.Data.(*standBody); d != nil && c.Drives() {
				mask := g.reg.Lost(c)
				for i := range standAuth {
					if d.val[i] != d.shadow[i] {
						mask |= 1 << i
					}
				}
				g.reg.Mark(c, mask)
			}
		})
	}
	g.send(rep)
}

func (g *guest) send(rep bool) {
	s := g.s
	for _, b := range g.reg.Send(s.Now(), rep, transport.MaxPayload, transport.Headroom, transport.NewBuffer, nil) {
		if g.cut {
			continue
		}
		g.up.Link = s.link
		sess := g.sess
		s.Carry(&g.up, s.rng, b[transport.Headroom:], func(b []byte) {
			if sess == g.sess && sess != nil && !g.cut {
				if err := s.shard.Receive(s.Now(), sess, b); err != nil && s.ended != nil {
					s.ended(sess)
				} else if err != nil {
					s.Fatalf("the relay ends the session of guest %d: %v", g.i, err)
				}
				s.plan()
			}
		})
	}
}

// run lets time pass.
func (s *stand) run(d time.Duration) { s.Run(s.Now() + d) }

func (g *guest) leave() {
	g.s.shard.Leave(g.s.Now(), g.sess, wire.WhyReleased)
	g.sess = nil
	g.s.plan()
}

func (g *guest) spawn(id wire.ID, flags uint16, v uint32) *registry.Copy {
	owner := g.id
	if flags&wire.EntityHosted != 0 {
		owner = wire.PlayerID{}
	}
	return g.reg.Spawn(id, g.class, owner, flags, func(c *registry.Copy) {
		c.Data = &standBody{val: [standSlots]uint32{v, v, v, 0}, shadow: [standSlots]uint32{v, v, v, 0}}
	})
}

// at is the body of an entity, with its copy.
func (g *guest) at(id wire.ID) (*registry.Copy, *standBody) {
	c := g.reg.Find(id)
	if c == nil || c.Data == nil {
		g.s.Fatalf("guest %d does not hold %x", g.i, id[:4])
	}
	return c, c.Data.(*standBody)
}
