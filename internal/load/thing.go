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
	Quiet  bool                `rep:"init"` // it is lit once, and never written again
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

// put makes a thing near a player.
func (p *player) put(quiet bool, opts ...throng.SpawnOption) (*Thing, error) {
	e := &Thing{Pos: throng.Vec2Quantize(p.at).Rounded(), Quiet: quiet}
	return e, p.w.Spawn(e, opts...)
}

func (p *player) thingHooks() []throng.Hook {
	return []throng.Hook{things.Bind(throng.Hooks[Thing]{
		OnSpawn: func(_ *throng.World, e *Thing, local bool) {
			if p.has == nil {
				p.has = map[throng.NetID]bool{}
			}
			if p.has[e.NetID()] {
				p.m.duplicates++
			}
			p.has[e.NetID()] = true
			p.events++
		},
		OnRep: func(*Thing, throng.Changes) { p.events++ },
		OnOwner: func(w *throng.World, e *Thing, _ throng.PlayerID) {
			if p.events++; e.Owner() == w.Self() {
				p.granted++
			}
		},
		OnDestroy: func(_ *throng.World, e *Thing, _ throng.Departure) {
			delete(p.has, e.NetID())
			p.events++
		},
	})}
}

// act is what a player does in a frame beside walking: it writes what it drives, often enough to race everything else.
func (p *player) act() {
	if !p.busy {
		return
	}
	for e := range things.All(p.w) {
		if !e.Quiet && p.w.Drives(e) && p.rng.IntN(8) == 0 {
			e.Writes++
			e.Lit = e.Writes%3 == 0
		}
	}
}
