package load

import (
	"context"
	"math"
)

// crowd is N walkers on a field where about 20 others are in reach of each.
func (r *run) crowd(ctx context.Context) error {
	if err := r.enter(ctx, r.make(r.Clients, Side(r.Clients))); err != nil {
		return err
	}
	r.say("%d clients are in; measuring in %v, for %v", r.inside(), r.Warm, r.Window)
	if err := r.w.play(ctx, r.m.now()+r.Warm, nil); err != nil {
		return err
	}
	if err := r.window(ctx, r.Window); err != nil {
		return err
	}
	return r.check(ctx)
}

// inReach is how many others a client has in reach now, on average.
func (m *meter) inReach() float64 {
	total, n := 0, 0
	for _, s := range m.seats {
		if s.avatar != nil {
			total += m.visible(s.avatar)
			n++
		}
	}
	return float64(total) / float64(max(n, 1))
}

// visible is how many others are in reach of an entity.
func (m *meter) visible(a *track) int {
	c, n := a.cell(), -1
	for dx := int16(-Reach); dx <= Reach; dx++ {
		for dy := int16(-Reach); dy <= Reach; dy++ {
			n += len(m.cells[Cell{c.X + dx, c.Y + dy}])
		}
	}
	return n
}

func round(v, per float64) float64 {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return 0
	}
	return math.Round(v*per) / per
}
