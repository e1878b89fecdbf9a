package throngtest_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/throng-dev/throng"
	"github.com/throng-dev/throng/relay"
	"github.com/throng-dev/throng/throngtest"
)

// Post has a field that is repeated and one that is not.
type Post struct {
	throng.Entity
	Pos    throng.Vec2 `rep:"position,heartbeat"`
	Bright int32       `rep:"heartbeat"`
	Dim    int32       `rep:""`
}

var (
	Posts      = throng.NewClass[Post]("post", throng.ClassConfig{})
	PostSchema = throng.MustSchema(Posts)
)

func proxyOf(w *throng.World) *Post {
	for p := range Posts.All(w) {
		return p
	}
	return nil
}

// TestPassThroughLateJoiner shows the gap that a relay without kept values leaves, as documented: a late joiner holds nothing until the
// spawn is repeated, defaults until the next keyframe, and in a field without heartbeat until the next change.
func TestPassThroughLateJoiner(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := throngtest.New(t, PostSchema, throngtest.World(relay.World{PassThrough: true, Keyframe: 2 * time.Second}))
		a := n.Join("a", throng.Config{})
		post := &Post{Bright: 1, Dim: 1}
		if err := a.Spawn(post, throng.AsAvatar()); err != nil {
			t.Fatal(err)
		}
		n.Run(time.Second)
		post.Bright, post.Dim = 7, 8
		n.Run(3 * time.Second)

		b := n.Join("b", throng.Config{})
		b.SetViewpoints(throng.Vec3{})
		n.Until(4500*time.Millisecond, "the late joiner hears the spawn again", func() bool { return proxyOf(b) != nil })
		if p := proxyOf(b); p.Dim != 0 {
			t.Errorf("the late joiner has %d: a pass-through world has no baseline", p.Dim)
		}
		n.Until(2500*time.Millisecond, "the keyframe brings the heartbeat field", func() bool { return proxyOf(b).Bright == 7 })
		n.Run(5 * time.Second)
		if p := proxyOf(b); p.Dim != 0 {
			t.Errorf("the field without heartbeat is %d without having changed", p.Dim)
		}
		post.Dim = 9
		n.Until(time.Second, "its next change arrives", func() bool { return proxyOf(b).Dim == 9 })
	})
}

// TestPassThroughLostChange: nothing repairs a lost change but a keyframe; where values are kept it is repaired (P40).
func TestPassThroughLostChange(t *testing.T) {
	for _, pass := range []bool{true, false} {
		t.Run(map[bool]string{true: "pass-through", false: "retain"}[pass], func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				n := throngtest.New(t, PostSchema, throngtest.World(relay.World{PassThrough: pass, Keyframe: 4 * time.Second}))
				a, b := n.Join("a", throng.Config{}), n.Join("b", throng.Config{})
				b.SetViewpoints(throng.Vec3{})
				post := &Post{}
				if err := a.Spawn(post, throng.AsAvatar()); err != nil {
					t.Fatal(err)
				}
				n.Until(5*time.Second, "b has it", func() bool { return proxyOf(b) != nil })
				n.Run(time.Second)
				n.Shape(b, throngtest.Link{}, throngtest.Link{Loss: 1})
				post.Bright, post.Dim = 3, 4
				n.Run(300 * time.Millisecond)
				n.Shape(b, throngtest.Link{}, throngtest.Link{})
				if !pass {
					n.Until(time.Second, "both are repaired", func() bool { return proxyOf(b).Bright == 3 && proxyOf(b).Dim == 4 })
					return
				}
				n.Until(5*time.Second, "the keyframe repairs the heartbeat field", func() bool { return proxyOf(b).Bright == 3 })
				if proxyOf(b).Dim == 4 {
					t.Error("the lost change of the other field arrived: a pass-through world repairs nothing")
				}
			})
		})
	}
}

// TestPassThroughKeepsOwners: the ledger of owners, the host and departures do not depend on kept values.
func TestPassThroughKeepsOwners(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := throngtest.New(t, PostSchema, throngtest.World(relay.World{PassThrough: true}))
		a := n.Join("a", throng.Config{})
		post := &Post{}
		if err := a.Spawn(post, throng.AsAvatar()); err != nil {
			t.Fatal(err)
		}
		b := n.Join("b", throng.Config{})
		b.SetViewpoints(throng.Vec3{})
		n.Until(5*time.Second, "b has it", func() bool { return proxyOf(b) != nil })
		if p := proxyOf(b); p.Owner() != a.Self() {
			t.Errorf("owner %v, want %v", p.Owner(), a.Self())
		}
		if h, ok := b.Host(); !ok || h != a.Self() {
			t.Errorf("host %v %v, want %v", h, ok, a.Self())
		}
		n.Leave(a)
		n.Until(2*time.Second, "it left with its owner, and b is host", func() bool { return proxyOf(b) == nil && b.IsHost() })
	})
}
