package main

import (
	"bytes"
	"context"
	"math"
	"sync/atomic"
	"time"

	"github.com/throng-dev/throng"
	"github.com/throng-dev/throng/authority/minion"
	"github.com/throng-dev/throng/transport"
)

// player is a client: the owner asks for a minion and shows a stand-in, here dummy, at once, an observer only looks.
type player struct {
	owner  bool
	policy policy
	start  time.Time
	say    func(string, ...any)

	w       *throng.World
	tank    Tank
	crew    *minion.Crew
	dummy   *Minion // nil: none
	key     minion.Key
	goal    throng.Vec2
	asked   time.Duration
	proxies map[*Minion]bool // that stand here
	last    time.Duration
	result  result
	still   time.Duration // the dummy has not moved since
	stillAt float64
	seen    bool // the other player
}

// result is what a player measured.
type result struct {
	BodiesMax  int           `json:"bodies_max"`
	Overlap    time.Duration `json:"overlap"`
	BlockedAt  *float64      `json:"blocked_at"` // from the formation point, where the dummy was held
	Arrival    time.Duration `json:"arrival"`    // after it was asked for; 0: never
	Proxies    int           `json:"proxies"`    // at the end
	ProxiesMax int           `json:"proxies_max"`
	Naming     int64         `json:"naming"`  // messages that named the actor
	MaxOff     float64       `json:"max_off"` // farthest from the point after arrival
}

func newPlayer(p policy, owner bool, say func(string, ...any)) *player {
	return &player{owner: owner, policy: p, start: time.Now(), say: say, proxies: map[*Minion]bool{}}
}

func (p *player) now() time.Duration { return time.Since(p.start) }

// config completes how the player joins.
func (p *player) config(c throng.Config) throng.Config {
	c.World = level
	c.Hooks = append(minion.Hooks(func() *minion.Crew { return p.crew }, p.now), minions.Bind(throng.Hooks[Minion]{
		OnSpawn: func(_ *throng.World, m *Minion, _ bool) {
			if p.policy.guard && !p.crew.Guard().Admit(m.Key, m.NetID()) {
				p.say("a second body is refused")
				return
			}
			p.say("a proxy appears: %v", m.Role())
			p.proxies[m] = true
		},
		OnDestroy: func(_ *throng.World, m *Minion, d throng.Departure) {
			p.say("the proxy leaves")
			p.crew.Guard().Gone(m.Key, m.NetID())
			delete(p.proxies, m)
		},
	}))
	return c
}

// joined begins to play.
func (p *player) joined(w *throng.World) error {
	p.w, p.last = w, p.now()
	p.tank.Pos = throng.Vec2{X: dummyFrom}
	p.crew = minion.NewCrew(w.Self(), uint32(time.Now().Unix()), minion.CrewConfig{
		Make: func(k minion.Key, _ uint32, at minion.Pose) {
			p.key, p.dummy, p.goal = k, &Minion{Pos: throng.Vec2{X: at.At.X, Y: at.At.Y}, Key: k}, formation
			throng.MakeStandIn(p.dummy, true)
			p.say("a stand-in: %v", p.dummy.Role())
		},
		Drop:   func(minion.Key, minion.Reason, string) { p.dummy = nil },
		Placed: func(_ minion.Key, _ uint16, at throng.Vec3Quantize10) { p.goal = throng.Vec2{X: at.X, Y: at.Y} },
		Radius: radius,
	})
	return w.Spawn(&p.tank, throng.AsAvatar())
}

// ask requests the minion.
func (p *player) ask() {
	p.asked = p.now()
	p.crew.Request(p.asked, 0, minion.Pose{At: throng.Vec3Quantize10{X: dummyFrom}})
}

// step is a frame: the dummy walks, everything is measured.
func (p *player) step() error {
	now := p.now()
	dt := now - p.last
	p.last = now
	bodies := len(p.proxies)
	if p.dummy != nil {
		bodies++
		var others []disc
		for m := range p.proxies {
			others = append(others, disc{m.Pos, radius, 1})
		}
		p.dummy.Pos = walk(disc{p.dummy.Pos, radius, 2}, p.goal, dt.Seconds(), others)
		p.measure(now)
	}
	p.result.BodiesMax = max(p.result.BodiesMax, bodies)
	if p.owner && bodies > 1 {
		p.result.Overlap += dt
	}
	p.result.Proxies = len(p.proxies)
	p.result.ProxiesMax = max(p.result.ProxiesMax, len(p.proxies))
	p.crew.Tick(now)
	return p.crew.Send(p.w)
}

// over reports whether the player has seen enough: the owner when its dummy was held for long, or stood long enough; the observer when
// the owner has left.
func (p *player) over(hold, limit time.Duration, players int) bool {
	switch {
	case !p.owner:
		p.seen = p.seen || players == 2
		return p.seen && players < 2
	case p.asked == 0:
		return p.now() > limit+10*time.Second // the other never came
	case p.result.Arrival > 0:
		return p.now()-p.asked-p.result.Arrival > hold
	}
	return p.now()-p.asked > limit
}

// measure looks where the dummy is held, and when it is there.
func (p *player) measure(now time.Duration) {
	off := p.dummy.Pos.Sub(p.goal).Len()
	r := &p.result
	switch {
	case off <= arrival && r.Arrival == 0:
		r.Arrival = now - p.asked
		p.say("the stand-in is there, %.2f s after it was asked for", r.Arrival.Seconds())
	case r.Arrival != 0:
		r.MaxOff = math.Max(r.MaxOff, off)
	case math.Abs(off-p.stillAt) > 0.01:
		p.still, p.stillAt = now, off
	case now-p.still > 250*time.Millisecond && r.BlockedAt == nil:
		r.BlockedAt = &off
		p.say("the stand-in is held, %.1f from its point", off)
	}
}

// wire counts what names the actor in everything that a client is sent.
type wire struct {
	transport.Dialer
	naming atomic.Int64
}

type tapped struct {
	transport.Conn
	w *wire
}

func (d *wire) Dial(ctx context.Context, addr string, token []byte) (transport.Conn, error) {
	c, err := d.Dialer.Dial(ctx, addr, token)
	if err != nil {
		return nil, err
	}
	return tapped{c, d}, nil
}

func (c tapped) Receive(deadline time.Time, f func([]byte)) error {
	id := actorID.Bytes()
	return c.Conn.Receive(deadline, func(b []byte) {
		c.w.naming.Add(int64(bytes.Count(b, id[:])))
		f(b)
	})
}
