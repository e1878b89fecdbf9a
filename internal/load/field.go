package load

import (
	"math"
	"math/rand/v2"

	"github.com/throng-dev/throng"
)

// The field of all scenarios: a square with one client on 500 square units, so that a client has about 20 others in reach
// whatever the number of clients.
const (
	// ChunkSize is the edge of a chunk in units, Reach how many chunks away others are seen.
	ChunkSize = 100.0 / 3
	Reach     = 1
	// Rate is how often a client replicates, a second; Step how far it walks at most between two times, along each axis.
	Rate = 10
	Step = 0.5
	// Level is the world that all clients enter.
	Level = "field"
)

// Side is the edge of the field for n clients.
func Side(n int) float64 { return 500 * math.Sqrt(float64(n)/500) }

// State is what a client replicates: a place in whole units and two bytes, 6 bytes on the wire with the length of the place.
type State struct {
	X, Y      int16
	Yaw, Anim uint8 // Anim counts the versions
}

// Cell is the column of chunks that a state is in.
func (s State) Cell() Cell {
	return Cell{int16(math.Floor(float64(s.X) / ChunkSize)), int16(math.Floor(float64(s.Y) / ChunkSize))}
}

// Cell is the index of a chunk of the field.
type Cell struct{ X, Y int16 }

// Far is the distance in chunks.
func (c Cell) Far(d Cell) int {
	return int(max(c.X-d.X, d.X-c.X, c.Y-d.Y, d.Y-c.Y))
}

// walk is where somebody at p is a step later: inside a square of an edge around the middle.
func walk(r *rand.Rand, p throng.Vec2, side float64) throng.Vec2 {
	step := func(v float64) float64 {
		v += Step * (2*r.Float64() - 1)
		return max(-side/2, min(side/2, v))
	}
	return throng.Vec2{X: step(p.X), Y: step(p.Y)}
}

// somewhere is a random place in a square around the middle.
func somewhere(r *rand.Rand, side float64) throng.Vec2 {
	return throng.Vec2{X: side * (r.Float64() - 0.5), Y: side * (r.Float64() - 0.5)}
}

// stateAt is the state of somebody at p as the others get it.
func stateAt(p throng.Vec2, yaw, anim uint8) State {
	q := throng.Vec2Quantize(p).Rounded()
	return State{int16(q.X), int16(q.Y), yaw, anim}
}
