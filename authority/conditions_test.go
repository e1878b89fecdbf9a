package authority_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/throng-dev/throng"
	"github.com/throng-dev/throng/authority"
	"github.com/throng-dev/throng/throngtest"
)

// Chart has a field for each condition that there is.
type Chart struct {
	throng.Entity
	None  int32 `rep:""`
	Owner int32 `rep:"owner"`
	Init  int32 `rep:"init"`
	Auth  int32 `rep:"auth"`
}

var (
	Charts    = throng.NewClass[Chart]("chart", throng.ClassConfig{})
	Cartology = throng.MustSchema(Charts)
)

// L14: which field reaches whom, with the first bunch and after it. The rows of the reference table that exist here: None is a plain
// field, OwnerOnly is owner, InitialOnly is init. SkipOwner and Never are verdicts about the actor; the others depend on roles, physics and
// replays that there are none of.
func TestL14ConditionsOfFields(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &stage{Net: throngtest.New(t, Cartology), t: t}
		p.s = p.authorityOf(Cartology, "server", authority.Config{Rules: []authority.Rule{authority.For(Charts, authority.Rules[Chart]{
			Relevant: func(*authority.Viewer, *Chart) authority.Verdict { return authority.Relevant("all") },
		})}}, nil)
		ann, bob := p.Join("ann", throng.Config{}), p.Join("bob", throng.Config{})
		c := &Chart{None: 1, Owner: 1, Init: 1, Auth: 1}
		must(t, p.s.Spawn(c, authority.Ownerless()))
		p.Until(time.Second, "both have it", func() bool { return count(Charts, ann)+count(Charts, bob) == 2 })
		must(t, p.s.World().Grant(c, ann.Self())) // ann's session owns it now
		p.Until(time.Second, "ann owns it", func() bool { return one(t, Charts, ann).Owner == 1 })
		cid := p.Join("cid", throng.Config{}) // whose first bunch comes after the hand-over
		p.Until(time.Second, "cid has it", func() bool { return count(Charts, cid) == 1 })
		type row struct{ none, owner, init, auth int32 }
		of := func(w *throng.World) row { e := one(t, Charts, w); return row{e.None, e.Owner, e.Init, e.Auth} }
		for _, x := range []struct {
			who  string
			w    *throng.World
			want row
		}{{"the owner", ann, row{1, 1, 1, 1}}, {"another", bob, row{1, 0, 1, 1}}, {"a late joiner", cid, row{1, 0, 1, 1}}} {
			if got := of(x.w); got != x.want {
				t.Errorf("first: %s has %v, want %v", x.who, got, x.want)
			}
		}
		// After it: the server writes what is its own, the owner's client the rest. An init field is never sent again.
		theirs := one(t, Charts, ann)
		theirs.None, theirs.Owner, theirs.Init = 2, 2, 2
		c.Auth = 2
		must(t, p.s.Write(c, &c.Auth))
		p.Run(2 * time.Second)
		for _, x := range []struct {
			who  string
			w    *throng.World
			want row
		}{{"another", bob, row{2, 0, 1, 2}}, {"a late joiner", cid, row{2, 0, 1, 2}}} {
			if got := of(x.w); got != x.want {
				t.Errorf("later: %s has %v, want %v", x.who, got, x.want)
			}
		}
		if theirs.Auth != 2 {
			t.Errorf("later: the owner has %d of the server's field", theirs.Auth)
		}
		// The owner changes: a secret is not sent to the old one any more, and the new one has it before its first change.
		must(t, ann.Grant(theirs, bob.Self()))
		p.Until(time.Second, "bob has the secret", func() bool { return one(t, Charts, bob).Owner == 2 })
		one(t, Charts, bob).Owner = 3
		p.Run(2 * time.Second)
		if theirs.Owner != 0 || one(t, Charts, cid).Owner != 0 {
			t.Errorf("the old owner has %d, a third %d", theirs.Owner, one(t, Charts, cid).Owner)
		}
	})
}
