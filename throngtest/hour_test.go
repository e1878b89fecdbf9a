package throngtest_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/throng-dev/throng"
	"github.com/throng-dev/throng/throngtest"
)

// An hour of play of eight clients: avatars walk, lanterns are lit, dropped and taken up, players leave and come back, 5 % of
// all packets are lost, the host changes. In the end, when it is quiet, all hold the same.
func TestAnHourOfPlay(t *testing.T) {
	const frame, players = 100 * time.Millisecond, 8
	hour := time.Hour
	if raced {
		hour /= 12
	}
	began := time.Now()
	play(t, func(t *testing.T, n *throngtest.Net) {
		n.SetFrame(frame)
		rng := rand.New(rand.NewPCG(1, 2))
		type player struct {
			name   string
			w      *throng.World
			avatar *Thing
			mine   []*Thing
			gate   *Shared
			dir    float64
			still  bool
			back   time.Duration // when it comes back
		}
		link := throngtest.Link{Latency: 40 * time.Millisecond, Jitter: 15 * time.Millisecond, Loss: 0.05}
		var all []*player
		join := func(p *player) {
			p.w = n.Join(p.name, throng.Config{})
			n.Shape(p.w, link, link)
			p.avatar, p.mine, p.gate = &Thing{Name: p.name, Pos: throng.Vec2{X: rng.Float64() * 4000, Y: rng.Float64() * 4000}}, nil, &Shared{}
			must(t, p.w.Spawn(p.avatar, throng.AsAvatar()))
			must(t, p.w.Place("gate", p.gate))
			n.Step(p.w, func() {
				if rng.IntN(100) == 0 { // it stands still half of the time
					p.still = !p.still
				}
				p.dir += (rng.Float64() - 0.5) * 0.3
				pos := throng.Vec2{X: math.Cos(p.dir), Y: math.Sin(p.dir)}.Scale(150 * frame.Seconds()).Add(p.avatar.Pos)
				switch {
				case p.still:
				case pos.X < 0 || pos.Y < 0 || pos.X > 4000 || pos.Y > 4000:
					p.dir += math.Pi / 2
				default:
					p.avatar.Pos = pos
				}
				switch rng.IntN(60) {
				case 0: // drop a lantern
					if len(p.mine) < 12 {
						l := &Thing{Name: fmt.Sprint("lantern of ", p.name), Pos: p.avatar.Pos, Lit: true, Fuel: 1}
						must(t, p.w.Spawn(l))
						p.mine = append(p.mine, l)
					}
				case 1: // light one, or put it out
					if len(p.mine) > 0 {
						l := p.mine[rng.IntN(len(p.mine))]
						l.Lit, l.Fuel = !l.Lit, l.Fuel*0.9
						l.Text = fmt.Sprint("lit ", l.Lit)
					}
				case 2: // take one up
					if len(p.mine) > 3 {
						must(t, p.w.Destroy(p.mine[0]))
						p.mine = p.mine[1:]
					}
				case 3: // whoever is host moves the gate
					if p.w.Drives(p.gate) {
						p.gate.N++
					}
				}
			})
		}
		for i := range players {
			p := &player{name: fmt.Sprint("player", i)}
			all = append(all, p)
			join(p)
		}
		start, comings := time.Now(), 0
		for now := time.Duration(0); now < hour; now = time.Since(start) {
			n.Run(5 * time.Second)
			for _, p := range all {
				switch {
				case p.w != nil && rng.IntN(60) == 0: // away for up to a minute
					n.Leave(p.w)
					p.w, p.back = nil, now+time.Duration(rng.Int64N(int64(time.Minute)))
				case p.w == nil && now > p.back:
					join(p)
					comings++
				}
			}
		}
		for _, p := range all {
			if p.w == nil {
				join(p)
			}
			n.Step(p.w, nil)
			everywhere(p.w)
		}
		n.Run(20 * time.Second)
		// Now all are the same.
		want, things := map[throng.NetID]string{}, 0
		for _, p := range all {
			for _, l := range append(p.mine, p.avatar) {
				want[l.NetID()] = l.state()
			}
			if p.gate.N != all[0].gate.N {
				t.Errorf("the gate is at %d for %s, at %d for %s", p.gate.N, p.name, all[0].gate.N, all[0].name)
			}
		}
		for _, p := range all {
			count := 0
			for l := range Things.All(p.w) {
				count++
				if got := l.state(); got != want[l.NetID()] {
					t.Errorf("%s has %s at\n\t%s, want\n\t%s", p.name, l.Name, got, want[l.NetID()])
				}
			}
			if count != len(want) {
				t.Errorf("%s has %d things of %d", p.name, count, len(want))
			}
			things += count
		}
		stats := n.Server().Stats()
		t.Logf("%d returns, %d entities at each, %d packets to the relay, %d from it, gate at %d", comings, things/players, stats.In, stats.Out, all[0].gate.N)
		if comings < int(50*hour/time.Hour) || all[0].gate.N < int32(300*hour/time.Hour) {
			t.Error("too little happened")
		}
	})
	took := time.Since(began)
	t.Logf("%v in %.1f s: %.0f times as fast", hour, took.Seconds(), hour.Seconds()/took.Seconds())
}
