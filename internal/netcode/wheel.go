package netcode

import "time"

const (
	tick    = 100 * time.Millisecond
	buckets = 256
)

// wheel finds the peers whose time has come without visiting the others.
//
//	bucket = due / 100 ms mod 256 → a list of peers
//
// It is lazy: traffic moves the times of a peer and never its place. Who is visited early is put back by its new
// time; a busy peer is visited every 1.5 s, so 10,000 of them are 670 visits a tick.
type wheel struct {
	heads [buckets]*peer
	now   int64 // the last tick that was visited
	size  int
}

// add files p for its time, which may lie beyond the horizon of 25 s: it is then visited early.
func (w *wheel) add(p *peer, due time.Duration) {
	// One past the tick it falls into, so that it is due by the time it is visited.
	at := max(int64(due/tick)+1, w.now+1)
	at = min(at, w.now+buckets-1)
	p.bucket = int32(at % buckets)
	p.prev, p.next = nil, w.heads[p.bucket]
	if p.next != nil {
		p.next.prev = p
	}
	w.heads[p.bucket] = p
	w.size++
}

func (w *wheel) remove(p *peer) {
	if p.prev != nil {
		p.prev.next = p.next
	} else {
		w.heads[p.bucket] = p.next
	}
	if p.next != nil {
		p.next.prev = p.prev
	}
	p.next, p.prev = nil, nil
	w.size--
}

// advance takes the peers of all buckets up to now out of the wheel and calls visit for each, which adds it again or
// forgets it.
func (w *wheel) advance(now time.Duration, visit func(*peer)) {
	target := int64(now / tick)
	if target-w.now >= buckets {
		w.now = target - buckets // after a long pause once round is enough
	}
	for w.now < target {
		w.now++
		for p := w.heads[w.now%buckets]; p != nil; p = w.heads[w.now%buckets] {
			w.remove(p)
			visit(p)
		}
	}
}

// next is when advance will have something to visit, at most 25 s from now.
func (w *wheel) next() time.Duration {
	if w.size > 0 {
		for t := w.now + 1; t < w.now+buckets; t++ {
			if w.heads[t%buckets] != nil {
				return time.Duration(t) * tick
			}
		}
	}
	return time.Duration(w.now+buckets) * tick
}
