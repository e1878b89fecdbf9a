package minion

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/throng-dev/throng"
)

// TestB114ProgramsConverge plays random programs over a link that delays, doubles and reorders, with players who leave and come:
// never two bodies for a key, and after quiet every crew is what the book says (V26, V27, V51).
func TestB114ProgramsConverge(t *testing.T) {
	for seed := range uint64(1500) {
		if !converge(t, seed) {
			t.Fatalf("seed %d", seed)
		}
	}
}

func converge(t *testing.T, seed uint64) bool {
	r := rand.New(rand.NewPCG(seed, 3))
	b := NewBook(BookConfig{PerPlayer: 4, Rate: 100, Burst: 100})
	players := []throng.PlayerID{player(1), player(2), player(3)}
	crews := map[throng.PlayerID]*client{}
	in := map[throng.PlayerID]bool{}
	type flight struct {
		due  int
		up   bool
		who  throng.PlayerID
		sess int
		msg  any
	}
	var (
		air  []flight
		sess = map[throng.PlayerID]int{}
		step int
		now  time.Duration
	)
	send := func(up bool, who throng.PlayerID, msg any, quiet bool) {
		n := 1
		if !quiet && r.IntN(8) == 0 {
			n = 2
		}
		for range n {
			d := 0
			if !quiet {
				d = r.IntN(6)
			}
			air = append(air, flight{step + d, up, who, sess[who], msg})
		}
	}
	pump := func(quiet bool) {
		for _, p := range players {
			if c := crews[p]; c != nil && in[p] {
				for _, m := range c.Out() {
					send(true, p, m, quiet)
				}
			}
		}
		for _, o := range b.Out() {
			send(false, o.To, o.Msg, quiet)
		}
		rest := air[:0]
		ready := air
		air = nil
		for _, f := range ready {
			switch {
			case f.due > step:
				rest = append(rest, f)
			case f.sess != sess[f.who] || !in[f.who]:
			case f.up:
				switch m := f.msg.(type) {
				case Sync:
					b.Sync(now, f.who)
				case Request:
					if k, err := b.Request(now, f.who, m); err == nil {
						if r.IntN(6) == 0 {
							b.Revoke(k, Refused, "no")
						} else {
							_ = b.Grant(k, throng.NewID(), m.Pose, 1)
						}
					}
				}
			default:
				crews[f.who].Receive(now, f.msg)
			}
		}
		air = append(slices.Clone(rest), air...)
		step++
		now += 33 * time.Millisecond
		for _, p := range players {
			if c := crews[p]; c != nil {
				c.Tick(now)
				seen := map[uint32]int{}
				for k := range c.bodies {
					seen[k.Seq]++
				}
				for s, n := range seen {
					if n > 1 {
						t.Errorf("seed %d: %d bodies for number %d", seed, n, s)
					}
				}
				if len(c.bodies) != len(c.Keys()) {
					t.Errorf("seed %d: %d bodies, %d keys", seed, len(c.bodies), len(c.Keys()))
				}
			}
		}
	}
	for range 60 {
		p := players[r.IntN(len(players))]
		keys := b.Grants(p)
		switch op := r.IntN(9); {
		case op == 0 || crews[p] == nil:
			if in[p] {
				in[p] = false
				sess[p]++
				b.Present(p, false)
			} else {
				if crews[p] == nil || r.IntN(3) == 0 {
					crews[p] = newClient(p)
				}
				in[p] = true
				sess[p]++
				b.Present(p, true)
			}
		case op < 3:
			crews[p].Request(now, 1, at(0))
		case op == 3:
			_ = b.Grant(b.Reserve(p, 1), throng.NewID(), at(0), 1)
		case op == 4 && len(keys) > 0:
			b.Revoke(keys[r.IntN(len(keys))], Ended, "")
		case op == 5 && len(keys) > 0:
			_, _ = b.Give(keys[r.IntN(len(keys))], players[r.IntN(len(players))])
		case op == 6 && len(keys) > 0:
			b.Tell(keys[r.IntN(len(keys))], 1, r.Float32())
		}
		pump(false)
	}
	for _, p := range players { // all come (back), nothing is lost any more
		if crews[p] == nil {
			crews[p] = newClient(p)
		}
		if in[p] {
			sess[p]++
			b.Present(p, false)
		}
		in[p] = true
		sess[p]++
		b.Present(p, true)
	}
	for range 100 {
		pump(true)
	}
	for _, p := range players {
		if want, got := b.Grants(p), crews[p].Keys(); !slices.Equal(want, got) {
			t.Errorf("seed %d: player %v has %v, the book says %v", seed, p, got, want)
			return false
		}
	}
	return !t.Failed()
}
