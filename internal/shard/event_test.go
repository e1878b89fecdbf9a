package shard

import (
	"testing"
	"time"

	"github.com/throng-dev/throng/internal/wire"
)

// speaker lets a seat send events, as its client would or would not.
type speaker struct {
	w *theatre
	c *seat
}

func newSpeaker(w *theatre, i int) speaker {
	k := wire.EventKind{Num: 1, ID: 9, Hash: 9, Name: "e"}
	w.seats[i].say(k.Append(nil, wire.MsgEventKindUp))
	return speaker{w, w.seats[i]}
}

func (s speaker) say(m wire.EventUp) error {
	m.Epoch = 1
	if m.Kind == 0 {
		m.Kind = 1
	}
	return s.c.conn.Queue(wire.EventStream(s.c.sess.Player, m.ID), m.Append([]byte{wire.MsgEventUp}))
}

// turns passes time, and lets a session that must end alone.
func (w *theatre) turns(n int) {
	for range n {
		w.now += 50 * time.Millisecond
		for _, c := range w.seats {
			for range 64 {
				if !c.sess.open || c.sess.Err() != nil || !c.conn.WantsSend(w.now) || w.send(c, nil) != nil {
					break
				}
			}
		}
		w.flush()
	}
}

// B-101: who sent an event is the relay's stamp. Forged, malformed and hostile events are dropped, each counted by its reason; nobody else is hurt (B-130, P30).
func TestB130HostileEvents(t *testing.T) {
	w := newTheatre(t, Config{Settle: -1}, 2)
	other := w.seats[1]
	w.seats[0].enter(lampClass())
	other.enter(lampClass())
	s := newSpeaker(w, 0)
	w.turns(3)
	for what, tc := range map[string]struct {
		m    wire.EventUp
		n    func() uint64
		told bool
	}{
		"unknown entity": {wire.EventUp{To: wire.ToReach, About: true, ID: wire.ID{99}, Inc: 5}, func() uint64 { return w.s.stats.EventsGone }, true},
		"unknown player": {wire.EventUp{To: wire.ToPlayer, Who: wire.PlayerID{99}}, func() uint64 { return w.s.stats.EventsNobody }, true},
		"nobody":         {wire.EventUp{To: wire.ToAuthority}, func() uint64 { return w.s.stats.EventsNobody }, true},
		"unknown kind":   {wire.EventUp{Kind: 7, To: wire.ToWorld}, func() uint64 { return w.s.stats.EventsRefused }, true},
	} {
		before, settled := tc.n(), w.seats[0].sess.events.settled
		if err := s.say(tc.m); err != nil {
			t.Fatal(err)
		}
		w.turns(2)
		if tc.n() != before+1 {
			t.Errorf("%s: counted %d times", what, tc.n()-before)
		}
		if got := w.seats[0].sess.events.settled - settled; got != uint64(wire.EventCost(0)) {
			t.Errorf("%s: %d was settled", what, got)
		}
	}
	for _, bad := range [][]byte{{}, {1}, {0, 1, 0, 0, 0, 0, 1, 0}, {1, 1, 0, 0, 0, 0, 99, 0}, {1, 1, 0, 0, 0, 0, 0, 2}} {
		_ = w.seats[0].conn.Queue(wire.StreamEvents, append([]byte{wire.MsgEventUp}, bad...))
	}
	w.turns(2)
	if w.s.stats.EventsMalformed != 5 || w.s.stats.EventsSent != 0 || other.sess.Err() != nil {
		t.Errorf("%+v", w.s.stats.EventStats)
	}
	// Values of an entity that the sender does not drive are not taken.
	other.say(wire.AppendEntity(nil, wire.MsgSpawn, &wire.Entity{ID: wire.ID{1}, Nonce: 77, Class: 1, Mask: 15, Values: []byte{0, 0, 0, 0, 1, 0, 1, 2, 3, 4}}))
	w.turns(3)
	e := w.s.At(wire.ID{1})
	if e == nil {
		t.Fatal("no entity")
	}
	_ = s.say(wire.EventUp{To: wire.ToReach, About: true, ID: e.ID, Inc: e.Inc, Tick: 1 << 30, Term: e.Term, Mask: 2, Values: []byte{0}, Payload: []byte("x")})
	was := string(e.Value(1))
	w.turns(2)
	if string(e.Value(1)) != was || w.s.stats.Stale == 0 {
		t.Error("a value was forged")
	}
}

// A session that floods is told and ended; what it says until then costs the others nothing (B-132).
func TestB132FloodingEventsEndTheSession(t *testing.T) {
	for _, reliable := range []bool{true, false} {
		w := newTheatre(t, Config{Settle: -1, EventRate: 10}, 3)
		for i := range w.seats {
			w.seats[i].enter(lampClass())
		}
		bad, good := newSpeaker(w, 0), newSpeaker(w, 1)
		w.turns(3)
		for i := range 400 {
			if reliable {
				_ = bad.say(wire.EventUp{To: wire.ToWorld, Payload: []byte("flood")})
			} else {
				m := wire.EventUp{Kind: 1, Epoch: 1, To: wire.ToWorld, Payload: []byte("flood")}
				body := m.Append(nil)
				if bad.c.sess.Err() == nil {
					_ = w.send(bad.c, append([]byte{wire.KindEventUp, byte(len(body))}, body...))
				}
			}
			if i%20 == 0 {
				_ = good.say(wire.EventUp{To: wire.ToWorld, Payload: []byte("good")})
			}
			w.turns(1)
		}
		if bad.c.sess.Code() != wire.CloseLimit || bad.c.sess.Err() == nil || good.c.sess.Err() != nil || w.seats[2].sess.Err() != nil {
			t.Errorf("reliable %v: %v, %v, %v", reliable, bad.c.sess.Err(), good.c.sess.Err(), w.seats[2].sess.Err())
		}
		if w.s.stats.EventsFlooded == 0 {
			t.Error("nothing was counted")
		}
	}
}

// Events that stand behind what never comes are bounded (R-51, B-132).
func TestB132EarlyEventsAreBounded(t *testing.T) {
	w := newTheatre(t, Config{Settle: -1, EventRate: -1}, 1)
	s := newSpeaker(w, 0)
	w.turns(2)
	for range 200 {
		_ = s.say(wire.EventUp{To: wire.ToWorld, After: 1 << 30, Payload: make([]byte, 4000)})
		w.turns(1)
	}
	if o := s.c.sess; o.events.earlyBytes > maxEarly || o.Code() != wire.CloseLimit || o.Err() == nil {
		t.Errorf("%d bytes wait, %v", o.events.earlyBytes, o.Err())
	}
}

// FuzzEvents: whatever comes on the streams of events, and in their frames, nothing panics and the credit adds up.
func FuzzEvents(f *testing.F) {
	f.Add([]byte{1, 1, 0, 0, 0, 0, 1, 0, 'x'}, uint8(1))
	f.Fuzz(func(t *testing.T, body []byte, stream uint8) {
		if len(body) > 1000 {
			return
		}
		w := newTheatre(t, Config{Settle: -1}, 2)
		for i := range w.seats {
			w.seats[i].enter(lampClass())
		}
		s := newSpeaker(w, 0)
		w.turns(2)
		_ = s.c.conn.Queue(int(stream%16), append([]byte{wire.MsgEventUp}, body...))
		if len(body) < 120 {
			_ = w.send(s.c, append([]byte{wire.KindEventUp, byte(len(body))}, body...))
		}
		w.turns(4)
		if s.c.sess.Err() != nil || w.seats[1].sess.Err() != nil {
			t.Fatal(s.c.sess.Err(), w.seats[1].sess.Err())
		}
	})
}

// An event from its sender to a hundred recipients costs no memory once it has run (style: hot paths).
func TestEventsAllocateNothing(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector allocates")
	}
	w := newTheatre(t, Config{Settle: -1, EventRate: -1}, 50)
	for i := range w.seats {
		w.seats[i].enter(lampClass())
	}
	s := newSpeaker(w, 0)
	w.turns(5)
	m := wire.EventUp{Kind: 1, Epoch: 1, To: wire.ToWorld, Payload: []byte("payload")}
	for range 150 {
		w.s.route(s.c.sess, &m, true)
	}
	w.turns(10)
	if n := testing.AllocsPerRun(100, func() { w.s.route(s.c.sess, &m, true) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
