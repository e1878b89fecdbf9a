package main

import (
	"fmt"
	"io"
	"log/slog"
	"math"
	"time"

	"github.com/throng-dev/throng/internal/inspect"
)

// status is where everything but the summary goes.
func (d *demo) status() io.Writer {
	if d.JSON {
		return d.con.err
	}
	return d.con.out
}

func (d *demo) look() *look {
	u := d.udp.Stats()
	return &look{at: d.m.now(), updates: d.m.updates.Load(), samples: d.m.samples.Load(), stale: d.m.stale.Load(),
		bytes: u.BytesOut, packets: u.Out, latency: d.m.latency.read()}
}

// report prints the status line of the last second, and keeps its numbers for the page.
func (d *demo) report() {
	now := d.look()
	r := now.since(d.last)
	d.last = now
	d.mu.Lock()
	d.newest = &r
	joined := d.joined
	d.mu.Unlock()
	st := d.relay.Stats()
	fmt.Fprintf(d.status(), "%3.0fs  %d clients  %d entities  %v\n", now.at.Seconds(), joined, st.Entities, r)
}

// stopped prints what a run that was ended early has come to since a look, which may be nil.
func (d *demo) stopped(from *look) {
	if now := d.look(); from != nil && now.at > from.at {
		fmt.Fprintf(d.status(), "over %.0fs  %v\n", (now.at - from.at).Seconds(), now.since(from))
	}
	if d.For > 0 {
		fmt.Fprintf(d.status(), "stopped before the check that --for %v ends with\n", d.For)
		return
	}
	fmt.Fprintln(d.status(), "stopped; --for 20s ends with a check")
}

// counters adds what only the demo can measure to those of the page.
func (d *demo) counters(c *inspect.Counters) {
	d.mu.Lock()
	defer d.mu.Unlock()
	r := d.newest
	if r == nil { // the relay's own rates are of something else: they leave out what seals a packet
		c.BytesPerSecond, c.PacketsPerSecond = math.NaN(), math.NaN()
		return
	}
	c.UpdatesPerSecond, c.BytesPerSecond, c.PacketsPerSecond = &r.updates, r.bytes, r.packets
	if r.p99 > 0 {
		c.Latency = &inspect.Latency{P50: milliseconds(r.p50), P99: milliseconds(r.p99)}
	}
	if !math.IsNaN(r.freshness) {
		c.Freshness = &r.freshness
	}
}

func milliseconds(ms float64) time.Duration { return time.Duration(ms * float64(time.Millisecond)) }

func dropTime(groups []string, a slog.Attr) slog.Attr {
	if len(groups) == 0 && a.Key == slog.TimeKey {
		return slog.Attr{}
	}
	return a
}
