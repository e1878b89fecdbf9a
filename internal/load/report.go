package load

import (
	"fmt"
	"io"
	"strings"
)

// Report is what a run came to, by the names that `throng load --json` has for it. What could not be measured, such as the CPU time
// of a relay that was not started here, is null.
type Report struct {
	Scenario string  `json:"scenario"`
	Kind     string  `json:"kind"`    // of the clients: sdk or sink
	Seconds  float64 `json:"seconds"` // of the window
	Pinned   bool    `json:"pinned"`  // relay and clients had a core each
	Network  string  `json:"network"` // what was done to the datagrams

	Clients int `json:"clients"`
	Joined  int `json:"joined"`

	Updates       uint64   `json:"updates"` // in the window
	UpdatesPerS   float64  `json:"updates_per_s"`
	InReach       float64  `json:"in_reach"` // others in reach of a client, on average
	Delivered     float64  `json:"delivered_ratio"`
	DeliveredOf   uint64   `json:"delivered_of"`
	Freshness     float64  `json:"freshness"`
	NearFreshness *float64 `json:"near_freshness"` // of the nearest 20; hotspot only
	Samples       uint64   `json:"freshness_samples"`

	RecordBytes float64 `json:"record_bytes"`
	Bytes       float64 `json:"bytes_per_update"`
	WireBytes   float64 `json:"wire_bytes_per_update"`
	Datagrams   float64 `json:"updates_per_datagram"`

	RelayCPU  *float64 `json:"relay_cpu_us_per_update"`
	FloorCPU  *float64 `json:"floor_cpu_us_per_update"`
	RelayCore *float64 `json:"relay_core"` // share of a core
	ClientCPU float64  `json:"client_core"`
	LateTicks float64  `json:"late_ticks"`   // share of the clients' Ticks that were left out: something kept them from running
	OtherCPU  *float64 `json:"others_cores"` // cores that other processes used meanwhile

	Latency  Spread `json:"latency_ms"`
	Age      Spread `json:"age_ms"`
	Baseline Spread `json:"baseline_ms"`
	Newcomer uint64 `json:"baselines"` // in the window

	Wrong      int `json:"wrong_after_quiet"`
	Pairs      int `json:"pairs_checked"`
	Slots      int `json:"slots_checked"`
	LostLast   int `json:"lost_last_writes"`
	Duplicates int `json:"duplicates"`
	Zombies    int `json:"zombies"`

	RSS    *uint64  `json:"rss_bytes"`
	Errors int      `json:"errors"`
	Valid  bool     `json:"valid"`
	Why    []string `json:"invalid_because"` // empty if it is valid

	Idle      *IdleReport      `json:"idle"`
	Handshake *HandshakeReport `json:"handshake"`
	Churn     *ChurnReport     `json:"churn"`
	Floor     *FloorReport     `json:"floor"`
}

// invalid says why the numbers of the run do not count.
func (r *Report) invalid(format string, args ...any) {
	r.Why = append(r.Why, fmt.Sprintf(format, args...))
}

// Verdict is why the run counts as failed, or nil.
func (r *Report) Verdict() error {
	switch {
	case r.Wrong > 0 || r.LostLast > 0 || r.Duplicates > 0 || r.Zombies > 0:
		return fmt.Errorf("throng: the clients do not hold what they should: %d wrong of %d pairs, %d last writes lost, %d duplicates, %d zombies: please report it with the lines above",
			r.Wrong, r.Pairs, r.LostLast, r.Duplicates, r.Zombies)
	case !r.Valid:
		return fmt.Errorf("throng: the run is invalid: %s", strings.Join(r.Why, "; "))
	}
	return nil
}

// Write writes the report for readers, one measure a line.
func (r *Report) Write(w io.Writer) error {
	t := &table{w: w}
	t.row("scenario", "%s, %d clients (%s), %.0f s, %s", r.Scenario, r.Clients, r.Kind, r.Seconds, r.Network)
	t.row("cores", "%s", map[bool]string{true: "relay on CPU 0, clients on CPU 1", false: "not pinned: relay and clients share the cores, so the CPU figures are rough"}[r.Pinned])
	t.row("joined", "%d of %d", r.Joined, r.Clients)
	if r.Updates > 0 {
		t.row("updates", "%.0f a second; %.1f others in reach", r.UpdatesPerS, r.InReach)
		t.row("delivered", "%.4f of %d versions", r.Delivered, r.DeliveredOf)
		t.row("freshness", "%.4f of %d samples%s", r.Freshness, r.Samples, optional(r.NearFreshness, "; %.4f of the nearest 20"))
		t.row("latency", "p50 %.1f ms, p99 %.1f ms", r.Latency.P50, r.Latency.P99)
		t.row("age", "p50 %.1f ms, p99 %.1f ms", r.Age.P50, r.Age.P99)
		t.row("baseline", "p50 %.1f ms, p99 %.1f ms of %d", r.Baseline.P50, r.Baseline.P99, r.Newcomer)
		t.row("bytes an update", "records %.1f, UDP payload %.1f, on the wire %.1f; %.1f updates a datagram", r.RecordBytes, r.Bytes, r.WireBytes, r.Datagrams)
		t.row("relay CPU", "%s%s", optional(r.RelayCPU, "%.2f µs an update"), optional(r.RelayCore, ", %.0f %% of a core", 100))
	}
	if f := r.Floor; f != nil {
		t.row("floor", "%s: batches %.2f, plain calls %.2f; its clients got %.2f %%", optional(r.FloorCPU, "%.2f µs an update"), f.Batched, f.Plain, 100*f.Received)
	}
	if c := r.Churn; c != nil {
		t.row("churn", "%d neighbourhoods, %d late joiners, %d of %d transfers, %d silent, %d host kills (%d hosts in all)", c.Moves, c.Late, c.Transferred, c.Requested, c.Silent, c.Kills, c.Hosts)
	}
	if i := r.Idle; i != nil {
		t.row("idle", "%.1f MiB more than empty, %.1f %% of a core, %.1f B/s down and %.1f up for each session", i.MemoryMiB, 100*i.Core, i.Down, i.Up)
		t.row("one mover", "the relay adds p50 %.2f ms, p99 %.2f ms (through it %.2f, past it %.2f)", i.Added.P50, i.Added.P99, i.Through.P50, i.Past.P50)
	}
	if h := r.Handshake; h != nil {
		t.row("handshakes", "%.0f a second, %.1f µs of the relay each: %.0f a second and core", h.PerS, h.CPU, h.PerCore)
	}
	if r.Pairs > 0 {
		t.row("after quiet", "%d wrong of %d pairs with %d values; %d last writes lost, %d duplicates, %d zombies", r.Wrong, r.Pairs, r.Slots, r.LostLast, r.Duplicates, r.Zombies)
	}
	if r.RSS != nil {
		t.row("relay memory", "%.1f MiB", float64(*r.RSS)/(1<<20))
	}
	t.row("client core", "%.0f %%; %.1f %% of the Ticks left out%s", 100*r.ClientCPU, 100*r.LateTicks, optional(r.OtherCPU, "; other processes used %.2f cores"))
	t.row("errors", "%d", r.Errors)
	if r.Valid {
		t.row("valid", "yes")
	} else {
		t.row("valid", "NO: %s", strings.Join(r.Why, "; "))
	}
	return t.err
}

type table struct {
	w   io.Writer
	err error
}

func (t *table) row(name, format string, args ...any) {
	if t.err == nil {
		_, t.err = fmt.Fprintf(t.w, "%-16s "+format+"\n", append([]any{name}, args...)...)
	}
}

// optional formats a measure that may be missing, as so many of a unit.
func optional(v *float64, format string, times ...float64) string {
	if v == nil {
		return ""
	}
	x := *v
	for _, f := range times {
		x *= f
	}
	return fmt.Sprintf(format, x)
}
