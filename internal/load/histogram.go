package load

import "time"

// histogram counts durations in steps of 100 µs up to 3 s; the last step takes what is longer.
type histogram struct {
	n     uint64
	steps [30001]uint32
}

const grain = 100 * time.Microsecond

func (h *histogram) add(d time.Duration) {
	h.n++
	h.steps[max(0, min(int(d/grain), len(h.steps)-1))]++
}

// quantile is in ms, the upper edge of its step; zero if nothing was added.
func (h *histogram) quantile(q float64) float64 {
	var sum uint64
	for i, n := range h.steps {
		if sum += uint64(n); h.n > 0 && float64(sum) >= q*float64(h.n) {
			return float64((time.Duration(i+1) * grain).Microseconds()) / 1000
		}
	}
	return 0
}

func (h *histogram) spread() Spread { return Spread{h.quantile(0.5), h.quantile(0.99)} }

// Spread is two quantiles in milliseconds.
type Spread struct {
	P50 float64 `json:"p50"`
	P99 float64 `json:"p99"`
}
