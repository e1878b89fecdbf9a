package throngtest_test

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/throng-dev/throng"
	"github.com/throng-dev/throng/relay"
	"github.com/throng-dev/throng/throngtest"
)

// Bird streams, Stump does not.
type Bird struct {
	throng.Entity
	Pos throng.Vec3 `rep:"position"`
}

type Stump struct {
	throng.Entity
	Pos throng.Vec3 `rep:"position"`
}

var (
	Birds       = throng.NewClass[Bird]("bird", throng.ClassConfig{Mode: throng.Dynamic})
	Stumps      = throng.NewClass[Stump]("stump", throng.ClassConfig{})
	TrackSchema = throng.MustSchema(Birds, Stumps)
)

// B-063: in a pass-through world a Dynamic entity must be heard of itself, for its game may hang while its link is fine; it comes anew with its
// next news. Where values are kept, and for what is Static, the relay vouches.
func TestB063SilenceOfOne(t *testing.T) {
	for _, pass := range []bool{true, false} {
		t.Run(fmt.Sprint("pass-through", pass), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				n := throngtest.New(t, TrackSchema, throngtest.World(relay.World{PassThrough: pass}))
				var d diary
				kind := func(o throng.Object) string { return fmt.Sprintf("%T", o)[len("*throngtest_test."):] }
				a := n.Join("a", throng.Config{})
				b := n.Join("b", throng.Config{
					OnAppeared: func(w *throng.World, e throng.Object) { d.note("appeared %s", kind(e)) },
					OnTimedOut: func(w *throng.World, e throng.Object) { d.note("timed out %s", kind(e)) },
					OnLeft:     func(w *throng.World, id throng.NetID, dep throng.Departure) { d.note("left: %v", dep.Why) },
				})
				everywhere(b)
				bird, stump := &Bird{}, &Stump{}
				must(t, a.Spawn(bird))
				must(t, a.Spawn(stump))
				n.Until(5*time.Second, "b sees both", func() bool {
					return find[Bird](b, bird.NetID()) != nil && find[Stump](b, stump.NetID()) != nil
				})
				d.clear()
				n.Run(time.Minute)
				d.want(t) // standing still is no silence
				n.Forget(a)
				began := time.Now()
				if !pass {
					n.Run(time.Minute)
					d.want(t)
					return
				}
				n.Until(15*time.Second, "it times out", func() bool { return len(d.lines) > 0 })
				if took := time.Since(began); took < 8900*time.Millisecond || took > 14100*time.Millisecond { // its last repeat was up to 3 s ago
					t.Errorf("timed out after %v", took)
				}
				n.Run(10 * time.Second)
				d.want(t, "timed out Bird")
				n.Add("a", a)
				n.Step(a, func() { bird.Pos.X += 0.1 })
				n.Until(2*time.Second, "it comes anew", func() bool { return find[Bird](b, bird.NetID()) != nil })
				d.want(t, "timed out Bird", "appeared Bird")
			})
		})
	}
}
