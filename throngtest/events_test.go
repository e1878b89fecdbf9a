package throngtest_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/throng-dev/throng"
	"github.com/throng-dev/throng/throngtest"
	"github.com/throng-dev/throng/token"
)

// Say is the payload of the tests: something of each shape.
type Say struct {
	N     int32
	Text  string
	Names []string
	Marks map[throng.NetID]uint8
	Tags  map[string]struct{}
	At    throng.Vec3Quantize10
}

var (
	Calls  = throng.NewEvent[Say]("call", throng.EventConfig{Reliable: true})
	Quick  = throng.NewEvent[Say]("quick", throng.EventConfig{})
	Whisps = throng.NewEvent[int32]("whisper", throng.EventConfig{Reliable: true, OthersOnly: true})
	Bare   = throng.NewEvent[struct{}]("bare", throng.EventConfig{Reliable: true})
	Talk   = throng.MustSchema(Things, Guardeds, Shareds, Ghosts, Calls, Quick, Whisps, Bare)
)

// talk is play with events.
func talk(t *testing.T, f func(t *testing.T, n *throngtest.Net), opts ...throngtest.Option) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) { f(t, throngtest.New(t, Talk, opts...)) })
}

// ear notes what a client hears.
type ear struct {
	diary
	calls []throng.EventInfo
	said  []Say
}

func (e *ear) hooks() throng.Config {
	return throng.Config{Hooks: []throng.Hook{
		Calls.Handle(func(i throng.EventInfo, v Say) {
			e.calls, e.said = append(e.calls, i), append(e.said, v)
			e.note("call %d", v.N)
		}),
		Quick.Handle(func(i throng.EventInfo, v Say) {
			e.calls, e.said = append(e.calls, i), append(e.said, v)
			e.note("quick %d", v.N)
		}),
		Whisps.Handle(func(i throng.EventInfo, v int32) { e.note("whisper %d", v) }),
		Bare.Handle(func(i throng.EventInfo, _ struct{}) { e.note("bare %v", i.Direct) }),
	}}
}

func (e *ear) has(lines ...string) func() bool {
	return func() bool { return slices.Equal(e.lines, lines) }
}

// TestB100EventsOfAnyShape: each recipient hears what was sent, of any shape, with who sent it and what it is about.
func TestB100EventsOfAnyShape(t *testing.T) {
	talk(t, func(t *testing.T, n *throngtest.Net) {
		var ea, eb ear
		a, b := n.Join("a", ea.hooks()), n.Join("b", eb.hooks())
		everywhere(a, b)
		thing := full("lamp")
		must(t, a.Spawn(thing))
		n.Until(time.Second, "b sees it", sees(thing, b))
		said := Say{N: 7, Text: "hé", Names: []string{"x", "", "z"}, Marks: map[throng.NetID]uint8{thing.NetID(): 3, throng.StableID("q"): 4},
			Tags: map[string]struct{}{"t": {}}, At: throng.Vec3Quantize10{X: 0.1, Y: -2, Z: 3e5}}
		for _, e := range []*throng.Event[Say]{Calls, Quick} {
			ea, eb = ear{}, ear{}
			must(t, e.ToReach(a, thing, said))
			if len(ea.calls) != 1 || !ea.calls[0].Local || ea.calls[0].Entity != throng.Object(thing) {
				t.Fatalf("the sender is in reach: it hears %+v before the call returns", ea.calls)
			}
			n.Until(time.Second, "b hears it", func() bool { return len(eb.calls) == 1 })
			i := eb.calls[0]
			there, _ := b.Find(thing.NetID())
			if i.World != b || i.From != throngtest.Player("a") || i.Entity != there || i.ID != thing.NetID() || i.Local || i.Direct || !i.FromHost || i.FromAuthority || i.Gone != 0 {
				t.Errorf("%+v", i)
			}
			if got, want := fmt.Sprint(eb.said[0]), fmt.Sprint(said); got != want || fmt.Sprint(ea.said[0]) != want {
				t.Errorf("%s, want %s", got, want)
			}
			if i.Age < 0 || i.Age > 100*time.Millisecond {
				t.Errorf("it is said to be %v old", i.Age)
			}
			n.Run(time.Second)
			if len(ea.calls) != 1 || len(eb.calls) != 1 {
				t.Errorf("heard %d and %d times", len(ea.calls), len(eb.calls))
			}
		}
	})
}

// privileged marks tokens as made with the authority key, in the way of memnet.
func privileged(source func(context.Context) ([]byte, error)) func(context.Context) ([]byte, error) {
	return func(ctx context.Context) ([]byte, error) {
		b, err := source(ctx)
		return append(b, 1), err
	}
}

// TestB100Recipients: reach, world, owner, host, player, authority.
func TestB100Recipients(t *testing.T) {
	talk(t, func(t *testing.T, n *throngtest.Net) {
		ears := map[string]*ear{}
		join := func(name string, rights token.Rights) *throng.World {
			ears[name] = &ear{}
			cfg := ears[name].hooks()
			cfg.TokenSource = tokens(name, rights)
			if rights.Has(token.Authority) {
				cfg.TokenSource = privileged(tokens(name, rights))
			}
			return n.Join(name, cfg)
		}
		player := token.Player | token.HostEligible
		host, near, far := join("host", player), join("near", token.Player), join("far", token.Player)
		auth, looker := join("auth", token.Player|token.Authority), join("looker", token.Observer)
		everywhere(host, near, auth, looker)
		far.SetViewpoints(throng.Vec3{X: 1e6})
		thing := full("lamp")
		must(t, near.Spawn(thing))
		hosted := full("hosted")
		must(t, near.Spawn(hosted, throng.OwnedByHost()))
		n.Until(time.Second, "seen", sees(thing, host, auth, looker))
		n.Run(time.Second)
		hosts, _ := near.Find(hosted.NetID())
		ownedByNear, _ := host.Find(thing.NetID())
		for what, tc := range map[string]struct {
			send func() error
			want string
		}{
			"reach":         {func() error { return Calls.ToReach(near, thing, Say{N: 1}) }, "auth host looker near"},
			"world":         {func() error { return Calls.ToWorld(near, Say{N: 1}) }, "auth far host looker near"},
			"world about":   {func() error { return Calls.ToWorld(near, Say{N: 1}, thing) }, "auth far host looker near"},
			"owner":         {func() error { return Calls.ToOwner(host, ownedByNear, Say{N: 1}) }, "near"},
			"owner is me":   {func() error { return Calls.ToOwner(near, thing, Say{N: 1}) }, "near"},
			"host":          {func() error { return Calls.ToHost(near, Say{N: 1}, hosts) }, "host"},
			"host is me":    {func() error { return Calls.ToHost(host, Say{N: 1}) }, "host"},
			"player":        {func() error { return Calls.ToPlayer(near, throngtest.Player("far"), Say{N: 1}, thing) }, "far"},
			"player is me":  {func() error { return Calls.ToPlayer(near, throngtest.Player("near"), Say{N: 1}) }, "near"},
			"authority":     {func() error { return Calls.ToAuthority(near, Say{N: 1}) }, "auth"},
			"once to reach": {func() error { return Quick.ToReach(near, thing, Say{N: 1}) }, "auth host looker near"},
			"once to world": {func() error { return Quick.ToWorld(near, Say{N: 1}) }, "auth far host looker near"},
		} {
			for _, e := range ears {
				*e = ear{}
			}
			must(t, tc.send())
			n.Run(time.Second)
			var heard []string
			for name, e := range ears {
				if len(e.calls) > 0 {
					heard = append(heard, name)
				}
				if len(e.calls) > 1 {
					t.Errorf("%s: %s heard it %d times", what, name, len(e.calls))
				}
			}
			slices.Sort(heard)
			if got := fmt.Sprint(heard); got != "["+tc.want+"]" {
				t.Errorf("%s: heard by %s, want %s", what, got, tc.want)
			}
		}
		if i := ears["far"]; true {
			*i = ear{}
			must(t, Calls.ToPlayer(near, throngtest.Player("far"), Say{}, thing))
			n.Until(time.Second, "far hears", func() bool { return len(i.calls) == 1 })
			if x := i.calls[0]; x.Entity != nil || x.ID != thing.NetID() || x.Gone != throng.OutOfReach || !x.Direct {
				t.Errorf("what is out of reach is unresolved: %+v", x)
			}
		}
		*ears["near"], *ears["host"] = ear{}, ear{}
		must(t, Whisps.ToWorld(near, 1))
		n.Until(time.Second, "host hears", ears["host"].has("whisper 1"))
		ears["near"].want(t)
	})
}

// TestB102SendingToNobody is an error at the call; what only the relay can know is told. P100: so is a kind of event that is not in the
// schema, instead of an event that nobody takes.
func TestB102SendingToNobody(t *testing.T) {
	talk(t, func(t *testing.T, n *throngtest.Net) {
		var lost []throng.Undelivered
		cfg := throng.Config{TokenSource: guest("a"), OnUndelivered: func(_ *throng.World, u throng.Undelivered) { lost = append(lost, u) }}
		a := n.Join("a", cfg)
		everywhere(a)
		n.Run(2 * time.Second)
		placed := full("placed")
		must(t, a.Place("placed", placed))
		for what, tc := range map[string]struct {
			err, want error
		}{
			"no host":       {Calls.ToHost(a, Say{}), throng.ErrNoHost},
			"no owner":      {Calls.ToOwner(a, placed, Say{}), throng.ErrNoOwner},
			"no player":     {Calls.ToPlayer(a, throngtest.Player("nobody"), Say{}), throng.ErrNoPlayer},
			"zero player":   {Calls.ToPlayer(a, throng.PlayerID{}, Say{}), throng.ErrNoPlayer},
			"foreign":       {Calls.ToReach(a, full("foreign"), Say{}), throng.ErrForeign},
			"nil":           {Calls.ToReach(a, nil, Say{}), throng.ErrForeign},
			"two":           {Calls.ToWorld(a, Say{}, placed, placed), throng.ErrAbout},
			"schema":        {throng.NewEvent[int8]("other", throng.EventConfig{}).ToWorld(a, 1), throng.ErrEvent},
			"too large":     {Quick.ToWorld(a, Say{Text: string(make([]byte, 901))}), throng.ErrTooLarge},
			"no authority":  {Calls.ToAuthority(a, Say{}), throng.ErrNoAuthority},
			"nobody around": {Calls.ToWorld(a, Say{}), nil},
		} {
			if !errors.Is(tc.err, tc.want) {
				t.Errorf("%s: %v, want %v", what, tc.err, tc.want)
			}
		}
		b := n.Join("b", hooks())
		n.Run(time.Second)
		n.Leave(b)
		must(t, Calls.ToPlayer(a, throngtest.Player("b"), Say{}, placed)) // a does not know yet
		n.Until(time.Second, "told", func() bool { return len(lost) == 1 })
		if u := lost[0]; u.Event != "call" || u.Why != throng.UndeliveredNobody || u.About != placed.NetID() {
			t.Errorf("%+v", u)
		}
		a.Close()
		if err := Calls.ToWorld(a, Say{}); !errors.Is(err, throng.ErrClosed) {
			t.Error(err)
		}
	})
}
