package load

import (
	"context"
	"fmt"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	"github.com/throng-dev/throng/internal/memnet"
	"github.com/throng-dev/throng/relay"
	"github.com/throng-dev/throng/throngtest"
	"github.com/throng-dev/throng/token"
	"github.com/throng-dev/throng/transport"
)

// crowdIn plays a crowd in memory, in virtual time, over a path for each way. It returns what was measured and what the relay counted.
func crowdIn(t *testing.T, clients int, window time.Duration, path memnet.Link) (m *meter, counted relay.Replication) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		n := throngtest.New(t, schema, throngtest.World(FieldWorld(50*time.Millisecond, 0)))
		m = newMeter(1)
		w := newWheel(m)
		defer w.ready.close()
		name := func(i int) string { return fmt.Sprint("load-", i) }
		g := &gate{addr: n.Addr(), log: slog.New(slog.DiscardHandler), dialer: func(i int) transport.Dialer { return n.Dialer(name(i)) }}
		g.tokens = func(name string) func(context.Context) ([]byte, error) {
			c := token.Claims{Player: throngtest.Player(name).Bytes(), Rights: token.Player | token.HostEligible}
			return func(context.Context) ([]byte, error) { return c.Append(nil), nil }
		}
		var made []client
		for i := range clients {
			made = append(made, newPlayer(m, name(i), uint64(i), Side(clients)))
		}
		if out, err := w.join(t.Context(), g, made, func(err error) { t.Error(err) }); err != nil || len(out) > 0 {
			t.Fatal(len(out), err)
		}
		for i, c := range made {
			n.Add(name(i), c.(*player).w)
			n.Shape(c.(*player).w, path, path)
		}
		play := func(d time.Duration) {
			if err := w.play(t.Context(), m.now()+d, nil); err != nil {
				t.Fatal(err)
			}
		}
		play(12 * time.Second) // until what paths lose is known
		before := n.Server().Stats().Replication
		m.begin()
		play(window)
		m.end()
		counted = n.Server().Stats().Replication
		counted.Lost -= before.Lost
		play(grace)
		if m.strange > 0 || m.duplicates > 0 {
			t.Errorf("%d changes that no driver sent, %d duplicates", m.strange, m.duplicates)
		}
	})
	return m, counted
}

// The goals of measures.md for a crowd under loss, in virtual time, so that no machine shows in them. Of what observers hold 98 % are fresh;
// it was 91 % before clients said things twice and the relay mended between flushes.
func TestCrowdUnderLoss(t *testing.T) {
	m, counted := crowdIn(t, 60, 15*time.Second, memnet.Link{Latency: 25 * time.Millisecond, Jitter: 5 * time.Millisecond, Loss: 0.05})
	held, written := m.delivered()
	fresh, delivered := float64(m.fresh)/float64(m.samples), float64(held)/float64(written)
	t.Logf("freshness %.4f, delivered %.4f, latency %v, age %v, baseline %v of %d; %d packets lost, %d mends", fresh, delivered,
		m.latency.spread(), m.age.spread(), m.baseline.spread(), m.baseline.n, counted.Lost, counted.Mends)
	for _, tt := range []struct {
		what      string
		got, most float64
	}{
		{"latency", m.latency.quantile(0.99), 150},
		{"age", m.age.quantile(0.99), 300},
		{"baseline", m.baseline.quantile(0.95), 275}, // too few for another quantile
	} {
		if tt.got > tt.most {
			t.Errorf("%s %v ms, at most %v", tt.what, tt.got, tt.most)
		}
	}
	if fresh < 0.96 || delivered < 0.98 || counted.Mends == 0 {
		t.Errorf("freshness %.4f, delivered %.4f, %d mends", fresh, delivered, counted.Mends)
	}
}

// On a path that loses nothing, however late packets are, nothing is said again.
func TestCrowdWithoutLossSaysNothingTwice(t *testing.T) {
	m, counted := crowdIn(t, 60, 10*time.Second, memnet.Link{Latency: 25 * time.Millisecond, Jitter: 5 * time.Millisecond})
	if held, written := m.delivered(); held != written || counted.Lost > 0 || counted.Mends > 0 {
		t.Errorf("%d of %d versions arrived, %d packets taken for lost, %d mends", held, written, counted.Lost, counted.Mends)
	}
}
