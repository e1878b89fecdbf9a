package relay_test

import (
	"testing"
	"time"

	"github.com/throng-dev/throng/internal/wire"
	"github.com/throng-dev/throng/relay"
	"github.com/throng-dev/throng/token"
)

// B-131: one live session for each player of a realm; the newer replaces the older.
func TestNewerSessionReplacesOlder(t *testing.T) {
	play(t, relay.Config{}, func(s *stage) {
		watch := s.client("eve", "town")
		old := s.client("ann", "town")
		old.spawn("a", 1, 0)
		s.until("seen", 2*time.Second, func() bool { return watch.sees("a", 1) })

		other := s.client("ann", "town", func(c *token.Claims) { c.Realm[0] = 1 }) // a player of another realm
		s.until("in", time.Second, func() bool { return other.reg.Welcomed })

		newer := s.client("ann", "cave")
		s.refusedWith(old, wire.CloseReplaced)
		s.until("in", time.Second, func() bool { return newer.reg.Welcomed })
		s.until("its lamp is gone", time.Second, func() bool { return watch.reg.Len() == 0 })
		if other.closed != nil || watch.closed != nil || len(watch.reg.Players) != 1 {
			t.Error("it concerns nobody else")
		}
		if wire.CloseReplaced.Retry() != wire.RetryNever {
			t.Error("two clients of one player would replace each other for ever")
		}
	})
}

// A Hello that was under way for long belongs to the connection that opened first.
func TestLateHelloReplacesNobody(t *testing.T) {
	play(t, relay.Config{}, func(s *stage) {
		late := s.client("ann", "town") // opened, its Hello is not sent yet
		s.clients = nil
		newer := s.client("ann", "town")
		s.until("in", time.Second, func() bool { return newer.reg.Welcomed })
		s.clients = append(s.clients, late)
		s.refusedWith(late, wire.CloseReplaced)
		s.run(time.Second)
		if newer.closed != nil || newer.over != nil {
			t.Error("the newer session ended")
		}
	})
}

// B-080, B-082: the senior is host; when it leaves the next one drives what the host drives.
func TestHostMovesOn(t *testing.T) {
	play(t, relay.Config{Settle: -1}, func(s *stage) {
		a := s.client("ann", "town")
		s.until("host", time.Second, func() bool { return a.reg.Host == a.player() })
		b := s.client("bob", "town")
		s.until("known", time.Second, func() bool { return b.reg.Host == a.player() })
		b.spawn("torch", 3, wire.EntityHosted)
		s.until("a drives", 2*time.Second, func() bool { return a.drives("torch") && b.sees("torch", 3) && !b.drives("torch") })
		a.light("torch", 4)
		s.until("b sees it", time.Second, func() bool { return b.sees("torch", 4) })

		a.leave()
		s.until("b drives", time.Second, func() bool { return b.drives("torch") && b.reg.Host == b.player() })
		if !b.sees("torch", 4) {
			t.Error("the new host starts from another state")
		}

		s.run(20 * time.Second)
		a.dial() // it is the senior still
		s.until("a is host again", 2*time.Second, func() bool { return a.drives("torch") && b.reg.Host == a.player() })
		a.leave()
		s.run(32 * time.Second)
		a.dial() // and now it is not
		s.run(2 * time.Second)
		if a.reg.Host != b.player() || !b.drives("torch") {
			t.Error("seniority lasts for ever")
		}
	})
}

// a link that returns within the life of the carrier's session is the same session.
func TestSilence(t *testing.T) {
	play(t, relay.Config{Settle: -1}, func(s *stage) {
		a, b := s.client("ann", "town"), s.client("bob", "town")
		a.spawn("a", 1, 0)
		s.until("seen", 2*time.Second, func() bool { return b.sees("a", 1) && a.drives("a") })
		inc := b.reg.Find(id("a")).Inc
		if b.reg.Host != a.player() {
			t.Fatal("a is the senior")
		}

		s.net.Cut("ann", 12*time.Second)
		gone := s.until("stale", 8*time.Second, func() bool { return b.reg.Find(id("a")) == nil })
		if gone < 4*time.Second || gone > 7*time.Second || b.reg.Host != b.player() {
			t.Errorf("stale after %v, host %s", gone, b.reg.Host[:3])
		}
		a.light("a", 2)
		s.until("back", 10*time.Second, func() bool { return b.sees("a", 2) })
		if got := b.reg.Find(id("a")).Inc; got != inc || a.over != nil || a.closed != nil {
			t.Errorf("incarnation %x, was %x", got, inc)
		}
		s.until("the senior is host again", time.Second, func() bool { return b.reg.Host == a.player() })

		s.net.Partition("ann", true)
		s.until("the session is over", 20*time.Second, func() bool { return len(b.reg.Players) == 1 })
	})
}

// B-133, R-24: a relay that starts anew takes back what its clients hold.
func TestRestart(t *testing.T) {
	key := token.NewKey()
	play(t, relay.Config{Key: key}, func(s *stage) {
		a, b := s.client("ann", "town"), s.client("bob", "town")
		a.spawn("a", 1, 0)
		s.until("seen", 2*time.Second, func() bool { return b.sees("a", 1) && a.drives("a") })
		inc, epoch := a.reg.Find(id("a")).Inc, a.reg.Welcome.Epoch
		s.run(2 * time.Second)
		s.stop()
		s.run(time.Second)
		if a.closed == nil || a.closed.Code != uint16(wire.CloseShutdown) {
			t.Errorf("told %v", a.closed)
		}

		s.serve(relay.Config{Key: key})
		b.dial()
		a.dial()
		s.until("both are back", 3*time.Second, func() bool { return a.drives("a") && b.reg.EndMark })
		if !b.sees("a", 1) || a.reg.Find(id("a")).Inc != inc || a.reg.Welcome.Epoch <= epoch {
			t.Error("not the same entity in a new epoch")
		}
	})
}

// A world that ended and begins again is a new one: nothing of the old is mistaken for it.
func TestEmptyWorldsEnd(t *testing.T) {
	play(t, relay.Config{Settle: -1, Worlds: map[string]relay.World{"keep": {Linger: -1}}}, func(s *stage) {
		a, b := s.client("ann", "town"), s.client("bob", "keep")
		a.spawn("a", 1, wire.EntityHosted)
		b.spawn("b", 1, wire.EntityHosted)
		s.until("bound", 2*time.Second, func() bool { return a.drives("a") && b.drives("b") })
		epoch, inc := a.reg.Welcome.Epoch, a.reg.Find(id("a")).Inc
		a.leave()
		b.leave()
		s.run(50 * time.Second)
		if st := s.relay.Stats(); st.Worlds != 2 || st.Sessions != 0 || st.Entities != 2 {
			t.Errorf("%+v", st)
		}
		s.run(15 * time.Second)
		if st := s.relay.Stats(); st.Worlds != 1 || st.Entities != 1 || st.Replication.Flushes == 0 {
			t.Errorf("%+v", st)
		}
		c := s.client("cid", "town")
		c.spawn("c", 1, 0)
		s.until("bound", 2*time.Second, func() bool { return c.drives("c") })
		if c.reg.Welcome.Epoch <= epoch || c.reg.Find(id("c")).Inc <= inc {
			t.Error("epoch and incarnations begin again")
		}
	})
}
