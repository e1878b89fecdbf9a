package throngtest_test

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/throng-dev/throng"
	"github.com/throng-dev/throng/throngtest"
)

type doorNow struct {
	throng.Entity
	Pos  throng.Vec2 `rep:"position"`
	Open bool        `rep:""`
	Wear int16       `rep:""`
}

type doorAdded struct {
	throng.Entity
	Pos  throng.Vec2 `rep:"position"`
	Open bool        `rep:""`
	Wear int16       `rep:""`
	Key  int16       `rep:""`
}

type doorRemoved struct {
	throng.Entity
	Pos  throng.Vec2 `rep:"position"`
	Open bool        `rep:""`
}

type doorReordered struct {
	throng.Entity
	Pos  throng.Vec2 `rep:"position"`
	Wear int16       `rep:""`
	Open bool        `rep:""`
}

type doorRetyped struct {
	throng.Entity
	Pos  throng.Vec2 `rep:"position"`
	Open bool        `rep:""`
	Wear int32       `rep:""`
}

type doorRenamed struct {
	throng.Entity
	Pos  throng.Vec2 `rep:"position"`
	Ajar bool        `rep:""`
	Wear int16       `rep:""`
}

type doorRetagged struct {
	throng.Entity
	Pos  throng.Vec2 `rep:"position"`
	Open bool        `rep:"owner"`
	Wear int16       `rep:""`
}

// TestLayoutGuard is B-028 (P46, P47): of two builds that declare a class differently neither applies anything of the other's,
// says so once with the first difference, and everything else flows.
func TestLayoutGuard(t *testing.T) {
	for name, other := range map[string]struct {
		class throng.Item
		says  string
	}{
		"added":     {throng.NewClass[doorAdded]("door", throng.ClassConfig{}), "Key"},
		"removed":   {throng.NewClass[doorRemoved]("door", throng.ClassConfig{}), "Wear"},
		"reordered": {throng.NewClass[doorReordered]("door", throng.ClassConfig{}), "Wear"},
		"retyped":   {throng.NewClass[doorRetyped]("door", throng.ClassConfig{}), "Wear"},
		"renamed":   {throng.NewClass[doorRenamed]("door", throng.ClassConfig{}), "Ajar"},
		"retagged":  {throng.NewClass[doorRetagged]("door", throng.ClassConfig{}), "owner"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				doors := throng.NewClass[doorNow]("door", throng.ClassConfig{})
				n := throngtest.New(t, throng.MustSchema(doors, Posts))
				a := n.Join("a", throng.Config{})
				// The other build joins with a schema of its own.
				var log logbook
				cfg := n.Config("b", throng.Config{Logger: log.logger()})
				ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
				defer cancel()
				b, err := throng.Join(ctx, n.Addr(), throng.MustSchema(other.class, Posts), cfg)
				if err != nil {
					t.Fatal(err)
				}
				n.Add("b", b)
				b.SetViewpoints(throng.Vec3{})
				door, post := &doorNow{Open: true}, &Post{Bright: 1}
				if err := a.Spawn(door); err != nil {
					t.Fatal(err)
				}
				if err := a.Spawn(post); err != nil {
					t.Fatal(err)
				}
				n.Until(2*time.Second, "the class both have flows", func() bool { return proxyOf(b) != nil && proxyOf(b).Bright == 1 })
				for range 20 {
					door.Wear++
					post.Dim++
					n.Run(100 * time.Millisecond)
				}
				n.Until(time.Second, "it goes on flowing", func() bool { return proxyOf(b).Dim == 20 })
				if _, ok := b.Find(door.NetID()); ok {
					t.Error("b shows an entity whose layout it does not have")
				}
				if b.Stats().Foreign == 0 {
					t.Error("nothing was counted as foreign")
				}
				lines := log.count("another layout")
				if lines != 1 || !strings.Contains(log.text(), other.says) {
					t.Errorf("%d lines say so, want one that names %q:\n%s", lines, other.says, log.text())
				}
			})
		})
	}
}
