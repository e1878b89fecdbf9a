package main

import (
	"fmt"
	"io"
	"math"
	"time"
)

// look is all counters at one moment. Two of them make a measurement.
type look struct {
	at                      time.Duration
	updates, samples, stale uint64
	bytes, packets          uint64 // UDP payload from the relay to its clients, seal included
	latency                 *spread
}

// rates are what happened between two looks.
type rates struct {
	updates, bytes, packets float64 // a second
	bytesPerUpdate          float64
	p50, p99                float64 // ms
	freshness               float64 // NaN: no samples
}

func (l *look) since(from *look) rates {
	s := (l.at - from.at).Seconds()
	q := l.latency.quantiles(from.latency, 0.5, 0.99)
	updates, bytes := float64(l.updates-from.updates), float64(l.bytes-from.bytes)
	return rates{updates: updates / s, bytes: bytes / s, packets: float64(l.packets-from.packets) / s,
		bytesPerUpdate: bytes / max(updates, 1), p50: q[0], p99: q[1],
		freshness: 1 - float64(l.stale-from.stale)/float64(l.samples-from.samples)}
}

// String leaves out what was not measured.
func (r rates) String() string {
	line := fmt.Sprintf("%.0f updates/s  %.0f kB/s", r.updates, r.bytes/1000)
	if r.p99 > 0 {
		line += fmt.Sprintf("  latency p50 %.1f p99 %.1f ms", r.p50, r.p99)
	}
	if !math.IsNaN(r.freshness) {
		line += fmt.Sprintf("  fresh %.2f %%", 100*r.freshness)
	}
	return line
}

// summary is what a run of the demo came to.
type summary struct {
	Clients        int     `json:"clients"`
	Entities       int     `json:"entities"`
	Updates        float64 `json:"updates_per_s"`
	BytesPerUpdate float64 `json:"bytes_per_update"`
	Latency        struct {
		P50 float64 `json:"p50"`
		P99 float64 `json:"p99"`
	} `json:"latency_ms"`
	Freshness *float64 `json:"freshness"` // null: the run was too short to judge any
	Wrong     int      `json:"wrong_after_quiet"`
	Pairs     int      `json:"pairs_checked"`
	Slots     int      `json:"slots_checked"`
	Errors    int      `json:"errors"`
}

func (s *summary) measured(r rates) {
	s.Updates, s.BytesPerUpdate = round(r.updates, 10), round(r.bytesPerUpdate, 100)
	s.Latency.P50, s.Latency.P99 = r.p50, r.p99
	if !math.IsNaN(r.freshness) { // no samples are no freshness
		fresh := round(r.freshness, 1e6)
		s.Freshness = &fresh
	}
}

// write writes the summary for readers.
func (s *summary) write(w io.Writer) error {
	fresh := "not measured: nothing is judged in its first second"
	if s.Freshness != nil {
		fresh = fmt.Sprintf("%.3f %%", 100**s.Freshness)
	}
	_, err := fmt.Fprintf(w, `%d clients, %d entities
%.0f updates/s, %.1f bytes per update (all UDP payload from the relay)
latency p50 %.1f ms, p99 %.1f ms; freshness %s
after all was quiet: %d wrong of %d (client, entity) pairs with %d values
%d errors
`, s.Clients, s.Entities, s.Updates, s.BytesPerUpdate, s.Latency.P50, s.Latency.P99, fresh, s.Wrong, s.Pairs, s.Slots, s.Errors)
	return err
}

// verdict is why the run counts as failed, or nil.
func (s *summary) verdict() error {
	switch {
	case s.Wrong > 0:
		return fmt.Errorf("the demo failed: after all was quiet %d of %d pairs were wrong: please report it with the lines above", s.Wrong, s.Pairs)
	case s.Errors > 0:
		return fmt.Errorf("the demo failed: %d errors: see the lines above", s.Errors)
	case s.Pairs == 0:
		return fmt.Errorf("the demo checked nothing: no client had anybody in reach: run it longer, or with at least 2 bots")
	}
	return nil
}

func round(v, per float64) float64 { return math.Round(v*per) / per }
