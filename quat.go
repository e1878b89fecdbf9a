package throng

import "github.com/throng-dev/throng/internal/quant"

// Quat is a rotation as a quaternion, always 6 bytes on the wire: the largest component is left out, the others have 15
// bits each. What arrives is of length 1 and at most 0.0086° off.
//
// It need not be of length 1 here. A quaternion and its negative are the same rotation, and so the same value; proxies
// hold the one whose largest component is positive. The zero value, and all that is shorter than 0.0001, is no rotation and
// the same value as Quat{W: 1}; Unit makes that of it, for those who compute with the components. NaN and infinities are
// not sent: the driver's log names the field, and others keep the value they have.
type Quat struct{ X, Y, Z, W float64 }

// Unit returns q in length 1, and Quat{W: 1} if it is shorter than 0.0001, NaN or infinite.
func (q Quat) Unit() Quat {
	u, _ := quant.Unit([4]float64{q.X, q.Y, q.Z, q.W})
	return Quat{u[0], u[1], u[2], u[3]}
}

// Mul returns the rotation by r followed by that by q.
func (q Quat) Mul(r Quat) Quat {
	return Quat{
		q.W*r.X + q.X*r.W + q.Y*r.Z - q.Z*r.Y,
		q.W*r.Y - q.X*r.Z + q.Y*r.W + q.Z*r.X,
		q.W*r.Z + q.X*r.Y - q.Y*r.X + q.Z*r.W,
		q.W*r.W - q.X*r.X - q.Y*r.Y - q.Z*r.Z,
	}
}

// Rotate returns v turned by q, whatever length q has.
func (q Quat) Rotate(v Vec3) Vec3 {
	u := q.Unit()
	axis := Vec3{u.X, u.Y, u.Z}
	t := cross(axis, v).Scale(2)
	return v.Add(t.Scale(u.W)).Add(cross(axis, t))
}

// Rounded returns q as others hold it.
func (q Quat) Rounded() Quat {
	var mem [quant.QuatLen]byte
	b, _ := quant.AppendQuat(mem[:0], [4]float64{q.X, q.Y, q.Z, q.W})
	u, _ := quant.ParseQuat(b)
	return Quat{u[0], u[1], u[2], u[3]}
}

func cross(v, w Vec3) Vec3 {
	return Vec3{v.Y*w.Z - v.Z*w.Y, v.Z*w.X - v.X*w.Z, v.X*w.Y - v.Y*w.X}
}
