package throngtest_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/throng-dev/throng"
	"github.com/throng-dev/throng/throngtest"
)

// TestPropertiesAndProxiesOff is B-032: without properties nothing is sent nor taken after the first values, without proxies nobody
// else's entity appears; own spawns go on in both.
func TestPropertiesAndProxiesOff(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := throngtest.New(t, PostSchema)
		a := n.Join("a", throng.Config{})
		still := n.Join("still", throng.Config{NoProperties: true})
		alone := n.Join("alone", throng.Config{NoProxies: true, Hooks: []throng.Hook{Posts.Bind(throng.Hooks[Post]{
			OnSpawn: func(_ *throng.World, p *Post, local bool) {
				if !local {
					t.Error("a proxy appeared where there are none")
				}
			}})}})
		for _, w := range []*throng.World{a, still, alone} {
			w.SetViewpoints(throng.Vec3{})
		}
		mine, its, own := &Post{Dim: 1}, &Post{Dim: 10}, &Post{Dim: 100}
		for w, p := range map[*throng.World]*Post{a: mine, still: its, alone: own} {
			if err := w.Spawn(p); err != nil {
				t.Fatal(err)
			}
		}
		at := func(w *throng.World, p *Post) *Post {
			if o, ok := w.Find(p.NetID()); ok {
				return o.(*Post)
			}
			return nil
		}
		n.Until(time.Second, "everybody's spawn is where it belongs", func() bool {
			return at(still, mine) != nil && at(a, its) != nil && at(a, own) != nil && at(still, own) != nil
		})
		if at(still, mine).Dim != 1 || at(a, its).Dim != 10 {
			t.Error("the first values did not come with the spawn")
		}
		mine.Dim, its.Dim, own.Dim = 2, 20, 200
		if err := still.MarkDirty(its); err != nil {
			t.Error(err)
		}
		n.Until(time.Second, "what has properties goes on", func() bool { return at(a, own).Dim == 200 })
		n.Run(5 * time.Second)
		if at(still, mine).Dim != 1 || at(a, its).Dim != 10 {
			t.Errorf("without properties it took %d and sent %d", at(still, mine).Dim, at(a, its).Dim)
		}
		if at(alone, mine) != nil || at(alone, its) != nil {
			t.Error("without proxies it holds others' entities")
		}
	})
}

// TestOnUnknownClass is B-018: a class this build lacks is offered once, when an entity of it is near.
func TestOnUnknownClass(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := throngtest.New(t, PostSchema)
		a := n.Join("a", throng.Config{})
		var heard []string
		cfg := n.Config("b", throng.Config{OnUnknownClass: func(_ *throng.World, name string, id uint32) { heard = append(heard, name) }})
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		defer cancel()
		b, err := throng.Join(ctx, n.Addr(), ClockSchema, cfg)
		if err != nil {
			t.Fatal(err)
		}
		n.Add("b", b)
		b.SetViewpoints(throng.Vec3{})
		n.Run(time.Second)
		if len(heard) != 0 {
			t.Errorf("offered %v with no entity near", heard)
		}
		for range 3 {
			if err := a.Spawn(&Post{}); err != nil {
				t.Fatal(err)
			}
		}
		n.Run(2 * time.Second)
		if len(heard) != 1 || heard[0] != "post" {
			t.Errorf("offered %v, want post once", heard)
		}
	})
}
