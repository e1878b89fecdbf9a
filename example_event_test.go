package throng_test

import (
	"fmt"

	"github.com/throng-dev/throng"
)

// Shot is the payload of an event: it may hold slices, maps and sets.
type Shot struct {
	At   throng.Vec3Quantize10
	Hits []throng.NetID
}

// Shots is declared once, in a package that all programs of the game share.
var Shots = throng.NewEvent[Shot]("shot", throng.EventConfig{Reliable: true})

func ExampleNewEvent() {
	schema := throng.MustSchema(Shots)
	config := throng.Config{Hooks: []throng.Hook{
		Shots.Handle(func(i throng.EventInfo, s Shot) { fmt.Println(i.From, "hits", len(s.Hits)) }),
	}}
	shoot := func(w *throng.World, gun throng.Object, hits []throng.NetID) error {
		return Shots.ToReach(w, gun, Shot{Hits: hits}) // within step, or a hook
	}
	_, _, _ = schema, config, shoot

	_, err := throng.NewSchema(throng.NewEvent[map[string]int]("score", throng.EventConfig{}))
	fmt.Println(err)
	// Output:
	// throng: map[string]int[] (int) has a size that differs between machines: use int32 or int64
}
