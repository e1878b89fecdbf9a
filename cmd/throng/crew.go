package main

import (
	"context"
	"math/rand/v2"
	"sync"
	"time"
)

const (
	// frame is the interval of a bot's ticks, as of a game's. It replicates at every sixth.
	frame = time.Second / 60
	// nap is how far a crew's ticks may be gathered: to wake for each would cost more than the ticks.
	nap = 2 * time.Millisecond
	// samplesPerSecond is over all crews.
	samplesPerSecond = 1000
)

// crew ticks some of the bots, each at a phase of its own. All their Worlds belong to its goroutine.
type crew struct {
	m    *meter
	bots []*bot
	rng  *rand.Rand
	rate float64       // samples a second
	due  time.Duration // next sample

	mu  sync.Mutex
	new []*bot
}

// join hands over a bot that is in the world.
func (c *crew) join(b *bot) {
	c.mu.Lock()
	c.new = append(c.new, b)
	c.mu.Unlock()
}

func (c *crew) run(ctx context.Context) {
	timer := time.NewTimer(0)
	defer timer.Stop()
	c.due = c.m.now()
	for {
		select {
		case <-ctx.Done():
			return
		case <-timer.C:
		}
		c.adopt()
		wake := c.m.now() + frame
		for _, b := range c.bots {
			now := c.m.now()
			if b.next > now {
				wake = min(wake, b.next)
				continue
			}
			c.sample(now)
			if b.next += frame; b.next <= now { // a stall: the ticks that were missed are missed
				c.m.late.Add(1)
				b.next = now + frame
			}
			wake = min(wake, b.next)
			c.tick(b, now)
		}
		now := c.m.now()
		c.sample(now)
		timer.Reset(max(wake-now, nap))
	}
}

// adopt takes in bots that have joined.
func (c *crew) adopt() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, b := range c.new {
		b.now = c.m.now()
		b.next = b.now + time.Duration(c.rng.Int64N(int64(frame)))
		if err := b.arrive(); err != nil {
			c.m.fail(err)
			b.dead = true
			continue
		}
		c.bots = append(c.bots, b)
	}
	c.new = nil
}

func (c *crew) tick(b *bot, now time.Duration) {
	if b.dead {
		return
	}
	b.now = now
	if err := b.w.Tick(b.step); err != nil {
		c.m.fail(err)
		b.dead = true
	}
	if b.own == 0 {
		return
	}
	c.m.events.Add(b.own)
	b.own = 0
	c.m.updates.Add(b.seen - b.told)
	b.told = b.seen
	if len(b.heard) > 0 {
		end := c.m.now()
		for _, at := range b.heard {
			c.m.latency.add(end - at)
		}
		b.heard = b.heard[:0]
	}
}

// sample judges what bots hold at random moments up to now. Moments are fixed before they come: a crew that was kept from
// running has changed nothing since, so they are judged late with what was held then, and a stall is not overlooked.
func (c *crew) sample(now time.Duration) {
	for c.due <= now {
		if len(c.bots) > 0 && !c.m.over.Load() {
			c.judge(c.due)
		}
		c.due += time.Duration(c.rng.ExpFloat64() / c.rate * float64(time.Second))
	}
}

// judge looks at one random observer and one random entity that it has in reach, as those who drive them see it.
func (c *crew) judge(at time.Duration) {
	b := c.bots[c.rng.IntN(len(c.bots))]
	if b.dead || at-b.walker.track.born < settled {
		return
	}
	for range 200 { // one in some dozens is in reach
		o := c.m.bots[c.rng.IntN(len(c.m.bots))]
		t := o.live[c.rng.IntN(1+maxLanterns)].Load()
		if o == b || t == nil || at-t.born < settled {
			continue
		}
		pos := t.newest().pos
		if chunkOf(pos).far(chunkOf(b.walker.Pos.Vec2())) > 1 {
			continue
		}
		held, ok := b.w.Find(t.id)
		d := pos.Sub(b.at)
		switch {
		case t.gone.Load():
			continue // it must leave; the end of the run checks that it did
		case ok && t.fresh(at, stateOf(held)):
		case !ok && max(d.X, -d.X, d.Y, -d.Y) > chunkSize-2*walk*settled.Seconds():
			continue // it may have come within reach just now
		default:
			c.m.stale.Add(1)
		}
		c.m.samples.Add(1)
		return
	}
}
