// Package grid divides space into chunks.
package grid

import "math"

// Chunk is the index of one cube of space: floor(position / size) on each axis. A flat world keeps Z at 0, so that its
// chunks are columns.
type Chunk struct{ X, Y, Z int64 }

// limit keeps every chunk index, and every difference of two, inside int64.
const limit = 1 << 62

// Of returns the chunk that holds a position. It is false for NaN, infinities and positions whose index would leave ±2^62.
func Of(x, y, z, size float64) (Chunk, bool) {
	fx, fy, fz := math.Floor(x/size), math.Floor(y/size), math.Floor(z/size)
	// A comparison with NaN is false, so this refuses it as well.
	if math.Abs(fx) < limit && math.Abs(fy) < limit && math.Abs(fz) < limit {
		return Chunk{int64(fx), int64(fy), int64(fz)}, true
	}
	return Chunk{}, false
}

// Valid reports whether every axis is inside ±2^62, as any chunk from Of is. Chunks from the network must be checked.
func (c Chunk) Valid() bool {
	return c.X > -limit && c.X < limit && c.Y > -limit && c.Y < limit && c.Z > -limit && c.Z < limit
}

// Distance is the Chebyshev distance in chunks between two valid chunks.
func (c Chunk) Distance(d Chunk) int64 {
	return max(abs(c.X-d.X), abs(c.Y-d.Y), abs(c.Z-d.Z))
}

func abs(a int64) int64 {
	if a < 0 {
		return -a
	}
	return a
}

// RegionSize is the edge of a region in chunks: dirty chunks lie in region buckets, so that an observer with reach 8 looks
// at a few buckets instead of 4,913 chunks.
const RegionSize = 8

// Region is the index of a cube of RegionSize chunks on each axis.
type Region struct{ X, Y, Z int64 }

// Region returns the region that holds the chunk.
func (c Chunk) Region() Region { return Region{c.X >> 3, c.Y >> 3, c.Z >> 3} }
