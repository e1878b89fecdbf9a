package registry

import (
	"errors"
	"slices"
	"time"

	"github.com/throng-dev/throng/internal/session"
	"github.com/throng-dev/throng/internal/trace"
	"github.com/throng-dev/throng/internal/wire"
)

// Events at a client:
//
//	Send ─► the values that its entity has and the relay may not ─► a stream of the session, or the next packet
//	a stream, a packet ─► heard: kept ─► Heard, at each apply: what it stands behind has come, what it is about is held ─► the owner
//
// Payloads stay bytes here, as values do.

const (
	// onceFor is how long an event that is sent once waits for the entity it is about, onceValues for its values.
	onceFor    = 300 * time.Millisecond
	onceValues = 250 * time.Millisecond

	// valuesFor is how long one that arrives for certain waits for values. They come, unless the relay no longer shows them here.
	valuesFor = 10 * time.Second

	// maxHeard bounds what waits for a game that does not tick: beyond it the session ends, since what was acked must not be lost.
	maxHeard     = 8 << 20
	maxHeardOnce = 256 << 10
	heardCost    = 256 // of each, beside its payload

	// eventBurst is how long the rate may be exceeded: less than the relay allows, since what is sent evenly may arrive together.
	eventBurst = 4 * time.Second
)

// Errors of Send.
var (
	ErrCredit   = errors.New("too many events are under way")
	ErrTooLarge = errors.New("the payload is larger than the relay takes")
	ErrNoEvents = errors.New("no session that takes events")
)

// EventKind is a kind of event as this client knows it.
type EventKind struct {
	wire.EventKind        // Num is the world's number; 0: not told yet
	Local          uint32 // this client's number; 0: this build lacks it, or has it with another payload
	Data           any    // the owner's

	other bool // this build has one of that name
	met   bool
}

// EventStats counts what came of events here.
type EventStats struct {
	EventsSent, EventsHeard                     uint64
	EventsForeign, EventsMalformed, EventsEnded uint64 // of kinds this build lacks; that do not parse; of a world or a session before
	EventsDropped                               uint64 // sent once, and what they were about did not come in time
	EventsImpatient                             uint64 // handled though values that they stand behind had not come
	EventsUndelivered                           uint64 // sent from here, and reached nobody
}

// events is what a registry has to do with events.
type events struct {
	kinds   []*EventKind // of this build
	byNum   []*EventKind
	state   wire.EventState
	cost    uint64 // of all that was sent reliably
	used    float64
	usedAt  time.Duration
	once    [][]byte // bodies for the next packets
	refs    []sentRef
	heard   []*Heard
	bytes   int // of what was heard reliably
	onces   int // bytes of the others
	blocked []line
	vers    []uint32
	stats   EventStats
}

// EventStats returns the counters.
func (r *Registry) EventStats() EventStats { return r.ev.stats }

// AddEvent adds a kind of event of this build. All must be added before Connect.
func (r *Registry) AddEvent(k wire.EventKind, data any) *EventKind {
	e := &EventKind{EventKind: k, Local: uint32(len(r.ev.kinds) + 1), Data: data}
	e.Num = 0
	r.ev.kinds = append(r.ev.kinds, e)
	return e
}

// connectEvents begins a session: what the last one left ends.
func (r *Registry) connectEvents() {
	e := &r.ev
	for _, h := range e.heard {
		r.endEvent(h)
	}
	e.heard, e.bytes, e.onces = nil, 0, 0
	r.freshEvents()
	r.announceEvents()
}

// freshEvents forgets what counted in the world before. What was heard there ends when it is judged: what is of the next may have come.
func (r *Registry) freshEvents() {
	e := &r.ev
	e.byNum, e.cost, e.used, e.once, e.refs = nil, 0, 0, nil, nil
	e.state = wire.EventState{Credit: wire.EventCredit, Largest: wire.MaxEvent} // until the relay says otherwise
	for _, k := range e.kinds {
		k.Num = 0
	}
}

func (r *Registry) announceEvents() {
	for _, k := range r.ev.kinds {
		m := k.EventKind
		m.Num = k.Local
		r.queue(m.Append(nil, wire.MsgEventKindUp))
	}
}

func (r *Registry) endEvent(h *Heard) {
	r.ev.stats.EventsEnded++
	r.traceEvent(trace.In, h.Event, h.ID, h.From, len(h.Payload), wire.To(0), trace.WrongEpoch)
}

// MayEvent returns why no event of so many bytes can be sent now. The owner asks before it reads the values that would go along.
func (r *Registry) MayEvent(now time.Duration, reliable bool, size int) error {
	e := &r.ev
	switch {
	case r.conn == nil || !r.Welcomed || r.traveling:
		return ErrNoEvents
	case size > int(e.state.Largest), !reliable && size > wire.MaxFastEvent:
		return ErrTooLarge
	case reliable && e.cost+uint64(wire.EventCost(size)) > e.state.Settled+uint64(e.state.Credit):
		return ErrCredit
	}
	if rate := float64(e.state.Rate); rate > 0 {
		used := max(0, e.used-(now-e.usedAt).Seconds()*rate) + 1
		if used > rate*eventBurst.Seconds() {
			return ErrCredit
		}
	}
	return nil
}

// Event sends an event. c is what it is about, or nil; changed are slots of it that the owner has written and not sent, if it drives it.
// It returns which slots went along: they count as sent.
func (r *Registry) Event(now time.Duration, k *EventKind, to wire.To, who wire.PlayerID, c *Copy, changed uint64, reliable bool, payload []byte) (sent uint64, err error) {
	if err := r.MayEvent(now, reliable, len(payload)); err != nil {
		return 0, err
	}
	if c != nil && c.drives && c.pending && c.Inc != 0 {
		return 0, ErrNoEvents // announced again: under which term it goes on only the answer says, so its values could not go along
	}
	e := &r.ev
	m := wire.EventUp{Kind: k.Local, Epoch: r.Welcome.World, After: r.conn.Queued(wire.StreamControl) + uint32(len(r.backlog)), To: to, Who: who, Payload: payload}
	var ref *sentRef
	before := uint64(0) // slots that left just now
	if c != nil {
		m.About, m.ID, m.Inc, m.Nonce = true, c.ID, c.Inc, c.nonce
		// Before the bind one that is sent once has none: it may come before the announcement.
		if c.Drives() && (c.Bound() && !c.pending || reliable && c.pending) {
			if mask := (changed | c.Mark | c.LostSlots() | c.flown() | e.carried(c)) & c.Class.All &^ (c.Class.Init | c.Class.Auth | c.Class.Motion); mask != 0 {
				r.tick++
				m.Tick, m.Term, m.N = r.tick, c.Term, c.n
				m.Values, m.Mask, m.Chunk = r.current(c, mask, nil)
				c.Mark &^= mask
				c.found(mask)
				before = r.apartFirst(c, &m)
				ref = &sentRef{c: c, term: c.Term, mask: m.Mask}
			}
		} else if !c.Drives() {
			m.Seen = c.newest()
		}
	}
	if r.body = m.Append(r.body[:0]); reliable {
		msg := append([]byte{wire.MsgEventUp}, r.body...)
		if err := r.conn.Queue(wire.EventStream(r.Welcome.Player, m.ID), msg); err != nil {
			if ref != nil {
				c.lose(ref.mask)
			}
			return 0, ErrCredit // the window holds more than the credit: only control can have filled it
		}
		e.cost += uint64(wire.EventCost(len(payload)))
	} else {
		e.once = append(e.once, slices.Clone(r.body))
		if ref != nil {
			e.refs = append(e.refs, *ref)
		}
	}
	rate := float64(e.state.Rate)
	e.used, e.usedAt = max(0, e.used-(now-e.usedAt).Seconds()*rate)+1, now
	e.stats.EventsSent++
	r.traceEvent(trace.Out, k, m.ID, who, len(payload), to, "")
	return m.Mask | before, nil
}

// carried are the slots of a copy that went along with events which no packet has taken yet. Those may be lost, or be read after what is
// reliable in the same packet, so that they count as being on their way.
func (e *events) carried(c *Copy) (mask uint64) {
	for _, ref := range e.refs {
		if ref.c == c {
			mask |= ref.mask
		}
	}
	return mask
}

// once writes the events that are sent once.
func (p *packer) once() {
	e := &p.r.ev
	if len(e.once) == 0 {
		return
	}
	p.endFrame()
	for _, body := range e.once {
		if p.open && p.length()+session.FrameSize(len(body)) > p.limit {
			p.flush()
		}
		if !p.open {
			p.begin()
			for p.length()+session.FrameSize(len(body)) > p.limit && p.r.conn.Carries() {
				p.flush()
				p.begin()
			}
		}
		p.b = session.AppendFrame(p.b, wire.KindEventUp, body)
		if len(e.refs) > 0 { // of some event in these packets: whichever is lost, current values go out again
			p.records += len(e.refs)
			for _, ref := range e.refs {
				p.r.sent.add(ref)
			}
			e.refs = e.refs[:0]
		}
	}
	e.once = e.once[:0]
}

// eventKind takes the number of a kind of the world.
func (r *Registry) eventKind(body []byte) error {
	m, err := wire.ParseEventKind(body)
	if err != nil {
		return err
	}
	e := &r.ev
	for len(e.byNum) <= int(m.Num) {
		e.byNum = append(e.byNum, nil)
	}
	if e.byNum[m.Num] != nil {
		return nil
	}
	for _, k := range e.kinds {
		if k.ID == m.ID && k.Hash == m.Hash {
			k.Num = m.Num
			e.byNum[m.Num] = k
			return nil
		}
	}
	has := slices.ContainsFunc(e.kinds, func(k *EventKind) bool { return k.ID == m.ID })
	e.byNum[m.Num] = &EventKind{EventKind: m, other: has}
	return nil
}

func (r *Registry) eventState(body []byte) error {
	m, err := wire.ParseEventState(body)
	if err != nil {
		return err
	}
	r.ev.state = m
	r.ev.stats.EventsUndelivered += uint64(len(m.Told))
	for _, t := range m.Told {
		if int(t.Kind) <= len(r.ev.kinds) && t.Kind > 0 {
			r.Undelivered = append(r.Undelivered, t)
			r.traceEvent(trace.Out, r.ev.kinds[t.Kind-1], t.ID, wire.PlayerID{}, 0, 0, trace.ByRelay)
		}
	}
	return nil
}

// Other reports whether this build has an event of that name with another payload.
func (k *EventKind) Other() bool { return k.other }
