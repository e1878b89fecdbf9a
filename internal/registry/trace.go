package registry

import (
	"math/bits"

	"github.com/throng-dev/throng/internal/trace"
	"github.com/throng-dev/throng/internal/wire"
)

// tracer makes events of what a registry does, for Config.Trace. Without that there is none, and each place that would tell it
// costs a comparison with nil. Certificates and values are in no event.
type tracer struct {
	sink   trace.Sink
	event  trace.Event // scratch, as fields
	fields [trace.MaxFields]string
}

func newTracer(s trace.Sink) *tracer {
	if s == nil {
		return nil
	}
	return &tracer{sink: s}
}

// begin is an event about a copy, which may be nil.
func (t *tracer) begin(cat trace.Cat, dir trace.Dir, what string, c *Copy) *trace.Event {
	t.event = trace.Event{Cat: cat, Dir: dir, What: what}
	if c != nil {
		t.event.ID, t.event.Owner, t.event.Term = trace.ID(c.ID), trace.ID(c.Owner), uint64(c.Term.N())
		if c.Class != nil {
			t.event.Class = c.Class.Name
		}
	}
	return &t.event
}

// name lists the slots in mask.
func (t *tracer) name(e *trace.Event, k *Class, mask uint64) {
	if k == nil {
		return
	}
	n := 0
	for m := mask & k.All; m != 0; m &= m - 1 {
		t.fields[n] = k.Slots[bits.TrailingZeros64(m)].Name
		n++
	}
	e.Fields = t.fields[:n]
}

// delta tells of values of a copy that came or left; why says what became of them, if nothing.
func (t *tracer) delta(dir trace.Dir, c *Copy, mask uint64, size int, ver uint32, path, why string) {
	if t == nil || !t.sink.On(trace.State) {
		return
	}
	e := t.begin(trace.State, dir, trace.Delta, c)
	t.name(e, c.Class, mask)
	switch {
	case path != "":
	case mask != 0 && mask&^c.Class.Owner == 0:
		path = trace.ToOwner
	default:
		path = trace.Spatial
	}
	e.Bytes, e.Version, e.Path, e.Drop = size, ver, path, why
	t.sink.Take(e)
}

// drop tells of bytes that are about no copy this client has; number is a handle, or 0, as id may be.
func (t *tracer) drop(why string, id wire.ID, number uint64, k *Class, mask uint64, size int) {
	if t == nil || !t.sink.On(trace.State) {
		return
	}
	e := t.begin(trace.State, trace.In, trace.Delta, nil)
	if k != nil {
		e.Class = k.Name
		t.name(e, k, mask)
	}
	e.ID, e.N, e.Bytes, e.Drop = trace.ID(id), number, size, why
	t.sink.Take(e)
}

// entity tells of the existence or the driver of a copy.
func (t *tracer) entity(dir trace.Dir, what string, c *Copy, why string) {
	if t == nil || !t.sink.On(trace.Entity) {
		return
	}
	e := t.begin(trace.Entity, dir, what, c)
	e.Drop = why
	t.sink.Take(e)
}

// lost tells of a packet that did not arrive, and of what goes out again with the next.
func (t *tracer) lost(pn uint64, refs []sentRef) {
	if t == nil {
		return
	}
	if t.sink.On(trace.Net) {
		e := t.begin(trace.Net, trace.Out, trace.Loss, nil)
		e.N = pn
		t.sink.Take(e)
	}
	for _, s := range refs {
		t.delta(trace.Out, s.c, s.mask, 0, 0, "", trace.Lost)
	}
}

// kinds are the events of reliable messages about an entity.
var kinds = [...]string{
	wire.MsgSpawn: trace.Spawn, wire.MsgDestroy: trace.Destroy, wire.MsgRequest: trace.Request, wire.MsgGrant: trace.Grant, wire.MsgRelease: trace.Release,
	wire.MsgAgain: trace.Repeat, wire.MsgNoRoom: trace.NoRoom, wire.MsgBind: trace.Bind, wire.MsgAssign: trace.Assign, wire.MsgRevoke: trace.Revoke,
	wire.MsgRefused: trace.Refused, wire.MsgRequested: trace.Request,
}

// Whys are the reasons of departures, for people.
var Whys = [...]string{wire.WhyOutOfReach: "out of reach", wire.WhyDestroyed: "destroyed", wire.WhyStale: "stale", wire.WhyReleased: "session released"}

func textOf(names []string, i uint8) string {
	if int(i) < len(names) {
		return names[i]
	}
	return "?"
}

// message tells of a reliable message, on its way out or in.
func (r *Registry) traceMessage(dir trace.Dir, msg []byte) {
	t := r.tr
	if t == nil || len(msg) == 0 || !t.sink.On(trace.Entity) && !t.sink.On(trace.State) && !t.sink.On(trace.Net) {
		return
	}
	kind, body := msg[0], msg[1:]
	switch kind {
	case wire.MsgHost:
		if m, err := wire.ParseHost(body); err == nil {
			t.host(dir, m.Player, m.Term)
		}
	case wire.MsgHello, wire.MsgWelcome, wire.MsgRefuse, wire.MsgPlayer, wire.MsgView, wire.MsgTravel, wire.MsgTravelRefused:
		if t.sink.On(trace.Net) {
			r.traceSession(dir, kind, body)
		}
		if m, err := wire.ParseWelcome(body); kind == wire.MsgWelcome && err == nil && m.Host != (wire.PlayerID{}) { // a change has a message of its own
			t.host(dir, m.Host, m.HostTerm)
		}
	default:
		m, err := wire.ParseEntity(kind, body)
		if err != nil {
			return
		}
		r.traceEntity(dir, kind, &m, len(msg))
	}
}

func (t *tracer) host(dir trace.Dir, p wire.PlayerID, term wire.Count) {
	if !t.sink.On(trace.Entity) {
		return
	}
	e := t.begin(trace.Entity, dir, trace.Host, nil)
	e.Owner, e.Term = trace.ID(p), uint64(term.N())
	t.sink.Take(e)
}

func (r *Registry) traceSession(dir trace.Dir, kind byte, body []byte) {
	t := r.tr
	switch kind {
	case wire.MsgHello:
		e := t.begin(trace.Net, dir, trace.Join, nil)
		e.Text = r.cfg.World
		t.sink.Take(e)
	case wire.MsgWelcome:
		if m, err := wire.ParseWelcome(body); err == nil {
			e := t.begin(trace.Net, dir, trace.Welcome, nil)
			e.Owner, e.Version = trace.ID(m.Player), m.Flush
			t.sink.Take(e)
		}
	case wire.MsgTravel:
		if world, err := wire.ParseTravel(body); err == nil {
			e := t.begin(trace.Net, dir, trace.Travel, nil)
			e.Text = world
			t.sink.Take(e)
		}
	case wire.MsgTravelRefused:
		if m, err := wire.ParseRefuse(body); err == nil {
			e := t.begin(trace.Net, dir, trace.Travel, nil)
			e.N, e.Text, e.Drop = uint64(m.Code), m.Text, trace.ByRelay
			t.sink.Take(e)
		}
	case wire.MsgRefuse:
		if m, err := wire.ParseRefuse(body); err == nil {
			e := t.begin(trace.Net, dir, trace.Refuse, nil)
			e.N, e.Text = uint64(m.Code), m.Text
			t.sink.Take(e)
		}
	case wire.MsgView:
		if follow, views, err := wire.ParseView(body, nil); err == nil {
			e := t.begin(trace.Net, dir, trace.View, nil)
			if e.N = uint64(len(views)); follow {
				e.Text = "from the avatar"
			}
			t.sink.Take(e)
		}
	case wire.MsgPlayer:
		_ = wire.ParsePlayers(body, func(p wire.Player) {
			e := t.begin(trace.Net, dir, trace.Player, nil)
			if e.Owner, e.Text = trace.ID(p.ID), "entered"; !p.Present {
				e.Text = "left"
			}
			t.sink.Take(e)
		})
	}
}

func (r *Registry) traceEntity(dir trace.Dir, kind byte, m *wire.Entity, size int) {
	t := r.tr
	var k *Class
	c := r.byID.Find(m.ID)
	if p := r.pend[m.ID]; p != nil && (m.Nonce == p.nonce || c == nil) {
		c = p
	}
	switch {
	case c != nil:
		k = c.Class
	case dir == trace.In:
		k = r.classByNum(m.Class)
	}
	cat, what, path, drop, text := trace.Entity, "", "", "", ""
	switch kind {
	case wire.MsgOverrideUp:
		cat, what, path = trace.State, trace.Delta, trace.Override
	case wire.MsgRejected:
		cat, what, drop, text = trace.State, trace.Rejected, trace.ByRelay, textOf(wire.Refusals[:], m.Reason)
	case wire.MsgRefused:
		what, drop, text = trace.Refused, trace.ByRelay, textOf(wire.Refusals[:], m.Reason)
	case wire.MsgGrantRefused:
		what, drop, text = trace.Grant, trace.ByRelay, textOf(wire.Refusals[:], m.Reason)
	case wire.MsgSpawn, wire.MsgAgain, wire.MsgAssign, wire.MsgRelease:
		what, path = kinds[kind], trace.Baseline
	case wire.MsgGone, wire.MsgOverride: // the one is about the past, the other is told when it was judged
		return
	default:
		if int(kind) >= len(kinds) || kinds[kind] == "" {
			return
		}
		what = kinds[kind]
	}
	if !t.sink.On(cat) {
		return
	}
	e := t.begin(cat, dir, what, c)
	e.ID, e.Path, e.Drop, e.Text = trace.ID(m.ID), path, drop, text
	if e.Bytes = len(m.Values); e.Bytes == 0 {
		e.Bytes = size
	}
	if k != nil {
		e.Class = k.Name
		t.name(e, k, m.Mask)
	}
	if m.Term != 0 {
		e.Term = uint64(m.Term.N())
	}
	switch kind {
	case wire.MsgBind, wire.MsgAssign, wire.MsgGrant, wire.MsgRequested, wire.MsgGrantRefused:
		e.Owner = trace.ID(m.Owner)
	}
	t.sink.Take(e)
}

// foreign is why values of a class are not applied here, and counts it.
func (r *Registry) foreign(k *Class) string {
	r.stats.Foreign++
	if k.other {
		r.stats.OtherLayout++
		return trace.OtherLayout
	}
	return trace.Foreign
}

func (r *Registry) traceDeparture(c *Copy, m *wire.Depart) {
	t := r.tr
	if t == nil || !t.sink.On(trace.Entity) {
		return
	}
	e := t.begin(trace.Entity, trace.In, trace.Departure, c)
	e.Owner, e.Text = trace.ID(m.By), textOf(Whys[:], uint8(m.Why))
	t.sink.Take(e)
}

// pathOf is the path of the delta that leaves now, if its fields do not tell.
func (c *Copy) pathOf() string {
	if c.Keyframe {
		c.Keyframe = false
		return trace.Keyframe
	}
	return ""
}
