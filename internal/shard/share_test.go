package shard

import (
	"encoding/binary"
	"testing"
	"time"

	"github.com/throng-dev/throng/internal/grid"
	"github.com/throng-dev/throng/internal/wire"
)

func (w *theatre) rounds(n int) {
	for range n {
		w.round()
	}
}

func bid(a byte, i int) wire.ID {
	id := wire.ID{a, 1}
	binary.LittleEndian.PutUint32(id[4:], uint32(i))
	return id
}

// B-132: what somebody spawns for the host counts for whoever spawned it; the host may still spawn.
func TestB132HostedEntitiesCountForTheirMaker(t *testing.T) {
	const own, all = 16, 64
	w := newTheatre(t, Config{Settle: -1, SessionEntities: own, MaxEntities: all}, 2)
	host, hostile := w.seats[0], w.seats[1]
	host.enter(lampClass())
	hostile.enter(lampClass())
	w.rounds(5)
	for i := range 100 {
		hostile.say(wire.AppendEntity(nil, wire.MsgSpawn, &wire.Entity{ID: bid(1, i), Nonce: uint32(i + 1), Class: 1, Flags: wire.EntityHosted, Mask: 2, Values: []byte{1}}))
		w.round()
	}
	w.s.Leave(w.now, hostile.sess, wire.WhyReleased)
	w.rounds(5)
	host.say(wire.AppendEntity(nil, wire.MsgSpawn, &wire.Entity{ID: bid(2, 1), Nonce: 1, Class: 1, Mask: 2, Values: []byte{1}}))
	w.rounds(5)
	_, ok := host.binds[bid(2, 1)]
	t.Logf("host drives %d of %d allowed, world %d of %d, host's own spawn accepted: %v", host.sess.owned, own, w.s.Entities(), all, ok)
	if !ok || w.s.Entities() > own+1 {
		t.Fail()
	}
}

// B-132: grants to a player that did not ask are the granter's share.
func TestB132GrantsDoNotFillAVictim(t *testing.T) {
	const own, all = 16, 64
	w := newTheatre(t, Config{Settle: -1, SessionEntities: own, MaxEntities: all, ReleaseWait: 60 * time.Millisecond}, 2)
	victim, hostile := w.seats[0], w.seats[1]
	victim.enter(lampClass())
	hostile.enter(lampClass())
	w.rounds(5)
	for i := range 100 {
		hostile.say(wire.AppendEntity(nil, wire.MsgSpawn, &wire.Entity{ID: bid(1, i), Nonce: uint32(i + 1), Class: 1, Mask: 2, Values: []byte{1}}))
		w.rounds(2)
		b, ok := hostile.binds[bid(1, i)]
		if !ok {
			continue
		}
		hostile.say(wire.AppendEntity(nil, wire.MsgGrant, &wire.Entity{ID: b.ID, Inc: b.Inc, Term: b.Term, Owner: victim.sess.Player}))
		w.rounds(4)
	}
	victim.say(wire.AppendEntity(nil, wire.MsgSpawn, &wire.Entity{ID: bid(2, 1), Nonce: 1, Class: 1, Mask: 2, Values: []byte{1}}))
	w.rounds(5)
	_, ok := victim.binds[bid(2, 1)]
	t.Logf("victim drives %d of %d, world %d, its own spawn accepted: %v", victim.sess.owned, own, w.s.Entities(), ok)
	if !ok || victim.sess.owned > own+1 {
		t.Fail()
	}
}

// B-132: entities that outlive their session count for the player that comes back.
func TestB132ComingBackGivesNoSecondShare(t *testing.T) {
	const own, all = 16, 64
	w := newTheatre(t, Config{Settle: -1, SessionEntities: own, MaxEntities: all}, 1)
	host := w.seats[0]
	host.enter(lampClass())
	w.rounds(5)
	for r := range 10 {
		c := w.join(len(w.seats))
		c.sess.Player = wire.PlayerID{77} // the same one each time
		c.enter(lampClass())
		for i := range own {
			c.say(wire.AppendEntity(nil, wire.MsgSpawn, &wire.Entity{ID: bid(byte(r+1), i), Nonce: uint32(i + 1), Class: 1, Flags: wire.EntityToHost, Mask: 2, Values: []byte{1}}))
		}
		w.rounds(10)
		w.s.Leave(w.now, c.sess, wire.WhyReleased)
		w.rounds(5)
	}
	host.say(wire.AppendEntity(nil, wire.MsgSpawn, &wire.Entity{ID: bid(99, 1), Nonce: 1, Class: 1, Mask: 2, Values: []byte{1}}))
	w.rounds(5)
	_, ok := host.binds[bid(99, 1)]
	t.Logf("host drives %d of %d, world %d of %d, its own spawn accepted: %v", host.sess.owned, own, w.s.Entities(), all, ok)
	if !ok {
		t.Fail()
	}
}

// B-132: a session that pings but acks no departure holds the handles of all that died; it ends before the world is full of them.
func TestB132DeadHandlesEndWhoHoldsThem(t *testing.T) {
	const all = 64
	w := newTheatre(t, Config{Settle: -1, MaxEntities: all, Rest: time.Millisecond}, 3)
	deaf, churner, honest := w.seats[0], w.seats[1], w.seats[2]
	for _, c := range w.seats {
		c.enter(lampClass())
	}
	w.rounds(10)
	deaf.deaf = true
	for i := range 400 {
		id := bid(1, i)
		churner.say(wire.AppendEntity(nil, wire.MsgSpawn, &wire.Entity{ID: id, Nonce: uint32(i + 1), Class: 1, Mask: 3, Values: []byte{1, 2, 3, 4, 1}}))
		w.rounds(2)
		if b, ok := churner.binds[id]; ok {
			churner.say(wire.AppendEntity(nil, wire.MsgDestroy, &wire.Entity{ID: id, Inc: b.Inc}))
		}
		deaf.conn.Ping()
		w.rounds(1)
		if deaf.sess.Err() != nil {
			t.Logf("deaf ended after %d: %v", i, deaf.sess.Err())
			return
		}
	}
	honest.say(wire.AppendEntity(nil, wire.MsgSpawn, &wire.Entity{ID: bid(9, 1), Nonce: 1, Class: 1, Mask: 2, Values: []byte{1}}))
	w.rounds(5)
	_, ok := honest.binds[bid(9, 1)]
	t.Logf("after %v: world %d of %d, dying %d, honest spawn accepted: %v, departs %d, silent %v", w.now, w.s.Entities(), all, len(w.s.dying), ok, w.s.Stats().Departs, deaf.sess.silent)
	if !ok {
		t.Fail()
	}
}

// B-072: departures are within the budget of an observer, also when its view flips.
func TestB132FlippingViewsStayInBudget(t *testing.T) {
	w := newTheatre(t, Config{Settle: -1}, 2)
	rich, flip := w.seats[0], w.seats[1]
	rich.enter(lampClass())
	for i := range 2000 {
		rich.say(wire.AppendEntity(nil, wire.MsgSpawn, &wire.Entity{ID: bid(1, i), Nonce: uint32(i + 1), Class: 1, Mask: 3, Values: []byte{1, 2, 3, 4, 1}}))
		if i%100 == 0 {
			w.rounds(5)
		}
	}
	w.rounds(20)
	flip.enter(lampClass())
	w.rounds(200)
	before, at, d, in := w.bytes, w.now, w.s.Stats().Departs, w.s.Stats().Intros
	for i := range 100 {
		flip.say(wire.AppendView(nil, false, []grid.Chunk{{X: int64(i%2) * 1000}}))
		w.round()
	}
	rate := float64(w.bytes-before) / (w.now - at).Seconds()
	t.Logf("%.0f bytes/s against a budget of 65536, %d departs, %d intros", rate, w.s.Stats().Departs-d, w.s.Stats().Intros-in)
	if rate > 100000 {
		t.Fail()
	}
}

// B-132: one player does not use up the classes of the world.
func TestB132ClassesAreShared(t *testing.T) {
	w := newTheatre(t, Config{Settle: -1}, 2)
	hostile, honest := w.seats[0], w.seats[1]
	for i := range 1024 {
		hostile.say(wire.AppendClass(nil, 1, &wire.Class{ID: uint32(i + 1), Hash: 1}))
		if i%50 == 0 {
			w.rounds(2)
		}
	}
	w.rounds(10)
	w.s.Leave(w.now, hostile.sess, wire.WhyReleased)
	k := lampClass()
	k.ID = 5_000_000
	honest.enter(k)
	honest.say(wire.AppendEntity(nil, wire.MsgSpawn, &wire.Entity{ID: bid(1, 1), Nonce: 1, Class: 1, Mask: 2, Values: []byte{1}}))
	w.rounds(10)
	if _, ok := honest.binds[bid(1, 1)]; !ok {
		t.Fatalf("%d classes: the honest class is refused, also after the hostile session left", len(w.s.classes))
	}
}

// after a restart a host brings back all that it drove, more than it may spawn itself.
func TestR24HostBringsBackAll(t *testing.T) {
	const own = 16
	w := newTheatre(t, Config{Settle: -1, SessionEntities: own, Key: []byte("k")}, 1)
	host := w.seats[0]
	host.enter(lampClass())
	w.rounds(5)
	for i := range 40 {
		n := wire.NewCount(0, uint32(i+1))
		host.say(wire.AppendEntity(nil, wire.MsgAgain, &wire.Entity{ID: bid(1, i), Inc: n, Term: n, Nonce: uint32(i + 1), Class: 1,
			Flags: wire.EntityHosted | wire.EntityDrives, Cert: w.s.mac(bid(1, i), lampClass().ID, n, n, host.sess.Player, 0), Mask: 2, Values: []byte{1}}))
	}
	w.rounds(10)
	t.Logf("%d of 40 came back", w.s.Entities())
	if w.s.Entities() != 40 {
		t.Fail()
	}
}
