package authority_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/throng-dev/throng"
	"github.com/throng-dev/throng/authority"
	"github.com/throng-dev/throng/store"
	"github.com/throng-dev/throng/throngtest"
)

// A Tank is a player's, a Minion belongs to the player of a tank; a Chest is nobody's and is kept.

type Tank struct {
	throng.Entity
	Pos throng.Vec3 `rep:"position"`
	HP  int32       `rep:"auth"`
}

type Minion struct {
	throng.Entity
	Pos  throng.Vec3 `rep:"position"`
	HP   int32       `rep:"auth"`
	tank *Tank       // nil: not known yet
}

type Chest struct {
	throng.Entity
	Pos  throng.Vec3 `rep:"position"`
	Gold int64       `rep:"auth,persist"`
}

type Brain struct{ throng.Entity } // an AI controller: never spawned

var (
	Tanks   = throng.NewClass[Tank]("tank", throng.ClassConfig{})
	Minions = throng.NewClass[Minion]("minion", throng.ClassConfig{})
	Chests  = throng.NewClass[Chest]("chest", throng.ClassConfig{})
	Schema  = throng.MustSchema(Tanks, Minions, Chests, throng.NewClass[Brain]("brain", throng.ClassConfig{}))
)

// followTank resolves the owner through the minion's own reference.
func followTank(m *Minion) throng.PlayerID {
	if m.tank == nil {
		return throng.PlayerID{}
	}
	return m.tank.Owner()
}

func near(v *authority.Viewer, m *Minion) authority.Verdict { return authority.ByDistance(v, m) }

var minionRules = authority.Rules[Minion]{Owner: followTank, HideFromOwner: true, Relevant: near}

// stage is a world with an authority in it.
type stage struct {
	*throngtest.Net
	t *testing.T
	s *authority.Server
	n int
}

func play(t *testing.T, cfg authority.Config, f func(t *testing.T, p *stage)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		p := &stage{Net: throngtest.New(t, Schema), t: t}
		p.s = p.authority("server", cfg)
		f(t, p)
	})
}

// authority joins a trusted server; Run ticks it.
func (p *stage) authority(name string, cfg authority.Config) *authority.Server {
	p.t.Helper()
	return p.authorityOf(Schema, name, cfg, nil)
}

// authorityOf is authority for another schema, with a step of its own.
func (p *stage) authorityOf(schema *throng.Schema, name string, cfg authority.Config, step func()) *authority.Server {
	p.t.Helper()
	c := p.Config(name, cfg.Config)
	c.TokenSource = throngtest.Authority(name)
	cfg.Config = c
	if cfg.Rules == nil {
		cfg.Rules = []authority.Rule{authority.For(Minions, minionRules), authority.For(Chests, authority.Rules[Chest]{
			Relevant: func(*authority.Viewer, *Chest) authority.Verdict { return authority.Relevant("all see chests") },
		})}
	}
	ctx, cancel := context.WithTimeout(p.t.Context(), 30*time.Second)
	defer cancel()
	s, err := authority.Join(ctx, p.Addr(), schema, cfg)
	if err != nil {
		p.t.Fatal(err)
	}
	p.AddTick(name, s.World(), func(more func()) error {
		return s.Tick(func() {
			for _, f := range []func(){step, more} {
				if f != nil {
					f()
				}
			}
		})
	})
	p.t.Cleanup(func() { s.Close() })
	return s
}

// player joins with a tank at x.
func (p *stage) player(name string, x float64) (*throng.World, *Tank) {
	p.t.Helper()
	w := p.Join(name, throng.Config{})
	tank := &Tank{Pos: throng.Vec3{X: x}}
	if err := w.Spawn(tank, throng.AsAvatar()); err != nil {
		p.t.Fatal(err)
	}
	p.Until(2*time.Second, "the server sees the tank of "+name, func() bool { return p.tank(w) != nil })
	return w, tank
}

// tank is the server's copy of a player's tank.
func (p *stage) tank(w *throng.World) *Tank {
	o, _ := p.s.World().Find(w.Self().AvatarID())
	t, _ := o.(*Tank)
	return t
}

func count[T any](c *throng.Class[T], w *throng.World) (n int) {
	for range c.All(w) {
		n++
	}
	return n
}

func one[T any](t *testing.T, c *throng.Class[T], w *throng.World) *T {
	t.Helper()
	var found *T
	for e := range c.All(w) {
		if found != nil {
			t.Fatal("there are two")
		}
		found = e
	}
	return found
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func TestB111LifeAndItsWrongMoves(t *testing.T) {
	var lives []string
	play(t, authority.Config{OnLife: func(_ *authority.Server, _ throng.Object, was, is authority.Life) {
		lives = append(lives, fmt.Sprint(was, ">", is))
	}}, func(t *testing.T, p *stage) {
		ann, _ := p.player("ann", 0)
		bob, _ := p.player("bob", 10)
		m := &Minion{HP: 5}
		wrong := func(what string, err error) {
			t.Helper()
			var life *authority.LifeError
			if !errors.As(err, &life) || !strings.HasPrefix(err.Error(), "throng: ") {
				t.Errorf("%s: %v", what, err)
			}
		}
		wrong("publish what was not spawned", p.s.Publish(m))
		wrong("withdraw what was not spawned", p.s.Withdraw(m))
		wrong("possess what was not spawned", p.s.Possess(&Brain{}, m))
		must(t, p.s.Spawn(m))
		wrong("spawn twice", p.s.Spawn(m))
		wrong("withdraw what was not published", p.s.Withdraw(m))
		if err := p.s.Publish(m); !errors.Is(err, authority.ErrPublishBeforeOwner) { // V4
			t.Errorf("published before its owner was known: %v", err)
		}
		p.Run(time.Second)
		if count(Minions, ann)+count(Minions, bob) != 0 || p.s.Life(m) != authority.Staged {
			t.Error("a staged actor is seen")
		}
		// Possession says nothing about any of it.
		brain := &Brain{}
		must(t, p.s.Possess(brain, m))
		p.Run(time.Second)
		if count(Minions, bob) != 0 || p.s.Controller(m) != throng.Object(brain) {
			t.Error("possession published it")
		}
		m.tank = p.tank(ann)
		must(t, p.s.Publish(m))
		wrong("publish twice", p.s.Publish(m))
		p.Until(time.Second, "bob sees it", func() bool { return count(Minions, bob) == 1 })
		if count(Minions, ann) != 0 {
			t.Error("its owner sees it")
		}
		// V14: unpossessed, nothing changes.
		must(t, p.s.Possess(nil, m))
		p.Run(time.Second)
		if count(Minions, ann) != 0 || count(Minions, bob) != 1 {
			t.Error("unpossessed, it is seen by others")
		}
		must(t, p.s.Withdraw(m)) // V39
		p.Until(200*time.Millisecond, "bob has lost it", func() bool { return count(Minions, bob) == 0 })
		wrong("withdraw twice", p.s.Withdraw(m))
		must(t, p.s.Publish(m))
		p.Until(time.Second, "bob sees it again", func() bool { return count(Minions, bob) == 1 })
		must(t, p.s.Destroy(m))
		must(t, p.s.Destroy(m))
		p.Until(time.Second, "bob has lost it for good", func() bool { return count(Minions, bob) == 0 })
		wrong("publish what is gone", p.s.Publish(m))
		if want := "[constructed>staged staged>published published>withdrawn withdrawn>published published>gone]"; strings.ReplaceAll(fmt.Sprint(lives), " > ", ">") != want {
			t.Errorf("its life was %v", lives)
		}
		if err := p.s.Spawn(&Tank{}); !errors.Is(err, authority.ErrNoRules) {
			t.Errorf("spawned an actor without rules: %v", err)
		}
	})
}

// B-113, B-116: the owner receives not one message naming the actor, through loss, a change of owner, reconnects and restarts.
func TestB116Topology(t *testing.T) {
	var records []authority.Record
	play(t, authority.Config{OnVerdict: func(r authority.Record) { records = append(records, r) }}, func(t *testing.T, p *stage) {
		id := throng.NewID()
		ann, _ := p.player("ann", 0)
		bob, _ := p.player("bob", 10)
		bad := throngtest.Link{Latency: 40 * time.Millisecond, Jitter: 20 * time.Millisecond, Loss: 0.1}
		for _, w := range []*throng.World{ann, bob, p.s.World()} {
			p.Shape(w, bad, bad)
		}
		m := &Minion{HP: 5, tank: p.tank(ann)}
		must(t, p.s.Spawn(m))
		must(t, p.s.Publish(m, authority.With(throng.WithID(id))))
		see := func(who *throng.World, want int) func() bool {
			return func() bool { return count(Minions, who) == want }
		}
		p.Until(5*time.Second, "bob sees it", see(bob, 1))
		if r := one(t, Minions, bob).Role(); m.Role() != throng.RoleAuthority || r != throng.RoleSimulatedProxy {
			t.Errorf("roles %v and %v", m.Role(), r)
		}
		// V32: a late joiner. V28: it looks from where ann is; that is no reason to keep it away.
		cid := p.Join("cid", throng.Config{})
		cid.SetViewpoints(throng.Vec3{})
		p.Until(5*time.Second, "cid sees it", see(cid, 1))
		// V22: ann comes back, as the same player.
		p.Leave(ann)
		p.Run(3 * time.Second)
		ann, _ = p.player("ann", 0)
		p.Run(3 * time.Second)
		if count(Minions, ann) != 0 || count(Minions, bob) != 1 {
			t.Errorf("V22: ann has %d, bob %d", count(Minions, ann), count(Minions, bob))
		}
		// V25: the minion changes hands.
		m.tank = p.tank(bob)
		p.Until(5*time.Second, "ann has it, bob has not", func() bool { return count(Minions, ann) == 1 && count(Minions, bob) == 0 })
		if n := count(Minions, cid); n != 1 {
			t.Errorf("cid has %d", n)
		}
		// V7: its owner becomes unknown: nobody loses it, bob does not get it, who comes now does not either.
		m.tank = nil
		dan := p.Join("dan", throng.Config{})
		dan.SetViewpoints(throng.Vec3{})
		p.Run(8 * time.Second)
		if count(Minions, ann) != 1 || count(Minions, bob) != 0 || count(Minions, cid) != 1 || count(Minions, dan) != 0 {
			t.Errorf("V7: %d %d %d %d", count(Minions, ann), count(Minions, bob), count(Minions, cid), count(Minions, dan))
		}
		m.tank = p.tank(bob)
		p.Until(5*time.Second, "dan sees it", see(dan, 1))
		p.Restart()
		p.Run(40 * time.Second)
		if count(Minions, ann) != 1 || count(Minions, bob) != 0 || count(Minions, dan) != 1 || one(t, Minions, dan).HP != 5 {
			t.Errorf("after a restart: %d %d %d", count(Minions, ann), count(Minions, bob), count(Minions, dan))
		}
		r, ok := p.s.Explain(bob.Self(), m)
		if !ok || r.Shows || r.Reason == "" || r.Owner != bob.Self() || r.OwnerHow != "resolved" || r.Class != "minion" || r.Actor != m.NetID() {
			t.Errorf("explained as %v", r)
		}
		for _, r := range records {
			if !r.Shows && r.Reason == "" { // I9
				t.Errorf("a no without a reason: %v", r)
			}
		}
	})
}

// B-111, V5: an actor whose owner is unknown raises an alarm after two seconds.
func TestB111AlarmForAnUnknownOwner(t *testing.T) {
	alarms := 0
	play(t, authority.Config{OnAlarm: func(_ *authority.Server, _ throng.Object, why string) { alarms++ }}, func(t *testing.T, p *stage) {
		ann, _ := p.player("ann", 0)
		m := &Minion{tank: p.tank(ann)}
		must(t, p.s.Spawn(m))
		must(t, p.s.Publish(m))
		p.Run(3 * time.Second)
		m.tank = nil
		p.Run(1500 * time.Millisecond)
		if alarms != 0 {
			t.Error("an alarm before two seconds were over")
		}
		p.Run(2 * time.Second)
		if alarms != 1 {
			t.Errorf("%d alarms", alarms)
		}
	})
}

func TestB110WritesStandThroughARestart(t *testing.T) {
	play(t, authority.Config{}, func(t *testing.T, p *stage) {
		ann, mine := p.player("ann", 0)
		theirs := p.tank(ann)
		theirs.HP, theirs.Pos.X = 70, 3
		must(t, p.s.Write(theirs, &theirs.HP, &theirs.Pos))
		p.Until(time.Second, "ann's tank has it", func() bool { return mine.HP == 70 && mine.Pos.X == 3 })
		mine.Pos.X = 4 // a correction of what is ann's is one
		p.Restart()
		p.Run(40 * time.Second)
		if mine.HP != 70 || mine.Pos.X != 4 || p.tank(ann).HP != 70 || p.tank(ann).Pos.X != 4 {
			t.Errorf("after a restart ann has %v, the server %v", mine, p.tank(ann))
		}
	})
}

// B-118: persist fields are loaded before an actor is published, and committed within the bound.
func TestB118PersistentActors(t *testing.T) {
	st := store.NewMemory()
	var lost []error
	cfg := authority.Config{Store: st, Behind: 500 * time.Millisecond, OnLost: func(_ *authority.Server, _ throng.Object, err error) { lost = append(lost, err) }}
	play(t, cfg, func(t *testing.T, p *stage) {
		ann, _ := p.player("ann", 0)
		c := &Chest{}
		must(t, p.s.Spawn(c, authority.Ownerless(), authority.Persistent("hall")))
		p.Until(time.Second, "ann sees the chest", func() bool { return count(Chests, ann) == 1 })
		c.Gold = 12
		p.Run(700 * time.Millisecond)
		if rs, err := st.Get(t.Context(), "test/chest/hall"); err != nil || rs[0].Version == 0 {
			t.Fatalf("after the bound nothing is stored: %v", err)
		}
		if err := p.s.Spawn(&Chest{}, authority.Ownerless(), authority.Persistent("hall")); err == nil {
			t.Error("two actors are kept as one")
		}
		if err := p.s.Spawn(&Minion{}, authority.Persistent("x")); err == nil {
			t.Error("kept what has nothing to keep")
		}
		must(t, p.s.Destroy(c))
		again := &Chest{Gold: 1}
		must(t, p.s.Spawn(again, authority.Ownerless(), authority.Persistent("hall")))
		if p.s.Life(again) != authority.Staged {
			t.Error("published before it was loaded")
		}
		p.Until(time.Second, "ann sees it with what was in it", func() bool { return count(Chests, ann) == 1 && one(t, Chests, ann).Gold == 12 })

		// Another authority believes that it owns the chest too: the second to write is told and shows it to nobody any more.
		rival := p.authority("rival", cfg)
		twin := &Chest{}
		must(t, rival.Spawn(twin, authority.Ownerless(), authority.Persistent("hall")))
		p.Until(time.Second, "there are two", func() bool { return count(Chests, ann) == 2 })
		twin.Gold = 50
		p.Run(time.Second)
		again.Gold = 13
		p.Run(2 * time.Second)
		if len(lost) != 1 || p.s.Life(again) != authority.Withdrawn || count(Chests, ann) != 1 || one(t, Chests, ann).Gold != 50 {
			t.Errorf("lost %v, the first is %v, ann sees %d", lost, p.s.Life(again), count(Chests, ann))
		}
	})
	if rs, _ := st.Get(context.Background(), "test/chest/hall"); len(rs[0].Value) == 0 {
		t.Error("nothing is left in the store")
	}
}
