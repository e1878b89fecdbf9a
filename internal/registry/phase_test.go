package registry

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

// TestLeadFollowsTheWait is R-40: whatever a client's estimate of the flush is off by, and however its frames fall, its changes come to
// wait at least leadSafe and about a frame at most, and miss no flush any more.
func TestLeadFollowsTheWait(t *testing.T) {
	const interval, frame = 100 * time.Millisecond, 16667 * time.Microsecond
	for _, off := range []time.Duration{-30, -12, -3, 0, 4, 9, 20} {
		for start := time.Duration(0); start < interval; start += 7 * time.Millisecond {
			off := off * time.Millisecond
			p := phase{}
			next, now := start, time.Duration(0)
			var waits []time.Duration
			for k := 0; len(waits) < 600; k++ {
				if now = time.Duration(k) * frame; now < next {
					continue
				}
				next += interval
				wait := ahead(now, interval) // it arrives as it is sent
				waits = append(waits, wait)
				p.waited(wait, frame)
				next += toward(next+off, -(leadSafe + frame + p.lead), interval)
			}
			late := 0
			for _, w := range waits[200:] {
				if w < leadSafe || w > frame+2*leadSafe+maxShift {
					late++
				}
			}
			if late > 20 { // frames of 60 Hz walk through the period in 10 s
				t.Errorf("off by %v, from %v: %d of 400 changes waited for too short or too long, such as %v", off, start, late, waits[len(waits)-5:])
			}
		}
	}
}
