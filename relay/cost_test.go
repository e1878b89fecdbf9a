package relay

import (
	"encoding/binary"
	"io"
	"log/slog"
	"net"
	"testing"
	"time"

	"github.com/throng-dev/throng/internal/grid"
	"github.com/throng-dev/throng/internal/registry"
	"github.com/throng-dev/throng/internal/session"
	"github.com/throng-dev/throng/internal/wire"
	"github.com/throng-dev/throng/token"
	"github.com/throng-dev/throng/transport"
)

// pipe is a carrier that hands a test's packets to the loop and the loop's to a client.
type pipe struct {
	transport.Listener
	sent func(transport.Datagram)
}

func (p *pipe) Send(out []transport.Datagram) {
	for _, d := range out {
		p.sent(d)
	}
}

func (p *pipe) Disconnect(transport.ID) {}
func (p *pipe) Addr() net.Addr          { return nil }

// lane is one client of a loop, without a network or a goroutine between them.
type lane struct {
	r     *loop
	reg   *registry.Registry
	conn  *session.Conn
	copy  *registry.Copy
	value uint32
	bufs  [][]byte
	used  int
	lend  registry.Buffers // buffer
	out   [][]byte
}

// buffer lends one of a few buffers.
func (c *lane) buffer() []byte {
	if c.used == len(c.bufs) {
		c.bufs = append(c.bufs, transport.NewBuffer())
	}
	c.used++
	return c.bufs[c.used-1][:transport.Headroom]
}

func newLane(tb testing.TB) *lane {
	srv, err := New(Config{Settle: -1, MessageRate: -1, ByteRate: -1, Logger: slog.New(slog.NewTextHandler(io.Discard, nil))})
	if err != nil {
		tb.Fatal(err)
	}
	c := &lane{conn: session.New(session.Config{})}
	c.lend = c.buffer
	l := &pipe{}
	c.r = newLoop(srv, l)
	l.sent = func(d transport.Datagram) {
		if err := c.conn.Receive(c.r.now, d.Payload(), c.reg.Handler(c.r.now)); err != nil {
			tb.Fatal(err)
		}
	}
	c.reg = registry.New(registry.Config{World: "town", Encode: func(_ *registry.Copy, mask uint64, b []byte) ([]byte, uint64, grid.Chunk) {
		return binary.LittleEndian.AppendUint32(b, c.value), mask, grid.Chunk{}
	}})
	class := &wire.Class{ID: 1, Hash: 1, Name: "lamp", Slots: []wire.Slot{{Width: 4, Name: "Lit"}}}
	class.Index()
	k := c.reg.AddClass(class, nil)
	c.reg.Connect(0, c.conn)
	c.r.Opened(1, transport.Peer{UserData: token.Claims{Player: [16]byte{1}, Rights: token.Player}.Append(nil)})
	c.copy = c.reg.Spawn(wire.ID{1}, k, wire.PlayerID{1}, 0, func(c *registry.Copy) { c.Data = new(int) })
	for range 200 {
		c.turn()
		c.reg.Announce()
		for _, k := range c.reg.Changed(nil) {
			k.Applied()
		}
	}
	if !c.copy.Bound() || c.r.worlds[0].shard.Stats().Writes == 0 {
		tb.Fatal("the lamp does not burn")
	}
	return c
}

// turn is a replication tick of the client and a turn of the loop, 25 ms later.
func (c *lane) turn() {
	c.value++
	c.reg.Mark(c.copy, 1)
	c.used = 0
	c.out = c.reg.Send(c.r.now, true, transport.MaxPayload, transport.Headroom, c.lend, c.out[:0])
	c.r.now, c.r.fresh = c.r.now+25*time.Millisecond, true
	for _, b := range c.out {
		c.r.Received(1, b[transport.Headroom:])
	}
	c.r.overdue(c.r.now)
	c.r.flush(c.r.now)
	c.r.goodbyes(c.r.now)
	c.r.due()
}

// No packet costs an allocation once the relay is warm.
func TestTurnsDoNotAllocate(t *testing.T) {
	c := newLane(t)
	before := c.r.worlds[0].shard.Stats().Writes
	if n := testing.AllocsPerRun(1000, c.turn); n > 0 {
		t.Errorf("%v allocations a turn", n)
	}
	if got := c.r.worlds[0].shard.Stats().Writes - before; got < 1000 {
		t.Errorf("%d writes", got)
	}
}

func BenchmarkTurn(b *testing.B) {
	c := newLane(b)
	b.ReportAllocs()
	for b.Loop() {
		c.turn()
	}
}
