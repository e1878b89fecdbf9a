package registry

import (
	"testing"
	"time"

	"github.com/throng-dev/throng/internal/wire"
)

func nobody(*Copy) bool { return false }

// heardGame is a game in a world with one kind of event.
func heardGame(t *testing.T) *game {
	g := newGame(t, 100)
	g.r.AddEvent(wire.EventKind{ID: 9, Hash: 9, Name: "e"}, nil)
	g.connect()
	g.r.Welcomed, g.r.Welcome.World = true, 1
	k := wire.EventKind{Num: 1, ID: 9, Hash: 9, Name: "e"}
	if err := g.r.eventKind(k.Append(nil, wire.MsgEventKind)[1:]); err != nil {
		t.Fatal(err)
	}
	return g
}

// A game that does not tick keeps what it was promised up to a bound; then the session must end (R-53, B-130).
func TestR53UnheardEventsAreBounded(t *testing.T) {
	g := heardGame(t)
	m := wire.EventDown{Kind: 1, Epoch: 1, Payload: make([]byte, wire.MaxEvent)}
	body := m.Append(nil)
	for range 2 * maxHeard / wire.MaxEvent {
		g.r.listen(body, wire.StreamEvents)
		g.r.listen(body, 0)
	}
	if !g.r.Overrun || g.r.ev.bytes > maxHeard || g.r.ev.onces > maxHeardOnce {
		t.Errorf("overrun %v, %d and %d bytes", g.r.Overrun, g.r.ev.bytes, g.r.ev.onces)
	}
	if n := len(g.r.Heard(g.now, nobody, nil)); n < maxHeard/wire.MaxEvent/2 || g.r.ev.bytes != 0 || g.r.ev.onces != 0 {
		t.Errorf("%d were heard, %d and %d bytes are left", n, g.r.ev.bytes, g.r.ev.onces)
	}
}

// What is sent once and about what is on its way waits for a moment, and is dropped then; what was of another world never comes.
func TestR51SentOnceWaitsAMoment(t *testing.T) {
	g := heardGame(t)
	coming := wire.EventDown{Kind: 1, Epoch: 1, About: wire.AboutComing, ID: lampID, Inc: 5}
	g.r.listen(coming.Append(nil), 0)
	if n := len(g.r.Heard(g.now+onceFor, nobody, nil)); n != 0 {
		t.Fatal("it did not wait")
	}
	if n := len(g.r.Heard(g.now+onceFor+time.Millisecond, nobody, nil)); n != 0 || g.r.EventStats().EventsDropped != 1 {
		t.Fatalf("%d heard, %+v", n, g.r.EventStats())
	}
	old := wire.EventDown{Kind: 1, Epoch: 0}
	g.r.listen(old.Append(nil), wire.StreamEvents)
	if n := len(g.r.Heard(g.now, nobody, nil)); n != 0 || g.r.EventStats().EventsEnded != 1 {
		t.Fatalf("%d heard, %+v", n, g.r.EventStats())
	}
}

// an event comes without the name of its entity if its receiver might not know of that when it was passed on. It keeps its place
// behind the one before it, which has the name and waits for the entity, and before the one behind it. Other streams, senders and events
// wait for none of this.
func TestR53OrderOutlivesTheName(t *testing.T) {
	g := heardGame(t)
	from := wire.PlayerID{7}
	about := func(n byte, from wire.PlayerID, how uint8, id wire.ID, stream int) {
		m := wire.EventDown{Kind: 1, Epoch: 1, From: from, About: how, ID: id, Payload: []byte{n}}
		if how == wire.AboutComing {
			m.Inc = 5
		}
		g.r.listen(m.Append(nil), stream)
	}
	heard := func(now time.Duration) (text string) {
		for _, h := range g.r.Heard(now, nobody, nil) {
			text += string('0' + rune(h.Payload[0]))
		}
		return text
	}
	stream := wire.EventStream(from, lampID)
	next := wire.StreamEvents + (stream-wire.StreamEvents+1)%wire.EventStreams
	about(0, from, wire.AboutComing, lampID, stream)
	about(1, from, wire.AboutFar, wire.ID{}, stream)
	about(2, from, wire.AboutFar, wire.ID{6}, stream)  // whose the nameless one may be
	about(3, from, wire.AboutFar, wire.ID{}, next)     // cannot be about the same
	about(4, from, wire.AboutNothing, wire.ID{}, next) // nor can this
	about(5, wire.PlayerID{8}, wire.AboutFar, wire.ID{}, stream)
	about(6, from, wire.AboutFar, wire.ID{}, 0) // in no order
	if s := heard(g.now); s != "3456" {
		t.Errorf("%s were heard at once", s)
	}
	g.r.ev.heard[0].About = wire.AboutFar // it has come
	if s := heard(g.now); s != "012" || len(g.r.Unheard()) != 0 {
		t.Errorf("%s were heard then, %d wait", s, len(g.r.Unheard()))
	}
}

// FuzzHeard: whatever a relay says of events, nothing panics, and all is handed over, dropped or kept within the bounds.
func FuzzHeard(f *testing.F) {
	m := wire.EventDown{Kind: 1, Epoch: 1, About: wire.AboutHeld, ID: lampID, Inc: 5, Slots: 5, Vers: []uint32{7, 6}, Payload: []byte("x")}
	f.Add(m.Append(nil), true)
	f.Fuzz(func(t *testing.T, body []byte, reliable bool) {
		g := heardGame(t)
		stream := 0
		if reliable {
			stream = wire.StreamEvents
		}
		g.r.listen(body, stream)
		g.r.Heard(g.now, nobody, nil)
		g.r.Heard(g.now+time.Minute, nobody, nil)
		if len(g.r.Unheard()) > 1 || g.r.ev.bytes < 0 || g.r.ev.onces < 0 {
			t.Fatal(len(g.r.Unheard()), g.r.ev.bytes, g.r.ev.onces)
		}
	})
}
