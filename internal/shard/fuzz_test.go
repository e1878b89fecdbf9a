package shard

import (
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
	"github.com/throng-dev/throng/transport"
)

// seat is a client that says what a test tells it, acks all and remembers what it was told.
type seat struct {
	conn  *session.Conn
	sess  *Session
	binds map[wire.ID]wire.Entity
	seen  map[wire.ID]bool
	nums  map[uint32]uint32 // the world's number of a class, by its id
	deaf  bool              // what comes is lost

	left    map[wire.ID]wire.Why // why it left last
	refused map[wire.ID]uint8    // reasons
	records int                  // segments of changes
	told    []wire.Undelivered
}

func (c *seat) Acked(uint64) {}
func (c *seat) Lost(uint64)  {}

func (c *seat) Frame(_ uint64, kind byte, body []byte) {
	switch kind {
	case wire.KindIntro:
		if m, err := wire.ParseIntro(body, grid.Chunk{}); err == nil {
			c.seen[m.ID] = true
		}
	case wire.KindDepart:
		if m, err := wire.ParseDepart(body); err == nil {
			delete(c.seen, m.ID)
			c.left[m.ID] = m.Why
		}
	case wire.KindSegment:
		c.records++
	}
}

func (c *seat) Message(_ uint64, _ int, msg []byte) {
	switch msg[0] {
	case wire.MsgBind:
		m, _ := wire.ParseEntity(msg[0], msg[1:])
		m.Cert = nil
		c.binds[m.ID] = m
	case wire.MsgRefused:
		m, _ := wire.ParseEntity(msg[0], msg[1:])
		c.refused[m.ID] = m.Reason
	case wire.MsgEventState:
		m, _ := wire.ParseEventState(msg[1:])
		c.told = append(c.told, m.Told...)
	case wire.MsgClass:
		if num, k, err := wire.ParseClass(msg[1:]); err == nil {
			c.nums[k.ID] = num
		}
	}
}

// theatre is a world with seats.
type theatre struct {
	t     testing.TB
	s     *Shard
	seats []*seat
	now   time.Duration
	out   []transport.Datagram
	bytes int
	tap   func(c *seat, payload []byte) // sees what the shard sends; nil: nobody looks
}

func newTheatre(t testing.TB, cfg Config, n int) *theatre {
	w := &theatre{t: t, s: New(0, cfg)}
	for i := range n {
		w.join(i)
	}
	return w
}

func (w *theatre) join(i int) *seat {
	c := &seat{conn: session.New(session.Config{}), binds: map[wire.ID]wire.Entity{}, seen: map[wire.ID]bool{}, nums: map[uint32]uint32{}, left: map[wire.ID]wire.Why{}, refused: map[wire.ID]uint8{}}
	c.sess = w.s.Join(w.now, session.New(session.Config{}), Identity{To: transport.ID(i + 1), Player: wire.PlayerID{byte(i), byte(i >> 8), 1}, Senior: uint64(i), Eligible: true}, 1)
	w.seats = append(w.seats, c)
	return c
}

func (c *seat) say(msg []byte) { _ = c.conn.Queue(wire.StreamControl, msg) }

// send moves one packet of a seat, with frames, to the shard.
func (w *theatre) send(c *seat, frames []byte) error {
	b := c.conn.AppendReliable(w.now, c.conn.Begin(w.now, nil), 1200)
	if len(b)+len(frames) > transport.MaxPayload {
		frames = nil
	}
	b = append(b, frames...)
	c.conn.Commit(w.now, b, len(frames) > 0)
	return w.s.Receive(w.now, c.sess, b)
}

// flush moves what the shard has to say.
func (w *theatre) flush() {
	w.out = w.s.Flush(w.now, w.out[:0])
	for _, d := range w.out {
		w.bytes += len(d.Payload())
		if n := len(d.Payload()); n == 0 || n > transport.MaxPayload {
			w.t.Fatalf("a packet of %d bytes", n)
		}
		if w.tap != nil {
			w.tap(w.seats[d.To-1], d.Payload())
		}
		if c := w.seats[d.To-1]; c.sess.open && !c.deaf {
			if err := c.conn.Receive(w.now, d.Payload(), c); err != nil {
				w.t.Fatalf("seat %d: %v", d.To-1, err)
			}
		}
	}
	for _, c := range w.seats {
		c.conn.Expire(w.now, c)
	}
}

// round is 50 ms in which everybody sends what it owes.
func (w *theatre) round() {
	w.now += 50 * time.Millisecond
	for i, c := range w.seats {
		for range 64 {
			if !c.sess.open || c.sess.Err() != nil || !c.conn.WantsSend(w.now) {
				break
			}
			if err := w.send(c, nil); err != nil {
				w.t.Fatalf("seat %d: %v", i, err)
			}
		}
	}
	w.flush()
}

func lampClass() *wire.Class {
	c := &wire.Class{ID: 9, Hash: 99, Name: "lamp", Slots: []wire.Slot{{Width: 4, Words: wire.WordPosition, Name: "Pos"}, {Width: 1, Name: "Lit"}, {Name: "Label"},
		{Width: 4, Words: wire.WordOwner, Name: "Oil"}}}
	c.Index()
	return c
}

// enter announces a class and that the seat is ready, looking at the middle.
func (c *seat) enter(k *wire.Class) {
	c.say(wire.AppendClass(nil, 1, k))
	c.say(wire.AppendView(nil, false, []grid.Chunk{{}}))
	c.say([]byte{wire.MsgReady})
}

// ops cuts fuzz data into (what, bytes).
func ops(data []byte, f func(op byte, b []byte) bool) {
	for n := 0; len(data) >= 2 && n < 300; n++ {
		op := data[0]
		size := min(int(data[1]), len(data)-2)
		if !f(op, data[2:2+size]) {
			return
		}
		data = data[2+size:]
	}
}

func op(op byte, b []byte) []byte {
	b = b[:min(len(b), 255)]
	return append([]byte{op, byte(len(b))}, b...)
}

const (
	opMessage = iota // reliable, on the stream of control
	opFrame          // the first byte is its kind
	opFlush
	opLose // what the shard says next does not arrive
	opCount
)

// seeds are conversations: the vectors that go up, one by one behind a class, and lives of an entity.
func seeds(f *testing.F) (all [][]byte) {
	files, _ := filepath.Glob("../../conformance/vectors/*.txt")
	k := lampClass()
	start := append([]byte{0}, op(opMessage, wire.AppendClass(nil, 1, k))...)
	start = append(start, op(opMessage, []byte{wire.MsgReady})...)
	whole := append([]byte(nil), start...)
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
		whole = append(append(whole, op(what, b)...), op(opFlush, nil)...)
		all = append(all, append(append([]byte(nil), start...), op(what, b)...))
	}
	if len(files) == 0 {
		f.Fatal("no vectors")
	}
	life := append([]byte(nil), start...)
	id := wire.ID{5}
	say := func(msg byte, m wire.Entity) {
		m.ID = id
		life = append(life, op(opMessage, wire.AppendEntity(nil, msg, &m))...)
		life = append(life, op(opFlush, nil)...)
	}
	values := []byte{1, 2, 3, 4, 1, 2, 'h', 'i', 9, 9, 9, 9}
	inc := wire.NewCount(0, 1)
	say(wire.MsgSpawn, wire.Entity{Nonce: 1, Class: 1, Flags: wire.EntityAutoGrant, Mask: 15, Values: values})
	var d wire.Deltas
	d.Reset(nil, 1, grid.Chunk{}, 1, k)
	d.Begin(&wire.Delta{Handle: 1, Gen: 1, Term: 1, Mask: 7})
	life = append(life, op(opFrame, append(append([]byte{wire.KindDeltas}, d.B...), values[:8]...))...)
	say(wire.MsgOverrideUp, wire.Entity{Inc: inc, Mask: 2, Values: []byte{0}})
	say(wire.MsgGrant, wire.Entity{Inc: inc, Term: inc})
	say(wire.MsgRelease, wire.Entity{Inc: inc, Term: inc, Mask: 15, Values: values})
	say(wire.MsgRequest, wire.Entity{Inc: inc})
	say(wire.MsgAgain, wire.Entity{Inc: wire.NewCount(0, 9), Term: inc, Class: 1, Flags: wire.EntityDrives, Mask: 15, Values: values})
	say(wire.MsgDestroy, wire.Entity{Inc: wire.NewCount(0, 9)})
	say(wire.MsgSpawn, wire.Entity{Nonce: 2, Class: 1, Flags: wire.EntityPlaced | wire.EntityHosted, Mask: 15, Values: values})
	return append(all, whole, life, append([]byte{1}, life[1:]...), append([]byte{6}, life[1:]...), append([]byte{9}, life[1:]...))
}

// FuzzShardReceive lets one of three sessions say anything at all, in packets that the session layer takes. The shard does not
// panic, what the session can make it keep is bounded, and the two others go on: one spawns, the other sees it.
func FuzzShardReceive(f *testing.F) {
	for _, s := range seeds(f) {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		if len(data) == 0 {
			return
		}
		mode := data[0]
		cfg := Config{SessionEntities: 16, MaxEntities: 64, World: "w", Settle: -1}
		if mode&8 != 0 {
			cfg.ParkGrants = time.Second
		}
		if mode&1 != 0 {
			cfg.Key = []byte("key")
		}
		if mode&2 != 0 {
			cfg.Settle = 200 * time.Millisecond
		}
		w := newTheatre(t, cfg, 0)
		first, second := w.join(0), w.join(1) // seat 0 is the oldest, so the host
		hostile, writer := first, second
		if mode&4 != 0 {
			hostile, writer = second, first
		}
		watcher := w.join(2)
		k := lampClass()
		writer.enter(k)
		watcher.enter(k)
		w.round()
		w.round()

		lose := false
		ops(data[1:], func(op byte, b []byte) bool {
			var frame []byte
			switch op % opCount {
			case opMessage:
				hostile.say(b)
			case opFrame:
				if len(b) == 0 || b[0] < session.FirstKind {
					return true
				}
				frame = session.AppendFrame(nil, b[0], b[1:])
			case opLose:
				lose = true
				return true
			}
			w.now += time.Duration(1+op/16) * 3 * time.Millisecond
			if err := w.send(hostile, frame); err != nil { // then a relay ends the session
				w.s.Leave(w.now, hostile.sess, wire.WhyReleased)
				return false
			}
			if op%opCount == opFlush || op >= 128 {
				hostile.deaf = lose
				w.flush()
				hostile.deaf, lose = false, false
			}
			return true
		})

		if n := w.s.Entities(); n > cfg.MaxEntities {
			t.Fatalf("%d entities", n)
		}
		if hostile.sess.owned > cfg.SessionEntities+cfg.MaxEntities { // the host may get everybody's
			t.Fatalf("it drives %d entities", hostile.sess.owned)
		}
		if n := len(w.s.table.All()); n > 2*cfg.MaxEntities+66 {
			t.Fatalf("%d handles", n)
		}
		if o := hostile.sess; len(o.placed) > cfg.MaxEntities || len(o.intros) > 1000 || len(o.own) > 1000 || len(o.views) > wire.MaxViews {
			t.Fatalf("it holds %d placed, %d intros, %d own, %d views", len(o.placed), len(o.intros), len(o.own), len(o.views))
		}
		if hostile.sess.open {
			w.s.Leave(w.now, hostile.sess, wire.WhyReleased)
		}
		id := wire.ID{0xfe, 0xdc, 0xba, 1, 2, 3}
		writer.say(wire.AppendEntity(nil, wire.MsgSpawn, &wire.Entity{ID: id, Nonce: 77, Class: 1, Mask: 15, Values: []byte{0, 0, 0, 0, 1, 0, 1, 2, 3, 4}}))
		for range 40 {
			w.round()
		}
		for name, c := range map[string]*seat{"writer": writer, "watcher": watcher} {
			if c.sess.Err() != nil {
				t.Fatalf("the %s: %v", name, c.sess.Err())
			}
		}
		if w.s.Entities() < cfg.MaxEntities && writer.binds[id].Handle == 0 {
			t.Fatal("the writer cannot spawn any more")
		}
		if b := writer.binds[id]; b.Handle != 0 && !watcher.seen[id] {
			t.Fatalf("the watcher does not see what the writer spawned: %s", watcher.sess.Describe(b.Handle))
		}
	})
}
