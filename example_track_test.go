package throng_test

import (
	"context"
	"fmt"

	"github.com/throng-dev/throng"
)

type Barge struct {
	throng.Entity
	Pos   throng.Vec3 `rep:"position"`
	model *string
}

// Barges fetch a model before they are seen, and their structs are used again.
var Barges = throng.NewClass[Barge]("barge", throng.ClassConfig{Pool: 32})

// What is dear to make is loaded before the proxy appears, and kept for the next.
func ExampleHooks_load() {
	hook := Barges.Bind(throng.Hooks[Barge]{
		Load: func(ctx context.Context, id throng.NetID) error {
			fmt.Println("fetching") // on a goroutine of its own: from a file, or the net
			return ctx.Err()        // gone meanwhile
		},
		OnSpawn: func(w *throng.World, e *Barge, local bool) {
			if e.model == nil {
				e.model = new(string)
			}
		},
		Reset: func(e *Barge) {}, // keeps the model; without Reset it would be cleared
	})
	_ = hook // throng.Config{Hooks: []throng.Hook{hook}}
}

// A program that keeps a score for each entity it ever met, held here or not.
func ExampleConfig_onLeft() {
	score := map[throng.NetID]int{}
	cfg := throng.Config{
		OnAppeared: func(w *throng.World, e throng.Object) { score[throng.EntityOf(e).NetID()]++ },
		OnLeft:     func(w *throng.World, id throng.NetID, d throng.Departure) { delete(score, id) },
		OnTimedOut: func(w *throng.World, e throng.Object) { fmt.Println("is the link broken?", w.Stats().LastHeard) },
	}
	_ = cfg
}
