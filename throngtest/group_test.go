package throngtest_test

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/throng-dev/throng"
	"github.com/throng-dev/throng/relay"
	"github.com/throng-dev/throng/throngtest"
)

// A Bag is its owner's alone, a Board has no place: it is everybody's, or a group's.
type Bag struct {
	throng.Entity
	Gold int32  `rep:""`
	Text string `rep:"init"`
}

type Board struct {
	throng.Entity
	Score int32  `rep:""`
	Text  string `rep:"init"`
}

var (
	Bags   = throng.NewClass[Bag]("bag", throng.ClassConfig{Audience: throng.OwnerAlone})
	Boards = throng.NewClass[Board]("board", throng.ClassConfig{AutoDiffHosted: true})
	Club   = throng.MustSchema(Things, Bags, Boards)
)

func open() throngtest.Option { return throngtest.World(relay.World{OpenGroups: true}) }

func clubTest(t *testing.T, f func(t *testing.T, n *throngtest.Net), opts ...throngtest.Option) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) { f(t, throngtest.New(t, Club, opts...)) })
}

// what is kept to a group comes to those who are in it, and not one byte that names it to others: seen on the wire.
func TestR31GroupsSeenOnTheWire(t *testing.T) {
	clubTest(t, func(t *testing.T, n *throngtest.Net) {
		var groups []string
		a := n.Join("a", throng.Config{OnGroup: func(w *throng.World, name string, in bool) {
			groups = append(groups, name)
			if !in || !w.Groups().Has(name) {
				t.Errorf("OnGroup(%s, %v)", name, in)
			}
		}})
		tb, tc := &tap{Dialer: n.Dialer("b")}, &tap{Dialer: n.Dialer("c")}
		b := n.Join("b", throng.Config{Dialer: tb})
		c := n.Join("c", throng.Config{Dialer: tc})
		everywhere(a, b, c)
		must(t, a.Groups().Join("red"))
		must(t, b.Groups().Join("red"))
		secret := full("secret of the red")
		must(t, a.Spawn(secret, throng.InGroup("red"))) // at once: the relay hears of both in order
		n.Until(2*time.Second, "b sees it", sees(secret, b))
		secret.Lit, secret.Text = false, "changed"
		n.Until(2*time.Second, "b sees it changed", sees(secret, b))
		id := secret.NetID().Bytes()
		if tc.carried(string(id[:])) || tc.carried("secret of the red") || !tb.carried(string(id[:])) {
			t.Fatal("c was told of it, or b was not")
		}
		if a.Groups().Of(secret) != "red" || len(groups) != 1 {
			t.Errorf("kept to %q; told of %v", a.Groups().Of(secret), groups)
		}

		must(t, a.Groups().Restrict(secret, ""))
		n.Until(2*time.Second, "c sees it", sees(secret, b, c))
		must(t, a.Groups().Restrict(secret, "red"))
		n.Until(2*time.Second, "c sees it no more", gone(secret.NetID(), c))
		n.Until(2*time.Second, "b still does", sees(secret, b))

		must(t, c.Groups().Join("red"))
		n.Until(2*time.Second, "c is in the group", sees(secret, c))
		must(t, b.Groups().Leave("red"))
		n.Until(2*time.Second, "b is out of it", gone(secret.NetID(), b))
	}, open())
}

// what is kept to a group is kept when its driver reconnects, and when the relay restarts: not a moment is it everybody's.
func TestR31GroupsSurviveRestarts(t *testing.T) {
	clubTest(t, func(t *testing.T, n *throngtest.Net) {
		a := n.Join("a", throng.Config{})
		tb := &tap{Dialer: n.Dialer("b")}
		b := n.Join("b", throng.Config{Dialer: tb, TokenSource: guest("b")}) // a is host, whoever comes back first
		everywhere(a, b)
		must(t, a.Groups().Join("red"))
		secret, hosted := full("secret"), full("hosted")
		must(t, a.Spawn(secret, throng.InGroup("red")))
		must(t, a.Spawn(hosted, throng.InGroup("red"), throng.OwnedByHost()))
		n.Run(time.Second)
		for range 2 {
			n.Restart()
			n.Run(20 * time.Second)
			for _, e := range []*Thing{secret, hosted} {
				id := e.NetID().Bytes()
				if tb.carried(string(id[:])) || a.Groups().Of(e) != "red" || !a.Drives(e) {
					t.Fatalf("%s: b was told %v, kept to %q, driven %v", e.Name, tb.carried(string(id[:])), a.Groups().Of(e), a.Drives(e))
				}
			}
		}
	}, open())
}

// The relay decides: nobody joins by itself where it is not said, MayJoin is asked, and its owner's word stands.
func TestGroupsAreTheRelays(t *testing.T) {
	clubTest(t, func(t *testing.T, n *throngtest.Net) {
		answers := map[string]bool{}
		log := &logbook{}
		a := n.Join("a", throng.Config{Logger: log.logger(), OnGroup: func(_ *throng.World, name string, in bool) { answers[name] = in }})
		b := n.Join("b", throng.Config{})
		everywhere(a, b)
		must(t, a.Groups().Join("blue"))
		must(t, a.Groups().Join("vip"))
		early := full("early")
		must(t, a.Spawn(early, throng.InGroup("vip"))) // the relay refuses the group, so it refuses the entity
		n.Run(time.Second)
		if in, told := answers["vip"]; in || !told || !answers["blue"] || log.count("level=WARN") < 2 {
			t.Errorf("answers %v\n%s", answers, log.text())
		}
		if _, ok := b.Find(early.NetID()); ok || early.Role() != throng.RoleNone {
			t.Error("it was spawned for everyone")
		}
		for _, tt := range []struct {
			what string
			err  error
			want error
		}{
			{"keeping to a group that one is not in", a.Spawn(full("x"), throng.InGroup("vip")), throng.ErrNotInGroup},
			{"no name", a.Groups().Join(""), throng.ErrGroupName},
			{"restricting what is not here", a.Groups().Restrict(full("x"), "blue"), throng.ErrForeign},
		} {
			if !errors.Is(tt.err, tt.want) {
				t.Errorf("%s: %v", tt.what, tt.err)
			}
		}
		w := relay.WorldName{Level: "test"}
		must(t, n.Server().SetGroup(w, b.Self().Bytes(), "vip", true))
		must(t, n.Server().SetGroup(w, a.Self().Bytes(), "vip", true))
		n.Run(time.Second)
		if !a.Groups().Has("vip") || !answers["vip"] {
			t.Fatal("the relay's owner put a into the group")
		}
		must(t, a.Groups().Leave("vip"))
		n.Run(time.Second)
		if !a.Groups().Has("vip") {
			t.Error("a left what the relay's owner decided")
		}
		thing := full("thing")
		must(t, a.Spawn(thing, throng.InGroup("vip")))
		n.Until(time.Second, "b sees it", sees(thing, b))
		if err := b.Groups().Restrict(find[Thing](b, thing.NetID()), ""); !errors.Is(err, throng.ErrNotDriver) {
			t.Errorf("restricting what another drives: %v", err)
		}
		must(t, n.Server().SetGroup(w, b.Self().Bytes(), "vip", false))
		n.Until(time.Second, "b sees it no more", gone(thing.NetID(), b))
		if err := n.Server().SetGroup(relay.WorldName{Level: "nowhere"}, b.Self().Bytes(), "vip", true); !errors.Is(err, relay.ErrNoWorld) {
			t.Errorf("a world that is not: %v", err)
		}
		if err := n.Server().SetGroup(w, b.Self().Bytes(), "", true); err == nil {
			t.Error("a group without a name")
		}
	}, func(c *relay.Config) {
		c.MayJoin = func(_ relay.WorldName, _ [16]byte, group string) bool { return group == "blue" }
	})
}

// an entity without a position is in reach of every session of the world, wherever it looks from or if it looks from nowhere; one
// that is its owner's alone in nobody else's, and goes with the ownership; one of a group is the group's.
func TestR37GlobalClasses(t *testing.T) {
	clubTest(t, func(t *testing.T, n *throngtest.Net) {
		a := n.Join("a", throng.Config{})
		tb := &tap{Dialer: n.Dialer("b")}
		b := n.Join("b", throng.Config{Dialer: tb})
		c := n.Join("c", throng.Config{})
		b.SetViewpoints(throng.Vec3{X: 1e6})
		board := &Board{Score: 3}
		must(t, a.Spawn(board, throng.OwnedByHost()))
		bag := &Bag{Gold: 7, Text: "the bag of a"}
		must(t, a.Spawn(bag))
		must(t, a.Groups().Join("red"))
		must(t, c.Groups().Join("red"))
		team := &Board{Score: 1, Text: "of the red"}
		must(t, a.Spawn(team, throng.InGroup("red")))
		has := func(w *throng.World, id throng.NetID) bool { _, ok := w.Find(id); return ok }
		n.Until(2*time.Second, "boards are where they belong", func() bool {
			return has(b, board.NetID()) && has(c, board.NetID()) && has(c, team.NetID())
		})
		bag.Gold, team.Score = 8, 2
		n.Run(time.Second)
		for _, id := range []throng.NetID{bag.NetID(), team.NetID()} {
			raw := id.Bytes()
			if has(b, id) || tb.carried(string(raw[:])) {
				t.Error("b was told of what is not its own")
			}
		}
		if has(c, bag.NetID()) || !a.Drives(bag) {
			t.Error("the bag is a's alone")
		}
		if err := a.Groups().Restrict(bag, "red"); !errors.Is(err, throng.ErrOwnerAlone) {
			t.Errorf("an OwnerAlone entity of a group: %v", err)
		}
		must(t, a.Grant(bag, b.Self()))
		n.Until(2*time.Second, "b has the bag", func() bool {
			o, ok := b.Find(bag.NetID())
			return ok && b.Drives(o) && o.(*Bag).Gold == 8 && o.(*Bag).Text == "the bag of a"
		})
		n.Until(2*time.Second, "a has it no more", gone(bag.NetID(), a, c))
	}, open())
}
