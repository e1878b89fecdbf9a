package load

import (
	"context"
	"log/slog"
	"math/rand/v2"
	"time"

	"github.com/throng-dev/throng"
	"github.com/throng-dev/throng/transport"
)

// Walker is the avatar of a client.
type Walker struct {
	throng.Entity
	Pos  throng.Vec2Quantize `rep:"position"`
	Yaw  uint8               `rep:""`
	Anim uint8               `rep:""`

	pair *pair // of those that watch
}

// The driver is notified, too: that is how the meter knows which values leave, and when.
var (
	walkers = throng.NewClass[Walker]("load walker", throng.ClassConfig{NotifyDriver: true})
	schema  = throng.MustSchema(walkers, things)
)

func (e *Walker) state() State { return State{int16(e.Pos.X), int16(e.Pos.Y), e.Yaw, e.Anim} }

// player is an ordinary client of the SDK.
type player struct {
	*seat
	name string
	w    *throng.World
	rng  *rand.Rand
	e    *Walker
	at   throng.Vec2
	side float64 // of the square that it walks in
	goal *throng.Vec2
	rest bool // it writes nothing
	now  time.Duration
	err  error

	// Of churn.
	busy    bool // it writes the things that it drives
	killed  bool
	has     map[throng.NetID]bool // things
	granted int                   // drives that came to it
}

func newPlayer(m *meter, name string, seed uint64, side float64) *player {
	p := &player{seat: m.seat(), name: name, rng: rand.New(rand.NewPCG(seed, 2)), side: side}
	p.at = somewhere(p.rng, side)
	return p
}

// join enters the world. It blocks, so it runs on a goroutine of its own.
func (p *player) join(ctx context.Context, g *gate) error {
	w, err := throng.Join(ctx, g.addr, schema, throng.Config{TokenSource: g.tokens(p.name), World: Level, Dialer: g.dialer(p.index),
		Hooks: append(p.hooks(), p.thingHooks()...), NoPhaseLock: g.noPhaseLock, Keyframe: throng.Off, Logger: g.log})
	p.w = w
	return err
}

// enter spawns the avatar. From here on the player belongs to the goroutine that ticks.
func (p *player) enter(now time.Duration) error {
	p.now, p.self = now, p.w.Self()
	s := stateAt(p.at, uint8(p.rng.Uint32()), 0)
	p.e = &Walker{Pos: throng.Vec2Quantize{X: float64(s.X), Y: float64(s.Y)}, Yaw: s.Yaw}
	p.avatar = p.m.born(p.self.AvatarID(), p.self, s, now)
	return p.w.Spawn(p.e, throng.AsAvatar())
}

func (p *player) hooks() []throng.Hook {
	return []throng.Hook{walkers.Bind(throng.Hooks[Walker]{
		OnSpawn: func(_ *throng.World, e *Walker, local bool) {
			if !local {
				e.pair = p.spawned(e.NetID(), e.state())
			}
		},
		OnRep: func(e *Walker, _ throng.Changes) {
			switch {
			case e == p.e:
				p.leaves()
			case e.pair != nil:
				p.changed(e.pair, e.state())
			}
		},
		OnDestroy: func(_ *throng.World, e *Walker, _ throng.Departure) {
			if e.pair != nil {
				e.pair.departed(p.seat)
			}
		},
	})}
}

// leaves runs when the avatar's values are about to be sent: a replication tick. What it changes leaves with them.
func (p *player) leaves() {
	p.stride()
	p.e.Anim++
	p.m.sent(p.avatar, p.e.state(), p.now)
}

func (p *player) stride() {
	if p.goal != nil {
		p.at = *p.goal
		p.goal = nil
	} else {
		p.at = walk(p.rng, p.at, p.side)
	}
	p.e.Pos = throng.Vec2Quantize(p.at).Rounded()
}

// tick is a frame of the game.
func (p *player) tick(now time.Duration) {
	p.now = now
	if p.err == nil {
		p.err = p.w.Tick(p.step)
	}
	p.ticked()
}

func (p *player) step() {
	p.act()
	if p.rest {
		p.avatar.resting = true
		return
	}
	p.e.Yaw++
}

func (p *player) leave() { p.w.Close() }

// gate is how clients reach the relay.
type gate struct {
	addr        string
	tokens      func(name string) func(context.Context) ([]byte, error)
	dialer      func(index int) transport.Dialer
	noPhaseLock bool
	log         *slog.Logger
}
