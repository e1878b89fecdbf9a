package main

import (
	"context"
	"os"
	"strings"
	"time"

	"github.com/throng-dev/throng/internal/load"
)

// playThrong is `throng load crowd`.
func playThrong(ctx context.Context, o *options) (*result, error) {
	r, err := load.Run(ctx, &load.Options{Scenario: "crowd", Clients: o.clients, Warm: o.warm, Window: o.window, Flush: 50 * time.Millisecond,
		Seed: uint64(time.Now().UnixNano()), Pin: o.pin, Log: os.Stderr})
	if err != nil {
		return nil, err
	}
	out := &result{peer: "Throng (sealed, UDP)", seconds: r.Seconds, joined: r.Joined, updates: r.UpdatesPerS, bytes: r.Bytes, wire: r.WireBytes, p50: r.Latency.P50, p99: r.Latency.P99,
		freshness: r.Freshness, clientCore: r.ClientCPU, faults: r.Errors + r.Wrong, invalid: strings.Join(r.Why, "; ")}
	if r.RelayCPU != nil && r.RelayCore != nil {
		out.cpu, out.core = *r.RelayCPU, *r.RelayCore
	}
	return out, nil
}
