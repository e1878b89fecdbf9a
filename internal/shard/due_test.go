package shard

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/throng-dev/throng/internal/grid"
	"github.com/throng-dev/throng/internal/session"
	"github.com/throng-dev/throng/internal/wire"
	"github.com/throng-dev/throng/transport"
)

// The heap finds the earliest, whatever was set, moved and taken out.
func TestDues(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	var d dues
	at := map[*Session]time.Duration{}
	var all []*Session
	for range 20_000 {
		switch n := rng.IntN(10); {
		case n < 3 || len(all) == 0:
			o := new(Session)
			all = append(all, o)
			at[o] = time.Duration(rng.IntN(500))
			d.add(o, at[o])
		case n < 5 && len(all) > 20:
			i := rng.IntN(len(all))
			o := all[i]
			all = append(all[:i], all[i+1:]...)
			delete(at, o)
			d.remove(o)
		default:
			o := all[rng.IntN(len(all))]
			if at[o] = time.Duration(rng.IntN(500)); rng.IntN(5) == 0 {
				at[o] = never
			}
			d.set(o, at[o])
		}
		least := never
		for i, v := range d {
			if v.at != at[v.o] || int(v.o.due) != i {
				t.Fatalf("%v at %d is filed for %v at %d", at[v.o], i, v.at, v.o.due)
			}
			least = min(least, v.at)
		}
		if len(d) != len(all) || d.first() != least {
			t.Fatalf("%d of %d, the first at %v of %v", len(d), len(all), d.first(), least)
		}
	}
}

// whoever looks from a region is found there, wherever it looked from before.
func TestR34EyesFindWhoLooksFromARegion(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 2))
	s := New(0, Config{Overlooked: func(*Session, string) {}}) // however many look-ups it takes
	var all []*Session
	for range 60 {
		all = append(all, &Session{shard: s})
	}
	for range 5000 {
		o := all[rng.IntN(len(all))]
		o.views = o.views[:0]
		for range rng.IntN(wire.MaxViews + 1) {
			o.views = append(o.views, grid.Chunk{X: rng.Int64N(40) - 20, Y: rng.Int64N(40) - 20, Z: rng.Int64N(10) - 5})
		}
		if s.eyes.open(o); rng.IntN(4) == 0 {
			s.eyes.close(o)
			o.views = o.views[:0]
		}
		lo := grid.Region{X: rng.Int64N(6) - 3, Y: rng.Int64N(6) - 3, Z: rng.Int64N(3) - 2}
		hi := grid.Region{X: lo.X + rng.Int64N(3), Y: lo.Y + rng.Int64N(3), Z: lo.Z + rng.Int64N(2)}
		found := map[*Session]bool{}
		s.near(lo, hi, func(o *Session) { found[o] = true })
		for i, o := range all {
			want := false
			for _, v := range o.views {
				r := v.Region()
				want = want || r.X >= lo.X && r.X <= hi.X && r.Y >= lo.Y && r.Y <= hi.Y && r.Z >= lo.Z && r.Z <= hi.Z
			}
			if found[o] != want {
				t.Fatalf("session %d, which looks from %v, is found between %v and %v: %v", i, o.views, lo, hi, found[o])
			}
		}
	}
	for _, o := range all {
		s.eyes.close(o)
	}
	if len(s.eyes.at) > 0 {
		t.Errorf("%d regions are kept for nobody", len(s.eyes.at))
	}
}

// a session of a world in which nothing else happens is looked at when its time comes, and not before.
func TestWhoseTimeComesIsLookedAt(t *testing.T) {
	prof := DefaultProfile()
	s := New(0, Config{Profile: prof, Settle: -1, Overlooked: func(_ *Session, what string) { t.Errorf("overlooked, and due %s", what) }})
	h := &hall{t: t, s: s, byTo: map[transport.ID]*listener{}}
	for i := range 40 {
		h.join(i)
	}
	o := h.join(40).sess
	for h.now < 2*time.Second {
		h.step()
	}
	// It acks nothing from now on: its ping is followed by one more, and by its silence.
	delete(h.byTo, o.To)
	sent, silent := map[time.Duration]bool{}, time.Duration(0)
	for h.now < 10*time.Second {
		was := o.conn.Stats().Sent
		if h.step(); o.conn.Stats().Sent > was {
			sent[h.now] = true
		}
		if o.silent && silent == 0 {
			silent = h.now
		}
	}
	if last := o.conn.LastReceived(); silent < last+5*time.Second || silent > last+5*time.Second+20*time.Millisecond {
		t.Errorf("heard at %v, silent at %v", last, silent)
	}
	if n := len(sent); n < 5 || n > 20 {
		t.Errorf("%d packets in 8 s", n)
	}
}

// A path that lost much bears its full rate again some seconds later, although nobody looked at the session meanwhile.
func TestBudgetGrowsUnjudged(t *testing.T) {
	var b budget
	b.init(0, 64<<10)
	b.rate = b.full / 8
	if err := b.judge(5*time.Second, 0, 0); err != nil || b.rate != b.full {
		t.Errorf("a rate of %.0f of %.0f, %v", b.rate, b.full, err)
	}
	if at := b.due(0); at != never {
		t.Errorf("due %v with nothing to judge", at)
	}
	b.lost, b.loss = 9, 0.9
	if at := b.due(0); at != b.ackedAt+deafFor+1 {
		t.Errorf("due %v after losses", at)
	}
}

// Who is first moves on in small steps, whatever few are served in between.
func TestEverybodyIsLastAtTimes(t *testing.T) {
	s := New(0, Config{Settle: -1})
	const n = 640
	for i := range n {
		s.Join(0, session.New(session.Config{}), Identity{To: transport.ID(i + 1), Player: wire.PlayerID{byte(i), byte(i >> 8)}, Senior: uint64(i)}, 1)
	}
	last := -1
	for range 3 * n {
		s.callAll()
		list, first := s.turns(true)
		if step := (first - last + n) % n; len(list) != n || last >= 0 && (step == 0 || step > n/64+1) {
			t.Fatalf("%d are served, the first is %d behind the one before", len(list), step)
		}
		last = first
		for _, o := range list {
			o.called = false
		}
		s.sessions[3].call()
		s.sessions[1].call()
		if few, _ := s.turns(false); len(few) != 2 {
			t.Fatalf("%d are served in between", len(few))
		}
		s.sessions[3].called, s.sessions[1].called = false, false
	}
}
