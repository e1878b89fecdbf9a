package shard

import (
	"encoding/binary"
	"testing"

	"github.com/throng-dev/throng/internal/session"
	"github.com/throng-dev/throng/internal/wire"
)

// guardedClass has a slot that players write, and one that only an authority may.
func guardedClass() *wire.Class {
	c := &wire.Class{ID: 12, Hash: 34, Name: "guarded", Slots: []wire.Slot{{Width: 1, Name: "Lit"}, {Width: 4, Words: wire.WordAuth, Name: "HP"}}}
	c.Index()
	return c
}

func hp(n uint32) []byte { return binary.LittleEndian.AppendUint32(nil, n) }

// guarded is a theatre with two players and an authority, all in a world that has a guarded of the first player's.
func guarded(t *testing.T) (w *theatre, id wire.ID, player, other, server *seat) {
	w = newTheatre(t, Config{Settle: -1}, 2)
	server = w.join(2)
	server.sess.Authority, server.sess.Eligible = true, false // what its token said
	for _, c := range w.seats {
		c.enter(guardedClass())
	}
	w.rounds(5)
	id = bid(1, 1)
	player, other = w.seats[0], w.seats[1]
	player.say(wire.AppendEntity(nil, wire.MsgSpawn, &wire.Entity{ID: id, Nonce: 1, Class: 1, Flags: wire.EntityActor, Mask: 3, Values: append([]byte{1}, hp(9999)...)}))
	w.rounds(5)
	if w.s.At(id) == nil {
		t.Fatal("it was not spawned")
	}
	return w, id, player, other, server
}

// write sends a delta of the guarded's slots in mask, as its driver.
func (w *theatre) write(c *seat, id wire.ID, tick uint32, mask uint64, values []byte) {
	m := c.binds[id]
	b, at := session.BeginFrame(nil, wire.KindDeltas)
	var d wire.Deltas
	k := guardedClass()
	e := w.s.At(id)
	d.Reset(b, tick, e.Place.Chunk, c.nums[k.ID], k)
	d.Begin(&wire.Delta{Handle: m.Handle, Gen: m.Gen, Term: m.Term.N(), Mask: mask, Chunk: e.Place.Chunk})
	b = append(d.B, values...)
	session.EndFrame(b, at)
	if err := w.send(c, b); err != nil {
		w.t.Fatal(err)
	}
}

// B-001, B-002: a player's word does not count for auth slots, whatever message it comes in.
func TestB001PlayersDoNotWriteAuthSlots(t *testing.T) {
	w, id, player, other, server := guarded(t)
	e := w.s.At(id)
	health := func() uint32 { return binary.LittleEndian.Uint32(e.Value(1)) }
	if health() != 0 || e.Value(0)[0] != 1 || e.Flags&wire.EntityActor != 0 {
		t.Fatalf("spawned with health %d, lit %d, flags %#x", health(), e.Value(0)[0], e.Flags)
	}
	w.write(player, id, 1, 3, append([]byte{0}, hp(9999)...))
	w.rounds(3)
	if health() != 0 || e.Value(0)[0] != 0 {
		t.Errorf("a delta wrote health %d, lit %d: one slot at fault is refused alone", health(), e.Value(0)[0])
	}
	refused := w.s.Stats().Refused
	for _, c := range []*seat{player, other} { // one of them is the host
		c.say(wire.AppendEntity(nil, wire.MsgOverrideUp, &wire.Entity{ID: id, Inc: e.Inc, Mask: 2, Values: hp(9999)}))
	}
	w.rounds(3)
	if health() != 0 || w.s.Stats().Refused < refused+2 {
		t.Errorf("a correction wrote health %d, %d were refused", health(), w.s.Stats().Refused-refused)
	}
	server.say(wire.AppendEntity(nil, wire.MsgOverrideUp, &wire.Entity{ID: id, Inc: e.Inc, Mask: 2, Values: hp(70)}))
	w.rounds(3)
	if health() != 70 {
		t.Errorf("the authority's correction left %d", health())
	}
	// The release of a driver that is revoked carries all slots: the auth ones are not taken.
	player.say(wire.AppendEntity(nil, wire.MsgGrant, &wire.Entity{ID: id, Inc: e.Inc, Term: e.Term, Owner: other.sess.Player}))
	w.rounds(1)
	player.say(wire.AppendEntity(nil, wire.MsgRelease, &wire.Entity{ID: id, Inc: e.Inc, Term: e.Term, Mask: 3, Values: append([]byte{1}, hp(9999)...)}))
	w.rounds(5)
	if health() != 70 || e.Driver != other.sess.number {
		t.Errorf("after a hand-over health is %d, the driver %d", health(), e.Driver)
	}
}

// B-002: who may know, and who is in which group, is not for players to say.
func TestB002ForgedVerdictsAreRefused(t *testing.T) {
	w, id, player, other, server := guarded(t)
	e := w.s.At(id)
	hide := wire.Audience{ID: id, Only: true}
	join := wire.Member{Player: other.sess.Player, In: true, Name: "judged"}
	refused := w.s.Stats().Refused
	player.say(hide.Append(nil))
	other.say(join.Append(nil))
	w.rounds(3)
	if w.s.AudienceOf(e).Only || w.s.Stats().Refused != refused+2 || other.sess.in("judged") || !other.seen[id] {
		t.Errorf("a player hid an entity or put itself into a group; %d refused", w.s.Stats().Refused-refused)
	}
	server.say(hide.Append(nil))
	server.say(join.Append(nil))
	w.rounds(3)
	if !w.s.AudienceOf(e).Only || !other.sess.in("judged") || other.seen[id] {
		t.Errorf("the authority's word did not count: %+v, in %v, left %v", w.s.AudienceOf(e), other.sess.in("judged"), other.left)
	}
	// What it foretells of entities that never come is bounded, and gone with it.
	for i := range 10 {
		m := wire.Audience{ID: bid(77, i), Only: true}
		server.say(m.Append(nil))
	}
	w.rounds(3)
	if n := len(server.sess.verdicts); n != 10 {
		t.Errorf("%d verdicts wait", n)
	}
	// Garbage.
	malformed := w.s.Stats().Malformed
	server.say([]byte{wire.MsgAudience, 1, 2, 3})
	server.say([]byte{wire.MsgMember, 1})
	w.rounds(3)
	if w.s.Stats().Malformed != malformed+2 {
		t.Error("garbage was not counted")
	}
}
