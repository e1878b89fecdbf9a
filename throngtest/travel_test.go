package throngtest_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/throng-dev/throng"
	"github.com/throng-dev/throng/relay"
	"github.com/throng-dev/throng/throngtest"
	"github.com/throng-dev/throng/token"
	"github.com/throng-dev/throng/transport"
)

// states notes the phases of a connection.
type states struct {
	phases []throng.Phase
	errs   []error
}

func (s *states) hook(_ *throng.World, c throng.ConnState) {
	s.phases = append(s.phases, c.Phase)
	s.errs = append(s.errs, c.Err)
}

// a client goes on to another world on its session. All it held leaves as Traveled, inside Tick and before the new world is told
// of; what it wrote in the Tick of the call has left; nothing of the old world is in the new one, nor comes back.
func TestR03Travel(t *testing.T) {
	play(t, func(t *testing.T, n *throngtest.Net) {
		var d diary
		var st states
		stay := n.Join("stay", throng.Config{})
		carrier := &tap{Dialer: n.Dialer("go")}
		cfg := throng.Config{Dialer: carrier, Hooks: []throng.Hook{d.watch()}, OnState: func(w *throng.World, c throng.ConnState) {
			st.hook(w, c)
			d.note("state %v", c.Phase)
		}}
		goes := n.Join("go", cfg)
		there := n.Join("there", throng.Config{World: "castle"})
		everywhere(stay, goes, there)
		mine, its, door := full("mine"), full("its"), full("door")
		must(t, goes.Spawn(mine))
		must(t, stay.Spawn(its))
		must(t, goes.Place("door", door)) // the same name in both worlds
		doorThere := full("door there")
		doorThere.Text = "castle"
		must(t, there.Place("door", doorThere))
		chest := full("chest")
		must(t, there.Spawn(chest))
		n.Until(time.Second, "seen", func() bool { return sees(mine, stay)() && sees(its, goes)() })
		d.clear()
		bequest := &Shared{} // goes to the host
		must(t, goes.Spawn(bequest))
		n.Run(300 * time.Millisecond)
		d.clear()
		n.Step(goes, func() {
			if len(st.phases) == 1 {
				bequest.N = 77
				must(t, goes.Travel("castle"))
				if err := goes.Spawn(&Thing{}); !errors.Is(err, throng.ErrNotLive) {
					t.Errorf("spawning on the way: %v", err)
				}
				if err := goes.Travel("moon"); !errors.Is(err, throng.ErrNotLive) {
					t.Errorf("traveling on the way: %v", err)
				}
			}
		})
		n.Run(50 * time.Millisecond)
		n.Step(goes, nil)
		n.Until(time.Second, "it has left", gone(mine.NetID(), stay))
		if b := find[Shared](stay, bequest.NetID()); b == nil || b.N != 77 || !stay.Drives(b) {
			t.Errorf("what was written in the Tick of the call: %+v", b)
		}
		everywhere(goes)
		n.Until(time.Second, "it sees the castle", sees(chest, goes))
		if len(carrier.up) == 0 || carrier.dials != 1 {
			t.Errorf("%d connections", carrier.dials)
		}
		left := 0
		for i, l := range d.lines {
			switch {
			case l == "state live" && left != 3:
				t.Errorf("line %d: live before all had left: %q", i, d.lines)
			case l == "destroy mine: traveled local=false", l == "destroy its: traveled local=false", l == "destroy door: traveled local=false":
				left++
			}
		}
		if left != 3 || !slices.Equal(st.phases, []throng.Phase{throng.Live, throng.Traveling, throng.Live}) {
			t.Errorf("%v\n%q", st.phases, d.lines)
		}
		for _, o := range []*Thing{mine, its, door} {
			if _, ok := goes.Find(o.NetID()); ok && o != door {
				t.Errorf("%s came along", o.Name)
			}
		}
		again := full("door again")
		must(t, goes.Place("door", again))
		n.Until(time.Second, "the castle's door", func() bool { return again.Text == "castle" })
		// And back: a third world epoch.
		mine2 := full("mine2")
		must(t, goes.Spawn(mine2, throng.AsAvatar()))
		n.Run(200 * time.Millisecond)
		must(t, goes.Travel("test"))
		n.Until(time.Second, "back", sees(its, goes))
		if err := goes.Spawn(mine2, throng.AsAvatar()); err != nil { // the struct is free again
			t.Error(err)
		}
		n.Until(time.Second, "seen again", sees(mine2, stay))
		if n.Server(); find[Thing](there, mine2.NetID()) != nil {
			t.Error("still in the castle")
		}
		players := 0
		for range goes.Players() {
			players++
		}
		if players != 2 {
			t.Errorf("%d players", players)
		}
	})
}

// B-080: seniority is the realm's: a party that travels keeps its host, whoever of it arrives first.
func TestB080SeniorityTravels(t *testing.T) {
	play(t, func(t *testing.T, n *throngtest.Net) {
		var told []string
		a := n.Join("a", throng.Config{})
		b := n.Join("b", throng.Config{OnHost: func(w *throng.World, was throng.PlayerID) {
			h, _ := w.Host()
			told = append(told, fmt.Sprint(was == throngtest.Player("a"), h == throngtest.Player("b")))
		}})
		local := n.Join("local", throng.Config{World: "castle"})
		n.Until(time.Second, "hosts", func() bool { return a.IsHost() && local.IsHost() })
		told = nil
		must(t, b.Travel("castle"))
		n.Until(time.Second, "b, senior to who was there, is host", hosts(b, local))
		if len(told) != 1 || told[0] != "true true" {
			t.Errorf("b was told %v", told)
		}
		told = nil
		must(t, a.Travel("castle"))
		n.Until(time.Second, "a is host again", hosts(a, b, local))
		must(t, a.Travel("moon"))
		must(t, b.Travel("moon"))
		n.Until(time.Second, "on the moon as well", func() bool { return hosts(a, b)() && local.IsHost() })
		n.Run(time.Second)
		if !hosts(a, b)() {
			t.Error("not for long")
		}
	})
}

// a travel that is refused leaves the client where it is and says why.
func TestR03TravelRefused(t *testing.T) {
	play(t, func(t *testing.T, n *throngtest.Net) {
		var st states
		other := n.Join("other", throng.Config{})
		tied := n.Join("tied", throng.Config{OnState: st.hook, TokenSource: func(context.Context) ([]byte, error) {
			return token.Claims{Player: throngtest.Player("tied").Bytes(), Rights: token.Player, World: relay.WorldHash("test"), Issued: time.Now()}.Append(nil), nil
		}})
		everywhere(other, tied)
		thing := full("x")
		must(t, tied.Spawn(thing))
		n.Until(time.Second, "seen", sees(thing, other))
		if err := tied.Travel(""); err == nil {
			t.Error("to no name")
		}
		must(t, tied.Travel("castle"))
		must(t, tied.Destroy(thing)) // on the way: it holds wherever this ends
		n.Until(time.Second, "refused", func() bool { return len(st.phases) == 3 })
		var je *throng.JoinError
		if st.phases[2] != throng.Live || !errors.As(st.errs[2], &je) || je.World != "castle" || je.Text != "the token is for another level" {
			t.Fatalf("%v: %v", st.phases, st.errs)
		}
		n.Until(time.Second, "the destruction was only late", gone(thing.NetID(), other))
		next := full("next")
		must(t, tied.Spawn(next))
		n.Until(time.Second, "life goes on", sees(next, other))
		must(t, other.Travel("unlisted"))
		n.Run(time.Second)
		if find[Thing](other, next.NetID()) == nil {
			t.Error("a world that the relay does not have")
		}
	}, func(c *relay.Config) {
		c.Worlds = map[string]relay.World{"test": {}, "castle": {}}
		c.ListedOnly = true
	})
}

// under loss, doubles and reordering nothing of a world leaks into another: not a value, not a player, not an entity. Worlds
// that were made alike, with the same ids, are where it would show.
func TestR03NothingLeaksUnderLoss(t *testing.T) {
	play(t, func(t *testing.T, n *throngtest.Net) {
		bad := throngtest.Link{Latency: 40 * time.Millisecond, Jitter: 30 * time.Millisecond, Loss: 0.2, Duplicate: 0.1, Reorder: 0.3}
		levels := []string{"test", "red", "blue"}
		var keepers []*throng.World
		var doors []*Shared
		for _, l := range levels {
			w := n.Join("keeper of "+l, throng.Config{World: l})
			everywhere(w)
			door := &Shared{}
			must(t, w.Place("door", door))
			keepers, doors = append(keepers, w), append(doors, door)
		}
		w := n.Join("traveler", throng.Config{})
		everywhere(w)
		n.Shape(w, bad, bad)
		var at int
		count := int32(0)
		for i := range keepers {
			n.Step(keepers[i], func() { // each world's door holds numbers of its own
				count += 3
				doors[i].N = count - count%3 + int32(i)
			})
		}
		var body *Shared
		n.Step(w, func() {
			if body != nil && body.N != 0 && int(body.N%3) != at {
				t.Fatalf("in %s the door says %d", levels[at], body.N)
			}
		})
		for round := range 60 {
			to := (at + 1 + round%2) % 3
			body = nil
			must(t, w.Travel(levels[to]))
			n.Until(20*time.Second, "there", func() bool {
				for p := range w.Players() {
					if p.ID == keepers[to].Self() {
						return true
					}
				}
				return false
			})
			at = to
			body = &Shared{}
			must(t, w.Place("door", body))
			n.Until(20*time.Second, "its door", func() bool { return body.N != 0 })
			n.Run(time.Second + time.Duration(round%7)*50*time.Millisecond) // a travel a second is what the relay grants
			for p := range w.Players() {
				if p.ID != w.Self() && p.ID != keepers[at].Self() {
					t.Fatal("somebody of another world")
				}
			}
		}
		n.Run(time.Second)
		if got := n.Server().Stats(); got.Traveled != 60 {
			t.Errorf("%d travels, %d frames of old epochs", got.Traveled, got.OldEpoch)
		}
	})
}

// B-132: a session that travels without end is told and closed; others keep their rate.
func TestB132TravelFlood(t *testing.T) {
	play(t, func(t *testing.T, n *throngtest.Net) {
		var st states
		ctx := t.Context()
		w, err := throng.Join(ctx, n.Addr(), Game, n.Config("mad", throng.Config{OnState: st.hook}))
		must(t, err)
		defer w.Close()
		other := n.Join("other", throng.Config{})
		refused := 0
		for i := 0; i < 2000 && st.phases[len(st.phases)-1] != throng.Closed; i++ {
			if k := len(st.phases) - 1; st.phases[k] == throng.Live {
				if st.errs[k] != nil {
					refused++
				}
				_ = w.Travel("test")
			}
			n.Run(20 * time.Millisecond)
			_ = w.Tick(nil)
		}
		var je *throng.JoinError
		k := len(st.phases) - 1
		for ; k > 0 && st.phases[k] != throng.Reconnecting; k-- {
		}
		if refused == 0 || !errors.As(st.errs[k], &je) || je.Code != 202 {
			t.Errorf("refused %d times, then %v %v", refused, st.phases[k], st.errs[k])
		}
		if _, known := other.Host(); !known {
			t.Error("another suffers")
		}
	})
}

// holder is a carrier that keeps packets back when it is told to, and lets them go later.
type holder struct {
	transport.Dialer
	hold bool
	held [][]byte
	conn transport.Conn
}

type holding struct {
	transport.Conn
	h *holder
}

func (h *holder) Dial(ctx context.Context, addr string, token []byte) (transport.Conn, error) {
	c, err := h.Dialer.Dial(ctx, addr, token)
	h.conn = c
	return &holding{c, h}, err
}

func (c *holding) Send(bufs [][]byte) error {
	if c.h.hold {
		for _, b := range bufs {
			c.h.held = append(c.h.held, append(transport.NewBuffer()[:0], b...))
		}
		return nil
	}
	return c.Conn.Send(bufs)
}

// a change of the world before that comes very late meets an entity of the new world with the same handle, generation, term and
// driver: it is void all the same.
func TestR03LateDeltasOfTheWorldBefore(t *testing.T) {
	play(t, func(t *testing.T, n *throngtest.Net) {
		h := &holder{Dialer: n.Dialer("go")}
		there, goes := n.Join("there", throng.Config{World: "castle"}), n.Join("go", throng.Config{Dialer: h})
		everywhere(there, goes)
		before := full("before")
		must(t, goes.Spawn(before))
		n.Run(300 * time.Millisecond)
		h.hold = true
		before.Text = "of the world before"
		n.Run(110 * time.Millisecond)
		h.hold = false
		must(t, goes.Travel("castle"))
		n.Run(300 * time.Millisecond)
		after := full("after")
		must(t, goes.Spawn(after))
		n.Until(time.Second, "seen", sees(after, there))
		must(t, h.conn.Send(h.held))
		n.Run(time.Second)
		if !sees(after, there)() {
			t.Errorf("the castle holds %q", find[Thing](there, after.NetID()).Text)
		}
		if got := n.Server().Stats().OldEpoch; len(h.held) == 0 || got == 0 {
			t.Errorf("%d packets held back, %d frames of the world before", len(h.held), got)
		}
	})
}
