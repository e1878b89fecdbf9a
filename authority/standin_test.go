package authority_test

import (
	"testing"
	"time"

	"github.com/throng-dev/throng"
	"github.com/throng-dev/throng/authority"
)

// V29: an owner that has no stand-in (any more) is shown the actor, and hidden from it again when it has one.
func TestV29OwnerWithoutAStandIn(t *testing.T) {
	play(t, authority.Config{}, func(t *testing.T, p *stage) {
		ann, _ := p.player("ann", 0)
		m := &Minion{tank: p.tank(ann)}
		must(t, p.s.Spawn(m))
		must(t, p.s.Publish(m))
		p.Run(time.Second)
		if count(Minions, ann) != 0 {
			t.Fatal("its owner has it beside its stand-in")
		}
		must(t, p.s.SetStandIn(m, false))
		p.Until(time.Second, "ann has it", func() bool { return count(Minions, ann) == 1 })
		must(t, p.s.SetStandIn(m, true))
		p.Until(time.Second, "ann has lost it", func() bool { return count(Minions, ann) == 0 })
		if err := p.s.SetStandIn(&Minion{}, true); err == nil {
			t.Error("of an actor that was never spawned")
		}
	})
}

// Verdicts tell what they are.
func TestB115VerdictsAreReadable(t *testing.T) {
	for _, c := range []struct {
		v     authority.Verdict
		shows bool
		text  string
	}{
		{authority.Verdict{}, false, "hidden: "},
		{authority.Hidden("secret"), false, "hidden: secret"},
		{authority.Unresolved("no tank yet"), false, "unresolved: no tank yet"},
		{authority.Relevant("boss"), true, "relevant: boss"},
	} {
		if c.v.Shows() != c.shows || c.v.String() != c.text || c.v.String() != c.text[:len(c.text)-len(c.v.Reason())]+c.v.Reason() {
			t.Errorf("%v shows: %v, want %q, %v", c.v, c.v.Shows(), c.text, c.shows)
		}
	}
}

// A body of its spawner outlives OnDestroy by the option, whatever its class says (B-051, B-054): it is Spawn's for actors too.
func TestB054DestroyDelayOfOneActor(t *testing.T) {
	play(t, authority.Config{}, func(t *testing.T, p *stage) {
		m := &Minion{}
		must(t, p.s.Spawn(m, authority.Ownerless(), authority.With(throng.WithDestroyDelay(time.Second))))
		p.Run(time.Second)
		must(t, p.s.Destroy(m))
		p.Run(500 * time.Millisecond)
		if m.Role() == throng.RoleNone {
			t.Error("the body is gone before its delay is over")
		}
		p.Run(time.Second)
		if m.Role() != throng.RoleNone {
			t.Errorf("the body is still %v", m.Role())
		}
	})
}
