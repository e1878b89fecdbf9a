package load

import (
	"github.com/throng-dev/throng"
)

// Thing lies about; whoever asks for it gets to drive it.
type Thing struct {
	throng.Entity
	Pos    throng.Vec2Quantize `rep:"position"`
	Writes uint32              `rep:""`
	Lit    bool                `rep:""`
}

var things = throng.NewClass[Thing]("load thing", throng.ClassConfig{AutoGrant: true, AutoDiffHosted: true})

func (e *Thing) slots() (s [4]int64, n int, at Cell) {
	x, y := int16(e.Pos.X), int16(e.Pos.Y)
	s = [4]int64{int64(x)<<16 | int64(uint16(y)), int64(e.Writes)}
	if e.Lit {
		s[2] = 1
	}
	return s, 3, State{X: x, Y: y}.Cell()
}

// more is what a player has in some scenarios only.
type more struct{}

func (p *player) thingHooks() []throng.Hook { return nil }

// act is what a player does in a frame beside walking.
func (p *player) act() {}
