package authority_test

import (
	"flag"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/throng-dev/throng"
	"github.com/throng-dev/throng/authority"
	"github.com/throng-dev/throng/throngtest"
)

var hours = flag.Duration("deny-for", 20*time.Minute, "how long the denial is attacked, in virtual time; an hour is the goal")

// TestB113NothingLeaksToTheOwner plays owner changes, reconnects, travel, restarts and loss, and looks at every byte that each client is sent:
// while the minion is a player's, its client is not sent the minion's id, but that what it held before has left.
func TestB113NothingLeaksToTheOwner(t *testing.T) {
	play(t, authority.Config{}, func(t *testing.T, p *stage) {
		r := rand.New(rand.NewPCG(1, 2))
		bad := throngtest.Link{Latency: 40 * time.Millisecond, Jitter: 20 * time.Millisecond, Loss: 0.1, Duplicate: 0.02, Reorder: 0.05}
		p.Shape(p.s.World(), bad, bad)
		p.SetFrame(50 * time.Millisecond)
		id := throng.NewID()
		type seat struct {
			name string
			w    *throng.World
			tap  *throngtest.Tap
			live int // times that it went live
		}
		enter := func(name string) *seat {
			s := &seat{name: name, tap: p.Tap(name, id)}
			s.w = p.Join(name, throng.Config{Dialer: s.tap, OnState: func(_ *throng.World, st throng.ConnState) {
				if st.Phase == throng.Live {
					s.live++
				}
			}})
			must(t, s.w.Spawn(&Tank{}, throng.AsAvatar()))
			p.Shape(s.w, bad, bad)
			p.Until(20*time.Second, "the server sees the tank of "+name, func() bool { return p.tank(s.w) != nil })
			return s
		}
		seats := []*seat{enter("ann"), enter("bob"), enter("cid")}
		owner := 0
		m := &Minion{tank: p.tank(seats[0].w)}
		must(t, p.s.Spawn(m, authority.With(throng.WithID(id))))
		must(t, p.s.Publish(m))
		p.Run(5 * time.Second)
		var leaks, turns, comebacks, travels int
		for start := time.Now(); time.Since(start) < *hours; {
			told := func() int64 { return seats[owner].tap.Named() - seats[owner].tap.Departed() }
			before := told()
			m.HP = r.Int32()
			p.Run(time.Duration(1+r.IntN(6)) * time.Second)
			if n := told() - before; n != 0 {
				leaks++
				t.Errorf("after %v: the owner %s was told %d times", time.Since(start), seats[owner].name, n)
			}
			switch r.IntN(8) {
			case 0, 1, 2: // it changes hands; who gets it holds it until the denial has arrived
				owner = r.IntN(len(seats))
				m.tank = p.tank(seats[owner].w)
				turns++
				p.Until(30*time.Second, "who got it has lost its proxy", func() bool { return count(Minions, seats[owner].w) == 0 })
				p.Run(3 * time.Second)
			case 3: // the owner comes back, as the same player
				s := seats[owner]
				p.Leave(s.w)
				p.Run(time.Duration(r.IntN(8)) * time.Second)
				count := s.tap.Named()
				seats[owner] = enter(s.name)
				comebacks++
				if n := seats[owner].tap.Named(); n != 0 || s.tap.Named() != count {
					t.Errorf("the owner came back and was told %d times", n)
				}
				m.tank = p.tank(seats[owner].w)
				p.Run(3 * time.Second)
			case 4: // the owner goes to another level, and comes back
				s := seats[owner]
				for _, to := range []string{"elsewhere", "test"} {
					before := s.live
					must(t, s.w.Travel(to))
					p.Until(30*time.Second, s.name+" is in "+to, func() bool { return s.live > before })
					p.Run(2 * time.Second)
				}
				must(t, s.w.Spawn(&Tank{}, throng.AsAvatar()))
				p.Until(30*time.Second, "the server sees the tank again", func() bool { return p.tank(s.w) != nil })
				m.tank = p.tank(s.w)
				travels++
				p.Run(3 * time.Second)
			case 5:
				if r.IntN(4) == 0 {
					p.Restart()
					p.Run(40 * time.Second)
				}
			}
			for i, s := range seats {
				if i != owner {
					p.Until(30*time.Second, s.name+" has its proxy", func() bool { return count(Minions, s.w) == 1 })
				}
			}
		}
		t.Logf("%d changes of owner, %d reconnects, %d travels, %d leaks in %v", turns, comebacks, travels, leaks, *hours)
		if turns == 0 || comebacks == 0 {
			t.Error("nothing was attacked")
		}
	})
}
