package shard

import (
	"encoding/binary"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/throng-dev/throng/internal/grid"
	"github.com/throng-dev/throng/internal/session"
	"github.com/throng-dev/throng/internal/wire"
	"github.com/throng-dev/throng/transport"
)

// walker is a client without structs: it drives one entity of 4 bytes, acks everything and decodes nothing.
type walker struct {
	conn    *session.Conn
	sess    *Session
	class   *wire.Class
	num     uint32
	bind    wire.Entity
	x, z    float64
	tick    uint32
	records int
	heard   map[uint32]time.Duration // when each handle was heard of last; nil: nobody asks
	at      time.Duration
	d       wire.Deltas
	buf     []byte
}

func (c *walker) Acked(uint64) {}
func (c *walker) Lost(uint64)  {}
func (c *walker) Frame(_ uint64, kind byte, body []byte) {
	if kind == wire.KindIntro && c.heard != nil {
		if m, err := wire.ParseIntro(body, grid.Chunk{}); err == nil {
			c.heard[m.Handle] = c.at
		}
	}
	if kind != wire.KindSegment {
		return
	}
	chunk, _, rest, err := wire.ParseSegment(body, grid.Chunk{})
	if err != nil {
		panic(err)
	}
	w := wire.Walk(rest, chunk, c.class)
	var r wire.Record
	for w.Next(&r) {
		c.records++
		if c.heard != nil {
			c.heard[r.Handle] = c.at
		}
	}
}

func (c *walker) Message(_ uint64, _ int, msg []byte) {
	switch msg[0] {
	case wire.MsgClass:
		c.num, _, _ = wire.ParseClass(msg[1:])
	case wire.MsgBind:
		c.bind, _ = wire.ParseEntity(wire.MsgBind, msg[1:])
	}
}

const chunkSize = 100.0 / 3

func (c *walker) chunk() grid.Chunk {
	k, _ := grid.Of(c.x, c.z, 0, chunkSize)
	return k
}

// packet is what the walker sends in a tick.
func (c *walker) packet(now time.Duration, state uint32) []byte {
	b := c.conn.Begin(now, c.buf[:transport.Headroom])
	b = c.conn.AppendReliable(now, b, 1200)
	if c.bind.Handle != 0 {
		c.tick++
		var at int
		b, at = session.BeginFrame(b, wire.KindDeltas)
		c.d.Reset(b, c.tick, c.chunk(), c.num, c.class)
		c.d.Begin(&wire.Delta{Handle: c.bind.Handle, Gen: c.bind.Gen, Term: c.bind.Term.N(), Mask: 1, Chunk: c.chunk()})
		b = binary.LittleEndian.AppendUint32(c.d.B, state)
		session.EndFrame(b, at)
	}
	c.conn.Commit(now, b, true)
	c.buf = b[:0]
	return b[transport.Headroom:]
}

// crowd is the workload of measures.md without sockets: n walkers on a square where about 20 are in reach of each.
type crowd struct {
	s       *Shard
	rng     *rand.Rand
	walkers []*walker
	byTo    map[transport.ID]*walker
	side    float64
	now     time.Duration
	out     []transport.Datagram
	bytes   int
	packets int
}

func newCrowd(n int) *crowd { return newCrowdIn(n, 500*math.Sqrt(float64(n)/500), Config{}) }

// newCrowdIn is a crowd on a square of another size.
func newCrowdIn(n int, side float64, cfg Config) *crowd {
	prof := DefaultProfile()
	prof.ChunkSize, prof.Reach, prof.PropertyReach = chunkSize, 1, 1
	cfg.Profile, cfg.Settle = prof, -1
	c := &crowd{s: New(0, cfg), rng: rand.New(rand.NewPCG(1, 2)), side: side, byTo: map[transport.ID]*walker{}}
	class := &wire.Class{ID: 1, Hash: 1, Name: "walker", Slots: []wire.Slot{{Width: 4, Words: wire.WordPosition, Name: "state"}}}
	class.Index()
	for i := range n {
		w := &walker{conn: session.New(session.Config{}), class: class, x: c.rng.Float64() * c.side, z: c.rng.Float64() * c.side, buf: transport.NewBuffer()}
		id := Identity{To: transport.ID(i + 1), Player: wire.PlayerID{byte(i), byte(i >> 8), 1}, Senior: uint64(i)}
		w.sess = c.s.Join(0, session.New(session.Config{}), id, 1)
		c.byTo[id.To] = w
		w.conn.Queue(0, wire.AppendClass(nil, 1, class))
		w.conn.Queue(0, wire.AppendEntity(nil, wire.MsgSpawn, &wire.Entity{ID: wire.ID{byte(i), byte(i >> 8)}, Nonce: 1, Class: 1, Flags: wire.EntityAvatar,
			Chunk: w.chunk(), Mask: 1, Values: make([]byte, 4)}))
		w.conn.Queue(0, []byte{wire.MsgReady})
		c.walkers = append(c.walkers, w)
	}
	for range 40 {
		c.step()
	}
	return c
}

func (w *walker) stroll(c *crowd) {
	w.x = math.Mod(w.x+c.rng.Float64()-0.5+c.side, c.side)
	w.z = math.Mod(w.z+c.rng.Float64()-0.5+c.side, c.side)
}

// step is 100 ms: every walker moves and sends, the shard flushes once, everybody receives.
func (c *crowd) step() {
	for _, w := range c.walkers {
		w.stroll(c)
		if err := c.s.Receive(c.now, w.sess, w.packet(c.now, c.rng.Uint32())); err != nil {
			panic(err)
		}
	}
	c.flush()
	c.now += 100 * time.Millisecond
}

func (c *crowd) flush() {
	c.out = c.s.Flush(c.now, c.out[:0])
	for _, d := range c.out {
		w := c.byTo[d.To]
		c.bytes += len(d.Payload())
		c.packets++
		if err := w.conn.Receive(c.now, d.Payload(), w); err != nil {
			panic(err)
		}
	}
}

// BenchmarkCrowd reports what an update costs the relay above the socket: receiving the deltas, the flush, and the walkers'
// own part, which does not belong to it and is small.
func BenchmarkCrowd(b *testing.B) {
	for _, n := range []int{500, 3000} {
		b.Run(map[int]string{500: "500", 3000: "3000"}[n], func(b *testing.B) {
			c := newCrowd(n)
			records := func() (all int) {
				for _, w := range c.walkers {
					all += w.records
				}
				return all
			}
			was, bytes, packets := records(), c.bytes, c.packets
			b.ReportAllocs()
			for b.Loop() {
				c.step()
			}
			got := float64(records() - was)
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/got, "ns/update")
			b.ReportMetric(float64(c.bytes-bytes)/got, "B/update")
			b.ReportMetric(got/float64(c.packets-packets), "updates/packet")
			b.ReportMetric(got/float64(b.N)/float64(n), "in-reach")
		})
	}
}
