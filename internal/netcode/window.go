package netcode

// window remembers which of the last 256 sequence numbers came: one bit each, 32 bytes a session instead of the
// 2 KiB of a table of numbers.
type window struct {
	newest uint64
	seen   [windowSize / 8]byte
}

const windowSize = 256

// fresh reports whether seq has not been seen and is not too old to tell. It subtracts only the smaller from the
// larger, so it holds up to the last sequence number, where newest+256 would overflow.
func (w *window) fresh(seq uint64) bool {
	if seq > w.newest {
		return true
	}
	if w.newest-seq >= windowSize {
		return false
	}
	return w.seen[seq%windowSize/8]&(1<<(seq%8)) == 0
}

// mark notes that seq came. The caller has asked fresh, and knows that the packet is authentic.
func (w *window) mark(seq uint64) {
	if seq > w.newest {
		if seq-w.newest >= windowSize {
			w.seen = [windowSize / 8]byte{}
		} else {
			for s := w.newest + 1; s != seq; s++ {
				w.seen[s%windowSize/8] &^= 1 << (s % 8)
			}
		}
		w.newest = seq
	}
	w.seen[seq%windowSize/8] |= 1 << (seq % 8)
}
