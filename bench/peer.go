package main

import (
	"time"

	"github.com/throng-dev/throng/internal/load"
)

// The crowd of `throng load`, by the same numbers.
const (
	interval   = time.Second / load.Rate
	staleAfter = interval + 100*time.Millisecond
	frame      = time.Second / 60
)

// segment is what TCP and IP add to what is read at once: heads with time stamps.
const segment = 52

// options are what all peers play.
type options struct {
	clients      int
	warm, window time.Duration
	pin          bool
}

// result is one run of one peer.
type result struct {
	peer    string
	seconds float64
	joined  int

	updates    float64 // a second
	cpu        float64 // µs of the server, an update
	core       float64 // share of a core that the server used
	bytes      float64 // from the server to its clients, an update, above UDP or TCP
	wire       float64 // with the heads of UDP, TCP, IP
	p50, p99   float64 // ms
	freshness  float64
	clientCore float64
	faults     int
	invalid    string // why the numbers do not count; empty if they do

}

// judge says whether the numbers count, by the rules of `throng load`.
func (r *result) judge(o *options) {
	switch {
	case r.invalid != "":
	case r.faults > 0:
		r.invalid = "errors"
	case r.joined < o.clients:
		r.invalid = "not all joined"
	case r.clientCore > 0.9:
		r.invalid = "client core full"
	}
}
