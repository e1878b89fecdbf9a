// Package conformance plays random programs against the protocol core.
//
//	seed, Mode ─► Generate ─► Program (seats, links, operations: data) ─► Play ─► Result
//	                                       ▲                               │ failed
//	                                       └──────────── Shrink ◄──────────┘
//	Play: operations ─► registries ─► lossy links ─► shard ─► lossy links ─► registries
//	after every flush: Safety, one driver at most; in every calm: everybody holds what the relay holds within the Bound
//
// Everything runs on one goroutine, ordered by (time, sequence), from one seed: a failure repeats exactly.
//
// A failing program is printed small, as text. To look at it:
//
//	go test -run TestPrograms . -mode "one lane" -seed 17 -programs 1   the seed again
//	go test -run TestKeptPrograms/NAME . -tell                          testdata/NAME.program, with all that clients take and send
//
// Files: program.go is the data, generate.go draws it, ops.go is the table of operations, modes.go and links.go are the
// worlds and paths they run in; world.go and player.go play it; oracle.go, bound.go and settle.go judge; shrink.go makes a failing
// program small. An operation, a mode or a check more is a line in a table.
package conformance
