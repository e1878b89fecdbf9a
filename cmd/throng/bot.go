package main

import (
	"math"
	"math/rand/v2"
	"sync/atomic"
	"time"

	"github.com/throng-dev/throng"
)

// maxLanterns is how many lanterns one player has in the world at most.
const maxLanterns = 2

// bot is a player: an ordinary client of the SDK with somebody who walks. It belongs to the goroutine of its crew.
type bot struct {
	m    *meter
	name string
	w    *throng.World
	rng  *rand.Rand
	next time.Duration // tick
	last time.Duration // step
	now  time.Duration // start of the Tick that runs
	dead bool          // its World ended

	walker   *Walker
	at       throng.Vec2                            // where the walker is; its Pos is that in whole units
	lanterns []*Lantern                             // its own
	live     [1 + maxLanterns]atomic.Pointer[track] // of walker and lanterns, for any goroutine
	dir      float64                                // where it walks, in radians
	goal     throng.Vec2
	idle     time.Duration // it stands still until then
	act      time.Duration // next whim

	heard []time.Duration // when the values of sampled changes were written, in this Tick
	seen  uint64          // changes; every eighth is sampled
	told  uint64          // of them, those the meter knows of
	own   uint64          // events in this Tick
}

func newBot(m *meter, name string, seed uint64) *bot {
	return &bot{m: m, name: name, rng: rand.New(rand.NewPCG(seed, seed))}
}

// hooks are what the game does when something happens, with the measuring beside it.
func (b *bot) hooks() []throng.Hook {
	return []throng.Hook{
		walkers.Bind(throng.Hooks[Walker]{
			OnSpawn: func(w *throng.World, e *Walker, local bool) {
				if local {
					b.drop() // each player arrives with a lantern; only the owner spawns it
					return
				}
				e.track = b.m.trackOf(e.NetID())
				b.own++
			},
			OnRep:     func(e *Walker, c throng.Changes) { b.changed(e.Role(), e.track, e.state()) },
			OnDestroy: func(*throng.World, *Walker, throng.Departure) { b.own++ },
		}),
		lanterns.Bind(throng.Hooks[Lantern]{
			OnSpawn: func(w *throng.World, e *Lantern, local bool) {
				if !local {
					e.track = b.m.trackOf(e.NetID())
					b.own++
				}
			},
			OnRep:     func(e *Lantern, c throng.Changes) { b.changed(e.Role(), e.track, e.state()) },
			OnDestroy: func(*throng.World, *Lantern, throng.Departure) { b.own++ },
		}),
	}
}

// changed runs with every OnRep, at the driver and at those who watch.
func (b *bot) changed(role throng.Role, t *track, s state) {
	if role == throng.RoleOwner {
		t.push(b.now, s)
		return
	}
	if t == nil {
		return // a mirror: see throng.Config.Loopback
	}
	b.own++
	if b.seen++; b.seen%8 == 0 {
		if at, ok := t.written(s); ok {
			b.heard = append(b.heard, at)
		}
	}
}

// arrive spawns the avatar.
func (b *bot) arrive() error {
	b.dir, b.goal = b.rng.Float64()*2*math.Pi, b.m.somewhere(b.rng)
	b.at = b.m.somewhere(b.rng)
	b.walker = &Walker{Pos: whole(b.at), Name: b.name, Facing: facing(b.dir)}
	b.walker.track = b.follow(b.w.Self().AvatarID(), b.walker.state())
	b.last = b.now
	return b.w.Spawn(b.walker, throng.AsAvatar())
}

// drop spawns a lantern in front of the avatar.
func (b *bot) drop() {
	pos := b.at.Add(throng.Vec2{X: math.Cos(b.dir), Y: math.Sin(b.dir)}.Scale(ahead))
	pos = throng.Vec2{X: max(0, min(b.m.side, pos.X)), Y: max(0, min(b.m.side, pos.Y))}
	l := &Lantern{Pos: whole(pos), Lit: b.rng.IntN(4) > 0, Fuel: 1, Hue: uint8(b.rng.IntN(256))}
	id := throng.NewID()
	l.track = b.follow(id, l.state())
	if err := b.w.Spawn(l, throng.WithID(id)); err != nil {
		b.m.fail(err)
		return
	}
	b.lanterns = append(b.lanterns, l)
}

// follow begins the track of an entity that is about to be spawned.
func (b *bot) follow(id throng.NetID, s state) *track {
	t := &track{id: id, owner: b, born: b.now}
	t.push(b.now, s)
	b.m.tracks.Store(id, t)
	for i := range b.live {
		if b.live[i].CompareAndSwap(nil, t) {
			break
		}
	}
	return t
}

// forget ends the track of an entity that is about to be destroyed. The meter keeps it: others still hold the entity.
func (b *bot) forget(t *track) {
	t.gone.Store(true)
	for i := range b.live {
		b.live[i].CompareAndSwap(t, nil)
	}
}

// step is one frame of the game.
func (b *bot) step() {
	dt := min((b.now - b.last).Seconds(), 0.25)
	b.last = b.now
	if b.m.standing.Load() {
		b.walker.track.rest()
		for _, l := range b.lanterns {
			l.track.rest()
		}
		return
	}
	walks := b.now >= b.idle
	if walks {
		b.stride(dt)
	} else {
		b.walker.track.rest()
	}
	whim := b.now >= b.act
	if whim {
		b.act = b.now + time.Second + time.Duration(b.rng.Int64N(int64(8*time.Second)))
	}
	for i := 0; i < len(b.lanterns); i++ {
		l := b.lanterns[i]
		near := l.Pos.Vec2().Dist(b.at) < touch
		if l.Lit {
			l.Fuel = max(0, l.Fuel-float32(dt)/120)
		}
		switch {
		case l.Held && walks:
			l.Pos = b.walker.Pos
			if whim && b.rng.IntN(3) == 0 {
				l.Held = false
			}
		case near && !l.Lit && !l.Held: // who touches a lantern of their own that has gone out picks it up
			b.forget(l.track)
			if err := b.w.Destroy(l); err != nil {
				b.m.fail(err)
			}
			b.lanterns = append(b.lanterns[:i], b.lanterns[i+1:]...)
			i--
			continue
		case near && walks && whim:
			l.Held = true
		}
		if whim && b.rng.IntN(3) == 0 || l.Lit && l.Fuel == 0 {
			l.Lit = !l.Lit && l.Fuel > 0
		}
		if !l.Held || !walks {
			l.track.rest()
		}
	}
	if whim && len(b.lanterns) < maxLanterns && b.rng.IntN(3) == 0 {
		b.drop()
	}
}

// stride walks towards the goal, turning at most half a turn a second.
func (b *bot) stride(dt float64) {
	way := b.goal.Sub(b.at)
	if way.Len() < touch/2 {
		b.goal = b.m.somewhere(b.rng)
		if len(b.lanterns) > 0 && b.rng.IntN(2) == 0 {
			b.goal = b.lanterns[b.rng.IntN(len(b.lanterns))].Pos.Vec2()
		}
		if b.rng.IntN(3) == 0 {
			b.idle = b.now + time.Duration(b.rng.Int64N(int64(3*time.Second)))
		}
		return
	}
	turn := math.Remainder(math.Atan2(way.Y, way.X)-b.dir, 2*math.Pi)
	b.dir += max(-math.Pi*dt, min(math.Pi*dt, turn))
	speed := walk * max(0.2, math.Cos(turn)) // slower in a bend, or it would circle its goal for ever
	b.at = b.at.Add(throng.Vec2{X: math.Cos(b.dir), Y: math.Sin(b.dir)}.Scale(speed * dt))
	b.walker.Pos, b.walker.Facing = whole(b.at), facing(b.dir)
}

// whole is where others see what is at p, so that everybody has the same value to compare.
func whole(p throng.Vec2) throng.Vec2Quantize { return throng.Vec2Quantize(p).Rounded() }

func facing(dir float64) uint8 { return uint8(int(math.Round(dir / (2 * math.Pi) * 256))) }
