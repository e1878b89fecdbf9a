package throng

import (
	"testing"
	"time"
)

// TestTicksMoveTowardTheFlush is R-40: from any phase, by 2 ms at most, the shorter way round.
func TestTicksMoveTowardTheFlush(t *testing.T) {
	const period = 100 * time.Millisecond
	for start := time.Duration(0); start < period; start += time.Millisecond {
		at := start - 3*period
		steps := 0
		for toward(at, -5*time.Millisecond, period) != 0 {
			d := toward(at, -5*time.Millisecond, period)
			if d > maxShift || d < -maxShift {
				t.Fatalf("a step of %v", d)
			}
			at += d
			if steps++; steps > 25 {
				t.Fatalf("from %v: not there after 25 steps", start)
			}
		}
		if phase := (at%period + period) % period; phase != 95*time.Millisecond {
			t.Fatalf("from %v: ends at %v", start, phase)
		}
	}
}
