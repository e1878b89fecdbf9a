package throng

import (
	"math"
	"reflect"

	"github.com/throng-dev/throng/internal/layout"
)

// Vec3 is a point or direction in space, three float64, exact on the wire (24 bytes). As a field tagged position it
// places an entity. Values are plain: == compares, the zero value is the origin.
type Vec3 struct{ X, Y, Z float64 }

// Vec2 is a point or direction in a flat world, two float64, exact on the wire (16 bytes).
type Vec2 struct{ X, Y float64 }

// Add returns v + w.
func (v Vec3) Add(w Vec3) Vec3 { return Vec3{v.X + w.X, v.Y + w.Y, v.Z + w.Z} }

// Sub returns v − w, the way from w to v.
func (v Vec3) Sub(w Vec3) Vec3 { return Vec3{v.X - w.X, v.Y - w.Y, v.Z - w.Z} }

// Scale returns v with every axis times f.
func (v Vec3) Scale(f float64) Vec3 { return Vec3{v.X * f, v.Y * f, v.Z * f} }

// Dot returns the scalar product of v and w.
func (v Vec3) Dot(w Vec3) float64 { return v.X*w.X + v.Y*w.Y + v.Z*w.Z }

// Len returns the distance of v from the origin. It does not overflow where v does not.
func (v Vec3) Len() float64 { return math.Hypot(math.Hypot(v.X, v.Y), v.Z) }

// Dist returns the distance between v and w.
func (v Vec3) Dist(w Vec3) float64 { return v.Sub(w).Len() }

// Lerp returns the point the share t of the way from v to w: v at 0, exactly w at 1, beyond them outside.
func (v Vec3) Lerp(w Vec3, t float64) Vec3 {
	return Vec3{lerp(v.X, w.X, t), lerp(v.Y, w.Y, t), lerp(v.Z, w.Z, t)}
}

// IsFinite reports whether v is somewhere. A position that is not, NaN or infinite, is refused by driver and relay.
func (v Vec3) IsFinite() bool { return layout.Finite(v.X, v.Y, v.Z) }

// Add returns v + w.
func (v Vec2) Add(w Vec2) Vec2 { return Vec2{v.X + w.X, v.Y + w.Y} }

// Sub returns v − w, the way from w to v.
func (v Vec2) Sub(w Vec2) Vec2 { return Vec2{v.X - w.X, v.Y - w.Y} }

// Scale returns v with both axes times f.
func (v Vec2) Scale(f float64) Vec2 { return Vec2{v.X * f, v.Y * f} }

// Dot returns the scalar product of v and w.
func (v Vec2) Dot(w Vec2) float64 { return v.X*w.X + v.Y*w.Y }

// Len returns the distance of v from the origin. It does not overflow where v does not.
func (v Vec2) Len() float64 { return math.Hypot(v.X, v.Y) }

// Dist returns the distance between v and w.
func (v Vec2) Dist(w Vec2) float64 { return v.Sub(w).Len() }

// Lerp returns the point the share t of the way from v to w: v at 0, exactly w at 1, beyond them outside.
func (v Vec2) Lerp(w Vec2, t float64) Vec2 { return Vec2{lerp(v.X, w.X, t), lerp(v.Y, w.Y, t)} }

// IsFinite reports whether v is somewhere. A position that is not, NaN or infinite, is refused by driver and relay.
func (v Vec2) IsFinite() bool { return layout.Finite(v.X, v.Y, 0) }

// lerp weighs both ends, unlike a + (b−a)·t, which misses b at 1 when a and b differ much in size.
func lerp(a, b, t float64) float64 { return a*(1-t) + b*t }

// plainIDs gives the ids a codec: their fields are not exported, and a payload is not plain memory.
func plainIDs(known map[reflect.Type]layout.Leaf) {
	known[reflect.TypeFor[NetID]()] = layout.Leaf{Name: known[reflect.TypeFor[NetID]()].Name, Codec: layout.CodecOf(16,
		func(b []byte, id *NetID) ([]byte, error) { x := id.Bytes(); return append(b, x[:]...), nil },
		func(b []byte, id *NetID) (int, error) { *id = NetIDFrom([16]byte(b)); return 16, nil })}
	known[reflect.TypeFor[PlayerID]()] = layout.Leaf{Name: known[reflect.TypeFor[PlayerID]()].Name, Codec: layout.CodecOf(16,
		func(b []byte, p *PlayerID) ([]byte, error) { x := p.Bytes(); return append(b, x[:]...), nil },
		func(b []byte, p *PlayerID) (int, error) { *p = PlayerIDFrom([16]byte(b)); return 16, nil })}
}

// leaves are the value types of this package as the layout knows them: the exact ones are plain memory, field by field.
func leaves() map[reflect.Type]layout.Leaf {
	known := map[reflect.Type]layout.Leaf{
		reflect.TypeFor[Vec2]():     {Name: "vec2", Axes: 2, XYZ: layout.XYZOf(func(v *Vec2) (x, y, z float64) { return v.X, v.Y, 0 })},
		reflect.TypeFor[Vec3]():     {Name: "vec3", Axes: 3, XYZ: layout.XYZOf(func(v *Vec3) (x, y, z float64) { return v.X, v.Y, v.Z })},
		reflect.TypeFor[NetID]():    {Name: "netid"},
		reflect.TypeFor[PlayerID](): {Name: "playerid"},
	}
	quantised(known)
	return known
}
