package grid

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"testing"

	ours "github.com/throng-dev/throng/internal/grid"
	"github.com/xiaonanln/go-aoi"
)

const chunk = 100 // edge, in units

// crowd is movers on a square of chunks, about two a chunk.
type crowd struct {
	edge int64
	at   []ours.Chunk
	turn []int64 // direction of each
}

func newCrowd(n int) *crowd {
	c := &crowd{edge: 1, at: make([]ours.Chunk, n), turn: make([]int64, n)}
	for 2*c.edge*c.edge < int64(n) {
		c.edge++
	}
	rng := rand.New(rand.NewPCG(1, 1))
	for i := range c.at {
		c.at[i] = ours.Chunk{X: rng.Int64N(c.edge), Y: rng.Int64N(c.edge)}
		c.turn[i] = 1 - 2*rng.Int64N(2)
	}
	return c
}

// step takes mover i into the next chunk, turning at the edge.
func (c *crowd) step(i int) ours.Chunk {
	p := &c.at[i]
	if x := p.X + c.turn[i]; x < 0 || x >= c.edge {
		c.turn[i] = -c.turn[i]
	}
	p.X = max(0, min(c.edge-1, p.X+c.turn[i]))
	return *p
}

// middle is where a mover stands in a chunk: away from the borders, where float32 is not exact.
func middle(c ours.Chunk) (x, y aoi.Coord) {
	return aoi.Coord(c.X*chunk + chunk/2), aoi.Coord(c.Y*chunk + chunk/2)
}

func newGrid(c *crowd) *ours.Grid {
	places := make([]ours.Place, len(c.at))
	g := ours.New(func(h uint32) *ours.Place { return &places[h] })
	for i, at := range c.at {
		g.Add(uint32(i), at)
	}
	return g
}

// mover is one of the towers' objects.
type mover struct {
	aoi.AOI
	sees map[*aoi.AOI]bool // nil: nobody looks
}

func (m *mover) OnEnterAOI(other *aoi.AOI) {
	if m.sees != nil {
		m.sees[other] = true
	}
}

func (m *mover) OnLeaveAOI(other *aoi.AOI) {
	if m.sees != nil {
		delete(m.sees, other)
	}
}

func newTowers(c *crowd, reach int, looks bool) (aoi.AOIManager, []mover) {
	// Movers watch beyond the edge, where towers are clamped to the last.
	t := aoi.NewTowerAOIManager(0, aoi.Coord(c.edge*chunk-1), 0, aoi.Coord(c.edge*chunk-1), chunk)
	movers := make([]mover, len(c.at))
	for i, at := range c.at {
		m := &movers[i]
		if looks {
			m.sees = map[*aoi.AOI]bool{}
		}
		aoi.InitAOI(&m.AOI, aoi.Coord(reach*chunk), m, m)
		x, y := middle(at)
		t.Enter(&m.AOI, x, y)
	}
	return t, movers
}

// TestBothFindTheSame makes the comparison one of equals: after any moves, who is near is the same.
func TestBothFindTheSame(t *testing.T) {
	const reach = 3
	c := newCrowd(400)
	g := newGrid(c)
	towers, movers := newTowers(c, reach, true)
	rng := rand.New(rand.NewPCG(2, 2))
	for range 5000 {
		i := rng.IntN(len(c.at))
		at := c.step(i)
		g.Move(uint32(i), at)
		x, y := middle(at)
		towers.Moved(&movers[i].AOI, x, y)
	}
	for i := range movers {
		near := map[*aoi.AOI]bool{}
		g.Near(c.at[i], reach, func(cell *ours.Cell) {
			for _, h := range cell.Handles {
				if int(h) != i {
					near[&movers[h].AOI] = true
				}
			}
		})
		if !maps.Equal(near, movers[i].sees) {
			t.Fatalf("mover %d: the grid finds %d, the towers %d", i, len(near), len(movers[i].sees))
		}
	}
}

var sizes = []int{1000, 10_000, 100_000}

func BenchmarkGrid(b *testing.B) {
	for _, n := range sizes {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			c := newCrowd(n)
			g := newGrid(c)
			b.ReportAllocs()
			i := 0
			for b.Loop() {
				g.Move(uint32(i), c.step(i))
				if i += 7; i >= n {
					i -= n
				}
			}
		})
	}
}

func benchmarkTowers(b *testing.B, reach int) {
	for _, n := range sizes {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			c := newCrowd(n)
			towers, movers := newTowers(c, reach, false)
			b.ReportAllocs()
			i := 0
			for b.Loop() {
				x, y := middle(c.step(i))
				towers.Moved(&movers[i].AOI, x, y)
				if i += 7; i >= n {
					i -= n
				}
			}
		})
	}
}

func BenchmarkTowersIndex(b *testing.B)  { benchmarkTowers(b, 0) }
func BenchmarkTowersReach8(b *testing.B) { benchmarkTowers(b, 8) }
