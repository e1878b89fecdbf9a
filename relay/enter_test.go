package relay_test

import (
	"strings"
	"testing"
	"time"

	"github.com/throng-dev/throng/internal/session"
	"github.com/throng-dev/throng/internal/wire"
	"github.com/throng-dev/throng/relay"
	"github.com/throng-dev/throng/token"
	"github.com/throng-dev/throng/transport"
)

func TestPlayersOfAWorldSeeOneAnother(t *testing.T) {
	play(t, relay.Config{}, func(s *stage) {
		a, b := s.client("ann", "town"), s.client("bob", "town")
		a.spawn("a", 1, 0)
		s.until("b sees a's lamp", 2*time.Second, func() bool { return b.sees("a", 1) })
		a.light("a", 5)
		s.until("b sees it change", 2*time.Second, func() bool { return b.sees("a", 5) })
		if len(b.reg.Players) != 2 {
			t.Errorf("players: %v", b.reg.Players)
		}
		a.leave()
		s.until("a's lamp is gone", 2*time.Second, func() bool { return b.reg.Len() == 0 })
		s.until("a is gone", time.Second, func() bool { return len(b.reg.Players) == 1 })
	})
}

// A world is an instance of a level for one realm.
func TestRealmsDoNotMeet(t *testing.T) {
	play(t, relay.Config{}, func(s *stage) {
		a := s.client("ann", "town")
		b := s.client("bob", "town", func(c *token.Claims) { c.Realm[0] = 1 })
		other := s.client("cid", "cave")
		a.spawn("a", 1, 0)
		s.run(2 * time.Second)
		for _, c := range []*client{b, other} {
			if !c.reg.Welcomed || c.reg.Len() != 0 || len(c.reg.Players) != 1 {
				t.Errorf("%s: welcomed %v, %d entities, %d players", c.name, c.reg.Welcomed, c.reg.Len(), len(c.reg.Players))
			}
		}
		if st := s.relay.Stats(); st.Worlds != 3 || st.Sessions != 3 || st.Entities != 1 || st.Joined != 3 {
			t.Errorf("%+v", st)
		}
	})
}

// B-074
func TestLevelsHaveProfiles(t *testing.T) {
	play(t, relay.Config{
		Default: relay.World{ChunkSize: 100, MaxRate: 20},
		Worlds:  map[string]relay.World{"hall": {Reach: 2, PropertyReach: -1, Keyframe: -1, Flat: true, Silence: 2 * time.Second, Flush: 10 * time.Millisecond, MaxTracked: 7}},
	}, func(s *stage) {
		a, b := s.client("ann", "anywhere"), s.client("bob", "hall")
		s.until("welcomed", time.Second, func() bool { return a.reg.Welcomed && b.reg.Welcomed })
		if p := a.reg.Welcome.Profile; p.ChunkSize != 100 || p.Reach != 8 || p.PropertyReach != 8 || p.MaxRate != 20 || p.KeyframeMS != 2000 {
			t.Errorf("default: %+v", p)
		}
		if p := b.reg.Welcome.Profile; p.ChunkSize != 1600 || p.Reach != 2 || p.PropertyReach != 0 || p.KeyframeMS != 0 ||
			p.Flags&wire.ProfileFlat == 0 || p.SilenceMS != 2000 || p.FlushMS != 10 || p.MaxEntities != 7 {
			t.Errorf("hall: %+v", p)
		}
	})
}

func TestTokensDecideWhoEnters(t *testing.T) {
	play(t, relay.Config{}, func(s *stage) {
		for want, edit := range map[wire.CloseCode]func(*token.Claims){
			wire.CloseWorld:  func(c *token.Claims) { c.World = relay.WorldHash("cave") },
			wire.CloseRights: func(c *token.Claims) { c.Rights = token.HostEligible },
			wire.CloseClaims: func(c *token.Claims) { c.Player = [16]byte{} },
		} {
			s.refusedWith(s.client(want.String(), "town", edit), want)
		}
		// The authority right counts in a token of the authority key only.
		s.refusedWith(s.client("forger", "town", func(c *token.Claims) { c.Rights = token.Authority }), wire.CloseRights)
		s.refusedWith(s.client("nameless", ""), wire.CloseWorld)

		a := s.client("ann", "town", func(c *token.Claims) { c.World = relay.WorldHash("town") })
		o := s.client("eve", "town", func(c *token.Claims) { c.Rights = token.Observer | token.HostEligible })
		o.spawn("o", 1, 0)
		s.until("settled", 3*time.Second, func() bool { return a.reg.Host == a.player() && o.reg.EndMark })
		if a.reg.Len() != 0 || o.reg.Welcome.Eligible {
			t.Error("an observer may write")
		}
		s.run(time.Second)
		if st := s.relay.Stats(); st.Refused["world"] != 2 || st.Refused["rights"] != 2 || st.Refused["claims"] != 1 {
			t.Errorf("%+v", st.Refused)
		}
	})
}

// a refusal names both versions.
func TestVersionsWithoutCommonAreRefused(t *testing.T) {
	play(t, relay.Config{}, func(s *stage) {
		c := s.client("old", "town")
		c.session = session.New(session.Config{})
		h := wire.Hello{MinVersion: wire.Version + 1, MaxVersion: wire.Version + 2, World: "town"}
		c.session.Queue(wire.StreamControl, h.Append(nil))
		c.reg.Connect(c.now(), c.session) // its own Hello comes second
		s.refusedWith(c, wire.CloseVersion)
		if !strings.Contains(c.closed.Text, "version 1,") || !strings.Contains(c.closed.Text, "2 to 3") {
			t.Errorf("%q", c.closed.Text)
		}
		if r := c.reg.Refused; r == nil || r.Code != uint16(wire.CloseVersion) || r.Text != c.closed.Text {
			t.Errorf("Refuse: %+v", r)
		}
		// After the reason the carrier's goodbye comes.
		c.closed = nil
		s.until("disconnected", time.Second, func() bool { c.closed = nil; return c.over == transport.ErrClosed })
	})
}

func TestThoseWithoutHelloAreEnded(t *testing.T) {
	play(t, relay.Config{}, func(s *stage) {
		mute := s.client("mute", "town")
		mute.session = session.New(session.Config{}) // without the registry's Hello
		s.clients = nil                              // and it never sends
		wrong := s.client("wrong", "town")
		wrong.session = session.New(session.Config{})
		wrong.session.Queue(wire.StreamControl, []byte{wire.MsgReady})
		wrong.reg.Connect(wrong.now(), wrong.session)
		s.refusedWith(wrong, wire.CloseProtocol)

		var closed *session.CloseError
		for closed == nil && mute.now() < 10*time.Second {
			err := mute.conn.Receive(time.Now().Add(time.Second), func(b []byte) {
				if err := mute.session.Receive(mute.now(), b, mute.reg.Handler(mute.now())); err != nil {
					closed, _ = err.(*session.CloseError)
				}
			})
			if err != nil {
				break
			}
		}
		if closed == nil || closed.Code != uint16(wire.CloseTimeout) || mute.now() < 4*time.Second || mute.now() > 6*time.Second {
			t.Errorf("%v after %v", closed, mute.now())
		}
		mute.leave()
	})
}

func TestRelaysAreBounded(t *testing.T) {
	play(t, relay.Config{MaxSessions: 3, MaxWorlds: 2}, func(s *stage) {
		a, b := s.client("ann", "1"), s.client("bob", "2")
		s.until("in", time.Second, func() bool { return a.reg.Welcomed && b.reg.Welcomed })
		s.refusedWith(s.client("cid", "3"), wire.CloseFull)
		s.run(time.Second)
		c := s.client("cid", "1")
		s.until("in", time.Second, func() bool { return c.reg.Welcomed })
		s.refusedWith(s.client("dan", "1"), wire.CloseFull)
		if wire.CloseFull.Retry() != wire.RetryLater {
			t.Error("who finds it full must not give up")
		}
	})
}
