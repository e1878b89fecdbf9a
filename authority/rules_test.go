package authority_test

import (
	"math"
	"testing"
	"time"

	"github.com/throng-dev/throng"
	"github.com/throng-dev/throng/authority"
)

// L1, V43: the radius itself is outside. L2: one of several viewpoints is enough. B-112: what is too far lingers as configured.
func TestL1L2DistanceIsStrictAndOfAnyViewpoint(t *testing.T) {
	const cull = 15000.0
	views := map[throng.PlayerID][]throng.Vec3{}
	cfg := authority.Config{
		ViewpointsOf: func(_ *authority.Server, p throng.PlayerID, at []throng.Vec3) []throng.Vec3 {
			return append(at, views[p]...)
		},
		Rules: []authority.Rule{authority.For(Minions, authority.Rules[Minion]{Relevant: near, Distance: cull,
			Position: func(m *Minion) throng.Vec3 { return m.Pos }, Linger: 2 * time.Second})},
	}
	play(t, cfg, func(t *testing.T, p *stage) {
		ann := p.Join("ann", throng.Config{})
		ann.SetViewpoints(throng.Vec3{})
		m := &Minion{}
		must(t, p.s.Spawn(m, authority.Ownerless()))
		shows := func(at ...throng.Vec3) bool {
			views[ann.Self()] = at
			p.Run(3 * time.Second)
			r, ok := p.s.Explain(ann.Self(), m)
			if !ok {
				t.Fatal("not decided")
			}
			return r.Shows
		}
		for _, c := range []struct {
			at   float64
			want bool
		}{{14999.99, true}, {15000, false}, {15000.01, false}, {math.NaN(), false}} {
			if got := shows(throng.Vec3{X: c.at}); got != c.want {
				t.Errorf("at %v: %v", c.at, got)
			}
		}
		if !shows(throng.Vec3{X: 1e6}, throng.Vec3{X: 1}) || shows() {
			t.Error("of several viewpoints one is enough, of none none")
		}
		views[ann.Self()] = []throng.Vec3{{}}
		p.Until(time.Second, "ann has it", func() bool { return count(Minions, ann) == 1 })
		views[ann.Self()] = nil
		p.Run(1800 * time.Millisecond)
		if count(Minions, ann) != 1 {
			t.Error("it left before its linger was over")
		}
		p.Until(500*time.Millisecond, "it has left", func() bool { return count(Minions, ann) == 0 })
	})
}

// B-111: the order of a first life is fixed.
func TestB111OrderOfALife(t *testing.T) {
	var order []string
	rules := minionRules
	rules.OnBegin = func(s *authority.Server, m *Minion) { order = append(order, "begin") }
	rules.Relevant = func(v *authority.Viewer, m *Minion) authority.Verdict {
		if m.HP != 7 {
			t.Error("a rule saw the actor before its exposed values")
		}
		return authority.Relevant("always")
	}
	cfg := authority.Config{
		Rules:     []authority.Rule{authority.For(Minions, rules)},
		OnLife:    func(_ *authority.Server, _ throng.Object, _, is authority.Life) { order = append(order, is.String()) },
		OnVerdict: func(r authority.Record) { order = append(order, "verdict") },
	}
	play(t, cfg, func(t *testing.T, p *stage) {
		p.player("ann", 0)
		bob, _ := p.player("bob", 0)
		order = nil
		m := &Minion{HP: 7, tank: p.tank(bob)}
		must(t, p.s.Spawn(m))
		must(t, p.s.Possess(&Brain{}, m))
		order = append(order, "possessed")
		must(t, p.s.Publish(m))
		p.Run(time.Second)
		if len(order) < 5 || order[0] != "staged" || order[1] != "possessed" || order[2] != "published" || order[3] != "begin" || order[4] != "verdict" {
			t.Errorf("the order was %v", order)
		}
	})
}
