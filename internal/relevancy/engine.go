package relevancy

import (
	"math/rand/v2"
	"time"
)

// Rule answers for one pair. It is asked when nothing denies the pair before, and must not change the Engine.
type Rule func(viewer, actor int) Answer

// Engine holds the pairs of a world. It is not safe for concurrent use.
type Engine struct {
	policy  Policy
	rand    *rand.Rand
	viewers []viewer // by number; numbers are used again
	actors  []actor
	reasons []string          // by number
	reason  map[string]uint16 // its inverse
	tick    uint64
	cursor  int // actor to go on with when a tick could not ask all
	changes []Change
	alarms  []int
	stats   Stats

	// Changed, if set, gets a record whenever the verdict, the reason or the channel of a pair changes. It must not call the
	// Engine.
	Changed func(Record)
}

type viewer struct {
	player Player
	used   bool
	fresh  bool // not asked about yet
}

type actor struct {
	used, published bool
	hot             bool   // ask all of its pairs in the next tick
	tick            uint64 // asked in
	exclude         bool
	unknown         bool // the owner is not known
	owner           Player
	linger          time.Duration
	since           time.Duration // unresolved since; 0: it is not
	alarmed         bool
	pairs           []pair // by viewer
}

// pair is what is kept for a viewer and an actor: there are many.
type pair struct {
	last    time.Duration // of the last positive answer, with the jitter of a legacy policy
	reason  uint16
	kind    Kind
	channel Channel
	asked   bool
}

// Change says that a viewer may know of an actor from now on, or may not any longer.
type Change struct {
	Viewer, Actor int
	Allowed       bool
}

// Record is a decision, complete enough to explain it.
type Record struct {
	At            time.Duration
	Viewer, Actor int
	Player        Player
	Owner         Player // of the actor, if known
	OwnerKnown    bool
	Answer        Answer
	Before, After Channel
}

// Stats counts from the start.
type Stats struct {
	Asked    uint64 // rules asked
	Excluded uint64 // pairs denied before the rule
	Unknown  uint64 // pairs not decided, for the owner was not known
	Opened   uint64
	Closed   uint64
	Alarms   uint64
	Mute     uint64 // negative answers without a reason
}

// New returns an Engine without viewers and actors.
func New(p Policy) *Engine {
	e := &Engine{policy: p, rand: rand.New(rand.NewPCG(p.Seed, 0x7472)), reason: map[string]uint16{}}
	for _, r := range ownReasons {
		e.number(r)
	}
	return e
}

// ownReasons are the reasons of the Engine itself, by number.
var ownReasons = [...]string{"", "its owner has a local stand-in", "owner unknown", "not published"}

const (
	_ = iota // not asked yet
	standIn
	ownerUnknown
	notPublished
)

// Stats returns the counters.
func (e *Engine) Stats() Stats { return e.stats }

// AddViewer adds a player and returns its number. No actor is open for it before the next Tick.
func (e *Engine) AddViewer(p Player) int {
	n := -1
	for i := range e.viewers {
		if !e.viewers[i].used {
			n = i
			break
		}
	}
	if n < 0 {
		n = len(e.viewers)
		e.viewers = append(e.viewers, viewer{})
	}
	e.viewers[n] = viewer{player: p, used: true, fresh: true}
	for i := range e.actors {
		if a := &e.actors[i]; n < len(a.pairs) {
			a.pairs[n] = pair{} // of who had the number before
		}
	}
	return n
}

// RemoveViewer forgets a player. There are no changes for it: who is gone is told nothing.
func (e *Engine) RemoveViewer(n int) { e.viewers[n] = viewer{} }

// AddActor adds an actor that is offered to nobody before Publish, and returns its number. Linger is for answers that say far.
func (e *Engine) AddActor(linger time.Duration) int {
	n := -1
	for i := range e.actors {
		if !e.actors[i].used {
			n = i
			break
		}
	}
	if n < 0 {
		n = len(e.actors)
		e.actors = append(e.actors, actor{})
	}
	e.actors[n] = actor{used: true, linger: linger, pairs: e.actors[n].pairs[:0]}
	return n
}

// Publish offers the actor to viewers, from the next Tick.
func (e *Engine) Publish(n int) { e.actors[n].published, e.actors[n].hot = true, true }

// Withdraw takes the actor from everybody, in the next Tick.
func (e *Engine) Withdraw(n int) { e.actors[n].published, e.actors[n].hot = false, true }

// RemoveActor forgets an actor. There are no changes for it: its end is told elsewhere.
func (e *Engine) RemoveActor(n int) { e.actors[n] = actor{pairs: e.actors[n].pairs[:0]} }

// SetOwner says who owns the actor, and whether its owner is kept from knowing of it. With known false the owner is not known
// at the moment: who was last known stays denied.
func (e *Engine) SetOwner(n int, owner Player, known, exclude bool) {
	a := &e.actors[n]
	if known && (a.owner != owner || a.unknown) || a.exclude != exclude || !known != a.unknown {
		a.hot = true
	}
	a.exclude, a.unknown = exclude, !known
	if known {
		a.owner = owner
	}
}

// Reconsider asks all pairs of an actor in the next Tick, however many others wait.
func (e *Engine) Reconsider(n int) { e.actors[n].hot = true }

// Tick asks and returns what changed, in memory that is used again by the next call. All that it returns must hold before
// anything is sent.
func (e *Engine) Tick(now time.Duration, rule Rule) []Change {
	e.changes = e.changes[:0]
	e.alarms = e.alarms[:0]
	e.tick++
	left := e.policy.asks()
	for i := range e.actors {
		if a := &e.actors[i]; a.hot {
			e.consider(now, i, rule)
			a.hot = false
		}
	}
	if e.cursor >= len(e.actors) {
		e.cursor = 0
	}
	for range e.actors {
		if left <= 0 {
			break
		}
		if a := &e.actors[e.cursor]; a.used && a.published && a.tick != e.tick {
			left -= len(e.viewers)
			e.consider(now, e.cursor, rule)
		}
		if e.cursor++; e.cursor == len(e.actors) {
			e.cursor = 0
		}
	}
	for i := range e.viewers {
		if v := &e.viewers[i]; v.fresh {
			v.fresh = false
			for j := range e.actors { // those that the turn did not reach
				if a := &e.actors[j]; a.used && a.published && (i >= len(a.pairs) || !a.pairs[i].asked) {
					e.consider(now, j, rule)
				}
			}
		}
	}
	return e.changes
}

// Alarms are the actors whose owner became unknown too long ago, each once; valid until the next Tick.
func (e *Engine) Alarms() []int { return e.alarms }

func (e *Engine) consider(now time.Duration, n int, rule Rule) {
	a := &e.actors[n]
	for len(a.pairs) < len(e.viewers) {
		a.pairs = append(a.pairs, pair{})
	}
	a.tick = e.tick
	unresolved := a.unknown && a.published // also when nobody is there to be kept waiting
	for i := range e.viewers {
		v := &e.viewers[i]
		if !v.used {
			continue
		}
		p := &a.pairs[i]
		var answer Answer
		switch {
		case !a.published:
			answer = Answer{Hidden, ownReasons[notPublished]}
		case a.exclude && v.player == a.owner && a.owner != (Player{}):
			e.stats.Excluded++
			if p.reason == standIn && p.channel == None {
				continue // as before: the case that costs most players one pair each
			}
			answer = Answer{Hidden, ownReasons[standIn]}
		case a.unknown:
			e.stats.Unknown++
			answer = Answer{Unresolved, ownReasons[ownerUnknown]}
		case e.policy.Legacy && p.channel != None && now-p.last < min(e.policy.timeout(), reask):
			continue
		default:
			e.stats.Asked++
			if answer = rule(i, n); p.channel == Open && answer.Kind == p.kind && answer.Kind.Shows() && !e.policy.Legacy &&
				e.reasons[p.reason] == answer.Reason {
				p.last = now
				continue // as before: the case of nearly all pairs
			}
		}
		unresolved = unresolved || answer.Kind == Unresolved
		e.decide(now, i, n, p, answer)
	}
	switch {
	case !unresolved:
		a.since, a.alarmed = 0, false
	case a.since == 0:
		a.since = max(now, 1)
	case !a.alarmed && now-a.since >= e.policy.alarm():
		a.alarmed = true
		e.stats.Alarms++
		e.alarms = append(e.alarms, n)
	}
}

// decide moves the channel of a pair by an answer.
func (e *Engine) decide(now time.Duration, v, n int, p *pair, answer Answer) {
	if !answer.Kind.Shows() && answer.Reason == "" {
		e.stats.Mute++
		answer.Reason = "no reason"
	}
	before := p.channel
	switch {
	case answer.Kind.Shows():
		p.channel = Open
		p.last = now
		if e.policy.Legacy {
			p.last += time.Duration(e.rand.Float64() * float64(e.policy.jitter()))
		}
	case before == None:
	case answer.Kind == Unresolved && !e.policy.Legacy:
		p.channel = Open // as it was; a linger ends with it
	default:
		if now-p.last >= e.patience(n, answer.Kind) {
			p.channel = None
		} else {
			p.channel = Lingering
		}
	}
	if before == None && p.channel == Open {
		e.stats.Opened++
		e.changes = append(e.changes, Change{v, n, true})
	}
	if before != None && p.channel == None {
		e.stats.Closed++
		e.changes = append(e.changes, Change{v, n, false})
	}
	if p.asked && p.kind == answer.Kind && p.channel == before && e.reasons[p.reason] == answer.Reason {
		return
	}
	p.asked, p.kind, p.reason = true, answer.Kind, e.number(answer.Reason)
	if e.Changed != nil {
		e.Changed(e.record(now, v, n, before))
	}
}

// patience is how long after the last yes a no closes.
func (e *Engine) patience(n int, k Kind) time.Duration {
	switch a := &e.actors[n]; {
	case !a.published:
		return 0
	case e.policy.Legacy:
		return e.policy.timeout()
	case k == Far:
		return a.linger
	}
	return 0
}

// Explain is the last decision on a pair, its time that of the last positive answer; false if there is none.
func (e *Engine) Explain(v, n int) (Record, bool) {
	if v < 0 || n < 0 || v >= len(e.viewers) || n >= len(e.actors) || !e.viewers[v].used || !e.actors[n].used {
		return Record{}, false
	}
	if a := &e.actors[n]; v >= len(a.pairs) || !a.pairs[v].asked {
		return Record{}, false
	}
	r := e.record(0, v, n, e.actors[n].pairs[v].channel)
	r.At = e.actors[n].pairs[v].last
	return r, true
}

// Allowed reports whether the viewer may know of the actor now.
func (e *Engine) Allowed(v, n int) bool {
	a := &e.actors[n]
	return v < len(a.pairs) && a.pairs[v].channel != None
}

func (e *Engine) record(now time.Duration, v, n int, before Channel) Record {
	a := &e.actors[n]
	p := &a.pairs[v]
	return Record{At: now, Viewer: v, Actor: n, Player: e.viewers[v].player, Owner: a.owner, OwnerKnown: !a.unknown,
		Answer: Answer{p.kind, e.reasons[p.reason]}, Before: before, After: p.channel}
}

// maxReasons bounds what a rule that makes up reasons can cost.
const maxReasons = 4096

func (e *Engine) number(reason string) uint16 {
	if n, ok := e.reason[reason]; ok {
		return n
	}
	if len(e.reasons) == maxReasons {
		return e.reason["too many reasons"]
	}
	if len(e.reasons) == maxReasons-1 {
		reason = "too many reasons"
	}
	n := uint16(len(e.reasons))
	e.reasons = append(e.reasons, reason)
	e.reason[reason] = n
	return n
}
