package relay_test

import (
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/throng-dev/throng/internal/memnet"
	"github.com/throng-dev/throng/internal/wire"
	"github.com/throng-dev/throng/relay"
	"github.com/throng-dev/throng/token"
	"github.com/throng-dev/throng/transport"
)

func TestConfigNamesAllThatIsWrong(t *testing.T) {
	k := token.NewKey()
	_, err := relay.New(relay.Config{
		Key: k, AuthorityKey: k, MaxSessions: -1, MaxWorlds: -1,
		Default: relay.World{ChunkSize: -1, Reach: 9, Flush: time.Microsecond},
		Worlds: map[string]relay.World{"": {}, "x": {Reach: 2, PropertyReach: 3, MaxRate: 61, Keyframe: time.Millisecond,
			Silence: time.Hour, Budget: -1, MaxEntities: 1 << 30}},
	})
	for _, want := range []string{"AuthorityKey equals Key", "MaxSessions -1", "MaxWorlds -1", "Default.ChunkSize -1", "Default.Reach 9",
		"Default.Flush 1µs", `"" is no level name`, `Worlds["x"].PropertyReach 3`, "MaxRate 61", "Keyframe 1ms", "Silence 1h0m0s", "Budget -1",
		"MaxEntities"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v\ndoes not say %q", err, want)
		}
	}
}

func TestCloseTellsEverybody(t *testing.T) {
	play(t, relay.Config{}, func(s *stage) {
		a, b := s.client("ann", "town"), s.client("bob", "cave")
		s.until("in", time.Second, func() bool { return a.reg.Welcomed && b.reg.Welcomed })
		start := time.Now()
		if err := s.relay.Close(); err != nil {
			t.Fatal(err)
		}
		if took := time.Since(start); took > 300*time.Millisecond {
			t.Errorf("Close took %v", took)
		}
		s.refusedWith(a, wire.CloseShutdown)
		s.refusedWith(b, wire.CloseShutdown)
		if st := s.relay.Stats(); st.Sessions != 0 || st.Refused["shutdown"] != 2 {
			t.Errorf("%+v", st)
		}
		if _, err := s.relay.Snapshot(); !errors.Is(err, relay.ErrClosed) {
			t.Error(err)
		}
	})
}

func TestServerServesOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv, err := relay.New(relay.Config{Logger: quiet})
		if err != nil {
			t.Fatal(err)
		}
		if err := srv.Do(func() { t.Error("ran") }); !errors.Is(err, relay.ErrClosed) {
			t.Error(err)
		}
		served := make(chan error, 1)
		go func(l transport.Listener) { served <- srv.Serve(l) }(listen(t))
		synctest.Wait()
		if err := srv.Serve(listen(t)); err == nil || !strings.Contains(err.Error(), "make another") {
			t.Errorf("a second Serve: %v", err)
		}
		ran := false
		if err := srv.Do(func() { ran = true }); err != nil || !ran {
			t.Errorf("Do: %v, ran: %v", err, ran)
		}
		srv.Close()
		if err := <-served; err != nil {
			t.Error(err)
		}

		early, _ := relay.New(relay.Config{Logger: quiet})
		early.Close()
		if err := early.Serve(listen(t)); err != nil {
			t.Errorf("Serve after Close: %v", err)
		}
	})
}

func listen(t *testing.T) transport.Listener {
	l, err := memnet.New(1).Listen("")
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func TestServeReportsADeadCarrier(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		srv, _ := relay.New(relay.Config{Logger: quiet})
		l := listen(t)
		served := make(chan error)
		go func() { served <- srv.Serve(l) }()
		synctest.Wait()
		l.Close()
		if err := <-served; err == nil || !strings.Contains(err.Error(), l.Addr().String()) {
			t.Error(err)
		}
		if err := srv.Close(); err != nil {
			t.Error(err)
		}
		if err := srv.Do(func() {}); !errors.Is(err, relay.ErrClosed) {
			t.Error(err)
		}
	})
}

func TestKick(t *testing.T) {
	play(t, relay.Config{}, func(s *stage) {
		a := s.client("ann", "town")
		s.until("in", time.Second, func() bool { return a.reg.Welcomed })
		if err := s.relay.Kick([16]byte{}, a.claims.Player, "be nice"); err != nil {
			t.Fatal(err)
		}
		s.refusedWith(a, wire.CloseKicked)
		if a.closed.Text != "be nice" {
			t.Errorf("%q", a.closed.Text)
		}
		if err := s.relay.Kick([16]byte{}, a.claims.Player, ""); !errors.Is(err, relay.ErrNoPlayer) {
			t.Error(err)
		}
	})
}

// B-132: who sends too much is told and closed; others are unaffected.
func TestFloodsAreClosed(t *testing.T) {
	for name, cfg := range map[string]relay.Config{"messages": {MessageRate: 100}, "bytes": {ByteRate: 2000}} {
		t.Run(name, func(t *testing.T) {
			play(t, cfg, func(s *stage) {
				a, b := s.client("ann", "town"), s.client("bob", "town")
				s.run(10 * time.Second)
				for range 600 {
					a.session.Queue(wire.StreamControl, []byte{99, 1, 2, 3, 4, 5, 6, 7, 8, 9})
				}
				s.refusedWith(a, wire.CloseLimit)
				s.run(time.Second)
				if b.closed != nil || b.over != nil {
					t.Error("another was closed")
				}
			})
		})
	}
}

func TestHostilePacketsEndTheirSenderOnly(t *testing.T) {
	play(t, relay.Config{}, func(s *stage) {
		a, b := s.client("ann", "town"), s.client("bob", "town")
		s.until("in", time.Second, func() bool { return a.reg.Welcomed && b.reg.Welcomed })
		junk := func(n int) {
			for range n {
				buf := append(make([]byte, 16, 64), 1, 2, 0xff, 4)
				a.conn.Send([][]byte{buf})
			}
			s.run(100 * time.Millisecond)
		}
		junk(10) // a few are forgiven
		if a.closed != nil {
			t.Fatal("closed already")
		}
		junk(10)
		s.refusedWith(a, wire.CloseProtocol)
		if b.closed != nil {
			t.Error("another was closed")
		}
	})
}

// A client that takes no packet, but lives, must not grow the relay's memory.
func TestWhoTakesNothingIsEnded(t *testing.T) {
	play(t, relay.Config{}, func(s *stage) {
		b, a := s.client("bob", "town"), s.client("ann", "town") // bob is host
		s.until("in", time.Second, func() bool { return a.reg.Welcomed && b.reg.Welcomed })
		load := &wire.Class{ID: 1000, Hash: 1, Name: "load", Slots: []wire.Slot{{Width: 900}}}
		a.session.Queue(wire.StreamControl, wire.AppendClass(nil, 2, load))
		a.session.Queue(wire.StreamControl, wire.AppendEntity(nil, wire.MsgSpawn, &wire.Entity{ID: id("load"), Nonce: 1, Class: 2, Mask: 1, Values: make([]byte, 900)}))
		s.until("seen", 10*time.Second, func() bool { return b.reg.Find(id("load")) != nil && b.reg.Host == b.player() })
		inc := b.reg.Find(id("load")).Inc
		s.clients = []*client{b} // a reads nothing, its carrier answers still
		for i := range 400 {     // each is told to a, 1 KiB a time
			if i%50 == 0 {
				s.run(100 * time.Millisecond)
			}
			b.session.Queue(wire.StreamControl, wire.AppendEntity(nil, wire.MsgOverrideUp, &wire.Entity{ID: id("load"), Inc: inc, Mask: 1,
				Values: make([]byte, 900)}))
		}
		s.until("ended", 60*time.Second, func() bool { return s.relay.Stats().Refused["behind"] == 1 })
		s.until("b is alone", time.Second, func() bool { return len(b.reg.Players) == 1 })
	})
}

func TestSnapshot(t *testing.T) {
	play(t, relay.Config{Settle: -1}, func(s *stage) {
		a, b := s.client("ann", "town"), s.client("bob", "town")
		c := s.client("cid", "cave", func(c *token.Claims) { c.Realm[0] = 9; c.Rights = token.Observer })
		a.spawn("a", 0x01020304, 0)
		a.spawn("t", 2, wire.EntityHosted)
		s.until("seen", 2*time.Second, func() bool { return b.sees("a", 0x01020304) && b.sees("t", 2) && c.reg.Welcomed })
		snap, err := s.relay.Snapshot()
		if err != nil || len(snap.Worlds) != 2 || snap.Worlds[0].Level != "cave" || snap.Worlds[0].Realm[0] != 9 {
			t.Fatalf("%+v, %v", snap, err)
		}
		if o := snap.Worlds[0].Sessions; len(o) != 1 || !o[0].Observer || snap.Worlds[0].Host != [16]byte{} {
			t.Errorf("%+v", snap.Worlds[0])
		}
		w := snap.Worlds[1]
		if w.Flush == 0 || w.Host != a.claims.Player || w.ChunkSize != 1600 || w.Reach != 8 || w.Total != 2 {
			t.Errorf("%+v", w)
		}
		if o := w.Sessions; len(o) != 2 || o[0].Player != a.claims.Player || o[0].Drives != 2 || len(o[1].Views) != 1 || o[0].Addr != "ann" || !o[1].Eligible {
			t.Errorf("%+v", o)
		}
		if k := w.Classes; len(k) != 1 || k[0].Name != "lamp" || len(k[0].Slots) != 2 || !k[0].Slots[0].Position || k[0].Slots[1].Name != "Lit" {
			t.Errorf("%+v", k)
		}
		for _, e := range w.Entities {
			hosted := e.NetID == id("t")
			if e.Driver != a.claims.Player || e.Hosted != hosted || e.Handle == 0 || e.Incarnation == 0 || len(e.Values) != 2 || (e.Owner == [16]byte{}) != hosted {
				t.Errorf("%+v", e)
			}
			if !hosted && string(e.Values[1]) != "\x04\x03\x02\x01" {
				t.Errorf("%x", e.Values[1])
			}
		}
	})
}
