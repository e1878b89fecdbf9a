package conformance

import (
	"encoding/binary"
	"time"

	"github.com/throng-dev/throng/internal/grid"
	"github.com/throng-dev/throng/internal/memnet"
	"github.com/throng-dev/throng/internal/registry"
	"github.com/throng-dev/throng/internal/session"
	"github.com/throng-dev/throng/internal/trace"
	"github.com/throng-dev/throng/internal/wire"
	"github.com/throng-dev/throng/transport"
)

const (
	chunks   = 6 // of the world, in a row
	slotPos  = 0 // value carries the chunk
	slotLong = 2 // of varying length
	slotOwn  = 3 // delivered to the owning session only
	slots    = 5
)

// frameTime is a frame of a game, applyEvery how many frames lie between two in which it takes what came, repEvery between two
// replication ticks.
const (
	frameTime  = 25 * time.Millisecond
	applyEvery = 3
	repEvery   = 4
)

// Classes of entities. thing has a position, a fixed, a variable, an owner slot and one more, so that masks and lengths
// of every kind occur; score is global; near is known one chunk away only, where the world reaches further;
// chest waits for its owner (B-092).
// All announce them in this order, so that it is the world's.
var classes = []*wire.Class{
	indexed(wire.Class{ID: 7, Hash: 77, Name: "thing", Slots: thingSlots(wire.WordPosition)}),
	indexed(wire.Class{ID: 8, Hash: 88, Name: "score", Slots: thingSlots(0)}),
	indexed(wire.Class{ID: 9, Hash: 99, Name: "near", Slots: thingSlots(wire.WordPosition), Reach: 1}),
	indexed(wire.Class{ID: 10, Hash: 1010, Name: "chest", Slots: thingSlots(wire.WordPosition), Keep: 2}),
}

func indexed(c wire.Class) *wire.Class {
	if !c.Index() {
		panic("throng: a class of the simulation does not add up")
	}
	return &c
}

func thingSlots(first uint16) []wire.Slot {
	return []wire.Slot{{Width: 8, Words: first, Name: "Pos"}, {Width: 4, Name: "A"}, {Width: 0, Name: "B"},
		{Width: 8, Words: wire.WordOwner, Name: "C"}, {Width: 4, Words: wire.WordMotion, Name: "D"}}
}

// ownMagic stands before every value of an owner slot, so that it is recognised on the wire.
const ownMagic = "OWN!"

// val is a slot's value: W is unique for every write, C the chunk of a position, or the length of a long value.
type val struct{ W, C uint32 }

func (v val) append(b []byte, slot int) []byte {
	switch slot {
	case slotPos:
		return binary.LittleEndian.AppendUint32(binary.LittleEndian.AppendUint32(b, v.W), v.C)
	case slotOwn:
		if v.W == 0 {
			return append(b, make([]byte, 8)...)
		}
		return binary.LittleEndian.AppendUint32(append(b, ownMagic...), v.W)
	case slotLong:
		n := v.length()
		return v.fill(binary.LittleEndian.AppendUint32(binary.AppendUvarint(b, uint64(n)), v.W), n-4)
	}
	return binary.LittleEndian.AppendUint32(b, v.W)
}

func parseVal(b []byte, slot int) (v val) {
	switch slot {
	case slotPos:
		return val{binary.LittleEndian.Uint32(b), binary.LittleEndian.Uint32(b[4:])}
	case slotOwn:
		return val{W: binary.LittleEndian.Uint32(b[4:])}
	case slotLong:
		_, n := binary.Uvarint(b)
		if len(b) < n+4 {
			return val{}
		}
		v = val{W: binary.LittleEndian.Uint32(b[n:])}
		if size := len(b) - n; size >= least {
			v.C = uint32(size)
		}
		if !v.whole(b[n+4:]) {
			return val{W: torn}
		}
		return v
	}
	return val{W: binary.LittleEndian.Uint32(b)}
}

// torn is what a value of varying length is taken for that was not written as it is: parts of two, or less than one. Nobody writes it.
const torn = 1<<32 - 1

// length is how many bytes the value has in the slot of varying length: a few; sometimes so many that a few of them fill a packet; now and
// then more than fit a record, as the operation says.
func (v val) length() int {
	switch {
	case v.C > 0:
		return int(v.C)
	case v.W%16 == 0:
		return 300
	}
	return int(v.W%7) + 4
}

// fill appends n bytes that no other value has in the same places.
func (v val) fill(b []byte, n int) []byte {
	for i := range n {
		b = append(b, v.at(i))
	}
	return b
}

func (v val) at(i int) byte {
	b := byte(mix(uint64(v.W), uint64(i/64))>>(i%8*8)) + byte(i)
	if b == ownMagic[0] { // what is no owner slot must not look like one
		b++
	}
	return b
}

func (v val) whole(b []byte) bool {
	for i := range b {
		if b[i] != v.at(i) {
			return false
		}
	}
	return true
}

// body is what a game would hold.
type body struct {
	val, shadow [slots]val
	since       [slots]int // how much the relay had accepted when the value was taken
	marks       uint64     // to send whether they changed or not (B-025)
	ended       bool
}

type state uint8

const (
	off  state = iota // not in the world
	on                // has a session
	away              // lost its session, holds what it held, will come back
)

type player struct {
	w          *world
	i          int
	id         wire.PlayerID
	reg        *registry.Registry
	conn       *session.Conn
	classes    []*registry.Class
	link       memnet.Link
	up         memnet.Pipe
	down       memnet.Pipe
	state      state
	views      []uint32
	here, goes int // levels
	// Nothing passes until then: both ways, up, down.
	cut, cutUp, cutDown time.Duration
	stalled             time.Duration // the game does not tick until then
	narrow              int           // largest datagram
	narrowUntil         time.Duration
	shown               map[wire.ID]*registry.Copy
	told                map[wire.ID]bool // it drove them or was introduced to them
	ticks               int
	joined              int
	apart               *sentApart     // what the stream of values is about, for the oracle of R-31
	ext                 map[string]any // of operations that keep something for a player
}

func newPlayer(w *world, i, view int, l memnet.Link) *player {
	p := &player{w: w, i: i, views: []uint32{uint32(view)}, link: l, ticks: int(mix(w.prog.Seed, uint64(i)) % repEvery), ext: map[string]any{}}
	p.id[0], p.id[15] = byte(i+1), 1
	p.fresh()
	w.After(frameTime+time.Duration(mix(w.prog.Seed, uint64(i+100))%25)*time.Millisecond, p.tick)
	return p
}

func idOf(p *player) transport.ID { return transport.ID(1 + p.i + 100*p.joined) }

// fresh is a program that starts anew: it knows nothing.
func (p *player) fresh() {
	p.here = 0
	var sink trace.Sink
	if p.w.opt.Log && p.w.opt.Trace {
		sink = traced{p}
	}
	p.reg = registry.New(registry.Config{Trace: sink, Encode: p.encode, Zero: zero, Nonce: p.w.writes<<8 | uint32(p.i)<<28, World: p.relay().name(), Agent: "sim",
		MaxEntities: p.w.mode.Room, Faults: p.w.opt.Client})
	p.classes = p.classes[:0]
	for _, c := range classes {
		p.classes = append(p.classes, p.reg.AddClass(c, nil))
	}
	p.shown, p.told = map[wire.ID]*registry.Copy{}, map[wire.ID]bool{}
	clear(p.ext)
	p.speak()
	p.look(p.views...)
}

func (p *player) look(views ...uint32) {
	p.views = append(p.views[:0:0], views...)
	at := make([]grid.Chunk, 0, len(views))
	for _, v := range views {
		at = append(at, grid.Chunk{X: int64(v)})
	}
	p.reg.SetView(false, at)
}

func (p *player) encode(c *registry.Copy, mask uint64, b []byte) ([]byte, uint64, grid.Chunk) {
	d, _ := c.Data.(*body)
	if d == nil {
		d = new(body)
	}
	for i := range slots {
		if mask>>i&1 != 0 {
			b = d.val[i].append(b, i)
		}
	}
	return b, mask, grid.Chunk{X: int64(d.val[slotPos].C)}
}

// zero clears what is somebody else's now.
func zero(c *registry.Copy) {
	if d, _ := c.Data.(*body); d != nil && c.ZeroOwner {
		c.ZeroOwner = false
		d.val[slotOwn], d.shadow[slotOwn] = val{}, val{}
	}
}

func (p *player) receive(b []byte) {
	if err := p.conn.Receive(p.w.Now(), b, p.reg.Handler(p.w.Now())); err != nil {
		p.w.fail("client %d: %v", p.i, err)
	}
	p.meet(b)
}

func (p *player) send(tick bool) {
	w := p.w
	buffer := func() []byte { return transport.NewBuffer() }
	for _, b := range p.reg.Send(w.Now(), tick, transport.MaxPayload, transport.Headroom, buffer, nil) {
		w.carry(p, &p.up, p.cutUp, b[transport.Headroom:], func(b []byte) {
			if r := w.routes[p.i]; r != nil {
				r.receive(b)
			}
		})
	}
}

// tick is a frame of the game: apply what came, then send; every fourth is a replication tick.
func (p *player) tick() {
	w := p.w
	w.After(frameTime, p.tick)
	if p.state != on {
		return
	}
	p.conn.Expire(w.Now(), p.reg.Handler(w.Now()))
	if w.Now() < p.stalled { // acks leave, but the game takes nothing and gives nothing
		p.send(false)
		return
	}
	p.ticks++
	if p.ticks%applyEvery == 0 { // a game may tick less often than packets come
		p.apply()
	}
	rep := p.ticks%repEvery == 0
	if rep {
		p.apply()
		p.reg.Each(func(c *registry.Copy) {
			if d, _ := c.Data.(*body); d != nil && c.Drives() {
				mask := p.reg.Lost(c) | d.marks
				for i := range slots {
					if d.val[i] != d.shadow[i] {
						mask |= 1 << i
					}
				}
				d.shadow, d.marks = d.val, 0
				p.reg.Mark(c, mask)
			}
		})
	}
	p.send(rep)
}

// apply writes what the registry staged into the bodies, as a game's tick does.
func (p *player) apply() {
	w := p.w
	p.arrived()
	p.reg.Announce()
	for _, c := range p.reg.Changed(nil) {
		d, _ := c.Data.(*body)
		if c.Gone {
			if d != nil && d.ended {
				w.fail("client %d: the body of %x left twice", p.i, c.ID[:4])
			} else if d != nil {
				d.ended = true
			}
			if p.shown[c.ID] == c {
				delete(p.shown, c.ID)
			}
			continue
		}
		if d == nil && c.Class.Local != 0 {
			if p.shown[c.ID] != nil {
				w.fail("client %d: a second body of %x", p.i, c.ID[:4])
			}
			if c.Inc != 0 && !w.oracle.lived[life{p.here, c.ID, c.Inc}] {
				w.fail("client %d: body of an incarnation that the relay never had", p.i)
			}
			d = new(body)
			c.Data, c.Shown = d, true
			p.shown[c.ID] = c
		}
		if d.ended {
			w.fail("client %d: the body of %x changes after it left", p.i, c.ID[:4])
		}
		zero(c)
		c.Staged(func(apply, mask uint64, values []byte) {
			for i := range slots {
				if mask>>i&1 == 0 {
					continue
				}
				l := c.Class.ValueLen(i, values)
				v := parseVal(values[:l], i)
				values = values[l:]
				if apply>>i&1 == 0 {
					continue
				}
				w.safety(p, c, i, d, v)
				d.val[i], d.shadow[i], d.since[i] = v, v, w.oracle.order
			}
		})
		c.Applied()
		p.reg.Release(c)
	}
	p.asked()
	p.hear()
}
