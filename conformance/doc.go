// Package conformance plays random programs against the protocol core.
//
//	program (spawn, write, move, destroy, transfer, override, join, leave, cut, restart) ─► registries ─► lossy links ─► shard
//	after every step: Safety and one driver at most; after a quiet time: everybody holds what the relay holds
//
// Everything runs on one goroutine, ordered by (time, sequence), from one seed: a failure repeats exactly.
package conformance
