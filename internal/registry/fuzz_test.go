package registry

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/throng-dev/throng/internal/grid"
	"github.com/throng-dev/throng/internal/session"
	"github.com/throng-dev/throng/internal/wire"
)

// The classes of the client: that of the golden vectors, and one with another layout.
func lampClass() *wire.Class {
	c := &wire.Class{ID: 0x1a2b3c4d, Hash: 0x0102030405060708, Name: "lamp", Slots: []wire.Slot{{Width: 12, Words: wire.WordPosition}, {Width: 1}, {},
		{Width: 4, Words: wire.WordOwner}}}
	c.Index()
	return c
}

func doorClass() *wire.Class {
	c := &wire.Class{ID: 2, Hash: 2, Name: "door", Slots: []wire.Slot{{}, {Width: 2, Words: wire.WordInit}}}
	c.Index()
	return c
}

var lampID = wire.ID{0, 0x11, 0x22, 0x33, 0x44, 0x55, 0x66, 0x77, 0x88, 0x99, 0xaa, 0xbb, 0xcc, 0xdd, 0xee, 0xff} // of the vectors

// relay is a session that says anything, and hears what the client sends only to ack it.
type relay struct{ session.Conn }

func (*relay) Acked(uint64)                {}
func (*relay) Lost(uint64)                 {}
func (*relay) Frame(uint64, byte, []byte)  {}
func (*relay) Message(uint64, int, []byte) {}

// game is the owner of a registry: it holds bodies as bytes and does what World does in a tick.
type game struct {
	t     *testing.T
	r     *Registry
	conn  *session.Conn
	relay *relay
	now   time.Duration
	seen  []*Copy
	out   [][]byte
}

func newGame(t *testing.T, limit int) *game {
	g := &game{t: t}
	g.r = New(Config{MaxEntities: limit, World: "w", Encode: func(c *Copy, mask uint64, b []byte) ([]byte, uint64, grid.Chunk) {
		for i, s := range c.Class.Slots {
			if mask>>i&1 != 0 {
				if s.Width == 0 {
					b = append(b, 2, 'h', 'i')
				} else {
					b = append(b, make([]byte, s.Width)...)
				}
			}
		}
		return b, mask, grid.Chunk{X: 3}
	}})
	return g
}

func (g *game) connect() {
	g.conn, g.relay = session.New(session.Config{}), &relay{*session.New(session.Config{})}
	g.r.Connect(g.now, g.conn)
}

// tick applies what came, marks everything it drives and sends.
func (g *game) tick() {
	for _, c := range g.r.Departed {
		if !c.Gone || g.r.Find(c.ID) == c {
			g.t.Fatalf("a copy of the world before: %+v", c)
		}
	}
	g.r.Arrived, g.r.Departed, g.r.TravelRefused, g.r.Requests, g.r.Denials = false, nil, nil, nil, nil
	g.r.Announce()
	g.seen = g.r.Changed(g.seen[:0])
	for _, c := range g.seen {
		c.Staged(func(apply, mask uint64, values []byte) {
			if mask&^c.Class.All != 0 || apply&^mask != 0 || c.Class.ValuesLen(mask, values) != len(values) {
				g.t.Fatalf("staged %b of %b: %x", apply, mask, values)
			}
		})
		c.Applied()
		g.r.Release(c)
	}
	g.r.Each(func(c *Copy) {
		if c.Drives() {
			g.r.Mark(c, 1|g.r.Lost(c))
		}
	})
	g.send(true)
}

func (g *game) send(tick bool) {
	g.conn.Expire(g.now, g.r.Handler(g.now))
	g.out = g.r.Send(g.now, tick, 1200, 0, func() []byte { return make([]byte, 0, 1300) }, g.out[:0])
	for _, b := range g.out {
		if len(b) > 1200 {
			g.t.Fatalf("a packet of %d bytes", len(b))
		}
		if err := g.relay.Receive(g.now, b, g.relay); err != nil {
			g.t.Fatal(err)
		}
	}
}

// packet sends one packet of the relay, with these frames.
func (g *game) packet(frames []byte) {
	b := g.relay.AppendReliable(g.now, g.relay.Begin(g.now, nil), 1200)
	b = append(b, frames...)
	g.relay.Commit(g.now, b, len(frames) > 0)
	if err := g.conn.Receive(g.now, b, g.r.Handler(g.now)); err != nil {
		g.t.Fatal(err)
	}
}

func op(op byte, b []byte) []byte {
	b = b[:min(len(b), 255)]
	return append([]byte{op, byte(len(b))}, b...)
}

const (
	opMessage   = iota // reliable
	opFrame            // behind a flush; the first byte is its kind
	opTick             // the game ticks
	opReconnect        // another relay
	opValue            // reliable, on the stream of values
	opTravel           // on to another world, and all that is driven is granted before
	opCount
)

func seeds(f *testing.F) (all [][]byte) {
	files, _ := filepath.Glob("../../conformance/vectors/*.txt")
	whole := []byte{}
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		_, digits, _ := strings.Cut(string(text), "\nbytes:\n")
		b, err := hex.DecodeString(strings.Join(strings.Fields(digits), ""))
		if err != nil {
			f.Fatal(err)
		}
		what := byte(opMessage)
		if strings.Contains(string(text), "\nis: frame") {
			_, n := binary.Uvarint(b[1:])
			b, what = append(b[:1:1], b[1+n:]...), opFrame
		}
		whole = append(append(whole, op(what, b)...), op(opTick, nil)...)
		all = append(all, append(append(op(opMessage, wire.AppendClass(nil, 5, lampClass())), op(what, b)...), op(opTick, nil)...))
	}
	if len(files) == 0 {
		f.Fatal("no vectors")
	}
	// One entity as of two classes.
	entity := wire.Entity{ID: wire.ID{7}, Inc: wire.NewCount(3, 17), Term: wire.NewCount(3, 40), Nonce: 1, Class: 5, Handle: 4, Gen: 1, Mask: 15,
		Values: append(make([]byte, 13), 2, 'h', 'i', 0, 0, 0, 0)}
	other := entity
	other.Class, other.Term, other.Mask, other.Values = 6, wire.NewCount(3, 41), 3, []byte{1, 'x', 0, 0}
	two := append(op(opMessage, wire.AppendClass(nil, 5, lampClass())), op(opMessage, wire.AppendClass(nil, 6, doorClass()))...)
	for _, m := range []*wire.Entity{&entity, &other} {
		two = append(two, op(opMessage, wire.AppendEntity(nil, wire.MsgAssign, m))...)
	}
	two = append(two, op(opTick, nil)...)
	intro := wire.Intro{Handle: 4, Gen: 1, Num: 5, ClassID: lampClass().ID, ClassHash: lampClass().Hash, ID: wire.ID{8}, Inc: wire.NewCount(3, 18), Term: wire.NewCount(3, 42), Owner: wire.PlayerID{9}}
	value := wire.Value{Handle: 4, Flush: 70_100, Slot: 2, Value: append([]byte{0xc8, 1}, make([]byte, 200)...)}
	apart := append(op(opMessage, wire.AppendClass(nil, 5, lampClass())), op(opFrame, append([]byte{wire.KindIntro}, intro.Append(nil, grid.Chunk{X: 10, Y: -3})...))...)
	apart = append(append(apart, op(opValue, value.Append(nil))...), op(opTick, nil)...)
	travels := append(append(bytes.Clone(whole), op(opTravel, nil)...), whole...)
	return append(all, two, apart, whole, travels, append(bytes.Clone(whole), append(op(opReconnect, nil), whole...)...))
}

// FuzzRegistryReceive lets a relay say anything at all. The client does not panic, holds no more than its bound, hands over
// records that its classes can cut, and sends packets that fit.
func FuzzRegistryReceive(f *testing.F) {
	for _, s := range seeds(f) {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		const limit = 8
		g := newGame(t, limit)
		g.r.tr = newTracer(all{})
		lamp, door := g.r.AddClass(lampClass(), nil), g.r.AddClass(doorClass(), nil)
		g.r.Spawn(lampID, lamp, wire.PlayerID{0xa0}, wire.EntityAvatar, func(*Copy) {})
		g.r.Spawn(wire.ID{1}, door, wire.PlayerID{}, wire.EntityPlaced|wire.EntityHosted, func(*Copy) {})
		g.connect()
		assigned := 0
		for n := 0; len(data) >= 2 && n < 300; n++ {
			what := data[0]
			b := data[2 : 2+min(int(data[1]), len(data)-2)]
			data = data[2+len(b):]
			g.now += time.Duration(1+what/16) * 3 * time.Millisecond
			switch what % opCount {
			case opMessage:
				if len(b) > 0 && b[0] == wire.MsgAssign {
					assigned++
				}
				_ = g.relay.Queue(wire.StreamControl, b)
				g.packet(nil)
			case opValue:
				_ = g.relay.Queue(wire.StreamValues, b)
				g.packet(nil)
			case opFrame:
				if len(b) == 0 || b[0] < session.FirstKind {
					continue
				}
				head := wire.Flush{Epoch: 1, Flush: 70_000 + uint32(n), Base: grid.Chunk{X: 10, Y: -3}}
				g.packet(session.AppendFrame(session.AppendFrame(nil, wire.KindFlush, head.Append(nil)), b[0], b[1:]))
			case opTick:
				g.tick()
			case opReconnect:
				g.connect()
			case opTravel:
				g.r.Each(func(c *Copy) { g.r.Grant(c, wire.PlayerID{byte(n)}, c.Mark) })
				if g.r.Welcomed && !g.r.Traveling() && !g.r.Arrived {
					g.r.Travel("castle")
				}
			}
			g.send(false)
			g.r.Each(func(c *Copy) {
				if w := c.wait; w != nil && (len(w.buf) > 2*wire.MaxValues+2*wire.MaxApart || len(w.list) > maxCopyWait) {
					t.Fatalf("%d bytes staged in %d records", len(w.buf), len(w.list))
				}
			})
		}
		g.tick()
		if n := g.r.Len(); n > limit+2+assigned {
			t.Fatalf("%d copies, %d assigned", n, assigned)
		}
	})
}
