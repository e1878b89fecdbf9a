package delta

import (
	"github.com/throng-dev/throng/internal/layout"
	"github.com/throng-dev/throng/internal/motion"
)

// blend is a piece of a struct that has values between two others.
type blend struct {
	how    layout.Blend
	single bool // one float32, else float64s
	off    uintptr
	n      int // numbers
}

// blends lists the pieces of a layout that Blend makes.
func blends(l *layout.Layout) (all []blend) {
	for i := range l.Slots {
		for _, a := range l.Slots[i].Atoms {
			switch {
			case a.Form == layout.Float32:
				all = append(all, blend{layout.Linear, true, a.Offset, 1})
			case a.Form == layout.Float64:
				all = append(all, blend{layout.Linear, false, a.Offset, 1})
			case a.Form == layout.Coded && a.Blend != layout.Step:
				all = append(all, blend{a.Blend, false, a.Offset, int(a.Type.Size() / 8)})
			}
		}
	}
	return all
}

// Blend sets in to, at the share t of the way from a to b, what can be between: numbers, angles, rotations, directions. What cannot is left
// as it is there. All three point to structs of the plan's type.
func (pl *Plan) Blend(to, a, b Ptr, t float64) {
	for i := range pl.blends {
		o := &pl.blends[i]
		switch {
		case o.single:
			*to.f32(o.off) = float32(motion.Lerp(float64(*a.f32(o.off)), float64(*b.f32(o.off)), t))
		case o.how == layout.Linear:
			for j := range uintptr(o.n) {
				*to.f64(o.off + 8*j) = motion.Lerp(*a.f64(o.off + 8*j), *b.f64(o.off + 8*j), t)
			}
		case o.how == layout.Angles:
			for j := range uintptr(o.n) {
				*to.f64(o.off + 8*j) = motion.Angle(*a.f64(o.off + 8*j), *b.f64(o.off + 8*j), t)
			}
		case o.how == layout.Rotation:
			*to.quad(o.off) = motion.Slerp(*a.quad(o.off), *b.quad(o.off), t)
		case o.how == layout.Direction:
			*to.triple(o.off) = motion.Direction(*a.triple(o.off), *b.triple(o.off), t)
		}
	}
}
