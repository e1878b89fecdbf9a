package load

import "context"

type IdleReport struct {
	MemoryMiB, Core, Down, Up float64
	Added, Through, Past      Spread
}
type HandshakeReport struct{ PerS, CPU, PerCore float64 }
type ChurnReport struct {
	Moves, Late, Requested, Transferred, Silent, Kills, Hosts int
}
type FloorReport struct{ Batched, Plain, Received float64 }
type FloorOrder struct{}
type FloorReadings struct{}

func startFloor(*FloorOrder) (job, error) { return nil, nil }
func startEcho() (job, error)             { return nil, nil }

func (r *run) hotspot(ctx context.Context) error   { return nil }
func (r *run) churn(ctx context.Context) error     { return nil }
func (r *run) idle(ctx context.Context) error      { return nil }
func (r *run) handshake(ctx context.Context) error { return nil }
func (r *run) floor(ctx context.Context) error     { return nil }
