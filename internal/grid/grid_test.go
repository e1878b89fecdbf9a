package grid

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"
)

// field is a grid beside the plainest thing that does the same.
type field struct {
	*Grid
	places []Place
	naive  map[uint32]Chunk
}

func newField(n int) *field {
	f := &field{places: make([]Place, n), naive: map[uint32]Chunk{}}
	f.Grid = New(func(h uint32) *Place { return &f.places[h] })
	return f
}

func (f *field) check(t *testing.T) {
	t.Helper()
	byChunk := map[Chunk][]uint32{}
	for h := range f.places {
		c, in := f.naive[uint32(h)]
		if p := &f.places[h]; p.In() != in || in && p.Chunk != c {
			t.Fatalf("%d is at %v %v, want %v %v", h, p.Chunk, p.In(), c, in)
		}
		if in {
			byChunk[c] = append(byChunk[c], uint32(h))
		}
	}
	if f.Cells() != len(byChunk) {
		t.Fatalf("%d cells, want %d", f.Cells(), len(byChunk))
	}
	for c, want := range byChunk {
		cell := f.Cell(c)
		if cell == nil || cell.Chunk != c {
			t.Fatalf("no cell %v", c)
		}
		if got := slices.Sorted(slices.Values(cell.Handles)); !slices.Equal(got, want) {
			t.Fatalf("cell %v has %v, want %v", c, got, want)
		}
	}
}

// near compares Near with a look at everything, and finds cells that it names twice.
func (f *field) near(t *testing.T, c Chunk, reach int64) {
	t.Helper()
	got, want := map[Chunk]int{}, map[Chunk]int{}
	f.Near(c, reach, func(cell *Cell) { got[cell.Chunk]++ })
	for _, at := range f.naive {
		if at.Distance(c) <= reach {
			want[at] = 1
		}
	}
	if !maps.Equal(got, want) {
		t.Fatalf("near %v, reach %d: %v, want %v", c, reach, got, want)
	}
}

// Random moves, also far away, below 0 and over the borders of regions, against a map.
func TestRandomMoves(t *testing.T) {
	for seed := range uint64(30) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			rng := rand.New(rand.NewPCG(seed, 3))
			f := newField(60)
			origin := []int64{0, -8, 7, 1 << 40, 1<<62 - 200, -(1<<62 - 200)}[rng.IntN(6)]
			spread := 1 + rng.IntN(40)
			somewhere := func() Chunk {
				at := func() int64 { return origin + int64(rng.IntN(2*spread)-spread) }
				return Chunk{at(), at(), at()}
			}
			for step := range 2000 {
				h := uint32(rng.IntN(len(f.places)))
				switch op := rng.IntN(10); {
				case op < 2:
					f.Remove(h) // also of what is not in
					delete(f.naive, h)
				case op < 4:
					c := somewhere()
					f.Add(h, c) // also of what is in
					f.naive[h] = c
				default:
					c, in := f.naive[h]
					if !in || op < 6 {
						c = somewhere()
					} else {
						c = Chunk{c.X + int64(rng.IntN(3)-1), c.Y + int64(rng.IntN(3)-1), c.Z + int64(rng.IntN(3)-1)}
					}
					f.Move(h, c)
					f.naive[h] = c
				}
				if step%20 == 0 {
					f.check(t)
					f.near(t, somewhere(), int64(rng.IntN(20)))
					f.near(t, somewhere(), 255)
				}
			}
			for h := range f.places {
				f.Remove(uint32(h))
				delete(f.naive, uint32(h))
			}
			if f.check(t); len(f.buckets) != 0 || len(f.index) != 0 {
				t.Fatalf("%d regions of an empty grid", len(f.buckets))
			}
		})
	}
}

// Both sides of every border between two regions see each other.
func TestNearAcrossRegions(t *testing.T) {
	f := newField(27)
	h := uint32(0)
	for _, x := range []int64{-9, -8, -1, 0, 7, 8} {
		c := Chunk{x, -1, 8}
		f.Add(h, c)
		f.naive[h] = c
		h++
	}
	for x := int64(-12); x < 12; x++ {
		for reach := range int64(10) {
			f.near(t, Chunk{x, 0, 7}, reach)
		}
	}
}

// A walk through the world leaves no memory behind.
func TestWalkLeavesNothing(t *testing.T) {
	f := newField(1)
	for x := range int64(10_000) {
		f.Move(0, Chunk{X: x})
	}
	if len(f.buckets) != 1 || f.Cells() != 1 || len(f.spare) > 256 {
		t.Fatalf("%d regions, %d cells, %d spare", len(f.buckets), f.Cells(), len(f.spare))
	}
}

// crowd spreads n movers, about two a chunk, over a square of chunks.
func crowd(n int) (*field, int) {
	f := newField(n)
	edge := 1
	for 2*edge*edge < n {
		edge++
	}
	rng := rand.New(rand.NewPCG(1, 1))
	for h := range n {
		f.Add(uint32(h), Chunk{int64(rng.IntN(edge)), int64(rng.IntN(edge)), 0})
	}
	return f, edge
}

func TestMovesDoNotAllocate(t *testing.T) {
	f, edge := crowd(1000)
	rng := rand.New(rand.NewPCG(2, 2))
	walk := func() {
		for range 1000 {
			f.Move(uint32(rng.IntN(1000)), Chunk{int64(rng.IntN(edge)), int64(rng.IntN(edge)), 0})
		}
	}
	for range 20 {
		walk()
	}
	if n := testing.AllocsPerRun(20, walk); n > 10 { // the list of a cell grows now and then
		t.Fatalf("%v allocations for 1,000 moves", n)
	}
}

// BenchmarkMove is one step into a neighbouring chunk.
func BenchmarkMove(b *testing.B) {
	for _, n := range []int{1000, 10_000, 100_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			f, edge := crowd(n)
			h, d := uint32(0), int64(1)
			for b.Loop() {
				c := f.places[h].Chunk
				if c.X += d; c.X >= int64(edge) || c.X < 0 {
					c.X -= 2 * d
				}
				f.Move(h, c)
				if h += 7; h >= uint32(n) {
					h %= uint32(n)
					d = -d
				}
			}
		})
	}
}

func BenchmarkNear(b *testing.B) {
	for _, n := range []int{1000, 100_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			f, edge := crowd(n)
			cells := 0
			for b.Loop() {
				f.Near(Chunk{int64(edge / 2), int64(edge / 2), 0}, 8, func(*Cell) { cells++ })
			}
			b.ReportMetric(float64(cells)/float64(b.N), "cells")
		})
	}
}
