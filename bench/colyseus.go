package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/throng-dev/throng/internal/load"
)

// decoders is how many of the clients decode what they are sent: one core of JavaScript is not enough for all.
const decoders = 50

// playColyseus runs a room and its clients in two processes of Node.
func playColyseus(ctx context.Context, o *options, dir string) (*result, error) {
	node, err := exec.LookPath("node")
	if err != nil {
		return nil, fmt.Errorf("bench: Colyseus needs Node: %w", err)
	}
	if _, err := os.Stat(filepath.Join(dir, "node_modules", "@colyseus", "core")); err != nil {
		return nil, fmt.Errorf("bench: Colyseus is not installed: run `npm install --no-package-lock` in %s", dir)
	}
	order := map[string]any{"clients": o.clients, "decoders": min(o.clients, decoders), "side": load.Side(o.clients), "step": load.Step, "chunk": load.ChunkSize, "reach": load.Reach,
		"intervalMs": interval.Milliseconds(), "staleMs": staleAfter.Milliseconds()}
	spell := func() string { b, _ := json.Marshal(order); return string(b) } // of numbers and strings
	server, err := start(o, 0, node, filepath.Join(dir, "server.mjs"), spell())
	if err != nil {
		return nil, err
	}
	defer server.stop()
	var at struct{ Addr string }
	if err := server.hear(&at); err != nil {
		return nil, err
	}
	order["addr"] = at.Addr
	clients, err := start(o, 1, node, filepath.Join(dir, "client.mjs"), spell())
	if err != nil {
		return nil, err
	}
	defer clients.stop()
	var ready struct{ Ready int }
	if err := clients.hear(&ready); err != nil {
		return nil, err
	}
	if err := sleep(ctx, o.warm); err != nil {
		return nil, err
	}
	var got struct {
		Seconds    float64
		Joined     int
		Updates    float64
		Errors     int
		Bytes      float64
		Messages   float64
		P50, P99   float64
		Freshness  float64
		ClientCore float64 `json:"client_core"`
	}
	from, err := server.usage()
	if err != nil {
		return nil, err
	}
	if err := clients.ask("begin", &struct{}{}); err != nil {
		return nil, err
	}
	if err := sleep(ctx, o.window); err != nil {
		return nil, err
	}
	if err := clients.ask("end", &got); err != nil {
		return nil, err
	}
	to, err := server.usage()
	if err != nil {
		return nil, err
	}
	r := &result{peer: "Colyseus 0.18, StateView", seconds: got.Seconds, joined: got.Joined, updates: got.Updates / got.Seconds, bytes: got.Bytes / max(got.Updates, 1), wire: (got.Bytes + segment*got.Messages) / max(got.Updates, 1),
		p50: got.P50, p99: got.P99, freshness: got.Freshness, clientCore: got.ClientCore, faults: got.Errors}
	r.spent(from, to, got.Updates)
	return r, nil
}

// sleep waits, unless ctx ends.
func sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-t.C:
		return nil
	}
}
