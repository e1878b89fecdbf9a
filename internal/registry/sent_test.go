package registry

import (
	"bytes"
	"slices"
	"testing"
	"time"

	"github.com/throng-dev/throng/internal/session"
	"github.com/throng-dev/throng/internal/wire"
)

// driven is a game that drives lamps, over a link of which the test says what it loses.
type driven struct {
	*traced
	lamps []*Copy
}

func newDriven(t *testing.T, lamps int) *driven {
	g := &driven{traced: newTraced(t, 1000)}
	for i := range lamps {
		id := wire.ID{1, byte(i), byte(i >> 8)}
		c := g.r.Spawn(id, g.lamp, wire.PlayerID{0xa0}, 0, func(*Copy) {})
		g.lamps = append(g.lamps, c)
		g.r.ready()
		g.r.announce(c)
		g.message(wire.AppendEntity(nil, wire.MsgBind, &wire.Entity{ID: id, Inc: 1, Term: 1, Nonce: c.nonce, Handle: uint32(i + 1), Owner: wire.PlayerID{0xa0}}))
	}
	g.send(false)
	return g
}

// tick sends what a slot of every lamp says after a while. Of the packets those in lost do not arrive.
func (g *driven) tick(after time.Duration, slot int, lost ...int) (packets int) {
	g.t.Helper()
	g.now += after
	g.conn.Expire(g.now, g.r.Handler(g.now))
	for _, c := range g.lamps {
		g.r.Mark(c, 1<<slot|g.r.Lost(c))
	}
	out := g.r.Send(g.now, true, 1200, 0, func() []byte { return make([]byte, 0, 1300) }, nil)
	for i, b := range out {
		if slices.Contains(lost, i) {
			continue
		}
		if err := g.relay.Receive(g.now, b, g.relay); err != nil {
			g.t.Fatal(err)
		}
	}
	g.ack()
	return len(out)
}

func (g *driven) ack() {
	b := g.relay.Begin(g.now, nil)
	g.relay.Commit(g.now, b, false)
	if err := g.conn.Receive(g.now, b, g.r.Handler(g.now)); err != nil {
		g.t.Fatal(err)
	}
}

// spoil makes the path one that loses.
func (g *driven) spoil() {
	g.t.Helper()
	for range 5 {
		g.tick(100*time.Millisecond, 1, 0)
		g.tick(100*time.Millisecond, 1)
	}
	if !g.conn.Loses() {
		g.t.Fatal("the path is as good as ever")
	}
	for range 3 {
		g.tick(100*time.Millisecond, 1)
	}
}

// on a path that loses packets what a tick says leaves twice, if it takes one packet and no other tick follows soon.
func TestTickLeavesTwiceWhereItMayGetLost(t *testing.T) {
	g := newDriven(t, 1)
	if n := g.tick(100*time.Millisecond, 1); n != 1 {
		t.Errorf("good path: %d packets", n)
	}
	g.spoil()
	if n := g.tick(100*time.Millisecond, 1); n != 2 {
		t.Errorf("%d packets", n)
	}
	if n := g.tick(twinGap-time.Millisecond, 1); n != 1 {
		t.Errorf("a tick that follows soon: %d packets", n)
	}
	if n := g.tick(twinGap, 1); n != 2 {
		t.Errorf("the next: %d packets", n)
	}
	g.now += 100 * time.Millisecond
	if out := g.r.Send(g.now, true, 1200, 0, func() []byte { return nil }, nil); len(out) != 0 {
		t.Errorf("a tick that says nothing: %d packets", len(out))
	}
	many := newDriven(t, 200)
	many.spoil()
	if n := many.tick(100*time.Millisecond, 0); n < 3 {
		t.Fatalf("%d packets", n)
	}
	if n := many.r.Stats().Twins; n > 10 {
		t.Errorf("%d ticks of several packets left twice", n)
	}
}

// The second packet says what the first does, and nothing that is said once.
func TestTwinsAreAlike(t *testing.T) {
	g := newDriven(t, 3)
	g.spoil()
	g.now += 100 * time.Millisecond
	g.r.Mark(g.lamps[1], 3)
	g.r.ev.once = append(g.r.ev.once, []byte("once"))
	out := g.r.Send(g.now, true, 1200, 0, func() []byte { return make([]byte, 0, 1300) }, nil)
	var deltas [][]byte
	once := 0
	for _, b := range out {
		session.Frames(b, func(kind byte, body []byte) {
			switch kind {
			case wire.KindDeltas:
				deltas = append(deltas, body)
			case wire.KindEventUp:
				once++
			}
		})
	}
	if len(deltas) != 2 || !bytes.Equal(deltas[0], deltas[1]) || once != 1 {
		t.Errorf("%x, %d events", deltas, once)
	}
}

// slots go out again when both packets that had them are lost, not when one is.
func TestR13BothOfTwoPacketsAreLost(t *testing.T) {
	for _, tt := range []struct {
		name string
		lost []int
		want uint64
	}{{"none", nil, 0}, {"first", []int{0}, 0}, {"second", []int{1}, 0}, {"both", []int{0, 1}, 2}} {
		t.Run(tt.name, func(t *testing.T) {
			g := newDriven(t, 1)
			g.spoil()
			c, before := g.lamps[0], g.r.Stats().Lost
			if n := g.tick(100*time.Millisecond, 1, tt.lost...); n != 2 {
				t.Fatalf("%d packets", n)
			}
			for range 5 { // nothing more leaves
				g.now += 100 * time.Millisecond
				g.conn.Expire(g.now, g.r.Handler(g.now))
			}
			if got := g.r.Lost(c); got != tt.want {
				t.Errorf("slots %b are lost, want %b", got, tt.want)
			}
			if n := g.r.Stats().Lost - before; (n > 0) != (tt.want != 0) {
				t.Errorf("%d losses counted", n)
			}
			if c.proof.flying != 0 || c.proof.flown != 0 || len(g.r.sent.packets) != 0 {
				t.Errorf("%d records of slots %b and %d packets are still on their way", c.proof.flying, c.proof.flown, len(g.r.sent.packets))
			}
		})
	}
}
