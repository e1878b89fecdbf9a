package main

import (
	"github.com/throng-dev/throng"
)

// The lantern world: players walk over a meadow, each with lanterns of its own, as any game on Throng would declare them.

const (
	level = "lantern-meadow"

	chunkSize = 1600 // units, which are centimetres
	walk      = 260  // units a second
	ahead     = 150  // a dropped lantern stands this far in front
	touch     = 60   // from here on a walker touches a lantern
)

// Walker is the avatar of a player.
type Walker struct {
	throng.Entity
	Pos    throng.Vec2Quantize `rep:"position"` // whole centimetres are enough for a walk: 6 bytes instead of 16
	Facing uint8               `rep:""`         // 256 a turn
	Name   string              `rep:"init"`

	track *track
}

// Lantern stands on the ground or is carried by its owner.
type Lantern struct {
	throng.Entity
	Pos  throng.Vec2Quantize `rep:"position"`
	Lit  bool                `rep:""`
	Held bool                `rep:""`
	Fuel float32             `rep:"owner"`
	Hue  uint8               `rep:"init"`

	track *track
}

// Both classes notify the driver as well: that is how the demo knows which values were sent, and when (see track).
var (
	walkers  = throng.NewClass[Walker]("walker", throng.ClassConfig{NotifyDriver: true})
	lanterns = throng.NewClass[Lantern]("lantern", throng.ClassConfig{NotifyDriver: true})
	schema   = throng.MustSchema(walkers, lanterns)
)

// state is what the freshness of an entity is judged by. Name and Hue never change.
type state struct {
	pos       throng.Vec2
	lit, held bool
}

func (w *Walker) state() state  { return state{pos: w.Pos.Vec2()} }
func (l *Lantern) state() state { return state{l.Pos.Vec2(), l.Lit, l.Held} }

// trackOf and stateOf read either class.
func trackOf(o throng.Object) *track {
	switch e := o.(type) {
	case *Walker:
		return e.track
	case *Lantern:
		return e.track
	}
	return nil
}

func stateOf(o throng.Object) state {
	switch e := o.(type) {
	case *Walker:
		return e.state()
	case *Lantern:
		return e.state()
	}
	return state{}
}
