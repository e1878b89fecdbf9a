package minion

import (
	"cmp"
	"slices"
	"time"

	"github.com/throng-dev/throng"
)

// CrewConfig says what a client does with its stand-ins. Make and Drop must be set.
type CrewConfig struct {
	// Make builds a dummy. It runs within Request, before it returns, or when a grant arrives that was not asked for.
	Make func(k Key, kind uint32, p Pose)
	// Drop takes it away. Every Make has one Drop.
	Drop func(k Key, why Reason, text string)
	// Renamed says that a dummy's key got its generation: the request was granted. Nil: nothing to do.
	Renamed func(old, now Key)
	// Told runs for an Event, Placed for a Formation. Nil: nothing to do.
	Told   func(k Key, what uint16, health float32)
	Placed func(k Key, slot uint16, point throng.Vec3Quantize10)
	// Correct moves a dummy that drifted from the actor: to p at once, or, if soft, on its way. Nil: dummies may drift.
	Correct func(k Key, p Pose, soft bool)
	// Pose is where a dummy is now. Needed with Correct.
	Pose func(k Key) Pose

	Radius float64 // of a body, in units; drift is measured by it. 0: 34, a capsule of the reference engine
}

// Crew is the client's side: the stand-ins of one player.
type Crew struct {
	cfg   CrewConfig
	self  throng.PlayerID
	seq   uint32
	held  map[slot]*dummy
	gens  map[slot]uint16 // newest generation heard of, of what ended too
	out   []any
	guard Guard
	stats CrewStats
}

type dummy struct {
	key     Key
	version uint32
	number  uint32        // of its grant
	asked   time.Duration // when; of one that is not granted
	request Request
	sent    bool // the hint below counts
	actor   Pose
	drifted time.Duration // since when more than softly; 0: it is not
	until   time.Duration // given away: so long it waits for its proxy; 0: it is not
}

// CrewStats counts from the start.
type CrewStats struct {
	Asked, Granted, Revoked, Stale, Foreign, Unanswered, Soft, Snapped uint64
}

// Drift beyond which a dummy is corrected, in radii (B-114).
const (
	softDrift = 2.0         // for longer than driftTime: on its way
	snapDrift = 10.0        // at once
	driftTime = time.Second //
)

// NewCrew returns an empty crew of a player. Seq is the number to begin with: a program that starts anew with the same player
// begins after the numbers it used before, for example with the Unix time in seconds.
func NewCrew(self throng.PlayerID, seq uint32, cfg CrewConfig) *Crew {
	if cfg.Radius == 0 {
		cfg.Radius = 34
	}
	c := &Crew{cfg: cfg, self: self, seq: seq % FirstUnasked, held: map[slot]*dummy{}, gens: map[slot]uint16{}, out: []any{Sync{}}}
	c.guard.arrived = func(k Key) {
		if d := c.held[k.slot()]; d != nil {
			c.drop(d, GivenAway, "")
		}
	}
	return c
}

// Stats returns the counters.
func (c *Crew) Stats() CrewStats { return c.stats }

// Guard is the guard over this client's bodies.
func (c *Crew) Guard() *Guard { return &c.guard }

// Resync asks the authority for all grants again. Call it when the World is live again after its connection was lost (Config.OnState):
// what was said meanwhile may be lost.
func (c *Crew) Resync() { c.out = append(c.out, Sync{}) }

// Request makes a dummy at once and asks the authority for the minion. The key has no generation yet.
func (c *Crew) Request(now time.Duration, kind uint32, p Pose) Key {
	if c.seq++; c.seq >= FirstUnasked {
		c.seq = 1
	}
	k := Key{Player: c.self, Seq: c.seq}
	r := Request{Seq: c.seq, Kind: kind, Pose: p}
	c.stats.Asked++
	c.make(k, kind, p, &dummy{key: k, asked: now, request: r})
	c.out = append(c.out, r)
	return k
}

func (c *Crew) make(k Key, kind uint32, p Pose, d *dummy) {
	c.held[k.slot()] = d
	c.guard.claim(k)
	c.cfg.Make(k, kind, p)
}

func (c *Crew) drop(d *dummy, why Reason, text string) {
	delete(c.held, d.key.slot())
	c.guard.release(d.key)
	c.cfg.Drop(d.key, why, text)
}

// Keys are the stand-ins there are, in the order of their numbers.
func (c *Crew) Keys() []Key {
	keys := make([]Key, 0, len(c.held))
	for _, d := range c.held {
		keys = append(keys, d.key)
	}
	slices.SortFunc(keys, func(x, y Key) int { return cmp.Compare(x.Seq, y.Seq) })
	return keys
}

// Has reports whether there is a stand-in of that key now.
func (c *Crew) Has(k Key) bool { d := c.held[k.slot()]; return d != nil && d.key.names(k) }

// Receive handles a message of the authority: Grant, Revoke, Event, Hint, Formation or State. The caller has checked that an
// authority sent it. Stale and doubled messages change nothing.
func (c *Crew) Receive(now time.Duration, msg any) {
	switch m := msg.(type) {
	case Grant:
		c.granted(m)
	case Revoke:
		c.revoked(now, m)
	case State:
		c.reconcile(now, m)
	case Event:
		if d := c.newer(m.Key, m.Version); d != nil && c.cfg.Told != nil {
			c.cfg.Told(m.Key, m.What, m.Health)
		}
	case Formation:
		if d := c.newer(m.Key, m.Version); d != nil && c.cfg.Placed != nil {
			c.cfg.Placed(m.Key, m.Slot, m.Point)
		}
	case Hint:
		if d := c.newer(m.Key, m.Version); d != nil && m.Pose.finite() {
			d.actor, d.sent = m.Pose, true
		}
	}
}

// newer finds the stand-in a message is about if the message is newer than all before it.
func (c *Crew) newer(k Key, version uint32) *dummy {
	d := c.held[k.slot()]
	if k.Player != c.self {
		c.stats.Foreign++
		return nil
	}
	if d == nil || !d.key.names(k) || d.until != 0 || !after(version, d.version) {
		c.stats.Stale++
		return nil
	}
	d.version = version
	return d
}

func (c *Crew) granted(g Grant) {
	k := g.Key
	if k.Player != c.self || k.Gen == 0 || k.Seq == 0 {
		c.stats.Foreign++
		return
	}
	if k.Asked() && k.Seq > c.seq {
		c.seq = k.Seq // of an earlier start of this program: do not use it again
	}
	d := c.held[k.slot()]
	switch {
	case d != nil && d.key.names(k):
		if after(g.Version, d.version) {
			d.version = g.Version
		}
		if after(g.Number, d.number) {
			d.number = g.Number
		}
		return // said again
	case int16(k.Gen-c.gens[k.slot()]) <= 0:
		c.stats.Stale++
		return
	}
	c.gens[k.slot()] = k.Gen
	c.stats.Granted++
	switch {
	case d == nil:
		c.make(k, g.Kind, g.Pose, &dummy{key: k, version: g.Version, number: g.Number})
	default: // the one that was asked for, or of an older generation whose end is on its way
		old := d.key
		c.guard.release(old)
		c.guard.claim(k)
		*d = dummy{key: k, version: g.Version, number: g.Number}
		if c.cfg.Renamed != nil {
			c.cfg.Renamed(old, k)
		}
	}
}

// revoked ends a stand-in. One that was given away stands until its proxy is there, so that no frame shows neither.
func (c *Crew) revoked(now time.Duration, r Revoke) {
	if r.Key.Player != c.self {
		c.stats.Foreign++
		return
	}
	if int16(r.Key.Gen-c.gens[r.Key.slot()]) > 0 {
		c.gens[r.Key.slot()] = r.Key.Gen // its grant may come after
	}
	d := c.held[r.Key.slot()]
	if d == nil || d.key.Gen != r.Key.Gen && d.key.Gen != 0 {
		c.stats.Stale++
		return
	}
	c.stats.Revoked++
	if r.Reason == GivenAway {
		d.until = now + SwapWithin
		c.guard.await(d.key)
		return
	}
	c.drop(d, r.Reason, r.Text)
}

// reconcile makes the crew what the authority says it is. What is asked for and not answered is asked for again.
func (c *Crew) reconcile(now time.Duration, st State) {
	named := map[slot]bool{}
	for _, g := range st.Grants {
		named[g.Key.slot()] = true
		c.granted(g)
	}
	for _, k := range c.Keys() {
		d := c.held[k.slot()]
		switch {
		case d == nil || named[k.slot()] || d.until != 0:
		case k.Gen == 0:
			d.asked = now
			c.out = append(c.out, d.request)
		case after(st.Number, d.number):
			c.drop(d, Forgotten, "")
		}
	}
}

// Tick measures drift and gives up requests without an answer. Call it each game tick.
func (c *Crew) Tick(now time.Duration) {
	for _, k := range c.Keys() {
		d := c.held[k.slot()]
		if d == nil {
			continue // dropped by a hook
		}
		if k.Gen == 0 && now-d.asked > AnswerWithin {
			c.stats.Unanswered++
			c.drop(d, NoAnswer, "")
			continue
		}
		if d.until != 0 {
			if now >= d.until {
				c.drop(d, GivenAway, "")
			}
			continue
		}
		if d.sent && c.cfg.Correct != nil && c.cfg.Pose != nil {
			c.correct(now, d)
		}
	}
}

// correct bounds the drift of a dummy from the last pose its actor was seen in.
func (c *Crew) correct(now time.Duration, d *dummy) {
	drift := c.cfg.Pose(d.key).Dist(d.actor)
	switch {
	case drift > snapDrift*c.cfg.Radius:
		c.stats.Snapped++
		d.drifted = 0
		c.cfg.Correct(d.key, d.actor, false)
	case drift <= softDrift*c.cfg.Radius:
		d.drifted = 0
	case d.drifted == 0:
		d.drifted = max(now, 1)
	case now-d.drifted >= driftTime:
		c.stats.Soft++
		d.drifted = now
		c.cfg.Correct(d.key, d.actor, true)
	}
}

// Travel drops all stand-ins: the world they stood in is left.
func (c *Crew) Travel() {
	for _, k := range c.Keys() {
		if d := c.held[k.slot()]; d != nil {
			c.drop(d, Ended, "")
		}
	}
	clear(c.gens)
}

// Out returns what is to be sent to the authority, reliably and in this order, and forgets it: Sync, Request, Close.
func (c *Crew) Out() []any {
	out := c.out
	for _, r := range c.guard.take() {
		out = append(out, r)
	}
	c.out = nil
	return out
}
