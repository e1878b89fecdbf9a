package main

import (
	"math"

	"github.com/throng-dev/throng"
)

// disc is a body on the plane, seen from above.
type disc struct {
	at throng.Vec2
	r  float64
	id uint64 // orders bodies that stand on one point
}

// walk moves a body towards a goal for dt seconds and stops it where it touches another: it neither pushes nor slides. A body that
// overlaps another is first moved out of it, by at most maxPush.
func walk(b disc, goal throng.Vec2, dt float64, others []disc) throng.Vec2 {
	at := b.at
	for _, o := range others {
		at = at.Add(push(disc{at, b.r, b.id}, o))
	}
	to := goal.Sub(at)
	way := to.Len()
	if way == 0 {
		return at
	}
	dir, free := to.Scale(1/way), math.Min(way, speed*dt)
	for _, o := range others {
		free = math.Min(free, reach(at, dir, o, b.r))
	}
	return at.Add(dir.Scale(free))
}

// reach is how far a body may go in a direction before it touches another.
func reach(at, dir throng.Vec2, o disc, r float64) float64 {
	sum := r + o.r
	to := o.at.Sub(at)
	along := to.X*dir.X + to.Y*dir.Y
	if along <= 0 {
		return math.Inf(1) // behind
	}
	aside := math.Abs(to.X*dir.Y - to.Y*dir.X)
	if aside >= sum {
		return math.Inf(1) // it passes
	}
	return math.Max(0, along-math.Sqrt(sum*sum-aside*aside))
}

// maxPush is how far one step moves a body out of another, in units.
const maxPush = 100.0

func push(b, o disc) throng.Vec2 {
	from := b.at.Sub(o.at)
	depth := b.r + o.r - from.Len()
	if depth <= 1e-9 {
		return throng.Vec2{}
	}
	away := throng.Vec2{X: -1} // on one point: by id, so that two bodies part
	switch {
	case from.Len() > 0:
		away = from.Scale(1 / from.Len())
	case b.id > o.id:
		away.X = 1
	}
	return away.Scale(math.Min(depth, maxPush))
}

// slots are places of a formation: a square grid about a point, far enough apart that minions that are there do not touch.
func slots(centre throng.Vec2, n int) []throng.Vec2 {
	side := int(math.Ceil(math.Sqrt(float64(n))))
	apart := 2*radius + 4*arrival
	out := make([]throng.Vec2, 0, n)
	for i := range n {
		out = append(out, centre.Add(throng.Vec2{X: float64(i%side-side/2) * apart, Y: float64(i/side-side/2) * apart}))
	}
	return out
}
