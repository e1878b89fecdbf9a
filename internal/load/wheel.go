package load

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"time"
)

const (
	// frame is the interval of a client's Ticks, as of a game's.
	frame = time.Second / 60
	// spokes are the phases that clients tick at, about a millisecond apart: to wake for each client would cost more than its
	// Tick.
	spokes = 16
	// joining is how many clients join at the same time, joinWait how long one may take.
	joining  = 32
	joinWait = 20 * time.Second
)

// client is a player or a sink.
type client interface {
	join(ctx context.Context, g *gate) error // on a goroutine of its own
	enter(now time.Duration) error           // from here on all is called by the goroutine that ticks
	tick(now time.Duration)
	leave()
	base() *seat
	title() string
	failed() error
	holdings(yield func(holding) bool)
	place() (c Cell, ok bool) // that it looks from
	be(still bool)            // still: it writes nothing any more
	watches() bool            // it is in the world without an avatar
	walkIn(side float64)      // from now on it walks in a square of this edge, from some place in it
	connected() bool
}

func (s *seat) base() *seat { return s }

func (p *player) title() string   { return p.name }
func (p *player) failed() error   { return p.err }
func (k *sink) title() string     { return k.name }
func (k *sink) failed() error     { return k.err }
func (p *player) be(still bool)   { p.rest = still }
func (k *sink) be(still bool)     { k.rest = still }
func (p *player) watches() bool   { return false }
func (p *player) connected() bool { return p.w != nil }
func (k *sink) connected() bool   { return k.conn != nil }
func (k *sink) watches() bool     { return k.idle && k.reg.Welcomed }

// wheel ticks all clients from one goroutine, 60 times a second, each at a phase of its own.
type wheel struct {
	m       *meter
	spokes  [spokes]spoke
	at      int           // next spoke
	due     time.Duration // of it
	late    uint64        // frames that were missed, of all clients
	timer   *time.Timer
	ready   *readiness              // of sinks
	between func(now time.Duration) // of the scenario; nil: nothing
	every   int                     // frames from one Tick to the next; 0: 1
	turn    int

	mu  sync.Mutex
	new []client
}

// spoke is the clients of one phase.
type spoke struct {
	riders []rider
	last   time.Duration // Tick
	frame  time.Duration // from one to the next, of late
}

// rider is a client on the wheel. A sink is ticked only if there is something for it: to touch some thousand of them in vain would cost more
// than their work.
type rider struct {
	c    client
	k    *sink // nil: it is ticked in every frame
	seat int
	wake time.Duration // of a sink
}

func newWheel(m *meter) *wheel {
	return &wheel{m: m, timer: time.NewTimer(0), ready: newReadiness()}
}

// adopt takes in clients that have joined.
func (w *wheel) adopt() error {
	w.mu.Lock()
	joined := w.new
	w.new = nil
	w.mu.Unlock()
	for _, c := range joined {
		if err := c.enter(w.m.now()); err != nil {
			return err
		}
		r := rider{c: c}
		if k, ok := c.(*sink); ok {
			r.k, r.seat = k, k.index
			w.ready.add(k.index, k.sock)
		}
		s := &w.spokes[w.m.rng.IntN(spokes)]
		s.riders = append(s.riders, r)
	}
	return nil
}

// play ticks until a moment, or until done says so.
func (w *wheel) play(ctx context.Context, until time.Duration, done func() bool) error {
	for {
		now := w.m.now()
		if now >= until || done != nil && done() {
			return nil
		}
		if now < w.due {
			w.timer.Reset(min(w.due, until) - now)
			select {
			case <-ctx.Done():
				return ctx.Err()
			case <-w.timer.C:
			}
			continue
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := w.adopt(); err != nil {
			return err
		}
		if w.between != nil {
			w.between(now)
		}
		w.ready.look()
		if w.every < 2 || (w.turn+w.at)%w.every == 0 {
			w.tick(&w.spokes[w.at])
		}
		if w.at++; w.at == spokes {
			w.at = 0
			w.turn++
		}
		if w.due += frame / spokes; w.due+frame < w.m.now() { // a stall: the Ticks that were missed are missed
			w.late += uint64((w.m.now() - w.due) / (frame / spokes))
			w.due = w.m.now()
		}
		runtime.Gosched() // goroutines of the clients receive
	}
}

// tick is a frame of the clients on a spoke.
func (w *wheel) tick(s *spoke) {
	now := w.m.now()
	s.frame += (min(now-s.last, interval) - s.frame) / 8
	s.last = now
	for i := range s.riders {
		r := &s.riders[i]
		if r.k != nil && !w.ready.take(r.seat) && now < r.wake {
			continue
		}
		now = w.m.now()
		w.m.sample(now)
		if r.k != nil {
			r.wake = r.k.turn(now, s.frame)
		} else {
			r.c.tick(now)
		}
	}
}

// joinTries is how often a client tries: a relay that lets in many at once may not answer in time.
const joinTries = 3

func joinOne(ctx context.Context, g *gate, c client) (err error) {
	for range joinTries {
		one, stop := context.WithTimeout(ctx, joinWait)
		err = c.join(one, g)
		stop()
		if err == nil || ctx.Err() != nil {
			return err
		}
	}
	return err
}

// join lets clients in while it ticks those that are in. It returns those that did not get in; fail is told why.
func (w *wheel) join(ctx context.Context, g *gate, clients []client, fail func(error)) (out []client, err error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	next, done := make(chan client), make(chan struct{})
	var work sync.WaitGroup
	for range joining {
		work.Go(func() {
			for c := range next {
				if err := joinOne(ctx, g, c); err != nil {
					if ctx.Err() == nil {
						fail(fmt.Errorf("%s cannot join: %w", c.title(), err))
					}
					w.mu.Lock()
					out = append(out, c)
					w.mu.Unlock()
					continue
				}
				w.mu.Lock()
				w.new = append(w.new, c)
				w.mu.Unlock()
			}
		})
	}
	go func() {
		defer close(done)
		for _, c := range clients {
			select {
			case next <- c:
			case <-ctx.Done():
			}
		}
		close(next)
		work.Wait()
	}()
	joined := func() bool {
		select {
		case <-done:
			return true
		default:
			return false
		}
	}
	if err = w.play(ctx, 1<<62, joined); err != nil {
		cancel()
	}
	<-done
	if err == nil {
		err = w.adopt()
	}
	return out, err
}

// remove takes a client out.
func (w *wheel) remove(c client) {
	for i := range w.spokes {
		s := &w.spokes[i]
		s.riders = slices.DeleteFunc(s.riders, func(r rider) bool { return r.c == c })
	}
}
