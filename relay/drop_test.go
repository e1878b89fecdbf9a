package relay_test

import (
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/throng-dev/throng/internal/grid"
	"github.com/throng-dev/throng/internal/session"
	"github.com/throng-dev/throng/internal/wire"
	"github.com/throng-dev/throng/relay"
	"github.com/throng-dev/throng/transport"
)

// logs keeps the lines about dropped input.
type logs struct {
	mu    sync.Mutex
	lines []string
}

func (l *logs) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if s := string(b); strings.Contains(s, "input of a session dropped") {
		l.lines = append(l.lines, s)
	}
	return len(b), nil
}

func (l *logs) take() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	lines := l.lines
	l.lines = nil
	return lines
}

// forge sends a delta of a lamp as if c drove it.
func (c *client) forge(handle uint32, gen uint8, term uint32) {
	k := c.reg.Find(id("lamp"))
	b, at := session.BeginFrame(c.session.Begin(c.now(), transport.NewBuffer()), wire.KindDeltas)
	var d wire.Deltas
	d.Reset(b, 1000, grid.Chunk{}, k.Class.Num, &k.Class.Class)
	d.Begin(&wire.Delta{Handle: handle, Gen: gen, Term: term, Mask: 1 << slotLit})
	d.B = append(d.B, 9, 9, 9, 9)
	session.EndFrame(d.B, at)
	c.session.Commit(c.now(), d.B, true)
	_ = c.conn.Send([][]byte{d.B})
}

// B-120: what a session sends and the relay refuses, or can make nothing of, is a line in the log that names the player and the reason: one
// in ten seconds, whatever it sends; the others' lines stand beside it, and who does nothing wrong has none.
func TestB120DroppedInputIsLogged(t *testing.T) {
	var log logs
	play(t, relay.Config{Settle: -1, Logger: slog.New(slog.NewTextHandler(&log, nil))}, func(s *stage) {
		ann, eve, mallory := s.client("ann", "town"), s.client("eve", "town"), s.client("mallory", "town")
		s.until("in", time.Second, func() bool { return ann.reg.Welcomed && eve.reg.Welcomed && mallory.reg.Welcomed })
		ann.spawn("lamp", 1, 0)
		s.until("seen", time.Second, func() bool { return eve.sees("lamp", 1) && mallory.sees("lamp", 1) })
		ann.light("lamp", 2)
		s.until("changed", time.Second, func() bool { return eve.sees("lamp", 2) })
		if l := log.take(); len(l) != 0 {
			t.Fatalf("of honest players: %q", l)
		}
		k, driven := eve.reg.Find(id("lamp")), ann.reg.Find(id("lamp"))
		say := func(kind byte, m *wire.Entity) func() {
			return func() { _ = eve.session.Queue(wire.StreamControl, wire.AppendEntity(nil, kind, m)) }
		}
		for _, bad := range []struct {
			what, why string
			send      func()
		}{
			{"spawn", "invalid", say(wire.MsgSpawn, &wire.Entity{ID: id("x"), Nonce: 7, Class: 77})},
			{"spawn", "invalid", say(wire.MsgSpawn, &wire.Entity{Nonce: 7, Class: 1})},
			{"spawn", "malformed", say(wire.MsgSpawn, &wire.Entity{ID: id("z"), Nonce: 7, Class: 1, Chunk: grid.Chunk{X: 1<<62 + 1}, Mask: 3, Values: make([]byte, 12)})},
			{"spawn", "id held", say(wire.MsgSpawn, &wire.Entity{ID: k.ID, Nonce: 7, Class: 1, Mask: 3, Values: make([]byte, 12)})},
			{"destroy", "not the driver", say(wire.MsgDestroy, &wire.Entity{ID: k.ID, Inc: k.Inc})},
			{"grant", "not the driver", say(wire.MsgGrant, &wire.Entity{ID: k.ID, Inc: k.Inc, Term: driven.Term, Owner: eve.player()})},
			{"re-announcement", "certificate", say(wire.MsgAgain, &wire.Entity{ID: id("y"), Inc: k.Inc, Term: driven.Term, Class: 1, Mask: 3, Values: make([]byte, 12)})},
			{"spawn", "malformed", func() { _ = eve.session.Queue(wire.StreamControl, []byte{wire.MsgSpawn, 1}) }},
			{"deltas", "somebody else drives", func() { eve.forge(driven.Handle, driven.Gen, driven.Term.N()) }},
			{"deltas", "no entity has that handle", func() { eve.forge(4000, 1, 1) }},
		} {
			for range 50 {
				bad.send()
				s.run(10 * time.Millisecond)
			}
			s.run(500 * time.Millisecond)
			l := log.take()
			if len(l) != 1 {
				t.Fatalf("%s, %s: %d lines %q", bad.what, bad.why, len(l), l)
			}
			for _, part := range []string{"level=WARN", "what=" + strings.Split(bad.what, " ")[0], bad.why, "player=657665", "world=town"} {
				if !strings.Contains(strings.ReplaceAll(l[0], `"`, ""), part) {
					t.Errorf("%s, %s: no %q in %q", bad.what, bad.why, part, l[0])
				}
			}
			s.run(10 * time.Second)
			if n := len(log.take()); n != 0 {
				t.Errorf("%d lines of what was before", n)
			}
		}
		mallory.forge(driven.Handle, driven.Gen, driven.Term.N())
		s.run(time.Second)
		eve.forge(driven.Handle, driven.Gen, driven.Term.N())
		s.run(time.Second)
		l := log.take()
		if len(l) != 2 || !strings.Contains(l[0], "player=6d616c") || !strings.Contains(l[1], "player=657665") || !strings.Contains(l[1], `"not logged"=49`) {
			t.Errorf("each has a line of its own, with the number of those before: %q", l)
		}
		ann.light("lamp", 3)
		s.until("others go on", time.Second, func() bool { return mallory.sees("lamp", 3) && ann.drives("lamp") })
	})
}
