package throngtest_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/throng-dev/throng"
	"github.com/throng-dev/throng/relay"
	"github.com/throng-dev/throng/throngtest"
)

// tracked notes what Config's hooks are told of Things, beside those of the class.
func (d *diary) tracked(cfg throng.Config) throng.Config {
	name := func(o throng.Object) string {
		if t, ok := o.(*Thing); ok {
			return t.Name
		}
		return fmt.Sprintf("%T", o)
	}
	cfg.Hooks = append(cfg.Hooks, d.watch())
	cfg.OnRegistered = func(w *throng.World, e throng.Object) { d.note("registered %s", name(e)) }
	cfg.OnUnregistered = func(w *throng.World, e throng.Object) { d.note("unregistered %s", name(e)) }
	cfg.OnAppeared = func(w *throng.World, e throng.Object) { d.note("appeared %s", name(e)) }
	cfg.OnTimedOut = func(w *throng.World, e throng.Object) { d.note("timed out %s", name(e)) }
	cfg.OnOwnerChanged = func(w *throng.World, e throng.Object, was throng.PlayerID) { d.note("owner changed %s", name(e)) }
	cfg.OnLeft = func(w *throng.World, id throng.NetID, dep throng.Departure) { d.note("left: %v", dep.Why) }
	return cfg
}

// B-058: hooks for entities of any class, behind those of the class; each once.
func TestB058HooksOfConfig(t *testing.T) {
	play(t, func(t *testing.T, n *throngtest.Net) {
		var atA, atB diary
		a, b := n.Join("a", atA.tracked(throng.Config{})), n.Join("b", atB.tracked(throng.Config{}))
		everywhere(a, b)
		thing := full("x")
		must(t, a.Spawn(thing))
		n.Until(time.Second, "b sees it", sees(thing, b))
		must(t, a.Grant(thing, b.Self()))
		n.Until(time.Second, "b drives it", func() bool { return b.Drives(find[Thing](b, thing.NetID())) })
		n.Run(time.Second)
		must(t, b.Destroy(find[Thing](b, thing.NetID())))
		n.Run(2 * time.Second)
		atA.want(t, "spawn x local=true", "registered x", "owner x", "owner changed x",
			"destroy x: destroyed local=false", "unregistered x", "left: destroyed")
		atB.want(t, "spawn x local=false", "registered x", "appeared x", "rep x: Fuel Secret", "owner x", "owner changed x",
			"destroy x: destroyed local=true", "unregistered x")
	})
}

// Spawned and destroyed before anybody was told: no hook runs, at most OnLeft.
func TestB058AnnihilatedIsNotTold(t *testing.T) {
	play(t, func(t *testing.T, n *throngtest.Net) {
		var d diary
		a, b := n.Join("a", throng.Config{}), n.Join("b", d.tracked(throng.Config{}))
		everywhere(b)
		n.Run(time.Second)
		n.Forget(b) // it receives, and does not tick
		thing := full("x")
		must(t, a.Spawn(thing))
		n.Run(time.Second)
		must(t, a.Destroy(thing))
		n.Run(time.Second)
		must(t, b.Tick(nil))
		d.want(t, "left: destroyed")
	})
}

// B-063: what leaves reach and comes back appears again; each departure has its reason. P70: every one of many that go is told of.
func TestB063AppearedAndLeft(t *testing.T) {
	play(t, func(t *testing.T, n *throngtest.Net) {
		var d diary
		a, b, c := n.Join("a", throng.Config{}), n.Join("b", d.tracked(throng.Config{})), n.Join("c", throng.Config{})
		everywhere(b)
		var things []*Thing
		for range 50 {
			things = append(things, full("x"))
			must(t, a.Spawn(things[len(things)-1]))
		}
		n.Until(3*time.Second, "b sees all", sees(things[49], b))
		n.Run(time.Second)
		if s, r, p := d.count("spawn"), d.count("registered"), d.count("appeared"); s != 50 || r != 50 || p != 50 {
			t.Errorf("%d spawns, %d registered, %d appeared, want 50 each", s, r, p)
		}
		d.clear()
		b.SetViewpoints(throng.Vec3{X: 1e6})
		n.Run(time.Second)
		if x, u, l := d.count("destroy x: out of reach"), d.count("unregistered"), d.count("left: out of reach"); x != 50 || u != 50 || l != 50 {
			t.Errorf("%d destroys, %d unregistered, %d left, want 50 each", x, u, l)
		}
		everywhere(b)
		n.Until(3*time.Second, "back", sees(things[49], b))
		d.clear()
		n.Leave(a)
		n.Run(3 * time.Second)
		if l := d.count("left: session released"); l != 50 || d.count("timed out") != 0 {
			t.Errorf("%d left, %d timed out: %q", l, d.count("timed out"), d.lines)
		}
		d.clear()
		thing := full("y")
		must(t, c.Spawn(thing))
		n.Until(time.Second, "b sees it", sees(thing, b))
		n.Partition(c, true)
		began := time.Now()
		n.Until(8*time.Second, "it is stale", func() bool { return d.count("left: stale") == 1 })
		if took := time.Since(began); took < 4500*time.Millisecond || took > 6500*time.Millisecond {
			t.Errorf("stale after %v, want about 5 s after it fell silent", took)
		}
		n.Run(20 * time.Second)
		d.want(t, "spawn y local=false", "registered y", "appeared y", "destroy y: stale local=false", "unregistered y", "left: stale")
	})
}

// B-063: silence of the relay, which vouches for all it shows, times everything out, once, within 12 s and a sweep; after that a
// departure is no news. P61: a sweep as rare as the threshold was up to twice too late.
func TestB063TimedOutAlone(t *testing.T) {
	for _, leaves := range []bool{false, true} {
		t.Run(fmt.Sprint("leaves", leaves), func(t *testing.T) {
			play(t, func(t *testing.T, n *throngtest.Net) {
				var d diary
				a, b := n.Join("a", throng.Config{}), n.Join("b", d.tracked(throng.Config{}))
				everywhere(b)
				thing, mine := full("x"), full("mine")
				must(t, a.Spawn(thing))
				must(t, b.Spawn(mine))
				n.Until(time.Second, "b sees it", sees(thing, b))
				n.Run(20 * time.Second) // nothing changes: the relay vouches for it
				d.clear()
				n.Partition(b, true)
				began := time.Now()
				n.Until(15*time.Second, "it times out", func() bool { return d.count("timed out") == 1 })
				if took := time.Since(began); took < 10400*time.Millisecond || took > 14100*time.Millisecond { // it may have been silent for the 1.5 s of a ping before
					t.Errorf("timed out after %v of silence", took)
				}
				if leaves {
					n.Leave(a)
				}
				n.Run(500 * time.Millisecond)
				n.Partition(b, false)
				if leaves {
					n.Run(10 * time.Second)
					d.want(t, "destroy x: timed out local=false", "unregistered x", "timed out x")
				} else {
					n.Until(5*time.Second, "it appears anew", sees(thing, b))
					d.want(t, "destroy x: timed out local=false", "unregistered x", "timed out x", "spawn x local=false", "registered x", "appeared x")
				}
				if b.Stats().TimedOut != 1 || !b.Drives(mine) {
					t.Errorf("%d timed out, drives its own: %v", b.Stats().TimedOut, b.Drives(mine))
				}
			})
		})
	}
}

// Placed entities stand on every client, and EntityTimeout may be off: nothing leaves for silence then.
func TestB063WhatDoesNotTimeOut(t *testing.T) {
	play(t, func(t *testing.T, n *throngtest.Net) {
		var d diary
		a := n.Join("a", throng.Config{})
		b, off := n.Join("b", d.tracked(throng.Config{})), n.Join("off", throng.Config{EntityTimeout: throng.Off})
		everywhere(b, off)
		thing, door := full("x"), full("door")
		must(t, a.Spawn(thing))
		must(t, a.Place("door", full("door")))
		must(t, b.Place("door", door))
		n.Until(time.Second, "they see it", sees(thing, b, off))
		n.Partition(b, true)
		n.Partition(off, true)
		n.Run(16 * time.Second)
		if find[Thing](b, thing.NetID()) != nil || find[Thing](b, door.NetID()) == nil || find[Thing](off, thing.NetID()) == nil {
			t.Errorf("b holds the thing %v and the door %v, with Off the thing %v", find[Thing](b, thing.NetID()) != nil,
				find[Thing](b, door.NetID()) != nil, find[Thing](off, thing.NetID()) != nil)
		}
	})
}

// P63: a game that does not tick loses nothing and nobody: what comes is taken and waits, bounded, the newest of each field.
func TestP63PausedGame(t *testing.T) {
	for _, backlog := range []bool{true, false} {
		t.Run(fmt.Sprint("backlog", backlog), func(t *testing.T) {
			play(t, func(t *testing.T, n *throngtest.Net) {
				var d diary
				a := n.Join("a", throng.Config{Rate: 20})
				b := n.Join("b", d.tracked(throng.Config{}))
				must(t, b.SetSwitch("tracker.backlog", backlog))
				everywhere(b)
				var things []*Thing
				for range 40 {
					things = append(things, full("x"))
					must(t, a.Spawn(things[len(things)-1]))
				}
				n.Until(3*time.Second, "b sees all", sees(things[39], b))
				n.Run(time.Second)
				d.clear()
				n.Forget(b)
				n.Step(a, func() {
					for _, thing := range things {
						thing.Big++
					}
				})
				n.Run(time.Minute)
				s := b.Stats()
				if s.Backlog > 8192 || !backlog && s.Backlog > 40 || s.Merged == 0 {
					t.Errorf("%d changes wait, %d were merged", s.Backlog, s.Merged)
				}
				n.Step(a, nil)
				n.Run(time.Second)
				must(t, b.Tick(nil))
				for _, thing := range things {
					if !sees(thing, b)() {
						t.Fatal("a value is not the newest")
					}
				}
				if d.count("rep") != 40 || len(d.lines) != 40 {
					t.Errorf("%d hooks ran after the pause: %q", len(d.lines), d.lines[0])
				}
			})
		})
	}
}

// P65: what is told of once is not lost because too much else waits: departures, too, of a game that does not tick.
func TestP65DeparturesOfAPausedGame(t *testing.T) {
	play(t, func(t *testing.T, n *throngtest.Net) {
		var d diary
		a, b := n.Join("a", throng.Config{Rate: 60}), n.Join("b", d.tracked(throng.Config{}))
		everywhere(b)
		var things []*Thing
		for range 60 {
			things = append(things, full("x"))
			must(t, a.Spawn(things[len(things)-1]))
		}
		n.Until(3*time.Second, "b sees all", sees(things[59], b))
		n.Run(time.Second)
		d.clear()
		n.Forget(b)
		n.Step(a, func() {
			for _, thing := range things {
				thing.Big++
			}
		})
		n.Run(10 * time.Second)
		n.Step(a, nil)
		for _, thing := range things {
			must(t, a.Destroy(thing))
		}
		n.Run(time.Second)
		must(t, b.Tick(nil))
		if x, l := d.count("destroy x: destroyed"), d.count("left: destroyed"); x != 60 || l != 60 {
			t.Errorf("%d destroys, %d left, want 60 each", x, l)
		}
	})
}

// B-063: OnLeft tells of departures in reach of what is not held: refused for want of room, placed by others, of a class this build lacks;
// once each, also where packets are lost; never of what is out of reach, or destroyed here. P106: a departure may come twice.
func TestB063LeftUnheld(t *testing.T) {
	for _, loss := range []float64{0, 0.3} {
		t.Run(fmt.Sprint("loss", loss), func(t *testing.T) {
			play(t, func(t *testing.T, n *throngtest.Net) {
				left := map[throng.NetID]int{}
				a := n.Join("a", throng.Config{})
				b := n.Join("b", throng.Config{MaxEntities: 4, OnLeft: func(w *throng.World, id throng.NetID, d throng.Departure) {
					if d.Why == throng.Destroyed && d.By == throngtest.Player("a") && !d.Local {
						left[id]++
					} else {
						t.Errorf("%v left: %+v", id, d)
					}
				}})
				n.Shape(b, lossy(loss), lossy(loss))
				everywhere(b)
				own := full("own")
				must(t, b.Spawn(own))
				var want []throng.NetID
				var things []*Thing
				for i := range 12 {
					things = append(things, full(fmt.Sprint(i)))
					must(t, a.Spawn(things[i]))
				}
				far, door := full("far"), full("door")
				far.Pos.X = 1e6
				must(t, a.Spawn(far))
				must(t, a.Place("door", door)) // b has not placed it
				n.Run(3 * time.Second)
				if s := b.Stats(); s.Entities != 5 || s.NoRoom == 0 {
					t.Fatalf("b holds %d", s.Entities)
				}
				for _, thing := range append(things, door) {
					want = append(want, thing.NetID())
					must(t, a.Destroy(thing))
				}
				must(t, a.Destroy(far))
				must(t, b.Destroy(own))
				n.Run(20 * time.Second)
				for _, id := range want {
					if left[id] != 1 {
						t.Errorf("%v left %d times", id, left[id])
					}
				}
				if len(left) != len(want) {
					t.Errorf("%d departures, want %d", len(left), len(want))
				}
			})
		})
	}
}

// Without OnLeft nobody pays for departures of what it does not hold.
func TestB063NobodyAsked(t *testing.T) {
	play(t, func(t *testing.T, n *throngtest.Net) {
		a := n.Join("a", throng.Config{})
		b := n.Join("b", throng.Config{MaxEntities: 1})
		everywhere(b)
		var things []*Thing
		for i := range 20 {
			things = append(things, full(fmt.Sprint(i)))
			must(t, a.Spawn(things[i]))
		}
		n.Run(2 * time.Second)
		before := b.Stats().PacketsIn
		for _, thing := range things[1:] {
			if find[Thing](b, thing.NetID()) == nil {
				must(t, a.Destroy(thing))
			}
		}
		n.Run(200 * time.Millisecond)
		if got := b.Stats().PacketsIn - before; got > 3 {
			t.Errorf("%d packets for departures that b does not care about", got)
		}
	})
}

// P72: at the bound the nearest are shown, the others are counted and come when there is room; what the client drives does not count, and
// the log says it once. P64, P77: memory is bounded, and nothing stays invisible for ever.
func TestP72MaxEntities(t *testing.T) {
	play(t, func(t *testing.T, n *throngtest.Net) {
		log := &logbook{}
		a := n.Join("a", throng.Config{})
		b := n.Join("b", throng.Config{MaxEntities: 32, Logger: log.logger()})
		for range 40 {
			must(t, b.Spawn(full("own")))
		}
		var things []*Thing
		for i := range 60 {
			things = append(things, full(fmt.Sprint(i)))
			must(t, a.Spawn(things[i]))
		}
		n.Run(time.Second)
		everywhere(b)
		n.Run(3 * time.Second)
		if s := b.Stats(); s.Entities != 72 || s.NoRoom == 0 {
			t.Errorf("b holds %d, want 40 of its own and 32 others; %d refused", s.Entities, s.NoRoom)
		}
		if c := log.count("holds as many entities"); c != 1 {
			t.Errorf("%d warnings, want 1", c)
		}
		for _, thing := range things[:30] {
			must(t, a.Destroy(thing))
		}
		n.Until(5*time.Second, "the others are shown", sees(things[59], b))
		n.Run(2 * time.Second)
		for _, thing := range things[30:] {
			if !sees(thing, b)() {
				t.Error("one is still invisible")
			}
		}
		if c := log.count("holds as many entities"); c != 1 {
			t.Errorf("%d warnings, want 1", c)
		}
	})
}

// What a client is given to drive makes room, without anything leaving.
func TestB063DrivenTakesNoRoom(t *testing.T) {
	play(t, func(t *testing.T, n *throngtest.Net) {
		a, b := n.Join("a", throng.Config{}), n.Join("b", throng.Config{MaxEntities: 32})
		everywhere(b)
		var things []*Thing
		for i := range 40 {
			things = append(things, full(fmt.Sprint(i)))
			must(t, a.Spawn(things[i]))
		}
		n.Run(3 * time.Second)
		if s := b.Stats(); s.Entities != 32 {
			t.Fatalf("b holds %d", s.Entities)
		}
		for _, thing := range things {
			if find[Thing](b, thing.NetID()) != nil {
				must(t, a.Grant(thing, b.Self()))
			}
		}
		n.Until(5*time.Second, "b sees all", func() bool { return b.Stats().Entities == 40 })
	})
}

// B-063: a crowd is made in batches of 100, for 5 ms of a Tick at most; the others wait their turn, in order, and what leaves meanwhile is
// never made.
func TestB063Batches(t *testing.T) {
	play(t, func(t *testing.T, n *throngtest.Net) {
		spawned := 0
		a := n.Join("a", throng.Config{})
		b := n.Join("b", hooks(Things.Bind(throng.Hooks[Thing]{OnSpawn: func(w *throng.World, e *Thing, local bool) {
			spawned++
			<-time.After(100 * time.Microsecond)
		}})))
		everywhere(b)
		n.Run(time.Second)
		n.Forget(b)
		var things []*Thing
		for range 350 {
			things = append(things, &Thing{})
			must(t, a.Spawn(things[len(things)-1]))
		}
		n.Run(5 * time.Second)
		began := time.Now()
		for i, want := range []int{100, 200, 200 + 50} {
			if i == 2 { // of the last 150, 100 go before their turn
				for _, thing := range things {
					if find[Thing](b, thing.NetID()) == nil && i < 102 {
						must(t, a.Destroy(thing))
						i++
					}
				}
				n.Run(time.Second)
			}
			must(t, b.Tick(nil))
			if spawned != want {
				t.Fatalf("%d bodies after Tick %d, want %d", spawned, i+1, want)
			}
		}
		must(t, b.Tick(nil))
		if spawned != 250 || time.Since(began) > 2*time.Second {
			t.Errorf("%d bodies, %v", spawned, time.Since(began))
		}
	})
}

// B-063: its own echo, to the tracker only: on in pass-through worlds, elsewhere if asked; Stats.LastHeard proves the same everywhere.
func TestB063TrackSelf(t *testing.T) {
	for _, pass := range []bool{true, false} {
		t.Run(fmt.Sprint("pass-through", pass), func(t *testing.T) {
			play(t, func(t *testing.T, n *throngtest.Net) {
				var d diary
				a := n.Join("a", d.tracked(throng.Config{TrackSelf: !pass, Keyframe: throng.Off}))
				thing := full("x")
				must(t, a.Spawn(thing, throng.AsAvatar()))
				n.Run(300 * time.Millisecond)
				d.want(t, "spawn x local=true", "registered x")
				thing.Big++
				n.Run(300 * time.Millisecond)
				d.want(t, "spawn x local=true", "registered x", "appeared x")
				n.Run(20 * time.Second)
				if h := a.Stats().LastHeard; h < 0 || h > 4*time.Second {
					t.Errorf("last heard %v ago", h)
				}
				n.Step(a, func() { thing.Big++ })
				n.Run(time.Second)
				d.clear()
				n.Partition(a, true)
				n.Run(14500 * time.Millisecond)
				d.want(t, "timed out x")
				if !a.Drives(thing) {
					t.Error("a tracker must not take what is driven")
				}
				if h := a.Stats().LastHeard; h < 14*time.Second {
					t.Errorf("last heard %v ago", h)
				}
				n.Partition(a, false)
				n.Until(3*time.Second, "it is echoed again", func() bool { return d.count("appeared x") == 1 })
				must(t, a.SetSwitch("track.self", false))
				d.clear()
				n.Run(3 * time.Second)
				d.want(t)
				must(t, a.SetSwitch("track.self", true))
				n.Run(time.Second)
				d.want(t, "appeared x")
			}, throngtest.World(relay.World{PassThrough: pass}))
		})
	}
}
