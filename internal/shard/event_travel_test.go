package shard

import (
	"testing"

	"github.com/throng-dev/throng/internal/wire"
)

// TestR03EarlyEventsEndWithAReason: events that wait for what they stand behind when their sender travels are told to it, all of them, over as
// many worlds as it passes; what was sent once is not.
func TestR03EarlyEventsEndWithAReason(t *testing.T) {
	w := newTheatre(t, Config{Settle: -1}, 1)
	c := w.seats[0]
	c.enter(lampClass())
	told := map[wire.ID]int{}
	s := newSpeaker(w, 0)
	w.turns(3)
	const n = 150 // more than one EventState names
	for i := range n {
		if err := s.say(wire.EventUp{To: wire.ToWorld, After: 1 << 20, About: true, ID: wire.ID{byte(i), 1}, Inc: 5}); err != nil {
			t.Fatal(err)
		}
		w.turns(1)
	}
	if len(c.sess.events.early) != n {
		t.Fatalf("%d events wait", len(c.sess.events.early))
	}
	once := wire.EventUp{Kind: 1, Epoch: 1, To: wire.ToWorld, After: 1 << 20}
	c.sess.event(once.Append(nil), false)
	for trip := range 3 { // nothing is flushed between the worlds
		before := c.sess
		w.s.Leave(w.now, before, wire.WhyReleased)
		c.sess = w.s.Join(w.now, before.conn, before.Identity, uint8(trip+2))
		c.sess.Inherit(before)
	}
	if got := w.s.stats.EventsOld; got != n {
		t.Errorf("%d ended, want %d", got, n)
	}
	w.turns(20)
	for _, u := range c.told {
		if u.Reason != wire.UndeliveredEpoch || u.Kind != 1 {
			t.Fatalf("told %+v", u)
		}
		told[u.ID]++
	}
	if len(told) != n {
		t.Errorf("the sender was told of %d events, want %d", len(told), n)
	}
	for id, times := range told {
		if times != 1 {
			t.Errorf("told of %x %d times", id[:2], times)
		}
	}
}

// TestR03WhatCameInTimeIsRouted: an event whose sender leaves in the packet that brought what it waited for is not late.
func TestR03WhatCameInTimeIsRouted(t *testing.T) {
	w := newTheatre(t, Config{Settle: -1}, 2)
	c := w.seats[0]
	c.enter(lampClass())
	w.seats[1].enter(lampClass())
	s := newSpeaker(w, 0)
	w.turns(3)
	if err := s.say(wire.EventUp{To: wire.ToWorld, After: c.sess.conn.Taken(wire.StreamControl) + 1}); err != nil {
		t.Fatal(err)
	}
	w.turns(2)
	sent := w.s.stats.EventsSent
	if len(c.sess.events.early) != 1 {
		t.Fatalf("%d events wait", len(c.sess.events.early))
	}
	c.say([]byte{wire.MsgReady})
	if err := c.sess.conn.Receive(w.now, c.conn.AppendReliable(w.now, c.conn.Begin(w.now, nil), 1200), c.sess); err != nil { // and no Received
		t.Fatal(err)
	}
	w.s.Leave(w.now, c.sess, wire.WhyReleased)
	if w.s.stats.EventsSent != sent+1 || w.s.stats.EventsOld != 0 {
		t.Errorf("%+v", w.s.stats.EventStats)
	}
}
