package throng

import (
	"reflect"

	"github.com/throng-dev/throng/internal/layout"
	"github.com/throng-dev/throng/internal/quant"
)

// The quantised vectors hold float64s here and travel as whole numbers of steps. The type of a field decides: there is
// no tag for it. They convert to and from [Vec3] and [Vec2] by a plain conversion, and may be a position.
//
// What a driver writes stays as it wrote it; proxies hold the nearest step, at most half a step off, halves rounded away
// from zero. A change is sent when it reaches another step: what rounds to the same is the same value. Rounded tells
// what others hold.
//
// On the wire a vector takes a byte, and three (or two) times the bits of its largest component in steps, sign
// included, rounded up to bytes. There are no bounds: what is farther than 2⁴⁷ steps from the origin is sent exactly
// instead, in at most 25 bytes (17). NaN and infinities are not sent: the driver's log names the field, and others keep the value
// they have.
//
//	                 up to ±127 steps   ±2,047   ±32,767   ±1,048,575
//	three components        4 bytes        6        7         9
//	two components          3              4        5         7

// Vec3Quantize is a [Vec3] in whole units: 1 to 7 bytes up to ±32,767.
type Vec3Quantize struct{ X, Y, Z float64 }

// Vec3Quantize10 is a [Vec3] in tenths of a unit: 1 to 7 bytes up to ±3,276.7.
type Vec3Quantize10 struct{ X, Y, Z float64 }

// Vec3Quantize100 is a [Vec3] in hundredths of a unit: 1 to 7 bytes up to ±327.67, 9 up to ±10,485.75.
type Vec3Quantize100 struct{ X, Y, Z float64 }

// Vec2Quantize is a [Vec2] in whole units: 1 to 5 bytes up to ±32,767.
type Vec2Quantize struct{ X, Y float64 }

// Vec2Quantize10 is a [Vec2] in tenths of a unit: 1 to 5 bytes up to ±3,276.7.
type Vec2Quantize10 struct{ X, Y float64 }

// Vec2Quantize100 is a [Vec2] in hundredths of a unit: 1 to 5 bytes up to ±327.67, 7 up to ±10,485.75.
type Vec2Quantize100 struct{ X, Y float64 }

// Vec3Normal is a direction: a vector of length 1 with 16 bits a component, always 6 bytes. Components are off by at most
// 1/65534, 0.0015° in all, exact at −1, 0 and 1; the length that arrives is 1 within as much. A component outside −1…1 is not
// sent, so make values with [NormalOf].
type Vec3Normal struct{ X, Y, Z float64 }

// NormalOf returns the direction of v; the zero Vec3Normal if v has none.
func NormalOf(v Vec3) Vec3Normal {
	l := v.Len()
	if l == 0 || !v.IsFinite() {
		return Vec3Normal{}
	}
	return Vec3Normal{v.X / l, v.Y / l, v.Z / l}
}

// Vec3 returns v as an exact vector, to compute with.
func (v Vec3Quantize) Vec3() Vec3 { return Vec3(v) }

// Vec3 returns v as an exact vector, to compute with.
func (v Vec3Quantize10) Vec3() Vec3 { return Vec3(v) }

// Vec3 returns v as an exact vector, to compute with.
func (v Vec3Quantize100) Vec3() Vec3 { return Vec3(v) }

// Vec3 returns v as an exact vector, to compute with.
func (v Vec3Normal) Vec3() Vec3 { return Vec3(v) }

// Vec2 returns v as an exact vector, to compute with.
func (v Vec2Quantize) Vec2() Vec2 { return Vec2(v) }

// Vec2 returns v as an exact vector, to compute with.
func (v Vec2Quantize10) Vec2() Vec2 { return Vec2(v) }

// Vec2 returns v as an exact vector, to compute with.
func (v Vec2Quantize100) Vec2() Vec2 { return Vec2(v) }

// Rounded returns v as others hold it.
func (v Vec3Quantize) Rounded() Vec3Quantize { return roundVec3(v, 1) }

// Rounded returns v as others hold it.
func (v Vec3Quantize10) Rounded() Vec3Quantize10 { return roundVec3(v, 10) }

// Rounded returns v as others hold it.
func (v Vec3Quantize100) Rounded() Vec3Quantize100 { return roundVec3(v, 100) }

// Rounded returns v as others hold it.
func (v Vec2Quantize) Rounded() Vec2Quantize { return roundVec2(v, 1) }

// Rounded returns v as others hold it.
func (v Vec2Quantize10) Rounded() Vec2Quantize10 { return roundVec2(v, 10) }

// Rounded returns v as others hold it.
func (v Vec2Quantize100) Rounded() Vec2Quantize100 { return roundVec2(v, 100) }

type (
	xyz interface{ ~struct{ X, Y, Z float64 } }
	xy  interface{ ~struct{ X, Y float64 } }
)

func roundVec3[T xyz](v T, scale float64) T {
	w := Vec3(v)
	r := quant.RoundVec3([3]float64{w.X, w.Y, w.Z}, scale)
	return T(Vec3{r[0], r[1], r[2]})
}

func roundVec2[T xy](v T, scale float64) T {
	w := Vec2(v)
	r := quant.RoundVec2([2]float64{w.X, w.Y}, scale)
	return T(Vec2{r[0], r[1]})
}

// quantised are the types of this package that have a form of their own on the wire. A form that changes gets a new
// name: the name is in the layout hash.
func quantised(known map[reflect.Type]layout.Leaf) {
	vec3Leaf[Vec3Quantize](known, "vec3quantize", 1)
	vec3Leaf[Vec3Quantize10](known, "vec3quantize10", 10)
	vec3Leaf[Vec3Quantize100](known, "vec3quantize100", 100)
	vec2Leaf[Vec2Quantize](known, "vec2quantize", 1)
	vec2Leaf[Vec2Quantize10](known, "vec2quantize10", 10)
	vec2Leaf[Vec2Quantize100](known, "vec2quantize100", 100)
	known[reflect.TypeFor[Vec3Normal]()] = layout.Leaf{Name: "vec3normal", Blend: layout.Direction, Codec: layout.CodecOf(quant.NormalLen,
		func(b []byte, v *Vec3Normal) ([]byte, error) { return quant.AppendNormal(b, [3]float64{v.X, v.Y, v.Z}) },
		func(b []byte, v *Vec3Normal) (int, error) {
			n, err := quant.ParseNormal(b)
			*v = Vec3Normal{n[0], n[1], n[2]}
			return len(b), err
		})}
	known[reflect.TypeFor[Rotator]()] = layout.Leaf{Name: "rotator", Blend: layout.Angles, Codec: layout.CodecOf(0,
		func(b []byte, r *Rotator) ([]byte, error) { return quant.AppendAngles16(b, r.Pitch, r.Yaw, r.Roll) },
		func(b []byte, r *Rotator) (n int, err error) {
			r.Pitch, r.Yaw, r.Roll, err = quant.ParseAngles16(b)
			return len(b), err
		})}
	known[reflect.TypeFor[RotatorByte]()] = layout.Leaf{Name: "rotatorbyte", Blend: layout.Angles, Codec: layout.CodecOf(0,
		func(b []byte, r *RotatorByte) ([]byte, error) { return quant.AppendAngles8(b, r.Pitch, r.Yaw, r.Roll) },
		func(b []byte, r *RotatorByte) (n int, err error) {
			r.Pitch, r.Yaw, r.Roll, err = quant.ParseAngles8(b)
			return len(b), err
		})}
	known[reflect.TypeFor[Quat]()] = layout.Leaf{Name: "quat", Blend: layout.Rotation, Codec: layout.CodecOf(quant.QuatLen,
		func(b []byte, q *Quat) ([]byte, error) { return quant.AppendQuat(b, [4]float64{q.X, q.Y, q.Z, q.W}) },
		func(b []byte, q *Quat) (int, error) {
			u, err := quant.ParseQuat(b)
			*q = Quat{u[0], u[1], u[2], u[3]}
			return len(b), err
		})}
}

// vec3Leaf registers a vector in steps of 1/scale. As a position it says where the proxies are: chunks must not depend on
// who drives.
func vec3Leaf[T xyz](known map[reflect.Type]layout.Leaf, name string, scale float64) {
	known[reflect.TypeFor[T]()] = layout.Leaf{Name: name, Axes: 3, Blend: layout.Linear,
		XYZ: layout.XYZOf(func(v *T) (x, y, z float64) {
			w := Vec3(roundVec3(*v, scale))
			return w.X, w.Y, w.Z
		}),
		Codec: layout.CodecOf(0,
			func(b []byte, v *T) ([]byte, error) {
				w := Vec3(*v)
				return quant.AppendVec3(b, [3]float64{w.X, w.Y, w.Z}, scale)
			},
			func(b []byte, v *T) (int, error) {
				w, err := quant.ParseVec3(b, scale)
				*v = T(Vec3{w[0], w[1], w[2]})
				return len(b), err
			})}
}

func vec2Leaf[T xy](known map[reflect.Type]layout.Leaf, name string, scale float64) {
	known[reflect.TypeFor[T]()] = layout.Leaf{Name: name, Axes: 2, Blend: layout.Linear,
		XYZ: layout.XYZOf(func(v *T) (x, y, z float64) {
			w := Vec2(roundVec2(*v, scale))
			return w.X, w.Y, 0
		}),
		Codec: layout.CodecOf(0,
			func(b []byte, v *T) ([]byte, error) {
				w := Vec2(*v)
				return quant.AppendVec2(b, [2]float64{w.X, w.Y}, scale)
			},
			func(b []byte, v *T) (int, error) {
				w, err := quant.ParseVec2(b, scale)
				*v = T(Vec2{w[0], w[1]})
				return len(b), err
			})}
}
