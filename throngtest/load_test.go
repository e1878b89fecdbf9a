package throngtest_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/throng-dev/throng"
	"github.com/throng-dev/throng/throngtest"
)

// loader is a Load that takes as long as a test says.
type loader struct {
	mu         sync.Mutex
	takes      time.Duration
	err        error
	begun      map[throng.NetID]int
	running    map[throng.NetID]int
	now, most  int // of all
	double     bool
	cancelled  int
	afterClose func()
}

func (l *loader) load(ctx context.Context, id throng.NetID) error {
	l.mu.Lock()
	if l.begun == nil {
		l.begun, l.running = map[throng.NetID]int{}, map[throng.NetID]int{}
	}
	l.begun[id]++
	l.running[id]++
	l.double = l.double || l.running[id] > 1
	l.now++
	l.most = max(l.most, l.now)
	takes, err := l.takes, l.err
	l.mu.Unlock()
	defer func() {
		l.mu.Lock()
		l.running[id]--
		l.now--
		l.mu.Unlock()
	}()
	select {
	case <-time.After(takes):
		return err
	case <-ctx.Done():
		if l.afterClose != nil {
			l.afterClose()
		}
		l.mu.Lock()
		l.cancelled++
		l.mu.Unlock()
		return ctx.Err()
	}
}

func (l *loader) set(takes time.Duration, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.takes, l.err = takes, err
}

func (l *loader) stopped() (cancelled, running int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.cancelled, l.now
}

func (l *loader) hook() throng.Hook { return Things.Bind(throng.Hooks[Thing]{Load: l.load}) }

// B-055: the proxy appears when its Load has returned, with what is newest then, and nothing else waits.
func TestB055AppearsWhenLoaded(t *testing.T) {
	play(t, func(t *testing.T, n *throngtest.Net) {
		var d diary
		l := &loader{takes: 2 * time.Second}
		a := n.Join("a", throng.Config{})
		b := n.Join("b", hooks(l.hook(), d.watch(), watch(&d, Shareds, func(*Shared) string { return "shared" })))
		everywhere(b)
		thing, other := full("x"), &Shared{N: 1}
		must(t, a.Spawn(thing))
		must(t, a.Spawn(other))
		n.Until(time.Second, "what needs no loading is seen", func() bool { return find[Shared](b, other.NetID()) != nil })
		for i := range 20 {
			thing.Big = int64(i)
			n.Run(50 * time.Millisecond)
		}
		if s := b.Stats(); find[Thing](b, thing.NetID()) != nil || s.Loading != 1 {
			t.Fatalf("seen before it was loaded, %d loading", s.Loading)
		}
		d.want(t, "spawn shared local=false")
		n.Until(2*time.Second, "it is loaded", sees(thing, b))
		d.want(t, "spawn shared local=false", "spawn x local=false")
		thing.Text = "later"
		n.Until(time.Second, "it follows", sees(thing, b))
		if got := find[Thing](b, thing.NetID()); got.Owner() != a.Self() || got.Role() != throng.RoleProxy || b.Stats().Loading != 0 {
			t.Errorf("owner %v, role %v, %d loading", got.Owner(), got.Role(), b.Stats().Loading)
		}
	})
}

// P10: whatever arrives during a Load, there is one Load and one body. P09: updates do not make a second one.
func TestP10OneLoadAnEntity(t *testing.T) {
	play(t, func(t *testing.T, n *throngtest.Net) {
		var d diary
		l := &loader{takes: time.Second}
		a := n.Join("a", throng.Config{Rate: 30})
		b := n.Join("b", hooks(l.hook(), d.watch()))
		everywhere(b)
		n.Shape(b, lossy(0.2), lossy(0.2))
		thing := full("x")
		must(t, a.Spawn(thing))
		n.Step(a, func() { thing.Big++ })
		n.Run(5 * time.Second)
		if l.begun[thing.NetID()] != 1 || l.double || d.count("spawn") != 1 {
			t.Errorf("%d loads, two at once %v, hooks %q", l.begun[thing.NetID()], l.double, d.lines)
		}
	})
}

// P12: its own entity never comes to the owner from the network, however long its class takes to load.
func TestP12OwnEntityIsNotLoaded(t *testing.T) {
	play(t, func(t *testing.T, n *throngtest.Net) {
		var d diary
		l := &loader{takes: 3 * time.Second}
		a := n.Join("a", hooks(l.hook(), d.watch()))
		everywhere(a)
		thing := full("x")
		must(t, a.Spawn(thing))
		n.Run(10 * time.Second)
		d.want(t, "spawn x local=true")
		if count := a.Stats().Entities; l.begun[thing.NetID()] != 0 || count != 1 {
			t.Errorf("%d loads, %d entities", l.begun[thing.NetID()], count)
		}
	})
}

// B-055: a destroy, and leaving reach, cancel a Load; nobody is told of a body, but OnLeft of the departure.
func TestB055DestroyAndReachCancel(t *testing.T) {
	for _, how := range []string{"destroyed", "out of reach"} {
		t.Run(how, func(t *testing.T) {
			play(t, func(t *testing.T, n *throngtest.Net) {
				var d diary
				l := &loader{takes: time.Hour}
				a := n.Join("a", throng.Config{})
				cfg := hooks(l.hook(), d.watch())
				cfg.OnLeft = func(w *throng.World, id throng.NetID, dep throng.Departure) { d.note("left: %v", dep.Why) }
				b := n.Join("b", cfg)
				everywhere(b)
				thing := full("x")
				must(t, a.Spawn(thing))
				n.Until(time.Second, "it is loading", func() bool { return b.Stats().Loading == 1 })
				if how == "destroyed" {
					must(t, a.Destroy(thing))
				} else {
					thing.Pos.X = 1e6
				}
				n.Until(time.Second, "the Load is cancelled", func() bool { c, running := l.stopped(); return c == 1 && running == 0 })
				n.Run(5 * time.Second)
				d.want(t, "left: "+how)
				if s := b.Stats(); s.Loading != 0 || s.LoadsFailed != 0 {
					t.Errorf("%d loading, %d failed", s.Loading, s.LoadsFailed)
				}
				if how == "destroyed" {
					return
				}
				l.set(time.Second, nil)
				thing.Pos.X = 10
				n.Until(3*time.Second, "back in reach it is loaded anew", sees(thing, b))
				d.want(t, "left: "+how, "spawn x local=false")
			})
		})
	}
}

// B-055: a Load that fails is told of, and tried again when the entity appears anew. P14: what cannot be shown is not silent.
func TestB055FailedLoad(t *testing.T) {
	play(t, func(t *testing.T, n *throngtest.Net) {
		var d diary
		log := &logbook{}
		l := &loader{takes: time.Millisecond, err: errors.New("no sprite")}
		a := n.Join("a", throng.Config{})
		cfg := hooks(l.hook(), d.watch())
		cfg.Logger = log.logger()
		cfg.OnLoadFailed = func(w *throng.World, id throng.NetID, err error) { d.note("failed %v", err) }
		b := n.Join("b", cfg)
		everywhere(b)
		thing := full("x")
		must(t, a.Spawn(thing))
		n.Run(2 * time.Second)
		d.want(t, "failed no sprite")
		if s := b.Stats(); s.LoadsFailed != 1 || s.Loading != 0 || log.count("Load failed") != 1 {
			t.Errorf("%d failed, %d loading, log %s", s.LoadsFailed, s.Loading, log.text())
		}
		thing.Big++
		n.Run(2 * time.Second)
		if l.begun[thing.NetID()] != 1 {
			t.Errorf("%d loads: a change is no new appearance", l.begun[thing.NetID()])
		}
		l.set(time.Millisecond, nil)
		b.SetViewpoints(throng.Vec3{X: 1e6})
		n.Run(time.Second)
		everywhere(b)
		n.Until(2*time.Second, "it appears", sees(thing, b))
		d.want(t, "failed no sprite", "spawn x local=false")
	})
}

// Loads run MaxLoads at once at most; P17: those that never return hold nothing up but themselves, and nothing for ever.
func TestP17LoadsAreBounded(t *testing.T) {
	play(t, func(t *testing.T, n *throngtest.Net) {
		l := &loader{takes: 100 * time.Millisecond}
		a := n.Join("a", throng.Config{})
		cfg := hooks(l.hook())
		cfg.MaxLoads = 3
		b := n.Join("b", cfg)
		everywhere(b)
		var things []*Thing
		for i := range 20 {
			things = append(things, full(fmt.Sprint(i)))
			must(t, a.Spawn(things[i]))
		}
		n.Until(5*time.Second, "all are loaded", func() bool {
			for _, thing := range things {
				if !sees(thing, b)() {
					return false
				}
			}
			return true
		})
		if l.most != 3 {
			t.Errorf("%d Loads at once, want 3", l.most)
		}
		l.set(time.Hour, nil) // from now on they hang
		for i := range 6 {
			things = append(things, full(fmt.Sprint("hangs", i)))
			must(t, a.Spawn(things[20+i]))
		}
		n.Until(time.Second, "they hang", func() bool { return b.Stats().Loading == 6 })
		n.Run(time.Minute)
		for _, thing := range things {
			must(t, a.Destroy(thing))
		}
		n.Until(time.Second, "all is over", func() bool {
			_, running := l.stopped()
			return running == 0 && b.Stats().Loading == 0 && b.Stats().Entities == 0
		})
		if len(l.begun) != 23 {
			t.Errorf("%d entities began to load: what was destroyed while it waited must not", len(l.begun))
		}
	})
}

// Close cancels every Load and waits until it has returned. The bubble fails the test if a goroutine is left.
func TestB055CloseWaitsForLoads(t *testing.T) {
	play(t, func(t *testing.T, n *throngtest.Net) {
		done := false
		l := &loader{takes: time.Hour, afterClose: func() {
			<-time.After(time.Second)
			done = true
		}}
		a := n.Join("a", throng.Config{})
		b := n.Join("b", hooks(l.hook()))
		everywhere(b)
		must(t, a.Spawn(full("x")))
		n.Until(time.Second, "it is loading", func() bool { return b.Stats().Loading == 1 })
		n.Leave(b)
		if !done {
			t.Error("Close returned before the Load did")
		}
	})
}

// An entity may change hands, and hands may be taken away, while one end still loads it: no value is lost.
func TestB055GrantedWhileLoading(t *testing.T) {
	play(t, func(t *testing.T, n *throngtest.Net) {
		l := &loader{takes: 2 * time.Second}
		a := n.Join("a", throng.Config{})
		b := n.Join("b", hooks(l.hook()))
		everywhere(a, b)
		thing := full("x")
		must(t, a.Spawn(thing))
		n.Until(time.Second, "b loads it", func() bool { return b.Stats().Loading == 1 })
		thing.Text = "handed over"
		must(t, a.Grant(thing, b.Self()))
		n.Run(time.Second)
		if a.Drives(thing) {
			t.Fatal("a still drives it")
		}
		n.Until(3*time.Second, "b has it", sees(thing, b))
		at := find[Thing](b, thing.NetID())
		if !b.Drives(at) || at.Text != "handed over" || at.Secret != "secret" {
			t.Errorf("drives %v, %+v", b.Drives(at), at)
		}
		at.Text = "driven by b"
		n.Until(time.Second, "a follows", sees(at, a))
	})
	play(t, func(t *testing.T, n *throngtest.Net) { // b leaves while it loads what it owns: the relay kept the values
		l := &loader{takes: time.Hour}
		a := n.Join("a", throng.Config{})
		b := n.Join("b", hooks(Shareds.Bind(throng.Hooks[Shared]{Load: l.load})))
		everywhere(a, b)
		s := &Shared{N: 7}
		must(t, a.Spawn(s))
		n.Until(time.Second, "b loads it", func() bool { return b.Stats().Loading == 1 })
		must(t, a.Grant(s, b.Self()))
		n.Run(time.Second)
		n.Leave(b)
		n.Until(3*time.Second, "the host has it back", func() bool { return a.Drives(s) && s.N == 7 })
	})
}

// Together with a relay that restarts: what was loading goes on, what failed does not come to life by itself, nothing is doubled.
func TestLoadAcrossRestart(t *testing.T) {
	play(t, func(t *testing.T, n *throngtest.Net) {
		var d diary
		l := &loader{takes: 8 * time.Second}
		a := n.Join("a", throng.Config{})
		b := n.Join("b", hooks(l.hook(), d.watch()))
		everywhere(a, b)
		thing := full("x")
		must(t, a.Spawn(thing))
		n.Until(time.Second, "b loads it", func() bool { return b.Stats().Loading == 1 })
		n.Restart()
		n.Until(20*time.Second, "b has it", sees(thing, b))
		if d.count("spawn") != 1+d.count("destroy") || l.double {
			t.Errorf("hooks %q, two at once: %v", d.lines, l.double)
		}
	}, settles)
}
