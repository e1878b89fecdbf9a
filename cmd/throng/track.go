package main

import (
	"sync"
	"sync/atomic"
	"time"

	"github.com/throng-dev/throng"
)

// All bots are in one process and share its clock, so nothing about the measurement travels on the wire: the driver of an
// entity notes which values it sent when, an observer looks up when the values that it holds were sent.

const (
	// kept versions of an entity reach 3 s back at 10 a second. What is older is not looked for.
	kept = 32
	// interval is that of replication, slack what the way may take: an observer holds what is at most both together old.
	interval = 100 * time.Millisecond
	slack    = 100 * time.Millisecond
	// settled is how old an entity must be to be missed where it is not held.
	settled = time.Second
)

// version is values that left, and the start of the Tick that wrote them.
type version struct {
	at      time.Duration
	resumed bool // the entity had rested before
	state
}

// track is the life of one entity, as its driver knows it.
type track struct {
	id    throng.NetID
	owner *bot
	born  time.Duration
	gone  atomic.Bool

	mu     sync.Mutex
	ring   [kept]version
	n      int  // versions ever
	rested bool // since the newest version
}

// push notes that the driver sends s.
func (t *track) push(at time.Duration, s state) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.ring[t.n%kept] = version{at, t.rested, s}
	t.n++
	t.rested = false
}

// rest notes that the driver changes nothing for now.
func (t *track) rest() {
	t.mu.Lock()
	t.rested = true
	t.mu.Unlock()
}

// newest is what was last sent.
func (t *track) newest() state {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.ring[(t.n-1)%kept].state
}

// written is when the driver wrote s; false if it is none of the versions kept.
func (t *track) written(s state) (time.Duration, bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for i := t.n - 1; i >= max(0, t.n-kept); i-- {
		if v := &t.ring[i%kept]; v.state == s {
			return v.at, true
		}
	}
	return 0, false
}

// fresh says whether values held at a moment were as new as they have to be: an interval and slack old at most.
//
// Age alone has no meaning for an entity that rests. Its newest version is fresh until there is another one, and for slack
// longer. While an entity moves nothing is forgiven, a driver that stalls neither.
func (t *track) fresh(at time.Duration, held state) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	var next *version
	for i := t.n - 1; i >= max(0, t.n-kept); i-- {
		v := &t.ring[i%kept]
		if v.at > at {
			continue
		}
		if v.state != held {
			next = v
			continue
		}
		switch {
		case at-v.at <= interval+slack:
			return true
		case next == nil:
			return t.rested
		}
		return next.resumed && at-next.at <= slack
	}
	return next == nil // it is too young to be judged
}
