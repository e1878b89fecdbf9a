// Package relevancy decides which player may know of which actor, pair by pair, once a tick.
//
// The flow of a tick, for every published actor and every viewer:
//
//	excluded? ─► owner known? ─► the rule ─► answer ─► channel: none, open, lingering ─► changes of this tick
//	 deny first    else: open nothing,          │
//	               close nothing                └► a record, when verdict or channel are not what they were
//
// A denial is for the player, whatever else would let the actor in, and closes at once. Only what is merely too far away may
// linger. An actor whose owner is not known is opened for nobody and closed for nobody; after a while it raises an alarm.
//
// Nothing here knows of sockets or structs: actors and viewers are numbers, the rule is a function, time is an argument.
package relevancy

import "time"

// Player identifies a viewer over reconnects. Zero is nobody.
type Player [16]byte

// Kind is what a rule says of a pair. The zero Kind hides: a rule that forgets a case shows nothing.
type Kind uint8

const (
	Hidden     Kind = iota // never: closes what is open, at once
	Unresolved             // not known yet: opens nothing, closes nothing
	Far                    // not now: closes what is open when the linger is over
	Near                   // yes, because of where it is
	Relevant               // yes
)

var kinds = [...]string{"hidden", "unresolved", "far", "near", "relevant"}

// String is the word for traces.
func (k Kind) String() string {
	if int(k) < len(kinds) {
		return kinds[k]
	}
	return "unknown"
}

// Shows reports whether the answer lets the viewer know of the actor.
func (k Kind) Shows() bool { return k >= Near }

// Answer is a Kind with its reason. A negative answer without one is a fault of the rule; it is given the reason "no reason".
type Answer struct {
	Kind   Kind
	Reason string
}

// Channel is the state of a pair.
type Channel uint8

const (
	None      Channel = iota // the viewer knows nothing of the actor
	Open                     // the viewer is offered it
	Lingering                // still offered, though the last answer was no
)

var channels = [...]string{"none", "open", "lingering"}

// String is the word for traces.
func (c Channel) String() string {
	if int(c) < len(channels) {
		return channels[c]
	}
	return "unknown"
}

// Policy is how answers become channels. The zero Policy is right for games: hard answers at once, no linger.
type Policy struct {
	// Legacy reproduces the reference engine's channels: every negative answer lingers for Timeout after the last positive one,
	// which is moved forward by up to Jitter; an open channel is asked again after min(Timeout, one second) only.
	Legacy  bool
	Timeout time.Duration // of Legacy; 0: 5 s
	Jitter  time.Duration // of Legacy; 0: 0.5 s, negative: none
	Alarm   time.Duration // an owner unknown for this long raises an alarm; 0: 2 s
	// Asks is how many pairs are asked in a tick at most, beside those of actors that changed; 0: a million. What does not
	// fit is asked in the ticks after, so all pairs are asked in turn.
	Asks int
	Seed uint64 // of the jitter
}

const (
	defaultTimeout = 5 * time.Second        // RelevantTimeout of the reference engine
	defaultJitter  = 500 * time.Millisecond // added to the last positive answer there, uniformly
	reask          = time.Second            // an open channel is asked about once a second there
	defaultAlarm   = 2 * time.Second
	defaultAsks    = 1 << 20
)

func (p Policy) timeout() time.Duration {
	if p.Timeout == 0 {
		return defaultTimeout
	}
	return p.Timeout
}

func (p Policy) jitter() time.Duration {
	switch {
	case p.Jitter == 0:
		return defaultJitter
	case p.Jitter < 0:
		return 0
	}
	return p.Jitter
}

func (p Policy) alarm() time.Duration {
	if p.Alarm == 0 {
		return defaultAlarm
	}
	return p.Alarm
}

func (p Policy) asks() int {
	if p.Asks == 0 {
		return defaultAsks
	}
	return p.Asks
}
