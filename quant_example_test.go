package throng_test

import (
	"fmt"
	"math"

	"github.com/throng-dev/throng"
)

// Whole units: a step of 1, at most 0.5 off, halves away from zero.
func ExampleVec3Quantize() {
	v := throng.Vec3Quantize{X: 12345.678, Y: -0.5, Z: 0.49}
	fmt.Println(v.Rounded())
	// Output: {12346 -1 0}
}

// Tenths of a unit: a step of 0.1, at most 0.05 off.
func ExampleVec3Quantize10() {
	v := throng.Vec3Quantize10{X: 12345.678, Y: -6543.216, Z: 92.15}
	fmt.Println(v.Rounded())
	// Output: {12345.7 -6543.2 92.2}
}

// Hundredths of a unit: a step of 0.01, at most 0.005 off. What stays within a step is not sent again.
func ExampleVec3Quantize100() {
	type Drone struct {
		throng.Entity
		Pos throng.Vec3Quantize100 `rep:"position"`
	}
	d := Drone{Pos: throng.Vec3Quantize100{X: 100.004}}
	sent := d.Pos.Rounded()
	for _, x := range []float64{100.0049, 100.006} {
		d.Pos.X = x // exact for its driver
		fmt.Println(d.Pos.Rounded(), d.Pos.Rounded() != sent)
	}
	// To compute, convert.
	d.Pos = throng.Vec3Quantize100(d.Pos.Vec3().Add(throng.Vec3{Y: 5}))
	fmt.Println(d.Pos)
	// Output:
	// {100 0 0} false
	// {100.01 0 0} true
	// {100.006 5 0}
}

// A flat game in whole units.
func ExampleVec2Quantize() {
	fmt.Println(throng.Vec2Quantize{X: 2.5, Y: -2.5}.Rounded())
	// Output: {3 -3}
}

// A flat game in tenths of a unit.
func ExampleVec2Quantize10() {
	fmt.Println(throng.Vec2Quantize10{X: 0.05, Y: -0.15}.Rounded())
	// Output: {0.1 -0.2}
}

// A flat game in hundredths of a unit. There is no bound: what is too far for steps is exact.
func ExampleVec2Quantize100() {
	fmt.Println(throng.Vec2Quantize100{X: 1.23456, Y: -6543.216}.Rounded())
	fmt.Println(throng.Vec2Quantize100{X: 5e18, Y: 0.123456}.Rounded())
	// Output:
	// {1.23 -6543.22}
	// {5e+18 0.123456}
}

// A direction has length 1: three components from -1 to 1, each at most 0.0000153 off.
func ExampleVec3Normal() {
	up := throng.NormalOf(throng.Vec3{X: 3, Y: 0, Z: 4})
	fmt.Println(up)
	// Output: {0.6 0 0.8}
}

// Degrees, at most 0.0028 off. Others hold the same angle from 0 to 360.
func ExampleRotator() {
	r := throng.Rotator{Pitch: -90, Yaw: 45.5, Roll: 720}
	fmt.Printf("%.4f\n", r.Rounded())
	fmt.Println(throng.Rotator{Yaw: -90}.Rounded() == throng.Rotator{Yaw: 270}.Rounded())
	// Output:
	// {270.0000 45.4999 0.0000}
	// true
}

// Degrees in 256 steps of a turn, at most 0.7 off: enough for who faces where.
func ExampleRotatorByte() {
	fmt.Println(throng.RotatorByte{Yaw: 400}.Rounded())
	// Output: {0 39.375 0}
}

// A rotation, at most 0.0086° off. It and its negative are the same, and the zero value is none.
func ExampleQuat() {
	quarter := throng.Quat{Z: math.Sqrt(0.5), W: math.Sqrt(0.5)} // of a turn about z
	fmt.Printf("%.3f\n", quarter.Rotate(throng.Vec3{X: 1}))
	fmt.Println(throng.Quat{X: -1, Y: -2, Z: -3, W: -4}.Rounded() == throng.Quat{X: 1, Y: 2, Z: 3, W: 4}.Rounded())
	fmt.Println(throng.Quat{}.Rounded())
	// Output:
	// {0.000 1.000 0.000}
	// true
	// {0 0 0 1}
}
