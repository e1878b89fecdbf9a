package shard

import (
	"fmt"
	"testing"

	"github.com/throng-dev/throng/internal/wire"
)

// watched is a world with a driver, two seats that asked for departures of what they do not hold, and one that did not.
func watched(t *testing.T, cfg Config) (w *theatre, told map[*seat]map[wire.ID]int) {
	w, _ = lamps(t, cfg, 4)
	for _, c := range w.seats[1:3] {
		c.say(wire.AppendWatch(nil, wire.WatchDepartures))
	}
	w.rounds(3)
	told = map[*seat]map[wire.ID]int{}
	w.tap = func(c *seat, payload []byte) {}
	for _, c := range w.seats {
		told[c] = map[wire.ID]int{}
	}
	return w, told
}

// B-063: who asked, has the last chunk in reach and does not hold the entity is told that it left, with the reason; who is full, too. It is
// said again until it is acked, and its handle is free only then.
func TestB063DeparturesOfWhatIsNotHeld(t *testing.T) {
	for _, why := range []wire.Why{wire.WhyDestroyed, wire.WhyReleased} {
		t.Run(fmt.Sprint(why), func(t *testing.T) {
			w, _ := watched(t, Config{})
			driver, asked, full, silent := w.seats[0], w.seats[1], w.seats[2], w.seats[3]
			id := wire.ID{0xaa}
			for _, c := range []*seat{asked, full, silent} { // none of them takes newcomers
				c.sess.full = true
			}
			full.deaf = true // and what this one is told gets lost, at first
			driver.spawnLamp(id, 0)
			w.rounds(3)
			if why == wire.WhyDestroyed {
				driver.say(wire.AppendEntity(nil, wire.MsgDestroy, &wire.Entity{ID: id, Nonce: 1}))
			} else {
				w.s.Leave(w.now, driver.sess, wire.WhyReleased)
			}
			w.rounds(3)
			if len(w.s.dying) == 0 {
				t.Fatal("the handle is free while a departure is on its way")
			}
			full.deaf = false
			w.rounds(40)
			silent.spawnLamp(wire.ID{0xbb}, 0) // a flush that has work frees handles
			w.rounds(3)
			for _, c := range []*seat{asked, full} {
				if got, ok := c.left[id]; !ok || got != why {
					t.Errorf("told %v %v", got, ok)
				}
			}
			if _, ok := silent.left[id]; ok {
				t.Error("who did not ask was told")
			}
			if len(w.s.dying) != 0 || len(w.s.parted) != 0 {
				t.Errorf("%d handles are not free", len(w.s.dying))
			}
			for _, c := range []*seat{asked, full} {
				if n := c.sess.pairs.len(); n != 1 { // with what came last
					t.Errorf("%d pairs are left", n)
				}
			}
		})
	}
}

// Forgot: a relay that keeps values introduces again at once; a pass-through one when there is something new; neither for a wrong
// generation, and never what the session drives.
func TestB063Forgot(t *testing.T) {
	for _, retain := range []bool{true, false} {
		t.Run(fmt.Sprint("retain", retain), func(t *testing.T) {
			cfg := Config{}
			if !retain {
				cfg.Profile = DefaultProfile()
				cfg.Profile.Flags &^= wire.ProfileRetain
			}
			w, _ := watched(t, cfg)
			driver, other := w.seats[0], w.seats[1]
			id := wire.ID{0xaa}
			driver.spawnLamp(id, 0)
			w.rounds(3)
			b := driver.binds[id]
			if !other.seen[id] || b.Handle == 0 {
				t.Fatal("it was not introduced")
			}
			forgot := func(c *seat, gen uint8) {
				delete(c.seen, id)
				c.say(wire.AppendEntity(nil, wire.MsgForgot, &wire.Entity{ID: id, Inc: b.Inc, Handle: b.Handle, Gen: gen}))
				w.rounds(4)
			}
			forgot(other, b.Gen+1)
			if other.seen[id] {
				t.Error("introduced again under another generation")
			}
			forgot(driver, b.Gen)
			if driver.seen[id] || driver.sess.pairs.get(b.Handle).state != drives {
				t.Error("the driver lost it")
			}
			forgot(other, b.Gen)
			if other.seen[id] != retain {
				t.Errorf("introduced again at once: %v", other.seen[id])
			}
			if retain {
				return
			}
			forgot(other, b.Gen) // twice is once
			if other.sess.forgot != 1 {
				t.Errorf("%d are forgotten", other.sess.forgot)
			}
			w.lit(driver, id, 9, 1)
			w.rounds(4)
			if !other.seen[id] || other.sess.forgot != 0 {
				t.Errorf("introduced with its next change: %v, %d forgotten", other.seen[id], other.sess.forgot)
			}
			forgot(other, b.Gen)
			driver.say(wire.AppendEntity(nil, wire.MsgDestroy, &wire.Entity{ID: id, Inc: b.Inc}))
			w.rounds(20)
			if other.sess.forgot != 0 || other.sess.pairs.len() != 0 || len(w.s.dying) != 0 {
				t.Errorf("%d forgotten, %d pairs, %d dying", other.sess.forgot, other.sess.pairs.len(), len(w.s.dying))
			}
		})
	}
}

// A client that forgets as fast as it can costs itself its budget, nobody else anything (B-132).
func TestB132ForgotIsPaidByItsSender(t *testing.T) {
	w, _ := watched(t, Config{Budget: 2000})
	driver, hostile, other := w.seats[0], w.seats[1], w.seats[3]
	id := wire.ID{0xaa}
	driver.spawnLamp(id, 0)
	w.rounds(3)
	b := driver.binds[id]
	sent := map[*seat]int{}
	w.tap = func(c *seat, payload []byte) { sent[c] += len(payload) }
	for range 200 {
		for range 20 {
			hostile.say(wire.AppendEntity(nil, wire.MsgForgot, &wire.Entity{ID: id, Inc: b.Inc, Handle: b.Handle, Gen: b.Gen}))
		}
		w.round()
	}
	if sent[hostile] > 60_000 || sent[other] > 5_000 { // 10 s
		t.Errorf("%d bytes to it, %d to another", sent[hostile], sent[other])
	}
}
