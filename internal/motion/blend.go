package motion

import "math"

// Lerp is the point the share t of the way from a to b; beyond b for t above 1.
func Lerp(a, b, t float64) float64 { return a*(1-t) + b*t }

// Angle is the angle in degrees the share t of the way from a to b by the shorter arc, within [0, 360).
func Angle(a, b, t float64) float64 {
	d := b - a
	if d > 360 || d < -360 {
		d = math.Mod(d, 360)
	}
	switch {
	case d > 180:
		d -= 360
	case d < -180:
		d += 360
	}
	v := a + d*t
	if v >= 360 || v <= -360 {
		v = math.Mod(v, 360)
	}
	if v < 0 {
		v += 360
	}
	if v >= 360 { // a rounding above
		v = 0
	}
	return v
}

// Slerp is the rotation the share t of the way from a to b by the shorter arc. Both must be of length 1; so is the result.
func Slerp(a, b [4]float64, t float64) [4]float64 {
	dot := a[0]*b[0] + a[1]*b[1] + a[2]*b[2] + a[3]*b[3]
	if dot < 0 { // the other name of the same rotation is nearer
		dot = -dot
		b = [4]float64{-b[0], -b[1], -b[2], -b[3]}
	}
	wa, wb := 1-t, t
	if dot < 0.9995 { // else the arc is straight, and its sine too small to divide by
		angle := math.Acos(dot)
		sin := math.Sin(angle)
		wa, wb = math.Sin((1-t)*angle)/sin, math.Sin(t*angle)/sin
	}
	q := [4]float64{wa*a[0] + wb*b[0], wa*a[1] + wb*b[1], wa*a[2] + wb*b[2], wa*a[3] + wb*b[3]}
	l := math.Sqrt(q[0]*q[0] + q[1]*q[1] + q[2]*q[2] + q[3]*q[3])
	if !(l > 1e-9) {
		return b
	}
	return [4]float64{q[0] / l, q[1] / l, q[2] / l, q[3] / l}
}

// Direction is the direction the share t of the way from a to b, of length 1; b if they point away from each other.
func Direction(a, b [3]float64, t float64) [3]float64 {
	v := [3]float64{Lerp(a[0], b[0], t), Lerp(a[1], b[1], t), Lerp(a[2], b[2], t)}
	l := math.Sqrt(v[0]*v[0] + v[1]*v[1] + v[2]*v[2])
	if !(l > 1e-9) {
		return b
	}
	return [3]float64{v[0] / l, v[1] / l, v[2] / l}
}
