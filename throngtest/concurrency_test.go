package throngtest_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/throng-dev/throng"
	"github.com/throng-dev/throng/throngtest"
	"github.com/throng-dev/throng/transport"
)

// panics returns what f panics with, as text.
func panics(f func()) (text string) {
	defer func() {
		if v := recover(); v != nil {
			text = fmt.Sprint(v)
		}
	}()
	f()
	return ""
}

// Two calls into a World at the same time are noticed, and the panic says what to use (concurrency contract, 7).
func TestOverlapPanics(t *testing.T) {
	play(t, func(t *testing.T, n *throngtest.Net) {
		// Tick is at work, not in the game's code, while it hands packets to the carrier: hold it there.
		inside, resume := make(chan bool), make(chan bool)
		a := n.Join("a", throng.Config{Dialer: &slow{tap: tap{Dialer: n.Dialer("a")}, inside: inside, resume: resume}})
		n.Forget(a)
		thing, other := full("x"), full("y")
		must(t, a.Spawn(thing))
		calls := map[string]func(){
			"Tick":          func() { a.Tick(nil) },
			"Close":         func() { a.Close() },
			"Spawn":         func() { a.Spawn(other) },
			"Place":         func() { a.Place("z", other) },
			"Destroy":       func() { a.Destroy(thing) },
			"MarkDirty":     func() { a.MarkDirty(thing) },
			"SetViewpoints": func() { a.SetViewpoints() },
			"Find":          func() { a.Find(thing.NetID()) },
			"Drives":        func() { a.Drives(thing) },
			"Host":          func() { a.Host() },
			"IsHost":        func() { a.IsHost() },
			"Self":          func() { a.Self() },
			"Profile":       func() { a.Profile() },
			"Players": func() {
				for range a.Players() {
				}
			},
			"Entities": func() {
				for range a.Entities() {
				}
			},
			"OwnedBy": func() {
				for range a.OwnedBy(a.Self()) {
				}
			},
			"All": func() {
				for range Things.All(a) {
				}
			},
		}
		done := make(chan error)
		go func() { done <- a.Tick(nil) }()
		<-inside
		for name, call := range calls {
			if text := panics(call); !strings.Contains(text, "Post") {
				t.Errorf("%s while Tick is at work: panic %q", name, text)
			}
		}
		resume <- true
		must(t, <-done)
		for name, call := range calls {
			if name != "Close" {
				if text := panics(call); text != "" {
					t.Errorf("%s afterwards: panic %q", name, text)
				}
			}
		}
	})
}

// slow is a carrier whose Send of a spawn says so and waits, the first time.
type slow struct {
	tap
	inside, resume chan bool
	once           sync.Once
}

func (s *slow) Dial(ctx context.Context, addr string, token []byte) (transport.Conn, error) {
	c, err := s.tap.Dial(ctx, addr, token)
	return &slowConn{Conn: c, s: s}, err
}

type slowConn struct {
	transport.Conn
	s *slow
}

func (c *slowConn) Send(bufs [][]byte) error {
	for _, b := range bufs {
		if strings.Contains(string(b), "secret") { // the spawn
			c.s.once.Do(func() {
				c.s.inside <- true
				<-c.s.resume
			})
		}
	}
	return c.Conn.Send(bufs)
}

// Hooks and step may call everything but Tick and Close (contract, 8).
func TestTickAndCloseInHooks(t *testing.T) {
	play(t, func(t *testing.T, n *throngtest.Net) {
		tried := 0
		a := n.Join("a", hooks(Things.Bind(throng.Hooks[Thing]{OnSpawn: func(w *throng.World, e *Thing, local bool) {
			tried++
			if text := panics(func() { w.Tick(nil) }); !strings.Contains(text, "Post") {
				t.Errorf("Tick in a hook: %q", text)
			}
		}})))
		n.Step(a, func() {
			if text := panics(func() { a.Tick(nil) }); !strings.Contains(text, "Post") {
				t.Errorf("Tick in step: %q", text)
			}
			if tried == 0 {
				must(t, a.Spawn(full("x")))
			}
		})
		n.Run(time.Second)
		if tried != 1 {
			t.Errorf("%d spawns", tried)
		}
	})
}

// Post may be called from anywhere: its functions run in the next Tick, before step, each once and in order (contract, 1).
func TestPostFromOtherGoroutines(t *testing.T) {
	play(t, func(t *testing.T, n *throngtest.Net) {
		a := n.Join("a", throng.Config{})
		var wg sync.WaitGroup
		var last [8]int
		ran, spawned := 0, 0
		for g := range last {
			wg.Go(func() {
				for i := 1; i <= 100; i++ {
					a.Post(func() {
						if last[g] != i-1 {
							t.Errorf("%d after %d", i, last[g])
						}
						last[g] = i
						ran++
						if i == 50 {
							must(t, a.Spawn(full("x")))
							spawned++
						}
					})
				}
			})
		}
		n.Step(a, func() {
			if ran == 800 && spawned != 8 {
				t.Error("step ran before the posts")
			}
		})
		wg.Wait()
		n.Run(time.Second)
		if ran != 800 || spawned != 8 {
			t.Errorf("%d posts ran, %d spawned", ran, spawned)
		}
		order := []string{}
		a.Post(func() {
			order = append(order, "post")
			a.Post(func() { order = append(order, "post of the post") })
		})
		n.Step(a, func() { order = append(order, "step") })
		n.Run(2 * throngtest.Frame)
		if got := fmt.Sprint(order); got != "[post step post of the post step]" {
			t.Errorf("it ran %v", got)
		}
	})
}

// Many Worlds of one schema tick on goroutines of their own; the race detector looks on.
func TestWorldsAreIndependent(t *testing.T) {
	play(t, func(t *testing.T, n *throngtest.Net) {
		ws, things := make([]*throng.World, 6), make([]*Thing, 6)
		for i := range ws {
			ws[i], things[i] = n.Join(fmt.Sprint(i), throng.Config{}), full(fmt.Sprint(i))
			everywhere(ws[i])
			must(t, ws[i].Spawn(things[i]))
			n.Forget(ws[i])
		}
		var wg sync.WaitGroup
		for i, w := range ws {
			wg.Go(func() {
				frame := time.NewTicker(throngtest.Frame)
				defer frame.Stop()
				for f := range 300 {
					<-frame.C
					must(t, w.Tick(func() { things[i].Big = int64(min(f, 200)) }))
				}
			})
		}
		wg.Wait()
		for _, thing := range things {
			if !sees(thing, ws...)() {
				t.Errorf("%s is not the same everywhere", thing.Name)
			}
		}
	})
}
