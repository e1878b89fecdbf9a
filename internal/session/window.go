package session

import "math/bits"

// windowSize is how many packets back a receiver remembers what arrived, and how many an ack block reports.
const windowSize = 256

// window remembers which of the last 256 packets of the other end arrived: bit i of seen stands for top-i.
type window struct {
	top  uint64 // highest number received, 0 if none
	seen [windowSize / 64]uint64
}

// has is true for what was received, and for what is too old to tell.
func (w *window) has(pn uint64) bool {
	if pn > w.top {
		return false
	}
	d := w.top - pn
	return d >= windowSize || w.seen[d/64]>>(d%64)&1 != 0
}

func (w *window) add(pn uint64) {
	if pn > w.top {
		w.shift(pn - w.top)
		w.top = pn
	}
	d := w.top - pn
	w.seen[d/64] |= 1 << (d % 64)
}

func (w *window) shift(n uint64) {
	if n >= windowSize {
		w.seen = [windowSize / 64]uint64{}
		return
	}
	words, rest := int(n/64), n%64
	for i := len(w.seen) - 1; i >= 0; i-- {
		var v uint64
		if i >= words {
			v = w.seen[i-words] << rest
			if rest > 0 && i > words {
				v |= w.seen[i-words-1] >> (64 - rest)
			}
		}
		w.seen[i] = v
	}
}

// ranges fills b with the newest ranges of what arrived.
func (w *window) ranges(b *ackBlock) {
	b.n = 0
	for i := w.run(0, false); i < windowSize && b.n < maxRanges; {
		end := w.run(i, true)
		b.ranges[b.n] = ackRange{hi: w.top - uint64(i), lo: w.top - uint64(end) + 1}
		b.n++
		i = w.run(end, false)
	}
}

// run is the first bit from i on that differs from set.
func (w *window) run(i int, set bool) int {
	for i < windowSize {
		v := w.seen[i/64]
		if set {
			v = ^v
		}
		if v >>= i % 64; v != 0 {
			return i + bits.TrailingZeros64(v)
		}
		i = (i/64 + 1) * 64
	}
	return windowSize
}
