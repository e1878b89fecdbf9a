// Package good has nothing to report.
package good

import "github.com/throng-dev/throng"

type Lamp struct {
	throng.Entity
	Pos  throng.Vec3 `rep:"position"`
	Lit  bool        `rep:"heartbeat"`
	Fuel float32     `rep:"owner"`
	Lits int32       `rep:"manual"`
}

var Lamps = throng.NewClass[Lamp]("lamp", throng.ClassConfig{})

func use(w *throng.World, l *Lamp) {
	w.MarkDirty(l, &l.Lits)
	go func() { w.Post(func() { w.Close() }) }()
	Lamps.Bind(throng.Hooks[Lamp]{OnRep: func(l *Lamp, c throng.Changes) {
		if c.Has(&l.Lit) {
			l.Lits++
		}
	}})
}
