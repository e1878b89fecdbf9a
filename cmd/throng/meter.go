package main

import (
	"math"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	"github.com/throng-dev/throng"
	"github.com/throng-dev/throng/internal/load"
)

// meter is what all bots share: the size of the meadow, the truth about who is where, and what was measured. Any goroutine
// may use it.
type meter struct {
	start time.Time
	side  float64
	bots  []*bot
	log   *load.Faults

	standing atomic.Bool // nobody does anything any more
	over     atomic.Bool // the measuring ended

	tracks sync.Map // throng.NetID to *track
	events atomic.Uint64
	counts
	latency histogram
}

// counts only grow, so that any two looks at them are a measurement.
type counts struct {
	updates, samples, stale, late atomic.Uint64
}

func newMeter(bots int, log *load.Faults) *meter {
	return &meter{start: time.Now(), side: side(bots), log: log}
}

// side is the edge of a meadow, in whole chunks, on which a player sees about 20 others, however many there are: 15 in the 3
// by 3 chunks that are in reach, the rest in the ring around them, where those who have been in reach are still held.
func side(bots int) float64 {
	return chunkSize * math.Round(3*math.Sqrt(max(float64(bots), 15)/15))
}

func (m *meter) now() time.Duration { return time.Since(m.start) }

// somewhere is a random place a little inside the edge.
func (m *meter) somewhere(r *rand.Rand) throng.Vec2 {
	return throng.Vec2{X: (0.02 + 0.96*r.Float64()) * m.side, Y: (0.02 + 0.96*r.Float64()) * m.side}
}

// trackOf is nil for what no bot of this process spawned.
func (m *meter) trackOf(id throng.NetID) *track {
	if t, ok := m.tracks.Load(id); ok {
		return t.(*track)
	}
	return nil
}

func (m *meter) fail(err error) { m.log.Add(err.Error()) }

// histogram counts durations in steps of 250 µs up to a second; the last step takes what is longer.
type histogram [4001]atomic.Uint32

const grain = 250 * time.Microsecond

func (h *histogram) add(d time.Duration) {
	h[max(0, min(int(d/grain), len(h)-1))].Add(1)
}

// spread is a histogram at one moment.
type spread [len(histogram{})]uint32

func (h *histogram) read() *spread {
	s := new(spread)
	for i := range h {
		s[i] = h[i].Load()
	}
	return s
}

// quantiles are those of what was added after since, in ms; zero if that is nothing.
func (s *spread) quantiles(since *spread, qs ...float64) []float64 {
	var total uint64
	for i := range s {
		total += uint64(s[i] - since[i])
	}
	out := make([]float64, len(qs))
	for k, q := range qs {
		var sum uint64
		for i := range s {
			if sum += uint64(s[i] - since[i]); total > 0 && float64(sum) >= q*float64(total) {
				out[k] = float64((time.Duration(i+1) * grain).Microseconds()) / 1000
				break
			}
		}
	}
	return out
}
