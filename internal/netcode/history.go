package netcode

import (
	"net/netip"
	"time"
)

// tag is the authenticator of a sealed private token: it names the token.
type tag [TagSize]byte

// history remembers tokens until they have expired.
//
//	first request → noted with its address; the same address may repeat it, another is ignored
//	connected     → spent: any further use is ignored, also from the same address
//
// It measures by the monotonic clock, so a wall clock that jumps back does not let a spent token in again before its
// life has passed. Expiry is found by a ring of seconds; the tokens of other seconds are not visited.
type history struct {
	used    map[tag]use
	seconds [128][]tag
	now     int64 // the last second that was swept
	limit   int
}

type use struct {
	from    netip.AddrPort
	forget  int64 // monotonic second
	claimed bool  // made a connection
}

// slack is how much longer a token is remembered than it lives, for wall clocks that are set back a little.
const slack = 10 * time.Second

func newHistory(limit int) history {
	return history{used: make(map[tag]use), limit: limit}
}

// admit reports whether a token may be used from an address, and notes it. life is what is left of its life.
func (h *history) admit(t tag, from netip.AddrPort, now Now, life time.Duration) Drop {
	if u, ok := h.used[t]; ok {
		if u.claimed || u.from != from {
			return DropUsed
		}
		return 0
	}
	if len(h.used) >= h.limit {
		return DropTokens
	}
	forget := int64((now.Mono+life+slack)/time.Second) + 1
	h.used[t] = use{from: from, forget: forget}
	h.file(t, forget)
	return 0
}

// claim notes that a token made its connection.
func (h *history) claim(t tag) {
	if u, ok := h.used[t]; ok {
		u.claimed = true
		h.used[t] = u
	}
}

func (h *history) file(t tag, second int64) {
	second = min(max(second, h.now+1), h.now+int64(len(h.seconds))-1)
	i := second % int64(len(h.seconds))
	h.seconds[i] = append(h.seconds[i], t)
}

// sweep forgets what has expired. It is cheap to call at any pace.
func (h *history) sweep(now time.Duration) {
	target := int64(now / time.Second)
	h.now = max(h.now, target-int64(len(h.seconds)))
	for h.now < target {
		h.now++
		i := h.now % int64(len(h.seconds))
		tags := h.seconds[i]
		h.seconds[i] = nil // after a storm of joins its memory goes too
		for _, t := range tags {
			if u := h.used[t]; u.forget > h.now {
				h.file(t, u.forget) // lived longer than the ring is round
			} else {
				delete(h.used, t)
			}
		}
	}
}
