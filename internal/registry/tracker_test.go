package registry

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/throng-dev/throng/internal/grid"
	"github.com/throng-dev/throng/internal/wire"
)

func (g *traced) depart(id byte, handle uint32, inc uint32, why wire.Why, by wire.PlayerID) {
	m := wire.Depart{Handle: handle, ID: wire.ID{id}, Inc: wire.NewCount(3, inc), Why: why, By: by}
	g.frame(wire.KindDepart, m.Append(nil))
}

// lefts is what was told since the last call.
func (g *traced) lefts() (ids []byte) {
	for _, l := range g.r.Lefts(nil) {
		ids = append(ids, l.ID[0])
	}
	return ids
}

// B-063: a departure of what is not held is told once, however often it comes; one of what is held is told by its copy alone.
func TestB063Lefts(t *testing.T) {
	other := wire.PlayerID{0xc0}
	want := func(t *testing.T, g *traced, ids ...byte) {
		t.Helper()
		if got := g.lefts(); string(got) != string(ids) {
			t.Errorf("left: %v, want %v", got, ids)
		}
	}
	game := func(t *testing.T) *traced {
		g := newTraced(t, 100)
		g.r.cfg.Departures = true
		return g
	}
	t.Run("twice", func(t *testing.T) {
		g := game(t)
		g.depart(1, 7, 1, wire.WhyDestroyed, other)
		g.depart(1, 7, 1, wire.WhyDestroyed, other)
		want(t, g, 1)
		g.depart(2, 7, 1, wire.WhyDestroyed, other) // the handle is another's
		g.depart(2, 7, 2, wire.WhyStale, other)
		want(t, g, 2, 2)
	})
	t.Run("held", func(t *testing.T) {
		g := game(t)
		g.frame(wire.KindIntro, g.intro(1, 7, 1))
		g.depart(1, 7, 1, wire.WhyDestroyed, other)
		g.depart(1, 7, 1, wire.WhyDestroyed, other)
		want(t, g)
	})
	t.Run("stale, back, stale", func(t *testing.T) {
		g := game(t)
		g.depart(1, 7, 1, wire.WhyStale, other)
		g.frame(wire.KindIntro, g.intro(1, 7, 1))
		g.depart(1, 7, 1, wire.WhyStale, other)
		want(t, g, 1)
	})
	t.Run("out of reach and mine are no news", func(t *testing.T) {
		g := game(t)
		g.depart(1, 7, 1, wire.WhyOutOfReach, other)
		g.depart(2, 8, 1, wire.WhyDestroyed, g.r.Welcome.Player)
		want(t, g)
		g.depart(3, 9, 1, wire.WhyReleased, g.r.Welcome.Player)
		want(t, g, 3)
	})
	t.Run("timed out first", func(t *testing.T) {
		g := game(t)
		g.frame(wire.KindIntro, g.intro(1, 7, 1))
		g.r.Forget(g.r.Find(wire.ID{1}))
		for _, why := range []wire.Why{wire.WhyStale, wire.WhyReleased, wire.WhyDestroyed} {
			g.depart(1, 7, 1, why, other)
		}
		want(t, g)
		g.frame(wire.KindIntro, g.intro(2, 7, 1)) // the handle again
		g.r.Forget(g.r.Find(wire.ID{2}))
		g.frame(wire.KindIntro, g.intro(2, 7, 1)) // introduced anew
		g.r.drop(g.r.Find(wire.ID{2}), wire.WhyOutOfReach, wire.PlayerID{}, false, nil)
		g.depart(2, 7, 1, wire.WhyDestroyed, other)
		want(t, g, 2)
	})
	t.Run("nobody asked", func(t *testing.T) {
		g := newTraced(t, 100)
		g.depart(1, 7, 1, wire.WhyDestroyed, other)
		want(t, g)
	})
	t.Run("bounded", func(t *testing.T) {
		g := game(t)
		for i := range maxLefts + 100 {
			g.depart(1, uint32(i+1), uint32(i+1), wire.WhyReleased, other)
		}
		if n := len(g.r.Lefts(nil)); n != maxLefts {
			t.Errorf("%d wait", n)
		}
	})
}

// B-063: what a client drives takes no room, before and behind the bound.
func TestB063DrivenTakesNoRoom(t *testing.T) {
	g := newTraced(t, 16)
	g.r.Announce()
	for i := range 20 {
		g.r.Spawn(wire.ID{100 + byte(i)}, g.lamp, g.r.Welcome.Player, 0, func(*Copy) {})
	}
	for i := range 20 {
		g.frame(wire.KindIntro, g.intro(byte(i+1), uint32(i+1), 1))
	}
	if g.r.Len() != 36 || g.r.Stats().NoRoom != 4 || !g.r.Full() {
		t.Fatalf("%d held, %d refused", g.r.Len(), g.r.Stats().NoRoom)
	}
	for i := range 3 {
		g.depart(byte(i+1), uint32(i+1), 1, wire.WhyOutOfReach, wire.PlayerID{})
	}
	if g.r.Full() {
		t.Error("it does not tell that there is room")
	}
}

// R-11, B-063, P64: what waits for a game that does not tick is bounded, over all copies, and is the newest of each slot.
func TestB063BacklogIsBounded(t *testing.T) {
	for _, backlog := range []bool{true, false} {
		g := newTraced(t, 4096)
		g.r.SetBacklog(backlog)
		const copies = 300
		for i := range copies {
			m := wire.Intro{Handle: uint32(i + 1), Gen: 1, Num: 5, ClassID: g.lamp.ID, ClassHash: g.lamp.Hash, ID: wire.ID{byte(i), byte(i >> 8), 1}, Inc: wire.NewCount(3, 1),
				Term: wire.NewCount(3, 1), Owner: wire.PlayerID{0xb0}, Mask: 3, Values: make([]byte, 13)}
			g.frame(wire.KindIntro, m.Append(nil, grid.Chunk{}))
		}
		rng := rand.New(rand.NewPCG(1, 1))
		newest := map[uint32]byte{}
		for range 20_000 {
			h := uint32(1 + rng.IntN(copies))
			var s wire.Segment
			s.Reset(wire.AppendChunk(nil, grid.Chunk{}, grid.Chunk{}), 5, &g.lamp.Class, grid.Chunk{})
			s.Begin(h, grid.Chunk{}, 2, wire.Sample{})
			newest[h] = byte(rng.IntN(250))
			g.frame(wire.KindSegment, append(s.B, newest[h]))
			if n, _ := g.r.Backlog(); n > maxWaiting || !backlog && n > copies {
				t.Fatalf("%d records wait", n)
			}
		}
		for h, want := range newest {
			got := byte(255)
			c := g.r.handles.copy(h)
			c.Staged(func(apply, mask uint64, values []byte) {
				for i := range c.Class.Slots {
					if mask>>i&1 != 0 {
						l := c.Class.ValueLen(i, values)
						if i == 1 && apply&2 != 0 {
							got = values[0]
						}
						values = values[l:]
					}
				}
			})
			if got != want {
				t.Fatalf("handle %d: %d, want the newest, %d", h, got, want)
			}
		}
		g.tick()
		if n, merged := g.r.Backlog(); n != 0 || merged == 0 || len(g.r.stages.free) > maxLent {
			t.Errorf("%d wait after a tick, %d merged, %d stages kept", n, merged, len(g.r.stages.free))
		}
	}
}

// Heard is when an entity was named last; a driver's is its echo.
func TestB063Heard(t *testing.T) {
	g := newTraced(t, 100)
	g.now = time.Second
	g.frame(wire.KindIntro, g.intro(1, 7, 1))
	c := g.r.Find(wire.ID{1})
	at := c.Heard()
	g.now += time.Second
	g.frame(wire.KindSegment, g.record(5, 7))
	if at < time.Second || c.Heard() < at+time.Second {
		t.Errorf("heard at %v, then at %v", at, c.Heard())
	}
	g.r.TrackSelf(true)
	c.drives = true
	g.r.Changed(nil)
	c.Applied()
	for range 3 {
		g.frame(wire.KindSegment, g.record(5, 7))
	}
	if got := g.r.Changed(nil); len(got) != 1 || !c.Echoed() {
		t.Errorf("%d changes: the first echo is one", len(got))
	}
	if c.wait != nil {
		t.Error("an echo was staged")
	}
}

// B-057: whatever an introduction or a role record says, it never gives the drive; what is driven here keeps its owner and flags.
func TestB057RecordsNeverGiveTheDrive(t *testing.T) {
	g := newTraced(t, 100)
	g.r.Announce()
	me := g.r.Welcome.Player
	m := wire.Intro{Handle: 7, Gen: 1, Num: 5, ClassID: g.lamp.ID, ClassHash: g.lamp.Hash, ID: wire.ID{1}, Inc: wire.NewCount(3, 1), Term: wire.NewCount(3, 1),
		Owner: me, Flags: wire.EntityDrives, Mask: 3, Values: make([]byte, 13)}
	g.frame(wire.KindIntro, m.Append(nil, grid.Chunk{}))
	role := wire.Role{Handle: 7, Term: wire.NewCount(3, 9), Owner: me, Flags: wire.EntityDrives}
	g.frame(wire.KindRole, role.Append(nil))
	if c := g.r.Find(wire.ID{1}); c == nil || c.Drives() {
		t.Fatal("a record gave the drive")
	}
	mine := g.r.Spawn(wire.ID{2}, g.lamp, me, 0, func(*Copy) {})
	bind := wire.Entity{ID: wire.ID{2}, Inc: wire.NewCount(3, 2), Term: wire.NewCount(3, 2), Nonce: mine.nonce, Handle: 8, Gen: 1, Owner: me, Cert: g.cert}
	g.message(wire.AppendEntity(nil, wire.MsgBind, &bind))
	m.Handle, m.ID, m.Inc, m.Term, m.Owner = 8, wire.ID{2}, wire.NewCount(3, 2), wire.NewCount(3, 2), wire.PlayerID{0xb0}
	g.frame(wire.KindIntro, m.Append(nil, grid.Chunk{})) // not above the term under which it is driven
	m.Inc = wire.NewCount(3, 1)
	g.frame(wire.KindIntro, m.Append(nil, grid.Chunk{})) // of an older life
	if c := g.r.Find(wire.ID{2}); c != mine || !mine.Drives() || mine.Owner != me {
		t.Errorf("a live body was displaced: %v, drives %v, owner %v", c != mine, mine.Drives(), mine.Owner)
	}
}
