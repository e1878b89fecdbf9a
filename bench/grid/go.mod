module github.com/throng-dev/throng/bench/grid

go 1.26.0

require (
	github.com/throng-dev/throng v0.0.0
	github.com/xiaonanln/go-aoi v0.2.0
)

replace github.com/throng-dev/throng => ../..
