// Package reptag has tags that are wrong, each beside one that is right.
package reptag

import (
	"parts"

	"github.com/throng-dev/throng"
)

type Lantern struct {
	throng.Entity
	Pos    throng.Vec3     `rep:"position"`
	Lit    bool            `rep:"heartbeat"`
	Lits   int32           `rep:"manual,heartbeat"`
	Fuel   float32         `rep:"owner"`
	Maker  throng.PlayerID `rep:"init"`
	HP     int32           `rep:"auth,persist"`
	Expose int32           `rep:"init,auth"`
	Plain  int32           `rep:""`
	Other  int32           `json:"other" rep:"owner,manual"`
	none   *int32
	Marked int32 `json:"rep:x"`
}

type Words struct {
	throng.Entity
	A int32 `rep:"ownr"`           // want `reptag.Words.A: word "ownr" is no word: the words are owner, manual, heartbeat, init, position, auth, persist`
	B int32 `rep:"owner,owner"`    // want `reptag.Words.B: word "owner" stands twice: write it once`
	C int32 `rep:"manual=false"`   // want `word "manual=false" has a value, and words take none`
	D int32 `rep:"owner, manual"`  // want `word " manual" has spaces around it`
	E int32 `rep:"owner,"`         // want `word "" is empty: remove the extra comma`
	F int32 `rep:"-"`              // want `word "-" is no word: remove the tag`
	G int32 `rep:"init,manual"`    // want `word "init" cannot stand with manual`
	H int32 `rep:"init,heartbeat"` // want `word "init" cannot stand with heartbeat`
	I int32 `rep:"init,persist"`   // want `word "init" cannot stand with persist`
	J int32 `rep:"auth,manual"`    // want `word "auth" cannot stand with manual`
	K int32 `rep:"auth,heartbeat"` // want `word "auth" cannot stand with heartbeat`
	L int32 `rep:"persist"`        // want `word "persist" stands without auth`
	M int32 `rep:"x,y"`            // want `word "x" is no word` `word "y" is no word`
}

type Malformed struct {
	throng.Entity
	A int32 `rep: "owner"` // want `word "rep: .*" is no well-formed tag`
	B int32 `rep`          // want `is no well-formed tag`
}

type Hidden struct {
	throng.Entity
	_     int32 `rep:""` // want `reptag.Hidden._ is blank and has a rep tag: give it a name, or remove the tag`
	small int32 `rep:""` // want `reptag.Hidden.small is not exported and has a rep tag: export it, or remove the tag`
}

type Places struct {
	throng.Entity
	A throng.Vec3               `rep:"position"`
	B throng.Vec2               `rep:"position"`        // want `word "position" stands a second time, after A`
	C throng.Vec2               `rep:"position,owner"`  // want `word "position" cannot stand with owner`
	D throng.Vec2               `rep:"init,position"`   // want `word "init" cannot stand with position`
	E throng.Vec2               `rep:"position,manual"` // want `word "position" cannot stand with manual`
	F float64                   `rep:"position"`        // want `word "position" does not fit type float64: use throng.Vec3`
	G struct{ X, Y, Z float64 } `rep:"position"`        // want `does not fit type struct{X float64; Y float64; Z float64}`
	H throng.NetID              `rep:"position"`        // want `does not fit type netid`
}

type Glow struct {
	Colour uint32 `rep:"owner"`
	Power  float32
}

type Inside struct {
	throng.Entity
	Glow Glow `rep:""` // want `reptag.Inside.Glow.Colour: word "owner" stands inside a slot, where it has no effect`
}

type base struct {
	Up   bool `rep:""`
	Down bool `rep:"dwon"` // want `reptag.base.Down: word "dwon" is no word`
}

// What base has wrong is told at base.
type Embeds struct {
	throng.Entity
	base
	parts.Good
}

// What a struct of another package has wrong is told where it is embedded.
type Foreign struct {
	throng.Entity
	parts.Base // want `reptag.Foreign.Base.Kind: word "knid" is no word`
}

type ByPointer struct {
	throng.Entity
	*parts.Good // want `reptag.ByPointer.Good is embedded by pointer and holds fields with rep tags: embed parts.Good by value`
}

func local() {
	type lamp struct {
		throng.Entity
		Lit bool `rep:"lit"` // want `reptag.lamp.Lit: word "lit" is no word`
	}
	_ = lamp{}
}

type Motion struct {
	Yaw   float32
	Speed float64
	Trail []int32
	Shared
}

type Shared struct{ Aim float32 }

type Tank struct {
	throng.Entity
	Yaw   float32 `rep:""` // want `reptag.Tank.Yaw also stands in the motion struct reptag.Motion, which keeps it: remove the rep tag here, or the field there`
	Speed float32 `rep:""`
	Aim   float32 `rep:""` // want `reptag.Tank.Aim also stands in the motion struct`
	Fuel  float32 `rep:""`
}

var (
	Tanks = throng.NewClass[Tank]("tank", throng.ClassConfig{})
	_     = throng.Motion(Tanks, func(*Tank) Motion { return Motion{} }, func(*Tank, Motion) {})
)

type Wide struct {
	throng.Entity
	F0  int8 `rep:""`
	F1  int8 `rep:""`
	F2  int8 `rep:""`
	F3  int8 `rep:""`
	F4  int8 `rep:""`
	F5  int8 `rep:""`
	F6  int8 `rep:""`
	F7  int8 `rep:""`
	F8  int8 `rep:""`
	F9  int8 `rep:""`
	F10 int8 `rep:""`
	F11 int8 `rep:""`
	F12 int8 `rep:""`
	F13 int8 `rep:""`
	F14 int8 `rep:""`
	F15 int8 `rep:""`
	F16 int8 `rep:""`
	F17 int8 `rep:""`
	F18 int8 `rep:""`
	F19 int8 `rep:""`
	F20 int8 `rep:""`
	F21 int8 `rep:""`
	F22 int8 `rep:""`
	F23 int8 `rep:""`
	F24 int8 `rep:""`
	F25 int8 `rep:""`
	F26 int8 `rep:""`
	F27 int8 `rep:""`
	F28 int8 `rep:""`
	F29 int8 `rep:""`
	F30 int8 `rep:""`
	F31 int8 `rep:""`
	F32 int8 `rep:""`
	F33 int8 `rep:""`
	F34 int8 `rep:""`
	F35 int8 `rep:""`
	F36 int8 `rep:""`
	F37 int8 `rep:""`
	F38 int8 `rep:""`
	F39 int8 `rep:""`
	F40 int8 `rep:""`
	F41 int8 `rep:""`
	F42 int8 `rep:""`
	F43 int8 `rep:""`
	F44 int8 `rep:""`
	F45 int8 `rep:""`
	F46 int8 `rep:""`
	F47 int8 `rep:""`
	F48 int8 `rep:""`
	F49 int8 `rep:""`
	F50 int8 `rep:""`
	F51 int8 `rep:""`
	F52 int8 `rep:""`
	F53 int8 `rep:""`
	F54 int8 `rep:""`
	F55 int8 `rep:""`
	F56 int8 `rep:""`
	F57 int8 `rep:""`
	F58 int8 `rep:""`
	F59 int8 `rep:""`
	F60 int8 `rep:""`
	F61 int8 `rep:""`
	F62 int8 `rep:""`
	F63 int8 `rep:""`
	F64 int8 `rep:""` // want `reptag.Wide.F64 is slot 65 of 65, and a class has at most 64: put fields that change together into one struct`
}

type Full struct {
	throng.Entity
	F0  int8 `rep:""`
	F1  int8 `rep:""`
	F2  int8 `rep:""`
	F3  int8 `rep:""`
	F4  int8 `rep:""`
	F5  int8 `rep:""`
	F6  int8 `rep:""`
	F7  int8 `rep:""`
	F8  int8 `rep:""`
	F9  int8 `rep:""`
	F10 int8 `rep:""`
	F11 int8 `rep:""`
	F12 int8 `rep:""`
	F13 int8 `rep:""`
	F14 int8 `rep:""`
	F15 int8 `rep:""`
	F16 int8 `rep:""`
	F17 int8 `rep:""`
	F18 int8 `rep:""`
	F19 int8 `rep:""`
	F20 int8 `rep:""`
	F21 int8 `rep:""`
	F22 int8 `rep:""`
	F23 int8 `rep:""`
	F24 int8 `rep:""`
	F25 int8 `rep:""`
	F26 int8 `rep:""`
	F27 int8 `rep:""`
	F28 int8 `rep:""`
	F29 int8 `rep:""`
	F30 int8 `rep:""`
	F31 int8 `rep:""`
	F32 int8 `rep:""`
	F33 int8 `rep:""`
	F34 int8 `rep:""`
	F35 int8 `rep:""`
	F36 int8 `rep:""`
	F37 int8 `rep:""`
	F38 int8 `rep:""`
	F39 int8 `rep:""`
	F40 int8 `rep:""`
	F41 int8 `rep:""`
	F42 int8 `rep:""`
	F43 int8 `rep:""`
	F44 int8 `rep:""`
	F45 int8 `rep:""`
	F46 int8 `rep:""`
	F47 int8 `rep:""`
	F48 int8 `rep:""`
	F49 int8 `rep:""`
	F50 int8 `rep:""`
	F51 int8 `rep:""`
	F52 int8 `rep:""`
	F53 int8 `rep:""`
	F54 int8 `rep:""`
	F55 int8 `rep:""`
	F56 int8 `rep:""`
	F57 int8 `rep:""`
	F58 int8 `rep:""`
	F59 int8 `rep:""`
	F60 int8 `rep:""`
	F61 int8 `rep:""`
	F62 int8 `rep:""`
	F63 int8 `rep:""`
}
