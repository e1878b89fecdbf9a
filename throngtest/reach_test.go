package throngtest_test

import (
	"testing"
	"time"

	"github.com/throng-dev/throng"
	"github.com/throng-dev/throng/relay"
	"github.com/throng-dev/throng/throngtest"
)

var small = throngtest.World(relay.World{ChunkSize: 100, Reach: 2, Flat: true})

// An entity that leaves reach goes, one that comes back is another body with current values (B-052, B-070, R-35).
func TestOutOfReachAndBack(t *testing.T) {
	play(t, func(t *testing.T, n *throngtest.Net) {
		var d diary
		a, b := n.Join("a", throng.Config{Keyframe: throng.Off}), n.Join("b", hooks(d.watch()))
		everywhere(b)
		thing := full("x")
		must(t, a.Spawn(thing))
		n.Until(time.Second, "b sees it", sees(thing, b))
		n.Run(time.Second)
		first := find[Thing](b, thing.NetID())
		d.clear()
		thing.Pos.X = 301 // one chunk beyond: held still, and followed
		thing.Text = "guest"
		n.Until(time.Second, "b follows", sees(thing, b))
		thing.Pos.X = 1000
		n.Until(time.Second, "it leaves", gone(thing.NetID(), b))
		thing.Text = "unseen"
		n.Run(time.Second)
		if first.Text != "guest" {
			t.Errorf("the old body follows: %q", first.Text)
		}
		thing.Pos.X = 0
		n.Until(time.Second, "it is back", sees(thing, b))
		if find[Thing](b, thing.NetID()) == first {
			t.Error("the same body came back")
		}
		d.want(t, "rep x: Pos Text", "destroy x: out of reach local=false", "spawn x local=false")
		if !a.Drives(thing) {
			t.Error("a does not drive it")
		}
	}, small)
}

// Walking on a border makes no spawns and destroys.
func TestWalkOnTheBorder(t *testing.T) {
	play(t, func(t *testing.T, n *throngtest.Net) {
		var d diary
		a, b := n.Join("a", throng.Config{}), n.Join("b", hooks(d.watch()))
		everywhere(b)
		thing := full("x")
		thing.Pos.X = 299
		must(t, a.Spawn(thing))
		n.Until(time.Second, "b sees it", sees(thing, b))
		for i := range 100 {
			thing.Pos.X = 299 + float64(i%2)*3
			n.Run(110 * time.Millisecond)
		}
		if d.count("spawn") != 1 || d.count("destroy") != 0 {
			t.Errorf("b was told %q", d.lines)
		}
		n.Until(time.Second, "b follows", sees(thing, b))
	}, small)
}

// Moving viewpoints: what comes into reach is complete, what goes is gone; several at once; none again.
func TestViewpoints(t *testing.T) {
	play(t, func(t *testing.T, n *throngtest.Net) {
		a, b := n.Join("a", throng.Config{}), n.Join("b", throng.Config{})
		var row []*Thing
		for i := range 50 {
			thing := full("x")
			thing.Pos = throng.Vec2{X: 50 + 100*float64(i), Y: 50}
			must(t, a.Spawn(thing))
			row = append(row, thing)
		}
		held := func() (k int) {
			for range Things.All(b) {
				k++
			}
			return k
		}
		n.Run(time.Second)
		if held() != 0 {
			t.Errorf("without a viewpoint %d are seen", held())
		}
		for x := 0; x < 50; x += 5 {
			b.SetViewpoints(throng.Vec3{X: 50 + 100*float64(x), Y: 50})
			n.Run(time.Second)
			for i, thing := range row {
				_, ok := b.Find(thing.NetID())
				if d := max(i-x, x-i); d <= 2 && !ok || d > 3 && ok {
					t.Errorf("from chunk %d, chunk %d: seen %v", x, i, ok)
				}
			}
		}
		b.SetViewpoints(throng.Vec3{X: 50, Y: 50}, throng.Vec3{X: 4950, Y: 50})
		n.Until(time.Second, "both ends", func() bool { return sees(row[0], b)() && sees(row[49], b)() && held() <= 8 })
		row[0].Text, row[49].Text = "left", "right"
		n.Until(time.Second, "both ends follow", func() bool { return sees(row[0], b)() && sees(row[49], b)() })
		b.SetViewpoints(throng.Vec3{X: nan()})
		n.Run(time.Second)
	}, small)
}

// Without a position an entity is seen from everywhere.
func TestGlobal(t *testing.T) {
	play(t, func(t *testing.T, n *throngtest.Net) {
		a, b := n.Join("a", throng.Config{}), n.Join("b", throng.Config{})
		g := &Told{N: 1}
		must(t, a.Spawn(g))
		n.Until(time.Second, "b sees it", func() bool { return find[Told](b, g.NetID()) != nil })
		b.SetViewpoints(throng.Vec3{X: 1e9})
		g.N = 2
		n.Until(time.Second, "b follows", func() bool { c := find[Told](b, g.NetID()); return c != nil && c.N == 2 })
	}, small)
}

// At MaxEntities newcomers are refused, and shown when there is room.
func TestMaxEntities(t *testing.T) {
	play(t, func(t *testing.T, n *throngtest.Net) {
		a, b := n.Join("a", throng.Config{}), n.Join("b", throng.Config{MaxEntities: 32})
		everywhere(b)
		var things []*Thing
		for range 100 {
			thing := full("x")
			must(t, a.Spawn(thing))
			things = append(things, thing)
		}
		n.Run(3 * time.Second)
		if s := b.Stats(); s.Entities != 32 || s.NoRoom == 0 {
			t.Errorf("b holds %d, refused %d", s.Entities, s.NoRoom)
		}
		for _, thing := range things[:80] {
			must(t, a.Destroy(thing))
		}
		n.Until(5*time.Second, "the rest comes", func() bool {
			for _, thing := range things[80:] {
				if !sees(thing, b)() {
					return false
				}
			}
			return true
		})
	})
}
