package grid

import (
	"math"
	"testing"
)

func TestChunkOf(t *testing.T) {
	for _, tt := range []struct {
		x, size float64
		want    int64
		ok      bool
	}{
		{0, 16, 0, true}, {15.999, 16, 0, true}, {16, 16, 1, true}, {-0.001, 16, -1, true}, {-16, 16, -1, true}, {-16.001, 16, -2, true},
		{math.Copysign(0, -1), 16, 0, true},
		{math.NaN(), 16, 0, false}, {math.Inf(1), 16, 0, false}, {math.Inf(-1), 16, 0, false},
		{1 << 61, 1, 1 << 61, true}, {1 << 62, 1, 0, false}, {-(1 << 62), 1, 0, false}, {math.MaxFloat64, 1e-3, 0, false},
	} {
		for axis := range 3 {
			var p [3]float64
			p[axis] = tt.x
			c, ok := Of(p[0], p[1], p[2], tt.size)
			if got := [3]int64{c.X, c.Y, c.Z}[axis]; ok != tt.ok || ok && got != tt.want {
				t.Errorf("axis %d of %v / %v: %d %v, want %d %v", axis, tt.x, tt.size, got, ok, tt.want, tt.ok)
			}
			if ok && !c.Valid() {
				t.Errorf("Of returned %v, which is not valid", c)
			}
		}
	}
}

func TestChunkLimits(t *testing.T) {
	const far = 1<<62 - 1
	a, b := Chunk{far, far, far}, Chunk{-far, -far, -far}
	if !a.Valid() || !b.Valid() || a.Distance(b) != 2*far || b.Distance(a) != 2*far {
		t.Errorf("the two ends are %d apart", a.Distance(b))
	}
	for axis := range 3 {
		for _, v := range []int64{far + 1, -far - 1, math.MinInt64, math.MaxInt64} {
			var p [3]int64
			p[axis] = v
			if (Chunk{p[0], p[1], p[2]}).Valid() {
				t.Errorf("%d on axis %d", v, axis)
			}
		}
	}
}

// Regions are floors, on both sides of 0.
func TestRegionBorders(t *testing.T) {
	for x, want := range map[int64]int64{0: 0, 7: 0, 8: 1, -1: -1, -8: -1, -9: -2, 1<<62 - 1: 1<<59 - 1, -(1<<62 - 1): -(1 << 59)} {
		if got := (Chunk{x, x, x}).Region(); got != (Region{want, want, want}) {
			t.Errorf("%d: %v, want %d", x, got, want)
		}
	}
}
