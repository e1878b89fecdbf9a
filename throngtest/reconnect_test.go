package throngtest_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/throng-dev/throng"
	"github.com/throng-dev/throng/relay"
	"github.com/throng-dev/throng/throngtest"
)

// settles makes the relay wait for what clients bring back after a restart, as it does by default.
func settles(c *relay.Config) { c.Settle = 0 }

// incarnation is what the relay says of an entity.
func incarnation(t *testing.T, n *throngtest.Net, id throng.NetID) uint64 {
	t.Helper()
	snap, err := n.Server().Snapshot()
	must(t, err)
	for _, w := range snap.Worlds {
		for _, e := range w.Entities {
			if e.NetID == id.Bytes() {
				return e.Incarnation
			}
		}
	}
	return 0
}

// A link that returns within the life of its session is the same session: entities that were stale for the others return
// in the same incarnation, with what was written meanwhile.
func TestShortPartition(t *testing.T) {
	play(t, func(t *testing.T, n *throngtest.Net) {
		var atA, atB, states diary
		a := n.Join("a", throng.Config{Hooks: []throng.Hook{atA.watch()}, OnState: func(w *throng.World, s throng.ConnState) { states.note("%v", s.Phase) }})
		b := n.Join("b", hooks(atB.watch()))
		everywhere(a, b)
		thing := full("x")
		must(t, a.Spawn(thing))
		n.Until(time.Second, "b sees it", sees(thing, b))
		inc := incarnation(t, n, thing.NetID())
		n.Partition(a, true)
		n.Run(4 * time.Second) // a stutter
		atB.want(t, "spawn x local=false")
		thing.Text = "while cut off"
		n.Run(2 * time.Second) // now it is silent
		atB.want(t, "spawn x local=false", "destroy x: stale local=false")
		n.Run(6 * time.Second)
		n.Partition(a, false)
		n.Until(3*time.Second, "b sees it again", sees(thing, b))
		if got := incarnation(t, n, thing.NetID()); got != inc {
			t.Errorf("incarnation %x, want %x", got, inc)
		}
		atA.want(t, "spawn x local=true")
		if atB.count("spawn") != 2 || atB.count("destroy") != 1 {
			t.Errorf("b was told %q", atB.lines)
		}
		states.want(t, "live")
		if !a.Drives(thing) {
			t.Error("a does not drive")
		}
	})
}

// After a longer one the client comes back by itself, in a new session, and brings its entities with it: the same ids, no
// second OnSpawn for it.
func TestLongPartition(t *testing.T) {
	play(t, func(t *testing.T, n *throngtest.Net) {
		var atA, atB, states diary
		b := n.Join("b", hooks(atB.watch()))
		a := n.Join("a", throng.Config{Hooks: []throng.Hook{atA.watch()}, OnState: func(w *throng.World, s throng.ConnState) { states.note("%v %v", s.Phase, s.Err != nil) }})
		everywhere(a, b)
		thing, other := full("x"), full("of b")
		must(t, a.Spawn(thing))
		must(t, b.Spawn(other))
		n.Until(time.Second, "both see both", func() bool { return sees(thing, b)() && sees(other, a)() })
		n.Partition(a, true)
		n.Run(20 * time.Second)
		thing.Text, other.Text = "while cut off", "meanwhile"
		n.Run(time.Second)
		n.Partition(a, false)
		n.Until(30*time.Second, "both see both again", func() bool { return sees(thing, b)() && sees(other, a)() })
		if !a.Drives(thing) || drivers(thing.NetID(), a, b) != 1 {
			t.Error("a does not drive its own alone")
		}
		thing.Big++
		n.Until(time.Second, "b follows", sees(thing, b))
		if atA.count("spawn x") != 1 || atA.count("destroy x") != 0 {
			t.Errorf("a was told %q", atA.lines)
		}
		if s, d := atB.count("spawn x"), atB.count("destroy x"); s != 2 || d != 1 {
			t.Errorf("b was told %q", atB.lines)
		}
		if s, d := atA.count("spawn of b"), atA.count("destroy of b"); s != d+1 {
			t.Errorf("a was told %q", atA.lines)
		}
		states.want(t, "live false", "reconnecting true", "live false")
	})
}

// What was destroyed while a client was away does not come back with it; what it destroyed while away goes.
func TestDestroyedMeanwhile(t *testing.T) {
	play(t, func(t *testing.T, n *throngtest.Net) {
		a, b := n.Join("a", throng.Config{}), n.Join("b", throng.Config{})
		everywhere(a, b)
		mine, theirs, kept := full("mine"), full("theirs"), full("kept")
		must(t, a.Spawn(mine))
		must(t, b.Spawn(theirs))
		must(t, b.Spawn(kept))
		n.Until(time.Second, "both see all", func() bool { return sees(mine, b)() && sees(theirs, a)() && sees(kept, a)() })
		mineID, theirsID := mine.NetID(), theirs.NetID()
		n.Partition(a, true)
		n.Run(20 * time.Second)
		must(t, a.Destroy(mine))
		must(t, b.Destroy(theirs))
		n.Run(time.Second)
		n.Partition(a, false)
		n.Until(30*time.Second, "a is back", func() bool { kept.Big++; n.Run(time.Second); return sees(kept, a)() })
		n.Run(5 * time.Second)
		if !gone(mineID, a, b)() || !gone(theirsID, a, b)() {
			t.Error("the dead walk")
		}
	})
}

// A relay that restarts knows nothing: clients come back by themselves with what they hold. The ids stay, drivers get no
// second OnSpawn, what proxies went through in between ends right (R-24, B-133).
func TestRelayRestart(t *testing.T) {
	for _, loss := range []float64{0, 0.1} {
		t.Run(fmt.Sprint("loss", loss), func(t *testing.T) {
			play(t, func(t *testing.T, n *throngtest.Net) {
				n.Run(2 * time.Second) // past the settling of the first start
				ws, diaries := make([]*throng.World, 4), make([]diary, 4)
				things, doors := make([]*Thing, 4), make([]*Thing, 4)
				for i := range ws {
					ws[i] = n.Join(fmt.Sprint("player", i), throng.Config{Hooks: []throng.Hook{diaries[i].watch()}, Keyframe: throng.Off})
					n.Shape(ws[i], lossy(loss), lossy(loss))
					everywhere(ws[i])
					things[i], doors[i] = full(fmt.Sprint("thing", i)), full(fmt.Sprint("door at ", i))
					must(t, ws[i].Spawn(things[i]))
					must(t, ws[i].Place("door", doors[i]))
				}
				agree := func() bool {
					for _, thing := range things {
						if !sees(thing, ws...)() || drivers(thing.NetID(), ws...) != 1 {
							return false
						}
					}
					return true
				}
				n.Until(10*time.Second, "all see all", agree)
				host := func() int {
					for i := range ws {
						if ws[i].IsHost() && ws[i].Drives(doors[i]) {
							return i
						}
					}
					return -1
				}
				n.Until(10*time.Second, "a host drives", func() bool { return host() >= 0 })
				doors[host()].Text = "before"
				must(t, ws[host()].MarkDirty(doors[host()]))
				n.Until(5*time.Second, "all have it", func() bool {
					for _, d := range doors {
						if d.Text != "before" {
							return false
						}
					}
					return true
				})
				n.Restart()
				for i, thing := range things {
					thing.Text = fmt.Sprint("after the restart ", i)
				}
				n.Until(30*time.Second, "all see all again", agree)
				n.Until(10*time.Second, "a host drives again", func() bool {
					id, h := throng.StableID("door"), host()
					return h >= 0 && drivers(id, ws...) == 1
				})
				for i := range ws {
					d := &diaries[i]
					for j := range ws {
						name := fmt.Sprint("thing", j)
						s, e := d.count("spawn "+name), d.count("destroy "+name)
						if i == j && (s != 1 || e != 0) || s != e+1 {
							t.Errorf("%d was told %q", i, d.lines)
						}
					}
					if d.count("spawn door") != 1 || d.count("destroy door") != 0 {
						t.Errorf("%d was told %q", i, d.lines)
					}
					if doors[i].Text != "before" {
						t.Errorf("the door of %d says %q", i, doors[i].Text)
					}
				}
				things[0].Big++
				n.Until(5*time.Second, "and it goes on", agree)
			}, settles)
		})
	}
}

// Twice in a row, the second time before everybody is back.
func TestRelayRestartsTwice(t *testing.T) {
	play(t, func(t *testing.T, n *throngtest.Net) {
		a, b := n.Join("a", throng.Config{}), n.Join("b", throng.Config{})
		everywhere(a, b)
		mine, theirs := full("a"), full("b")
		must(t, a.Spawn(mine))
		must(t, b.Spawn(theirs))
		n.Until(5*time.Second, "both see both", func() bool { return sees(mine, b)() && sees(theirs, a)() })
		n.Partition(b, true)
		n.Restart()
		n.Run(4 * time.Second)
		n.Restart()
		n.Run(time.Second)
		n.Partition(b, false)
		mine.Text, theirs.Text = "still", "here"
		n.Until(40*time.Second, "both see both again", func() bool { return sees(mine, b)() && sees(theirs, a)() })
		if !a.Drives(mine) || !b.Drives(theirs) {
			t.Error("somebody lost what it drives")
		}
	}, settles)
}

// Spawned, changed, destroyed while the relay is away: all of it holds here at once, and arrives in the end.
func TestPlayWhileReconnecting(t *testing.T) {
	play(t, func(t *testing.T, n *throngtest.Net) {
		a, b := n.Join("a", throng.Config{}), n.Join("b", throng.Config{})
		everywhere(a, b)
		n.Run(time.Second)
		n.Partition(a, true)
		n.Run(18 * time.Second)
		thing, brief := full("x"), full("brief")
		must(t, a.Spawn(thing))
		must(t, a.Spawn(brief))
		id := brief.NetID()
		n.Run(time.Second)
		thing.Text = "changed"
		must(t, a.Destroy(brief))
		n.Run(time.Second)
		n.Partition(a, false)
		n.Until(30*time.Second, "b sees it", sees(thing, b))
		if !a.Drives(thing) || !gone(id, a, b)() {
			t.Error("it did not end right")
		}
	})
}

// A client that joins again under the same player replaces its older session, which is told so, for good (B-131).
func TestNewerSessionReplaces(t *testing.T) {
	play(t, func(t *testing.T, n *throngtest.Net) {
		older := n.Join("a", throng.Config{})
		n.Forget(older)
		newer := n.Join("a", throng.Config{})
		n.Run(time.Second)
		err := older.Tick(nil)
		for range 5 {
			n.Run(100 * time.Millisecond)
			err = older.Tick(nil)
		}
		je := joinError(t, err)
		if je.Retry != throng.RetryNever {
			t.Errorf("the older one got %v", je)
		}
		must(t, newer.Tick(nil))
	})
}
