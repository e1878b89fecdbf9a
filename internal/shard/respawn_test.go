package shard

import (
	"testing"

	"github.com/throng-dev/throng/internal/wire"
)

const placedLamp = wire.EntityPlaced | wire.EntityHosted | wire.EntityAutoGrant

// respawned is a world with a placed lamp that was destroyed and respawned, and the incarnations of before and now.
func respawned(t *testing.T) (w *theatre, id wire.ID, was, is wire.Count) {
	w, id = lamps(t, Config{}, 3)
	host := w.seats[0]
	host.spawnLamp(id, placedLamp)
	w.rounds(5)
	was = w.s.At(id).Inc
	host.say(wire.AppendEntity(nil, wire.MsgDestroy, &wire.Entity{ID: id, Inc: was}))
	w.rounds(5)
	if w.s.At(id) != nil || !w.s.Gone(id) {
		t.Fatal("it was not destroyed")
	}
	host.spawnLamp(id, placedLamp|wire.EntityRespawn)
	w.rounds(5)
	if e := w.s.At(id); e == nil || e.Inc <= was || w.s.Gone(id) {
		t.Fatal("it was not respawned")
	}
	return w, id, was, w.s.At(id).Inc
}

func (c *seat) reportsGone(id wire.ID, inc wire.Count) {
	c.say(wire.AppendEntity(nil, wire.MsgGone, &wire.Entity{ID: id, Inc: inc}))
}

func (c *seat) bringsBack(id wire.ID, inc, term wire.Count) {
	c.say(wire.AppendEntity(nil, wire.MsgAgain, &wire.Entity{ID: id, Inc: inc, Term: term, Nonce: 2, Class: 1, Flags: placedLamp | wire.EntityDrives, Mask: 2, Values: []byte{3}}))
}

// who heard of a destruction tells of it in every session for a while. Of what was respawned since, that says nothing: neither
// while the next life is there, nor when it has left without having been destroyed.
func TestR25AnOldReportDoesNotEndTheNextLife(t *testing.T) {
	for name, lives := range map[string]bool{"while it lives": true, "after it left": false} {
		t.Run(name, func(t *testing.T) {
			w, id, was, is := respawned(t)
			host, other := w.seats[0], w.seats[1]
			leaves := func() { // nobody destroys it, as when its driver goes and no host has placed it
				w.s.kill(w.s.At(id), wire.WhyReleased, wire.PlayerID{})
				w.rounds(5)
			}
			if lives {
				other.reportsGone(id, was)
				w.rounds(5)
				if e := w.s.At(id); e == nil || e.Inc != is || w.s.Gone(id) {
					t.Fatalf("lives: %v, gone: %v", e != nil, w.s.Gone(id))
				}
				leaves()
			} else {
				leaves()
				other.reportsGone(id, was)
				w.rounds(5)
			}
			if w.s.Gone(id) {
				t.Fatal("the report made the id gone")
			}
			// What was destroyed is so for good, whatever lived since.
			other.bringsBack(id, was, 1)
			w.rounds(5)
			if w.s.At(id) != nil || other.refused[id] != wire.RefusedDead {
				t.Fatalf("the life before came back; refused with %d", other.refused[id])
			}
			host.spawnLamp(id, placedLamp)
			w.rounds(5)
			e := w.s.At(id)
			if e == nil || e.Inc <= is {
				t.Fatal("it cannot be placed")
			}
			w.s.kill(e, wire.WhyDestroyed, wire.PlayerID{})
			if w.rounds(5); !w.s.Gone(id) {
				t.Fatal("destroyed, and not gone")
			}
		})
	}
}

// after a restart the report of a destruction may come before the driver of the next life, or behind it.
func TestR25TheNextLifeComesBackAfterTheReport(t *testing.T) {
	const was, is = wire.Count(1<<32 | 1), wire.Count(1<<32 | 2)
	for name, first := range map[string]bool{"report first": true, "report last": false} {
		t.Run(name, func(t *testing.T) {
			w, id := lamps(t, Config{Start: 2}, 3)
			driver, other := w.seats[0], w.seats[1]
			if first {
				other.reportsGone(id, was)
				w.rounds(5)
				if !w.s.Gone(id) {
					t.Fatal("the report was not taken")
				}
			}
			driver.bringsBack(id, is, is)
			w.rounds(5)
			if !first {
				other.reportsGone(id, was)
				w.rounds(5)
			}
			if e := w.s.At(id); e == nil || e.Inc != is || w.s.Gone(id) || len(w.s.destroyedList()) != 0 {
				t.Fatalf("lives: %v, gone: %v, listed: %d", e != nil, w.s.Gone(id), len(w.s.destroyedList()))
			}
		})
	}
}
