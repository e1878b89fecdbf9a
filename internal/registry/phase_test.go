package registry

import (
	"math/rand/v2"
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

// TestTicksMeetTheFlush is R-40: whatever a client's guess of the flush is off by, however its frames fall and its way varies, its
// changes come to wait little and a frame at most, and miss hardly a flush any more.
func TestTicksMeetTheFlush(t *testing.T) {
	const interval, frame = 100 * time.Millisecond, 16667 * time.Microsecond
	rng := rand.New(rand.NewPCG(40, 1))
	for _, jitter := range []time.Duration{0, time.Millisecond, 5 * time.Millisecond} {
		for _, off := range []time.Duration{-30, -12, -3, 0, 4, 9, 20} {
			for start := time.Duration(0); start < interval; start += 7 * time.Millisecond {
				off := off * time.Millisecond
				p := phase{}
				p.guess(20*time.Millisecond+off, 0, jitter)
				next, now := start, time.Duration(0)
				late, long, n := 0, 0, 0
				for k := 0; n < 600; k++ {
					if now = time.Duration(k) * frame; now < next {
						continue
					}
					next += interval
					arrived := now + 20*time.Millisecond + time.Duration(rng.Int64N(int64(2*jitter)+1)) - jitter
					p.reached(now, arrived.Truncate(time.Millisecond)) // as acks tell it
					next += toward(next+p.shift, -p.before(frame), interval)
					if n++; n > 200 {
						switch wait := ahead(arrived, interval); {
						case wait < 0:
							late++
						case wait > frame+flushSafe+2*maxShift+3*jitter:
							long++
						}
					}
				}
				if late > 2 || long > 20 { // frames of 60 Hz walk through the period in 10 s
					t.Errorf("jitter %v, off by %v, from %v: of 400 changes %d came too late and %d waited for long", jitter, off, start, late, long)
				}
			}
		}
	}
}

// ahead is how long before the next multiple of an interval a time is, less than nothing if it is shortly after one.
func ahead(at, interval time.Duration) time.Duration {
	if at = -at % interval; at < 0 {
		at += interval
	}
	if at > interval*3/4 {
		at -= interval
	}
	return at
}
