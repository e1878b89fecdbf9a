// Package grid compares the grid of the relay with the towers of github.com/xiaonanln/go-aoi, which keep per tower who stands in it and who
// watches it.
//
//	go test -bench . ./bench/grid        in a module of its own: the peer is no dependency of throng
//
// One operation is a step into a neighbouring chunk, with about two movers a chunk, as in a crowd. The towers are measured twice: as an index
// alone (nobody watches more than its own tower), which is what the grid is, and with the watching of a reach of 8 chunks, which the relay does once a
// flush for all that moved instead of once a move.
package grid
