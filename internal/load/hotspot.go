package load

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/throng-dev/throng"
)

const (
	// spot is the edge of the square in which everybody is in reach of everybody: two chunks each way, so that nobody is further than
	// 100 units from anybody.
	spot = 66
	// nearest is how many neighbours must be as fresh as in a crowd.
	nearest = 20
)

// hotspot is a crowd that meets in one place for half of the window, and goes apart again.
func (r *run) hotspot(ctx context.Context) error {
	side := Side(r.Clients)
	if err := r.enter(ctx, r.make(r.Clients, side)); err != nil {
		return err
	}
	if err := r.w.play(ctx, r.m.now()+r.Warm, nil); err != nil {
		return err
	}
	r.gather(spot)
	r.say("%d clients have met; measuring in %v, for %v", r.inside(), r.Warm/2, r.Window/2)
	if err := r.w.play(ctx, r.m.now()+r.Warm/2, nil); err != nil {
		return err
	}
	r.m.ranked = true
	if err := r.window(ctx, r.Window/2); err != nil {
		return err
	}
	r.gather(side)
	if err := r.w.play(ctx, r.m.now()+time.Second, nil); err != nil {
		return err
	}
	return r.check(ctx)
}

// gather sends everybody to some place in a square.
func (r *run) gather(side float64) {
	for _, c := range r.clients {
		c.walkIn(side)
	}
}

func (p *player) walkIn(side float64) {
	to := somewhere(p.rng, side)
	p.side, p.goal = side, &to
}

func (k *sink) walkIn(side float64) {
	to := somewhere(k.rng, side)
	k.side, k.goal = side, &to
}

// neighbour is a random one of the nearest entities around one.
func (m *meter) neighbour(a *track) *track {
	c, at := a.cell(), a.last()
	type other struct {
		t   *track
		far float64
	}
	var all []other
	for dx := int16(-Reach); dx <= Reach; dx++ {
		for dy := int16(-Reach); dy <= Reach; dy++ {
			for _, t := range m.cells[Cell{c.X + dx, c.Y + dy}] {
				if t != a {
					b := t.last()
					d := throng.Vec2{X: float64(at.X) - float64(b.X), Y: float64(at.Y) - float64(b.Y)}
					all = append(all, other{t, d.Len()})
				}
			}
		}
	}
	if len(all) == 0 {
		return nil
	}
	slices.SortFunc(all, func(a, b other) int { return cmp.Compare(a.far, b.far) })
	return all[m.rng.IntN(min(nearest, len(all)))].t
}
