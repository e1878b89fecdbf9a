package relay_test

import (
	"encoding/binary"
	"errors"
	"io"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	"github.com/throng-dev/throng/internal/grid"
	"github.com/throng-dev/throng/internal/memnet"
	"github.com/throng-dev/throng/internal/registry"
	"github.com/throng-dev/throng/internal/session"
	"github.com/throng-dev/throng/internal/wire"
	"github.com/throng-dev/throng/relay"
	"github.com/throng-dev/throng/token"
	"github.com/throng-dev/throng/transport"
)

// quiet formats everything and shows nothing.
var quiet = slog.New(slog.NewTextHandler(io.Discard, &slog.HandlerOptions{Level: slog.LevelDebug}))

// stage is a relay with a network around it and clients that the test's own goroutine drives.
type stage struct {
	*testing.T
	net     *memnet.Network
	relay   *relay.Server
	addr    string
	served  chan error
	clients []*client
}

// play runs a test in a bubble: virtual time, and no goroutine may be left at the end.
func play(t *testing.T, cfg relay.Config, f func(s *stage)) {
	synctest.Test(t, func(t *testing.T) {
		s := &stage{T: t, net: memnet.New(1)}
		s.serve(cfg)
		f(s)
		for _, c := range s.clients {
			if c.conn != nil {
				c.conn.Close()
			}
		}
		s.stop()
	})
}

func (s *stage) serve(cfg relay.Config) {
	if cfg.Logger == nil {
		cfg.Logger = quiet
	}
	srv, err := relay.New(cfg)
	if err != nil {
		s.Fatal(err)
	}
	l, err := s.net.Listen(s.addr)
	if err != nil {
		s.Fatal(err)
	}
	s.relay, s.addr, s.served = srv, l.Addr().String(), make(chan error, 1)
	go func() { s.served <- srv.Serve(l) }()
}

func (s *stage) stop() {
	if err := s.relay.Close(); err != nil {
		s.Error(err)
	}
	if err := <-s.served; err != nil {
		s.Errorf("Serve: %v", err)
	}
}

// run lets all clients play for a while.
func (s *stage) run(d time.Duration) {
	for end := time.Now().Add(d); time.Now().Before(end); {
		for _, c := range s.clients {
			c.step()
		}
		<-time.After(5 * time.Millisecond)
	}
}

// until plays until something is so.
func (s *stage) until(what string, most time.Duration, so func() bool) time.Duration {
	s.Helper()
	start := time.Now()
	for !so() {
		if time.Since(start) > most {
			s.Fatalf("after %v: not yet %s", most, what)
		}
		s.run(5 * time.Millisecond)
	}
	return time.Since(start)
}

const (
	slotPos = iota // 8 bytes, the first is the chunk
	slotLit
)

// lamp is the class of all entities.
func lamp() *wire.Class {
	c := &wire.Class{ID: 7, Hash: 77, Name: "lamp", Slots: []wire.Slot{
		{Width: 8, Words: wire.WordPosition, Name: "Pos"}, {Width: 4, Name: "Lit", Type: "uint32"}}}
	c.Index()
	return c
}

type body struct{ chunk, lit uint32 }

// client is what a game has of the protocol, without the game.
type client struct {
	s       *stage
	name    string
	claims  token.Claims
	reg     *registry.Registry
	class   *registry.Class
	conn    transport.Conn
	session *session.Conn
	start   time.Time
	steps   int
	closed  *session.CloseError // what the relay said
	over    error               // what the carrier said
}

// client joins a world as a player of its own.
func (s *stage) client(name, world string, edit ...func(*token.Claims)) *client {
	s.Helper()
	c := &client{s: s, name: name, start: time.Now(), claims: token.Claims{Rights: token.Player | token.HostEligible, Issued: time.Now()}}
	copy(c.claims.Player[:], name)
	for _, f := range edit {
		f(&c.claims)
	}
	c.reg = registry.New(registry.Config{Encode: c.encode, World: world, Agent: "test", Nonce: uint32(len(s.clients)) << 16})
	c.class = c.reg.AddClass(lamp(), nil)
	c.reg.SetView(false, []grid.Chunk{{}})
	s.clients = append(s.clients, c)
	c.dial()
	return c
}

// dial opens a session, the first or another.
func (c *client) dial() {
	c.s.Helper()
	conn, err := c.s.net.Dialer(c.name).Dial(c.s.Context(), c.s.addr, c.claims.Append(nil))
	if err != nil {
		c.s.Fatal(err)
	}
	c.conn, c.session, c.closed, c.over = conn, session.New(session.Config{}), nil, nil
	c.reg.Connect(c.now(), c.session)
}

// leave says goodbye, as a client does that is closed.
func (c *client) leave() {
	c.conn.Close()
	c.conn = nil
}

func (c *client) now() time.Duration { return time.Since(c.start) }

func (c *client) encode(k *registry.Copy, mask uint64, b []byte) ([]byte, uint64, grid.Chunk) {
	d, _ := k.Data.(*body)
	if d == nil {
		d = new(body)
	}
	if mask>>slotPos&1 != 0 {
		b = binary.LittleEndian.AppendUint64(b, uint64(d.chunk))
	}
	if mask>>slotLit&1 != 0 {
		b = binary.LittleEndian.AppendUint32(b, d.lit)
	}
	return b, mask, grid.Chunk{X: int64(d.chunk)}
}

// step is a frame of the game; every tenth is a replication tick.
func (c *client) step() {
	if c.conn == nil || c.over != nil || c.closed != nil {
		return
	}
	c.over = c.conn.Receive(time.Now(), func(b []byte) {
		if err := c.session.Receive(c.now(), b, c.reg.Handler(c.now())); err != nil && !errors.As(err, &c.closed) {
			c.s.Errorf("%s: %v", c.name, err)
		}
	})
	c.session.Expire(c.now(), c.reg.Handler(c.now()))
	c.apply()
	c.steps++
	tick := c.steps%10 == 0
	if tick {
		c.reg.Each(func(k *registry.Copy) { c.reg.Mark(k, c.reg.Lost(k)) })
	}
	if out := c.reg.Send(c.now(), tick, transport.MaxPayload, transport.Headroom, transport.NewBuffer, nil); len(out) > 0 {
		_ = c.conn.Send(out)
	}
}

func (c *client) apply() {
	c.reg.Announce()
	for _, k := range c.reg.Changed(nil) {
		if k.Gone {
			continue
		}
		if k.Data == nil {
			k.Data, k.Shown = new(body), true
		}
		d := k.Data.(*body)
		k.Staged(func(apply, mask uint64, values []byte) {
			for i := range k.Class.Slots {
				if mask>>i&1 == 0 {
					continue
				}
				n := k.Class.ValueLen(i, values)
				if v := binary.LittleEndian.Uint32(values); apply>>i&1 != 0 && i == slotPos {
					d.chunk = v
				} else if apply>>i&1 != 0 {
					d.lit = v
				}
				values = values[n:]
			}
		})
		k.Applied()
		c.reg.Release(k)
	}
}

func (c *client) player() wire.PlayerID { return wire.PlayerID(c.claims.Player) }

func id(name string) (id wire.ID) {
	copy(id[:], name)
	return id
}

// spawn announces a lamp of the client's own.
func (c *client) spawn(name string, lit uint32, flags uint16) *registry.Copy {
	owner := c.player()
	if flags&wire.EntityHosted != 0 {
		owner = wire.PlayerID{}
	}
	return c.reg.Spawn(id(name), c.class, owner, flags, func(k *registry.Copy) { k.Data = &body{lit: lit} })
}

func (c *client) light(name string, lit uint32) {
	k := c.reg.Find(id(name))
	k.Data.(*body).lit = lit
	c.reg.Mark(k, 1<<slotLit)
}

// sees is the value of a lamp that the client has a body of.
func (c *client) sees(name string, lit uint32) bool {
	k := c.reg.Find(id(name))
	return k != nil && k.Data != nil && k.Data.(*body).lit == lit
}

func (c *client) drives(name string) bool {
	k := c.reg.Find(id(name))
	return k != nil && k.Drives() && k.Bound()
}

// refusedWith plays until the relay has ended the session of c.
func (s *stage) refusedWith(c *client, code wire.CloseCode) {
	s.Helper()
	s.until("closed: "+code.String(), 10*time.Second, func() bool { return c.closed != nil || c.over != nil })
	if c.closed == nil || c.closed.Code != uint16(code) {
		s.Fatalf("%s: %v, %v; want %v", c.name, c.closed, c.over, code)
	}
}
