package registry

import (
	"math/bits"
	"slices"
	"time"

	"github.com/throng-dev/throng/internal/trace"
	"github.com/throng-dev/throng/internal/wire"
)

// Heard is an event for the owner.
type Heard struct {
	wire.EventDown
	Event    *EventKind
	Copy     *Copy // what it is about, if it is held
	At       time.Duration
	Reliable bool
	Ended    bool // what it is about was destroyed, as far as this client knows

	stream int // that it came on, if it is reliable
}

// line is what must not change its order: a sender's events about one entity (R-53). The name of the entity is missing where this client
// may not know of it, or might not when the event was passed on. Such an event may be of any line of its stream.
type line struct {
	from     wire.PlayerID
	id       wire.ID
	stream   int
	nameless bool
}

func (h *Heard) line() line {
	return line{h.From, h.ID, h.stream, h.About != wire.AboutNothing && h.ID == wire.ID{}}
}

// behind reports whether an event must wait while those wait that came before it.
func (l line) behind(waiting []line) bool {
	return slices.ContainsFunc(waiting, func(x line) bool {
		return l.from == x.from && l.stream == x.stream && (l.id == x.id || l.nameless || x.nameless)
	})
}

// Unheard are the events that wait for what they stand behind, or for the owner.
func (r *Registry) Unheard() []*Heard { return r.ev.heard }

// listen keeps an event until the owner may have it. It came on a stream, or in a packet: 0.
func (r *Registry) listen(body []byte, stream int) {
	e, reliable := &r.ev, stream != 0
	m, err := wire.ParseEventDown(body, e.vers[:0])
	if err != nil {
		e.stats.EventsMalformed++
		r.malformed(body)
		return
	}
	e.vers = m.Vers[:0]
	cost := len(m.Payload) + heardCost
	switch {
	case reliable && e.bytes+cost > maxHeard:
		r.Overrun = true
		return
	case !reliable && e.onces+cost > maxHeardOnce:
		e.stats.EventsDropped++
		return
	case reliable:
		e.bytes += cost
	default:
		e.onces += cost
	}
	m.Payload, m.Vers = slices.Clone(m.Payload), slices.Clone(m.Vers)
	e.heard = append(e.heard, &Heard{EventDown: m, At: r.now, Reliable: reliable, stream: stream})
}

// Heard appends the events that the owner may have, in order: those of one sender about one entity as they were sent. The owner calls it
// when it has applied what Changed returned; absent tells of a copy that the owner will have a body for and has not.
func (r *Registry) Heard(now time.Duration, absent func(*Copy) bool, into []*Heard) []*Heard {
	e := &r.ev
	if len(e.heard) == 0 || r.conn == nil {
		return into
	}
	blocked := e.blocked[:0]
	keep := e.heard[:0]
	for _, h := range e.heard {
		l, fate := h.line(), waits
		if !h.Reliable || !l.behind(blocked) {
			fate = r.judge(now, h, absent)
		}
		if fate == waits {
			if h.Reliable {
				blocked = append(blocked, l)
			}
			keep = append(keep, h)
			continue
		}
		if cost := len(h.Payload) + heardCost; h.Reliable {
			e.bytes -= cost
		} else {
			e.onces -= cost
		}
		if fate == may {
			e.stats.EventsHeard++
			into = append(into, h)
			r.traceEvent(trace.In, h.Event, h.ID, h.From, len(h.Payload), 0, "")
		}
	}
	clear(e.heard[len(keep):])
	e.heard, e.blocked = keep, blocked[:0]
	if len(keep) == 0 && cap(keep) > 1024 {
		e.heard = nil
	}
	return into
}

type fate uint8

const (
	may fate = iota
	waits
	over
)

// judge decides what becomes of an event now.
func (r *Registry) judge(now time.Duration, h *Heard, absent func(*Copy) bool) fate {
	e := &r.ev
	if !r.Welcomed || int32(h.After-r.conn.Taken(wire.StreamControl)) > 0 {
		if !h.Reliable && now > h.At+onceFor {
			return r.late(h)
		}
		return waits
	}
	if h.Epoch != r.Welcome.World {
		r.endEvent(h)
		return over
	}
	if int(h.Kind) < len(e.byNum) {
		h.Event = e.byNum[h.Kind]
	}
	if h.Event == nil || h.Event.Local == 0 {
		e.stats.EventsForeign++
		if h.Event != nil && !h.Event.met {
			h.Event.met = true
			r.StrangeEvents = append(r.StrangeEvents, h.Event)
		}
		r.traceEvent(trace.In, h.Event, h.ID, h.From, len(h.Payload), 0, trace.Foreign)
		return over
	}
	if h.About == wire.AboutNothing {
		return may
	}
	c := r.byID.Find(h.ID)
	if c == nil || c.Inc != h.Inc {
		h.Ended = h.Inc != 0 && r.dead[h.ID].inc >= h.Inc
		if h.About == wire.AboutComing && !h.Ended {
			if now > h.At+onceFor {
				return r.late(h)
			}
			return waits
		}
		return may
	}
	h.Copy = c
	switch {
	case c.Class.Local == 0:
		return may
	case !absent(c) && (h.About != wire.AboutHeld || c.Handle == 0 || r.holds(c, h)):
		return may
	}
	patience := valuesFor
	if !h.Reliable || h.Patient {
		patience = onceValues
	}
	if now > h.At+patience {
		e.stats.EventsImpatient++
		return may
	}
	h.Copy = nil
	return waits
}

func (r *Registry) late(h *Heard) fate {
	r.ev.stats.EventsDropped++
	r.traceEvent(trace.In, h.Event, h.ID, h.From, len(h.Payload), 0, trace.Late)
	return over
}

// holds reports whether the copy has the values that an event stands behind.
func (r *Registry) holds(c *Copy, h *Heard) bool {
	if c.drives {
		return true
	}
	if c.waiting {
		return false
	}
	i, shown := 0, c.Class.All
	if r.far(c) { // it has moved away since: the others are not shown here
		shown = c.Class.Presence
	}
	if r.retains() && shown&c.Class.Movable()&^(c.Class.Owner|c.verSet) != 0 {
		return false // its introduction has not told all: what travels apart is on its way
	}
	for m := h.Slots & c.Class.All; m != 0 && i < len(h.Vers); m &= m - 1 {
		s := bits.TrailingZeros64(m)
		if shown>>s&1 != 0 && (c.verSet>>s&1 == 0 || int32(c.ver(s)-h.Vers[i]) < 0) {
			return false
		}
		i++
	}
	return true
}

// far reports whether a copy is beyond the property reach of this client, as far as it knows.
func (r *Registry) far(c *Copy) bool {
	p := &r.Welcome.Profile
	if p.PropertyReach >= p.Reach || c.Class.Position < 0 {
		return false
	}
	for _, v := range r.views {
		if v.Distance(c.Chunk) <= int64(p.PropertyReach) {
			return false
		}
	}
	if !r.follow {
		return true
	}
	for _, a := range r.order {
		if a != nil && a.drives && a.Flags&wire.EntityAvatar != 0 && r.byID.Find(a.ID) == a {
			return a.Chunk.Distance(c.Chunk) > int64(p.PropertyReach)
		}
	}
	return false
}
