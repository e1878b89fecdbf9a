//go:build !linux

package load

import "github.com/throng-dev/throng/internal/udp"

// readiness tells which of many sockets have something to read. Here it cannot: each counts as ready.
type readiness struct{ sinks []*sink }

func newReadiness() *readiness { return new(readiness) }

func (r *readiness) add(k *sink, _ *udp.Conn) { r.sinks = append(r.sinks, k) }

func (r *readiness) look() {
	for _, k := range r.sinks {
		k.ready = true
	}
}

func (r *readiness) close() {}
