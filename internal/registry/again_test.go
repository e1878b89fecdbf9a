package registry

import (
	"slices"
	"testing"

	"github.com/throng-dev/throng/internal/grid"
	"github.com/throng-dev/throng/internal/wire"
)

// ear is a relay that keeps what it is told of entities, by kind of message.
type ear struct {
	*relay
	told map[byte]wire.Entity
}

func (e *ear) Message(_ uint64, stream int, msg []byte) {
	if stream != wire.StreamControl || msg[0] != wire.MsgSpawn && msg[0] != wire.MsgAgain {
		return
	}
	if m, err := wire.ParseEntity(msg[0], msg[1:]); err == nil {
		m.Values = slices.Clone(m.Values)
		e.told[msg[0]] = m
	}
}

// B-024, R-24: a game that stalls is introduced to what it made, and has not cleared the slots of the owner when the relay restarts. What it
// announces to the next is what it holds once it has applied what waited: the rest as introduced, the owner's slots cleared.
func TestB024AnnouncedAgainWithoutTheOwnersSlots(t *testing.T) {
	me, other := wire.PlayerID{0xa0}, wire.PlayerID{0xb0}
	id := wire.ID{1}
	for _, tt := range []struct {
		name  string
		flags uint16
		kind  byte // of the message that announces it to the next relay
	}{
		{"placed", wire.EntityPlaced | wire.EntityHosted, wire.MsgSpawn},
		{"driven before", 0, wire.MsgAgain},
	} {
		t.Run(tt.name, func(t *testing.T) {
			g := newTraced(t, 10)
			lit, fuel := byte(1), byte(7)
			g.r.cfg.Encode = func(_ *Copy, mask uint64, b []byte) ([]byte, uint64, grid.Chunk) {
				for i, v := range [][]byte{make([]byte, 12), {lit}, {0}, {fuel, 0, 0, 0}} {
					if mask>>i&1 != 0 {
						b = append(b, v...)
					}
				}
				return b, mask, grid.Chunk{}
			}
			g.r.cfg.Zero = func(c *Copy) { fuel, c.ZeroOwner = 0, false }
			c := g.r.Spawn(id, g.lamp, me, tt.flags, func(*Copy) {})
			g.r.Announce()
			g.send(false)
			if tt.flags == 0 {
				g.message(wire.AppendEntity(nil, wire.MsgBind, &wire.Entity{ID: id, Inc: 1, Term: 1, Nonce: c.nonce, Handle: 7, Gen: 1, Owner: me, Cert: g.cert}))
			}
			m := wire.Intro{Handle: 7, Gen: 1, Num: 5, ClassID: g.lamp.ID, ClassHash: g.lamp.Hash, ID: id, Inc: 1, Term: 2, Owner: other, Flags: tt.flags,
				Mask: 3, Values: append(make([]byte, 12), 9)}
			g.frame(wire.KindIntro, m.Append(nil, grid.Chunk{}))
			if c != g.r.Find(id) || c.Drives() || !c.ZeroOwner {
				t.Fatalf("not introduced: %+v", c)
			}

			g.connect()
			w := wire.Welcome{Version: 1, World: 2, Epoch: 2, Flush: 1, Player: me, Profile: wire.Profile{ChunkSize: 1, MaxRate: 10}}
			g.message(w.Append(nil))
			g.r.Announce()
			e := &ear{g.relay, map[byte]wire.Entity{}}
			for _, b := range g.r.Send(g.now, false, 1200, 0, func() []byte { return make([]byte, 0, 1300) }, nil) {
				if err := g.relay.Receive(g.now, b, e); err != nil {
					t.Fatal(err)
				}
			}
			want := append(make([]byte, 12), 9, 0, 0, 0, 0, 0)
			if a := e.told[tt.kind]; a.Mask != g.lamp.All || !slices.Equal(a.Values, want) {
				t.Errorf("announces %b: %v, want %v", a.Mask, a.Values, want)
			}
		})
	}
}
