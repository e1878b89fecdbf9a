package shard

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/throng-dev/throng/internal/grid"
	"github.com/throng-dev/throng/internal/session"
	"github.com/throng-dev/throng/internal/wire"
)

func (c *seat) spawnAt(id wire.ID, chunk grid.Chunk) {
	c.say(wire.AppendEntity(nil, wire.MsgSpawn, &wire.Entity{ID: id, Nonce: 1, Class: 1, Chunk: chunk, Mask: 3, Values: []byte{0, 0, 0, 0, 1}}))
}

func (c *seat) looksAt(chunks ...grid.Chunk) { c.say(wire.AppendView(nil, false, chunks)) }

// 10,000 entities enter the reach of one observer at once: paced by its budget, the nearest first, no packet above 1,200 bytes (flush
// checks each), and nobody else waits.
func TestTenThousandEnterAtOnce(t *testing.T) {
	const n = 10_000
	w := newTheatre(t, Config{Settle: -1, SessionEntities: 2 * n}, 3)
	maker, observer, other := w.seats[0], w.seats[1], w.seats[2]
	for _, c := range w.seats {
		c.enter(lampClass())
	}
	w.rounds(3)
	maker.looksAt(grid.Chunk{X: 1000})
	observer.looksAt(grid.Chunk{X: -1000})
	other.looksAt(grid.Chunk{X: 2000})
	other.spawnAt(bid(9, 9), grid.Chunk{X: 2000})
	rng := rand.New(rand.NewPCG(1, 1))
	for i := range n {
		maker.spawnAt(bid(1, i), grid.Chunk{X: int64(rng.IntN(17) - 8), Y: int64(rng.IntN(17) - 8)})
		if i%200 == 199 {
			w.rounds(6)
		}
	}
	w.rounds(100)
	if w.s.Entities() != n+1 || len(observer.seen) != 0 {
		t.Fatalf("%d entities, %d seen", w.s.Entities(), len(observer.seen))
	}
	// The observer comes to the middle. Nearest first: what is introduced in one flush is at least as near as all that follows.
	near := map[wire.ID]int64{}
	for i := range n {
		e := w.s.At(bid(1, i))
		near[e.ID] = e.Place.Chunk.Distance(grid.Chunk{})
	}
	observer.looksAt(grid.Chunk{})
	began, last, worst := w.now, int64(0), time.Duration(0)
	tick := uint32(0)
	seen := 0
	for seen < n && w.now < began+2*time.Minute {
		tick++
		before := other.sess.shard.stats.RecordCopies
		w.lit(other, bid(9, 9), tick, byte(tick))
		had := len(observer.seen)
		known := make(map[wire.ID]bool, had)
		for id := range observer.seen {
			known[id] = true
		}
		asked := w.now
		w.round()
		if w.s.stats.RecordCopies == before {
			worst = max(worst, w.now-asked)
			t.Fatal("the other observer's record waited")
		}
		far := last
		for id := range observer.seen {
			if !known[id] {
				if d := near[id]; d < last {
					t.Fatalf("one at distance %d after one at %d", d, last)
				} else {
					far = max(far, d)
				}
			}
		}
		last = far
		seen = len(observer.seen)
	}
	took := w.now - began
	t.Logf("%d entities in %v", seen, took)
	if seen != n || took < 2*time.Second || took > 30*time.Second {
		t.Fatalf("%d of %d after %v: a budget of 64 KiB a second takes about ten", seen, n, took)
	}
}

// a walker crosses borders at random, 100 observers look on from everywhere: no observer is shown it and told of its leaving, or
// the other way round, without a chunk of travel in between.
func TestR35NoFlicker(t *testing.T) {
	const observers = 100
	prof := DefaultProfile()
	prof.Reach, prof.PropertyReach = 1, 1
	w := newTheatre(t, Config{Settle: -1, Profile: prof}, observers+1)
	rng := rand.New(rand.NewPCG(35, 35))
	for i, c := range w.seats {
		c.enter(lampClass())
		c.looksAt(grid.Chunk{X: int64(i % 12)})
	}
	w.rounds(4)
	walker, id := w.seats[0], bid(1, 1)
	walker.spawnAt(id, grid.Chunk{X: 5})
	w.rounds(4)
	type turn struct {
		at  float64
		in  bool
		any bool
	}
	last := make([]turn, len(w.seats))
	for i, c := range w.seats[1:] {
		last[i] = turn{in: c.seen[id]}
	}
	x, turns := 5.5, 0
	for step := range 3000 {
		x = math.Max(0, math.Min(11.99, x+(rng.Float64()-0.5)*0.6)) // a small step, often over a border and back
		w.s.place(w.s.At(id), grid.Chunk{X: int64(x)})
		w.round()
		for i, c := range w.seats[1:] {
			if in := c.seen[id]; in != last[i].in {
				if l := last[i]; l.any && math.Abs(l.at-x) < 1-0.3 { // a step may have gone on while the news was under way
					t.Fatalf("step %d: observer %d at %d: in %v at %.2f, in %v at %.2f", step, i, (i+1)%12, l.in, l.at, in, x)
				}
				turns++
				last[i] = turn{x, in, true}
			}
		}
	}
	if turns < 500 {
		t.Fatalf("only %d comings and goings", turns)
	}
}

// Regions of several views overlap, and none is served twice or forgotten; without a view there is what has no position, and nothing else.
func TestSeveralViews(t *testing.T) {
	prof := DefaultProfile()
	prof.Reach, prof.PropertyReach = 2, 2
	rng := rand.New(rand.NewPCG(7, 7))
	for round := range 10 {
		w := newTheatre(t, Config{Settle: -1, Profile: prof}, 3)
		maker, observer, blind := w.seats[0], w.seats[1], w.seats[2]
		global := &wire.Class{ID: 10, Hash: 10, Name: "score", Slots: []wire.Slot{{Width: 1}}}
		global.Index()
		for _, c := range w.seats {
			c.enter(lampClass())
			c.say(wire.AppendClass(nil, 2, global))
		}
		blind.looksAt()
		w.rounds(3)
		var views []grid.Chunk
		for range 1 + rng.IntN(wire.MaxViews) {
			views = append(views, grid.Chunk{X: int64(rng.IntN(20)), Y: int64(rng.IntN(4))})
		}
		observer.looksAt(views...)
		const n = 200
		at := make([]grid.Chunk, n)
		for i := range n {
			at[i] = grid.Chunk{X: int64(rng.IntN(24)), Y: int64(rng.IntN(6))}
			maker.spawnAt(bid(1, i), at[i])
			if i%50 == 0 {
				w.rounds(3)
			}
		}
		maker.say(wire.AppendEntity(nil, wire.MsgSpawn, &wire.Entity{ID: bid(2, 1), Nonce: 9, Class: 2, Mask: 1, Values: []byte{1}}))
		w.rounds(40)
		records := observer.records
		for i := range n {
			d := int64(math.MaxInt64)
			for _, v := range views {
				d = min(d, v.Distance(at[i]))
			}
			if in := observer.seen[bid(1, i)]; in != (d <= 2) {
				t.Fatalf("round %d: entity at %v, views %v: seen %v", round, at[i], views, in)
			}
		}
		if len(blind.seen) != 1 || !blind.seen[bid(2, 1)] || !observer.seen[bid(2, 1)] {
			t.Fatalf("round %d: who looks from nowhere sees %d entities", round, len(blind.seen))
		}
		w.lit(maker, bid(1, 0), 1, 9)
		w.rounds(2)
		d := int64(math.MaxInt64)
		for _, v := range views {
			d = min(d, v.Distance(at[0]))
		}
		if got := observer.records - records; got != map[bool]int{true: 1, false: 0}[d <= 2] {
			t.Fatalf("round %d: a change at distance %d came %d times", round, d, got)
		}
	}
}

// Bad input: whatever one session says of ids, classes, chunks and handles, it is refused or bounded, counted, and nobody else notices.
func TestBadEntities(t *testing.T) {
	w := newTheatre(t, Config{Settle: -1, SessionEntities: 64}, 3)
	hostile, driver, observer := w.seats[0], w.seats[1], w.seats[2]
	for _, c := range w.seats {
		c.enter(lampClass())
	}
	w.rounds(3)
	driver.spawnAt(bid(1, 1), grid.Chunk{})
	w.rounds(5)
	tick := uint32(0)
	fine := func(what string) {
		t.Helper()
		tick++
		had := observer.records
		w.lit(driver, bid(1, 1), tick, byte(tick))
		w.round()
		if observer.records == had {
			t.Fatalf("%s: the others notice", what)
		}
	}
	e := w.s.At(bid(1, 1))
	far := grid.Chunk{X: 1<<62 - 1, Y: -(1<<62 - 1), Z: 1<<62 - 1}
	for what, say := range map[string]func(i int){
		"no id": func(i int) { hostile.spawnAt(wire.ID{}, grid.Chunk{}) },
		"an unknown class": func(i int) {
			hostile.say(wire.AppendEntity(nil, wire.MsgSpawn, &wire.Entity{ID: bid(3, i), Nonce: 1, Class: 77, Mask: 2, Values: []byte{1}}))
		},
		"values too short": func(i int) {
			hostile.say(wire.AppendEntity(nil, wire.MsgSpawn, &wire.Entity{ID: bid(3, i), Nonce: 1, Class: 1, Mask: 3, Values: []byte{1}}))
		},
		"slots too many": func(i int) {
			hostile.say(wire.AppendEntity(nil, wire.MsgSpawn, &wire.Entity{ID: bid(3, i), Nonce: 1, Class: 1, Mask: 1 << 40, Values: []byte{1}}))
		},
		"a held id": func(i int) { hostile.spawnAt(bid(1, 1), grid.Chunk{}) },
		"many ids":  func(i int) { hostile.spawnAt(bid(4, i), grid.Chunk{X: int64(i)}) },
		"far away":  func(i int) { hostile.spawnAt(bid(5, i), far) },
		"unknown destroys": func(i int) {
			hostile.say(wire.AppendEntity(nil, wire.MsgDestroy, &wire.Entity{ID: bid(6, i), Nonce: uint32(i)}))
		},
		"another's": func(i int) {
			hostile.say(wire.AppendEntity(nil, wire.MsgDestroy, &wire.Entity{ID: bid(1, 1), Inc: e.Inc + wire.Count(i%3) + 1}))
		},
		"forged deltas": func(i int) {
			b, at := session.BeginFrame(nil, wire.KindDeltas)
			var d wire.Deltas
			d.Reset(b, uint32(i), grid.Chunk{}, hostile.nums[lampClass().ID], lampClass())
			d.Begin(&wire.Delta{Handle: e.Handle, Gen: e.Gen + uint8(i%2), Term: e.Term.N(), Mask: 2})
			b = append(d.B, 7)
			session.EndFrame(b, at)
			_ = w.send(hostile, b)
		},
		"views of nowhere": func(i int) { hostile.looksAt(far, grid.Chunk{X: -far.X}, far) },
		"respawns": func(i int) {
			hostile.say(wire.AppendEntity(nil, wire.MsgSpawn, &wire.Entity{ID: bid(8, i), Nonce: 1, Class: 1, Flags: wire.EntityPlaced | wire.EntityHosted | wire.EntityRespawn, Mask: 2, Values: []byte{1}}))
		},
		"wants": func(i int) {
			hostile.say(wire.AppendEntity(nil, wire.MsgSpawn, &wire.Entity{ID: bid(8, i), Nonce: 1, Class: 1, Flags: wire.EntityPlaced | wire.EntityHosted | wire.EntityWanted}))
		},
	} {
		for i := range 500 {
			if say(i); i%25 == 24 {
				w.rounds(2)
			}
		}
		w.rounds(20)
		fine(what)
		if hostile.sess.Err() != nil {
			t.Fatalf("%s: %v", what, hostile.sess.Err())
		}
	}
	st := w.s.Stats()
	if n := w.s.made(hostile.sess.Player); n > 64 || len(hostile.sess.placed) > 64+1 {
		t.Fatalf("it has %d entities and placed %d", n, len(hostile.sess.placed))
	}
	if st.Refused < 1000 || w.s.At(bid(1, 1)) != e || e.Value(1)[0] == 7 && tick != 7 {
		t.Fatalf("%d refused", st.Refused)
	}
}

// of what enters at one distance avatars come first, and what is attached comes after what it is attached to.
func TestR11AvatarsFirst(t *testing.T) {
	w := newTheatre(t, Config{Settle: -1, Budget: 2000}, 3)
	maker, player, observer := w.seats[0], w.seats[1], w.seats[2]
	for _, c := range w.seats {
		c.enter(lampClass())
	}
	observer.looksAt(grid.Chunk{X: 1000})
	w.rounds(3)
	for i := range 40 {
		maker.spawnAt(bid(1, i), grid.Chunk{})
	}
	w.rounds(60)
	player.spawnLamp(bid(2, 1), wire.EntityAvatar) // the highest handle of all
	maker.attaches(bid(1, 3), bid(1, 30))
	w.rounds(5)
	observer.looksAt(grid.Chunk{})
	first := true
	for range 400 {
		had := len(observer.seen)
		w.round()
		if len(observer.seen) > had && first {
			if first = false; !observer.seen[bid(2, 1)] {
				t.Fatal("others came before the avatar")
			}
		}
		if observer.seen[bid(1, 3)] && !observer.seen[bid(1, 30)] {
			t.Fatal("a child came before its parent")
		}
	}
	if len(observer.seen) != 41 {
		t.Fatalf("%d came", len(observer.seen))
	}
}
