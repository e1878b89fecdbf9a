package registry

import (
	"testing"

	"github.com/throng-dev/throng/internal/wire"
)

// values that went along with an event which is sent once may be lost with it, and what is reliable is read first: until they are
// acked they go along with every further one.
func TestR52ValuesOfOneSentOnceGoAlongAgain(t *testing.T) {
	g := newTraced(t, 10)
	k := g.r.AddEvent(wire.EventKind{ID: 9, Hash: 9, Name: "e"}, nil)
	g.r.ev.state = wire.EventState{Credit: wire.EventCredit, Largest: wire.MaxEvent}
	me := wire.PlayerID{0xa0}
	c := g.r.Spawn(wire.ID{1}, g.lamp, me, 0, func(*Copy) {})
	other := g.r.Spawn(wire.ID{2}, g.lamp, me, 0, func(*Copy) {})
	g.send(false)
	for i, c := range []*Copy{c, other} {
		g.message(wire.AppendEntity(nil, wire.MsgBind, &wire.Entity{ID: c.ID, Inc: 1, Term: 1, Nonce: c.nonce, Handle: uint32(4 + i), Owner: me, Cert: g.cert}))
	}
	say := func(c *Copy, changed uint64, reliable bool) uint64 {
		t.Helper()
		sent, err := g.r.Event(g.now, k, wire.ToReach, wire.PlayerID{}, c, changed, reliable, nil)
		if err != nil {
			t.Fatal(err)
		}
		return sent
	}
	if sent := say(c, 2, false); sent != 2 {
		t.Fatalf("slots %b went along", sent)
	}
	if sent := say(other, 4, true); sent != 4 {
		t.Errorf("slots %b went along with what is about another", sent)
	}
	if sent := say(c, 4, true); sent != 6 {
		t.Errorf("slots %b went along behind one that may be lost", sent)
	}
	g.send(true)
	if sent := say(c, 0, true); sent&2 == 0 {
		t.Errorf("slots %b went along before the others were acked", sent)
	}
}
