package throngtest_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/throng-dev/throng"
	"github.com/throng-dev/throng/throngtest"
)

// hosts reports that all agree on who is host.
func hosts(host *throng.World, ws ...*throng.World) func() bool {
	return func() bool {
		for _, w := range append(ws, host) {
			if h, known := w.Host(); !known || h != host.Self() || w.IsHost() != (w == host) {
				return false
			}
		}
		return true
	}
}

// The host is who joined the realm first; when it leaves, the next goes on from the last values (B-080, B-082).
func TestHostBySeniority(t *testing.T) {
	play(t, func(t *testing.T, n *throngtest.Net) {
		var ws []*throng.World
		var doors []*Thing
		for i := range 4 {
			w := n.Join(fmt.Sprint("player", i), throng.Config{})
			everywhere(w)
			door := full("door")
			must(t, w.Place("door", door))
			ws, doors = append(ws, w), append(doors, door)
			n.Run(200 * time.Millisecond)
		}
		id := doors[0].NetID()
		for i := range 3 {
			n.Until(time.Second, "the senior is host", hosts(ws[i], ws[i+1:]...))
			n.Until(time.Second, "it drives alone", func() bool { return ws[i].Drives(doors[i]) && drivers(id, ws[i:]...) == 1 })
			if doors[i].Text != "text" && doors[i].Text != fmt.Sprint("by host ", i-1) {
				t.Errorf("host %d starts from %q", i, doors[i].Text)
			}
			doors[i].Text = fmt.Sprint("by host ", i)
			must(t, ws[i].MarkDirty(doors[i]))
			n.Until(time.Second, "all follow", sees(doors[i], ws[i:]...))
			if i%2 == 0 {
				n.Leave(ws[i])
			} else { // it is cut off instead; after the silence clock the next takes over
				n.Partition(ws[i], true)
				n.Forget(ws[i])
				n.Run(5500 * time.Millisecond)
			}
		}
		n.Until(time.Second, "the last is host", func() bool { return ws[3].IsHost() && ws[3].Drives(doors[3]) })
		if doors[3].Text != "by host 2" {
			t.Errorf("it starts from %q", doors[3].Text)
		}
	})
}

// A senior that comes back takes over, and at no tick do two drive (B-080, B-082).
func TestSeniorTakesOver(t *testing.T) {
	play(t, func(t *testing.T, n *throngtest.Net) {
		names := []string{"senior", "second", "third"}
		ws, doors := make([]*throng.World, 3), make([]*Thing, 3)
		join := func(i int) {
			ws[i] = n.Join(names[i], throng.Config{})
			everywhere(ws[i])
			doors[i] = full("door")
			must(t, ws[i].Place("door", doors[i]))
		}
		for i := range names {
			join(i)
		}
		id := throng.StableID("door")
		n.Until(time.Second, "senior drives", func() bool { return ws[0].IsHost() && ws[0].Drives(doors[0]) })
		n.Leave(ws[0])
		n.Until(time.Second, "second drives", func() bool { return ws[1].IsHost() && ws[1].Drives(doors[1]) })
		doors[1].Text = "by second"
		must(t, ws[1].MarkDirty(doors[1]))
		n.Run(time.Second)
		join(0) // within the time its seniority is kept
		n.Until(2*time.Second, "senior drives again", func() bool {
			if d := drivers(id, ws...); d > 1 {
				t.Fatalf("%d drive", d)
			}
			return ws[0].IsHost() && ws[0].Drives(doors[0])
		})
		if doors[0].Text != "by second" {
			t.Errorf("it starts from %q", doors[0].Text)
		}
		n.Until(time.Second, "all agree", hosts(ws[0], ws[1:]...))
	})
}

// OnHost runs first, then Drives holds (B-081), also where the news comes between two packets.
func TestOnHostBeforeDrives(t *testing.T) {
	play(t, func(t *testing.T, n *throngtest.Net) {
		var told []string
		a := n.Join("a", throng.Config{})
		everywhere(a)
		one, two := full("door"), full("door")
		must(t, a.Place("door", one))
		var b *throng.World
		b = n.Join("b", throng.Config{
			OnHost: func(w *throng.World, was throng.PlayerID) {
				told = append(told, fmt.Sprintf("host self=%v was a=%v drives=%v", w.IsHost(), was == throngtest.Player("a"), b != nil && w.Drives(two)))
			},
			Hooks: []throng.Hook{Things.Bind(throng.Hooks[Thing]{OnSpawn: func(w *throng.World, e *Thing, local bool) {
				if h, known := w.Host(); !known || h != throngtest.Player("a") {
					t.Errorf("at OnSpawn the host is %v, %v", h, known)
				}
			}})},
		})
		everywhere(b)
		must(t, b.Place("door", two))
		n.Run(time.Second)
		n.Step(b, func() {
			if b.Drives(two) && !b.IsHost() {
				t.Error("drives before it is host")
			}
		})
		n.Leave(a)
		n.Until(time.Second, "b drives", func() bool { return b.Drives(two) })
		want := []string{"host self=false was a=false drives=false", "host self=true was a=true drives=false"}
		if fmt.Sprint(told) != fmt.Sprint(want) {
			t.Errorf("OnHost told %q, want %q", told, want)
		}
	})
}

// The same where the news of the host and the drive come while a hook runs that is slow.
func TestOnHostBeforeDrivesWhateverComesWhen(t *testing.T) {
	play(t, func(t *testing.T, n *throngtest.Net) {
		a := n.Join("a", throng.Config{})
		one, two := full("door"), full("door")
		must(t, a.Place("door", one))
		armed, told := false, false
		b := n.Join("b", throng.Config{
			OnHost: func(w *throng.World, was throng.PlayerID) {
				if told = w.IsHost(); told && w.Drives(two) {
					t.Error("drives before OnHost")
				}
			},
			OnPlayer: func(w *throng.World, p throng.PlayerInfo, present bool) {
				if armed {
					armed = false
					n.Leave(a)
					<-time.After(time.Second)
				}
			}})
		everywhere(b)
		must(t, b.Place("door", two))
		n.Run(time.Second)
		armed = true
		n.Step(b, func() {
			if b.Drives(two) && !told {
				t.Error("drives without OnHost")
			}
		})
		n.Join("c", throng.Config{})
		n.Until(2*time.Second, "b drives", func() bool { return b.Drives(two) })
	})
}

// Without an eligible session nobody is host: host-owned entities hold still, OnHost says none, spawning for it is an error (B-080).
func TestNoHost(t *testing.T) {
	play(t, func(t *testing.T, n *throngtest.Net) {
		var was []throng.PlayerID
		a := n.Join("a", throng.Config{})
		b := n.Join("b", throng.Config{TokenSource: guest("b"), OnHost: func(w *throng.World, p throng.PlayerID) { was = append(was, p) }})
		everywhere(a, b)
		one, two := full("door"), full("door")
		must(t, a.Place("door", one))
		must(t, b.Place("door", two))
		n.Until(time.Second, "a drives", func() bool { return a.Drives(one) })
		id := one.NetID()
		n.Leave(a)
		n.Run(2 * time.Second)
		if h, known := b.Host(); !known || !h.IsZero() || b.IsHost() {
			t.Errorf("the host is %v, %v", h, known)
		}
		if len(was) != 2 || was[1] != a.Self() {
			t.Errorf("OnHost told %v", was)
		}
		if drivers(id, b) != 0 || two.Role() != throng.RoleHost {
			t.Errorf("b drives %v, role %v", b.Drives(two), two.Role())
		}
		if err := b.Spawn(full("x"), throng.OwnedByHost()); !errors.Is(err, throng.ErrNoHost) {
			t.Errorf("OwnedByHost: %v", err)
		}
		c := n.Join("c", throng.Config{})
		everywhere(c)
		three := full("door")
		must(t, c.Place("door", three))
		n.Until(time.Second, "c drives", func() bool { return c.IsHost() && c.Drives(three) })
	})
}

// A stutter does not cost the role (B-080, R-26).
func TestStutterKeepsTheHost(t *testing.T) {
	play(t, func(t *testing.T, n *throngtest.Net) {
		changes := 0
		a := n.Join("a", throng.Config{})
		b := n.Join("b", throng.Config{OnHost: func(*throng.World, throng.PlayerID) { changes++ }})
		for range 5 {
			n.Partition(a, true)
			n.Run(4 * time.Second)
			n.Partition(a, false)
			n.Run(2 * time.Second)
		}
		if changes != 1 || !a.IsHost() || b.IsHost() {
			t.Errorf("%d changes of the host", changes)
		}
	})
}

// Players come and go (World.Players, OnPlayer).
func TestPlayers(t *testing.T) {
	play(t, func(t *testing.T, n *throngtest.Net) {
		var told []string
		name := map[throng.PlayerID]string{}
		for _, p := range []string{"a", "b", "guest"} {
			name[throngtest.Player(p)] = p
		}
		a := n.Join("a", throng.Config{OnPlayer: func(w *throng.World, p throng.PlayerInfo, present bool) {
			told = append(told, fmt.Sprint(name[p.ID], " ", p.Eligible, " ", present))
		}})
		b := n.Join("b", throng.Config{})
		n.Run(100 * time.Millisecond)
		g := n.Join("guest", throng.Config{TokenSource: guest("guest")})
		n.Run(time.Second)
		for _, w := range []*throng.World{a, b, g} {
			count := 0
			for p := range w.Players() {
				count++
				if p.Eligible != (name[p.ID] != "guest") {
					t.Errorf("%s: eligible %v", name[p.ID], p.Eligible)
				}
			}
			if count != 3 {
				t.Errorf("%d players", count)
			}
		}
		n.Leave(g)
		n.Run(time.Second)
		if want := "[b true true guest false true guest false false]"; fmt.Sprint(told) != want {
			t.Errorf("OnPlayer told %v, want %v", told, want)
		}
	})
}
