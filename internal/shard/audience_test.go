package shard

import (
	"bytes"
	"encoding/binary"
	"testing"

	"github.com/throng-dev/throng/internal/session"
	"github.com/throng-dev/throng/internal/wire"
)

// names counts what names an entity in what a seat is sent: the bytes of its id anywhere, whatever frame they are in.
func (w *theatre) names(id wire.ID) map[*seat]int {
	n := map[*seat]int{}
	w.tap = func(c *seat, payload []byte) { n[c] += bytes.Count(payload, id[:]) }
	return n
}

// lamps is a theatre whose first seat drives a lamp with id; everybody is in reach of it.
func lamps(t testing.TB, cfg Config, seats int) (*theatre, wire.ID) {
	cfg.Settle = -1
	w := newTheatre(t, cfg, seats)
	for _, c := range w.seats {
		c.enter(lampClass())
	}
	w.rounds(5)
	return w, bid(1, 1)
}

func (c *seat) spawnLamp(id wire.ID, flags uint16) {
	c.say(wire.AppendEntity(nil, wire.MsgSpawn, &wire.Entity{ID: id, Nonce: 1, Class: 1, Flags: flags, Mask: 2, Values: []byte{1}}))
}

// lit writes the lamp's second slot, as its driver.
func (w *theatre) lit(c *seat, id wire.ID, tick uint32, v byte) {
	m := c.binds[id]
	b, at := session.BeginFrame(nil, wire.KindDeltas)
	var d wire.Deltas
	k := lampClass()
	d.Reset(b, tick, w.s.At(id).Place.Chunk, c.nums[k.ID], k)
	d.Begin(&wire.Delta{Handle: m.Handle, Gen: m.Gen, Term: m.Term.N(), Mask: 2, Chunk: w.s.At(id).Place.Chunk})
	b = append(d.B, v)
	session.EndFrame(b, at)
	if err := w.send(c, b); err != nil {
		w.t.Fatal(err)
	}
}

// a deny that comes with the spawn holds before anybody can see the entity: not one byte names it.
func TestR31DenyTravelsWithTheSpawn(t *testing.T) {
	w, id := lamps(t, Config{}, 3)
	driver, denied, other := w.seats[0], w.seats[1], w.seats[2]
	n := w.names(id)
	driver.spawnLamp(id, 0)
	for w.s.At(id) == nil { // the spawn is accepted, no flush has run since
		if err := w.send(driver, nil); err != nil {
			t.Fatal(err)
		}
	}
	w.s.SetAudience(id, Audience{Players: []wire.PlayerID{denied.sess.Player}})
	w.rounds(5)
	for i := range 20 {
		w.lit(driver, id, uint32(i+1), byte(i))
		w.round()
	}
	driver.say(wire.AppendEntity(nil, wire.MsgDestroy, &wire.Entity{ID: id, Inc: driver.binds[id].Inc}))
	w.rounds(5)
	if n[denied] != 0 || denied.seen[id] {
		t.Fatalf("the denied session was told %d times", n[denied])
	}
	if n[other] < 2 || w.s.Entities() != 0 {
		t.Fatalf("the other session was told %d times", n[other])
	}
}

// who loses an entity gets a departure that says out of reach, then nothing; who gains it a baseline.
func TestR31AudienceChanges(t *testing.T) {
	w, id := lamps(t, Config{}, 3)
	driver, a, b := w.seats[0], w.seats[1], w.seats[2]
	driver.spawnLamp(id, 0)
	w.rounds(5)
	if !a.seen[id] || !b.seen[id] {
		t.Fatal("everyone sees it at first")
	}
	n := w.names(id)
	w.s.SetAudience(id, Audience{Only: true, Players: []wire.PlayerID{b.sess.Player}})
	w.lit(driver, id, 1, 7)
	w.rounds(5)
	if a.seen[id] || !b.seen[id] || n[a] != 1 || n[b] != 0 {
		t.Fatalf("a sees it: %v after %d mentions, b sees it: %v after %d", a.seen[id], n[a], b.seen[id], n[b])
	}
	if a.left[id] != wire.WhyOutOfReach {
		t.Fatalf("the departure says why: %v", a.left[id])
	}
	records := a.records
	for i := range 10 {
		w.lit(driver, id, uint32(i+2), byte(i))
		w.round()
	}
	if n[a] != 1 || a.records != records || b.records == 0 {
		t.Fatalf("a was told %d times and got %d records", n[a], a.records-records)
	}
	w.s.SetAudience(id, Audience{})
	w.rounds(5)
	if !a.seen[id] || n[a] != 2 {
		t.Fatalf("a sees it again: %v", a.seen[id])
	}
}

// a group is whoever is in it now, and outlives the session.
func TestR31Groups(t *testing.T) {
	w, id := lamps(t, Config{}, 3)
	driver, a, b := w.seats[0], w.seats[1], w.seats[2]
	w.s.SetGroup(b.sess.Player, "red", true)
	driver.spawnLamp(id, 0)
	for w.s.At(id) == nil {
		if err := w.send(driver, nil); err != nil {
			t.Fatal(err)
		}
	}
	w.s.SetAudience(id, Audience{Group: "red"})
	w.rounds(5)
	if a.seen[id] || !b.seen[id] {
		t.Fatalf("a %v, b %v", a.seen[id], b.seen[id])
	}
	w.s.SetGroup(a.sess.Player, "red", true)
	w.s.SetGroup(b.sess.Player, "red", false)
	w.rounds(5)
	if !a.seen[id] || b.seen[id] {
		t.Fatalf("after the change: a %v, b %v", a.seen[id], b.seen[id])
	}
	w.s.Leave(w.now, a.sess, wire.WhyReleased)
	back := w.join(3)
	back.sess.Player = wire.PlayerID{} // another
	w.s.Leave(w.now, back.sess, wire.WhyReleased)
	for i := range 2 * maxGroups {
		if ok := w.s.SetGroup(b.sess.Player, string(rune('a'+i)), true); ok != (i < maxGroups) {
			t.Fatalf("group %d: %v", i, ok)
		}
	}
}

// a segment holds one audience, and there is one segment for each, however many entities and observers.
func TestR31SegmentsAreShared(t *testing.T) {
	w, _ := lamps(t, Config{}, 6)
	driver := w.seats[0]
	for i := range 6 {
		driver.spawnLamp(bid(1, i), 0)
	}
	w.rounds(10)
	for i := range 3 {
		w.s.SetAudience(bid(1, i), Audience{Players: []wire.PlayerID{w.seats[1].sess.Player, w.seats[2].sess.Player}})
	}
	w.rounds(5)
	was := w.s.Stats()
	for i := range 6 {
		w.lit(driver, bid(1, i), 5, 9)
	}
	w.round()
	got := w.s.Stats()
	if n := got.Segments - was.Segments; n != 2 {
		t.Errorf("%d segments, want one for each audience", n)
	}
	// Six sessions get the one segment, four of them the other too.
	if n := got.SegmentCopies - was.SegmentCopies; n != 6+4 {
		t.Errorf("%d copies", n)
	}
	if n := len(w.s.audiences.index); n != 1 {
		t.Errorf("%d audiences are kept", n)
	}
	for i := range 6 {
		w.s.SetAudience(bid(1, i), Audience{})
	}
	if n := len(w.s.audiences.index); n != 0 || len(w.s.audiences.free) != 1 {
		t.Errorf("%d audiences are kept after all are everyone's", n)
	}
}

// what an observer's budget holds back and is denied meanwhile is never named.
func TestR31DenyBeforeItsTurn(t *testing.T) {
	w, _ := lamps(t, Config{Budget: 600}, 2)
	driver, observer := w.seats[0], w.seats[1]
	const n = 60
	for i := range n {
		driver.spawnLamp(bid(1, i), 0)
	}
	w.rounds(6)
	denied := 0
	var secret []wire.ID
	for i := range n {
		if id := bid(1, i); !observer.seen[id] {
			secret = append(secret, id)
			w.s.SetAudience(id, Audience{Only: true})
			denied++
		}
	}
	if denied < n/3 || denied == n {
		t.Fatalf("%d of %d wait for their turn", denied, n)
	}
	flying := map[wire.ID]bool{}
	w.tap = func(c *seat, payload []byte) {
		for _, id := range secret {
			if c == observer && bytes.Contains(payload, id[:]) {
				flying[id] = true
			}
		}
	}
	w.rounds(100)
	if len(flying) > 0 {
		t.Fatalf("%d were named after they were denied", len(flying))
	}
	for _, e := range w.s.table.All() {
		if e != nil && w.s.audiences.at(e) != 0 && observer.sess.pairs.get(e.Handle) != nil {
			t.Fatal("the relay keeps something of an observer that knows nothing")
		}
	}
	for _, id := range secret { // and allowed in the end, each is introduced
		w.s.SetAudience(id, Audience{})
	}
	w.rounds(400)
	for i := range n {
		if !observer.seen[bid(1, i)] {
			t.Fatalf("%d of %d never came", i, n)
		}
	}
}

// a host that may not know of a host-owned entity does not drive it, and is not asked to release it.
func TestR31HostThatMayNotKnow(t *testing.T) {
	w, id := lamps(t, Config{}, 3)
	host, other := w.seats[0], w.seats[1]
	other.spawnLamp(id, wire.EntityHosted)
	w.rounds(5)
	e := w.s.At(id)
	if !w.s.Drives(host.sess, e) || e.Owner != (wire.PlayerID{}) {
		t.Fatal("the host drives it")
	}
	w.s.SetAudience(id, Audience{Players: []wire.PlayerID{host.sess.Player}})
	n := w.names(id)
	if e.Driver != 0 || e.Revoking {
		t.Fatal("the host drives it still")
	}
	w.rounds(5)
	if n[host] != 1 || host.left[id] != wire.WhyOutOfReach {
		t.Fatalf("the host was told %d times", n[host])
	}
	host.say(wire.AppendEntity(nil, wire.MsgDestroy, &wire.Entity{ID: id, Inc: e.Inc}))
	host.say(wire.AppendEntity(nil, wire.MsgRequest, &wire.Entity{ID: id, Inc: e.Inc}))
	host.say(wire.AppendEntity(nil, wire.MsgOverrideUp, &wire.Entity{ID: id, Inc: e.Inc, Mask: 2, Values: []byte{3}}))
	w.rounds(5)
	if n[host] != 1 || e.Dead || e.N != 0 {
		t.Fatal("it answers a session that may not know")
	}
	w.s.Leave(w.now, host.sess, wire.WhyReleased)
	w.rounds(5)
	if !w.s.Drives(other.sess, e) {
		t.Fatal("the next host drives it")
	}
}

// a steady world with audiences allocates nothing, and an entity without one pays nothing.
func TestR31AudiencesDoNotAllocate(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector allocates")
	}
	c := newCrowd(50)
	var ids []wire.ID
	for _, e := range c.s.table.All() {
		if e != nil {
			ids = append(ids, e.ID)
		}
	}
	for i, id := range ids {
		if i%2 == 0 {
			c.s.SetAudience(id, Audience{Players: []wire.PlayerID{{byte(i + 1), 0, 1}}})
		}
	}
	for range 400 {
		c.step()
	}
	if n := testing.AllocsPerRun(200, c.step); n > 0 {
		t.Fatalf("%v allocations a step", n)
	}
}

// Audiences are interned whatever order their players come in, and composed ones hold on to their parts.
func TestR31Interning(t *testing.T) {
	w, _ := lamps(t, Config{}, 4)
	p := func(i int) wire.PlayerID { return w.seats[i].sess.Player }
	a := w.s.intern(Audience{Players: []wire.PlayerID{p(0), p(1), p(1)}})
	if b := w.s.intern(Audience{Players: []wire.PlayerID{p(1), p(0)}}); a != b || w.s.audiences.list[a].refs != 2 {
		t.Fatalf("%d and %d", a, b)
	}
	c := w.s.intern(Audience{Only: true, Players: []wire.PlayerID{p(0), p(2)}})
	both := w.s.both(a, c)
	if w.s.both(c, a) != both || w.s.both(0, a) != a || w.s.both(a, 0) != a || w.s.both(a, a) != a || w.s.both(0, 0) != 0 {
		t.Fatal("composition")
	}
	for i, want := range []bool{false, false, true, false} {
		if got := w.seats[i].sess.admitted(both); got != want {
			t.Errorf("seat %d: %v", i, got)
		}
	}
	for _, n := range []uint32{a, a, a, a, a, c, both, both} {
		w.s.releaseAudience(n)
	}
	if len(w.s.audiences.index) != 0 || len(w.s.audiences.free) != 3 {
		t.Fatalf("%d are left", len(w.s.audiences.index))
	}
	// A number used again admits whom its new audience admits.
	if n := w.s.intern(Audience{Only: true, Players: []wire.PlayerID{p(3)}}); w.seats[2].sess.admitted(n) || !w.seats[3].sess.admitted(n) {
		t.Fatal("an old bit is left")
	}
	var big []wire.PlayerID
	for i := range 1000 {
		id := wire.PlayerID{9}
		binary.LittleEndian.PutUint32(id[4:], uint32(i))
		big = append(big, id)
	}
	if n := w.s.intern(Audience{Only: true, Players: append(big, p(1))}); !w.seats[1].sess.admitted(n) || w.seats[0].sess.admitted(n) {
		t.Fatal("a large one")
	}
}

// R-31 beside B-063: a departure of what a session does not hold is for those only who may know of it.
func TestR31DeparturesOfWhatIsNotHeld(t *testing.T) {
	w, id := lamps(t, Config{}, 3)
	driver, denied, other := w.seats[0], w.seats[1], w.seats[2]
	for _, c := range []*seat{denied, other} {
		c.say(wire.AppendWatch(nil, wire.WatchDepartures))
	}
	w.rounds(2)
	n := w.names(id)
	driver.spawnLamp(id, 0)
	driver.say(wire.AppendEntity(nil, wire.MsgDestroy, &wire.Entity{ID: id, Nonce: 1}))
	for driver.conn.WantsSend(w.now) {
		if err := w.send(driver, nil); err != nil {
			t.Fatal(err)
		}
	}
	for _, e := range w.s.dying {
		w.s.setAudience(e, w.s.intern(Audience{Players: []wire.PlayerID{denied.sess.Player}}))
	}
	w.rounds(3)
	if n[denied] != 0 || n[other] == 0 {
		t.Fatalf("told %d and %d times", n[denied], n[other])
	}
}
