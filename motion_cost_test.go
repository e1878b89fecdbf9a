package throng

import (
	"io"
	"log/slog"
	"reflect"
	"runtime"
	"testing"
	"time"

	"github.com/throng-dev/throng/internal/grid"
	"github.com/throng-dev/throng/internal/session"
	"github.com/throng-dev/throng/internal/wire"
	"github.com/throng-dev/throng/transport"
)

// costWalker is what walks in a crowd: 12 bytes of pose.
type costWalker struct {
	Entity
	Armed bool `rep:""`
	pose  costPose
}

type costPose struct {
	Pos  Vec2Quantize10 `rep:"position"`
	Turn RotatorByte
	Gait uint8
}

type costStatue struct {
	Entity
	Pos Vec3 `rep:"position"`
	Lit bool `rep:""`
}

var (
	costWalkers = NewClass[costWalker]("walker", ClassConfig{Mode: Dynamic, SnapDistance: -1})
	costStatues = NewClass[costStatue]("statue", ClassConfig{})
	costSchema  = MustSchema(Motion(costWalkers, func(w *costWalker) costPose { return w.pose }, func(w *costWalker, p costPose) { w.pose = p }), costStatues)
)

// herd is a World to which a relay shows many entities of others.
type herd struct {
	t     testing.TB
	w     *World
	relay session.Conn
	flush uint32
	n     int
	class *class
	seg   []byte
	b     []byte
	at    float64 // where all are
}

func (h *herd) Acked(uint64)                        {}
func (h *herd) Lost(uint64)                         {}
func (h *herd) Frame(uint64, byte, []byte)          {}
func (h *herd) Message(uint64, int, []byte)         {}
func (*herd) Receive(time.Time, func([]byte)) error { return io.EOF }
func (*herd) Close() error                          { return nil }
func (h *herd) Send(bufs [][]byte) error {
	for _, b := range bufs {
		if err := h.relay.Receive(h.w.now(), b[transport.Headroom:], h); err != nil {
			h.t.Fatal(err)
		}
	}
	return nil
}

func newHerd(t testing.TB, k *class) *herd {
	h := &herd{t: t, class: k, flush: 100}
	w, err := newWorld("relay", costSchema, Config{Token: []byte{1}, World: "w", Logger: slog.New(slog.DiscardHandler), EntityTimeout: Off})
	if err != nil {
		t.Fatal(err)
	}
	close(w.ended)
	h.w = w
	h.relay.Init(session.Config{})
	w.news = append(w.news, connNews{conn: h})
	m := wire.Welcome{Version: 1, World: 1, Flush: 100, Player: wire.PlayerID{1}, Host: wire.PlayerID{1}, HostTerm: 1, TimeMS: h.ms(),
		Profile: wire.Profile{ChunkSize: 100, Reach: 8, PropertyReach: 8, MaxRate: 10, Flags: wire.ProfileRetain}}
	h.queue(m.Append(nil))
	h.queue(wire.AppendClass(nil, 1, &k.wire))
	h.tick(50 * time.Millisecond)
	h.packet(nil)
	h.tick(50 * time.Millisecond)
	if w.phase != Live {
		t.Fatal("not welcomed")
	}
	return h
}

func (h *herd) ms() uint32 { return uint32(h.w.now() / time.Millisecond) }

func (h *herd) queue(msg []byte) {
	if err := h.relay.Queue(wire.StreamControl, msg); err != nil {
		h.t.Fatal(err)
	}
}

// tick lets time pass in the game.
func (h *herd) tick(d time.Duration) {
	h.w.start = h.w.start.Add(-d)
	if err := h.w.Tick(nil); err != nil {
		h.t.Fatal(err)
	}
}

// packet is one of the relay's, with the head of a flush if there is more in it.
func (h *herd) packet(frames []byte) {
	now := h.w.now()
	b := h.relay.AppendReliable(now, h.relay.Begin(now, h.b[:0]), 1200)
	if len(frames) > 0 {
		f := wire.Flush{Epoch: 1, Flush: h.flush, Time: h.ms()}
		var head [64]byte
		b = session.AppendFrame(b, wire.KindFlush, f.Append(head[:0]))
		b = append(b, frames...)
	}
	h.relay.Commit(now, b, len(frames) > 0)
	h.b = b
	if err := h.w.sess.Receive(now, b, h.w.reg.Handler(now)); err != nil {
		h.t.Fatal(err)
	}
}

// values are those of a proxy when all are at h.at.
func (h *herd) values(mask uint64, b []byte) []byte {
	o := h.class.newObject()
	switch o := o.(type) {
	case *costWalker:
		o.pose = costPose{Pos: Vec2Quantize10{h.at, 5}, Turn: RotatorByte{Yaw: 90}, Gait: 1}
	case *costStatue:
		o.Pos.X = h.at
	}
	m, whole := h.class.streams()
	if !whole {
		m = 0
	}
	b, _ = h.class.plan.Append(b, h.class.plan.Pointer(o), mask&^m)
	if mask&m != 0 {
		b, _, _, _ = h.class.open().capture(b, o)
	}
	return b
}

// show introduces n more.
func (h *herd) show(n int) {
	h.flush++
	v := h.values(h.class.wire.All, nil)
	var frames []byte
	for i := range n {
		h.n++
		m := wire.Intro{Handle: uint32(h.n), Gen: 1, Num: 1, ClassID: h.class.id, ClassHash: h.class.wire.Hash, ID: wire.ID{1, byte(h.n), byte(h.n >> 8), byte(h.n >> 16)},
			Inc: 1, Term: 1, Owner: wire.PlayerID{9}, Mask: h.class.wire.All, Values: v}
		if frames = session.AppendFrame(frames, wire.KindIntro, m.Append(nil, grid.Chunk{})); len(frames) > 900 || i == n-1 {
			h.packet(frames)
			frames = frames[:0]
		}
	}
}

// move is an update of all.
func (h *herd) move() {
	h.flush++
	h.at += 0.5
	v := h.values(h.class.motion.bit, nil)
	at := wire.SampleOf(3, false, false)
	var s wire.Segment
	for from := 1; from <= h.n; {
		s.Reset(wire.AppendChunk(h.seg[:0], grid.Chunk{}, grid.Chunk{}), 1, &h.class.wire, grid.Chunk{})
		for ; from <= h.n && len(s.B) < 1000; from++ {
			s.Begin(uint32(from), grid.Chunk{}, h.class.motion.bit, at)
			s.B = append(s.B, v...)
		}
		h.seg = s.B
		h.packet(session.AppendFrame(nil, wire.KindSegment, s.B))
	}
}

// A record of a crowd's walker: at most 8 bytes beside its pose's own length (R-41, the goal of measures.md for a pose of 4).
func TestMotionRecordIsSmall(t *testing.T) {
	c := &wire.Class{Name: "walker", Slots: []wire.Slot{{Width: 4, Words: wire.WordMotion | wire.WordPosition}}}
	if !c.Index() {
		t.Fatal("class")
	}
	var s wire.Segment
	s.Reset(nil, 1, c, grid.Chunk{})
	from := len(s.B)
	s.Begin(1, grid.Chunk{}, 1, wire.SampleOf(63, true, false))
	if n := len(s.B) - from + 4; n > 8 {
		t.Errorf("%d bytes", n)
	}
}

// What a proxy costs a client, and nobody else: the copy of the registry, the body, the indices by id and handle, its places in lists, the Entity
// in the game's struct, and whatever stays behind of what brought it. The game's own fields do not count, nor does the relay. A Dynamic one
// costs its track and the ring of samples in that as well: the track has room in the 600, the ring comes on top.
func TestProxyBudget(t *testing.T) {
	const some, n, moves = 300, 2000, 20
	heap := func() int {
		for range 3 {
			runtime.GC()
		}
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return int(m.HeapAlloc)
	}
	per := func(k *class, moves int) (beside, entity, samples int) {
		h := newHerd(t, k)
		h.show(some)
		h.tick(20 * time.Millisecond)
		for range moves { // what a client keeps to read full packets with is not of a proxy
			h.move()
			h.tick(100 * time.Millisecond)
		}
		h.idle()
		before := heap()
		h.show(n)
		for len(h.w.list) < some+n {
			h.tick(20 * time.Millisecond)
		}
		for range moves {
			h.move()
			h.tick(100 * time.Millisecond)
		}
		h.idle()
		got := (heap() - before) / n
		for _, b := range h.w.list[some:] {
			if b.track != nil {
				samples = max(samples, b.track.explain().Samples)
			}
		}
		runtime.KeepAlive(h)
		return got - classSize(k.typ.Size()), int(reflect.TypeFor[Entity]().Size()), samples
	}
	if raceEnabled {
		t.Skip("the race detector takes memory")
	}
	static, entity, _ := per(costStatues.core(), 0)
	dynamic, _, held := per(costWalkers.core(), moves)
	ring := 4
	for ring < held {
		ring *= 2
	}
	sample := 24 + int(costWalkers.core().motion.typ.Size())
	t.Logf("a Static proxy %d B beside the game's struct, and %d of Entity in it; a Dynamic one %d B, of which %d are a ring of %d samples", static, entity, dynamic, classSize(uintptr(ring*sample)), ring)
	// With go1.26 on amd64, November 2026: 208 the copy, 96 the body, 58 two indices by id, 35 the table of handles, 45 lists.
	const budget = 600
	if static+entity > budget {
		t.Errorf("a Static proxy takes %d B beside the game's struct and %d in it, at most %d", static, entity, budget)
	}
	if most := budget + classSize(uintptr(ring*sample)); dynamic > most {
		t.Errorf("a Dynamic proxy takes %d B, at most %d", dynamic, most)
	}
}

// idle lets so much time pass that all that was lent for a moment is given back.
func (h *herd) idle() {
	for range 150 {
		h.tick(200 * time.Millisecond)
	}
}

// classSize is what the heap gives for so many bytes.
func classSize(n uintptr) int { return cap(append([]byte(nil), make([]byte, n)...)) }

// BenchmarkProxies is what a second of 2,000 proxies costs a client: 10 updates of each, from the datagram to the struct; and being drawn in 60
// frames. The updates take 4.8 ms of processor time, what makes them up here included, November 2026 (ms/s is wall time).
func BenchmarkProxies(b *testing.B) {
	for name, frames := range map[string]int{"updates": 1, "updates and 60 frames": 6} {
		b.Run(name, func(b *testing.B) {
			h := newHerd(b, costWalkers.core())
			h.show(2000)
			for range 40 {
				h.tick(20 * time.Millisecond)
			}
			second := func() {
				for range 10 {
					h.move()
					for range frames {
						h.tick(100 * time.Millisecond / time.Duration(frames))
					}
				}
			}
			second()
			second()
			b.ReportAllocs()
			for b.Loop() {
				second()
			}
			b.ReportMetric(float64(b.Elapsed().Microseconds())/1000/float64(b.N), "ms/s")
			if c := h.w.Stats().Motion; c.Samples == 0 || c.Old > 0 {
				b.Fatalf("%+v", c)
			}
		})
	}
}
