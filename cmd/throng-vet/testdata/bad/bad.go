// Package bad has one mistake for each check. TestGoVet compares what is reported with the comments.
package bad

import "github.com/throng-dev/throng"

type Lamp struct {
	throng.Entity
	Lit   bool    `rep:"lit"`             // want reptag
	Count int     `rep:""`                // want reptype
	Fuel  float32 `rep:"owner,heartbeat"` // want rephint
}

var last throng.Changes

func use(w *throng.World, a, b *Lamp) {
	c := *a                   // want entitycopy
	w.MarkDirty(a, &b.Fuel)   // want fieldaddr
	go func() { w.Close() }() // want worldgo
	_ = throng.Hooks[Lamp]{OnRep: func(l *Lamp, c throng.Changes) {
		last = c // want keepchanges
	}}
	_ = &c
}
