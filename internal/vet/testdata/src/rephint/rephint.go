// Package rephint has declarations that are allowed and seldom meant.
package rephint

import "github.com/throng-dev/throng"

type Part struct {
	Level int32 `rep:""`
}

type Lantern struct {
	throng.Entity
	Fuel  float32 `rep:"owner,heartbeat"`        // want `rephint.Lantern.Fuel: word "heartbeat" stands with owner, and what goes to the owner alone is in no keyframe: drop heartbeat, or drop owner`
	Seeds int32   `rep:"owner,manual,heartbeat"` // want `stands with owner`
	Beat  int32   `rep:"heartbeat"`
	Own   int32   `rep:"owner"`
	Loose Part    // want `rephint.Lantern.Loose has no rep tag, so the tags inside rephint.Part have no effect: embed it, which makes each of its fields a slot, or tag it, which makes all of it one slot`
	Part
	Near *Part
	Next *Lantern
}

type Game struct{ Mine Lantern }

type motion struct {
	Yaw   float32
	Speed float64
}

// pose is a motion struct, of which an entity may keep one.
type pose struct {
	Pos throng.Vec2 `rep:"position"`
	Yaw float32
}

type Walker struct {
	throng.Entity
	Armed bool `rep:""`
	pose  pose
}

var _ = throng.Motion(throng.NewClass[Walker]("walker", throng.ClassConfig{}), func(w *Walker) pose { return w.pose }, func(w *Walker, p pose) { w.pose = p })

type Tank struct {
	throng.Entity
	Speed float32 `rep:""` // want `rephint.Tank.Speed has the name of a field of the motion struct rephint.motion, and another type, so both are sent: rename one if they differ, else give both one type`
	Fuel  float32 `rep:""`
}

var _ = throng.Motion(throng.NewClass[Tank]("tank", throng.ClassConfig{}), func(*Tank) motion { return motion{} }, func(*Tank, motion) {})
