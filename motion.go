package throng

import (
	"fmt"
	"hash/fnv"
	"reflect"
	"sync/atomic"

	"github.com/throng-dev/throng/internal/delta"
	"github.com/throng-dev/throng/internal/layout"
	"github.com/throng-dev/throng/internal/motion"
	"github.com/throng-dev/throng/internal/wire"
)

// What moves all the time goes another way than fields:
//
//	driver: capture ─► stream.go: changed? at rest? ─► the motion slot, with the time of its capture
//	proxy:  the motion slot ─► drawing.go: a track of samples ─► each Tick, a little in the past, between two of them ─► apply

// Mode says how the entities of a class change.
type Mode uint8

// The modes.
const (
	Static  Mode = iota // now and then: values hold until the next
	Dynamic             // all the time: what the class streams is drawn between its samples
)

// Motion gives a Dynamic class its continuous channel: a struct M that its driver streams while it changes, and that proxies show
// smoothly. Pass the result to [NewSchema], with the class or in its place.
//
// capture makes an M of the driver's entity, once in each replication tick; apply puts one into a proxy, in every Tick in which there is a new
// one. Both run inside Tick and may only read and write the entity: no method of World can be called from them, and they keep
// nothing. M is plain data, as fields are; it leaves whole, so what changes now and then is better a field of the class. A field of M with
// the tag `rep:"position"` says where the entity is; the class then has no position of its own. What stands in M under the name and type of
// a field of the class is streamed, and an error in the class (see [SchemaLenient]).
//
// Proxies are drawn a little in the past, so that the samples around that time have come: 100 ms at least, and so long that one lost sample
// leaves no gap. Floats and vectors are blended, rotators and quaternions by the shorter arc; all else steps. An M with a method
//
//	Interpolate(to M, t float64) M
//
// blends itself: t is 0 for the receiver, 1 for to, and above 1, up to 3 perhaps, where the next sample is late. It must be cheap and
// depend on nothing else.
//
// A Dynamic class without Motion streams its position: in proxies the field then holds the place where the entity is drawn.
// OnRep tells of neither.
func Motion[T, M any](c *Class[T], capture func(*T) M, apply func(*T, M)) Item {
	k := c.core()
	if k == nil {
		return motionItem{}
	}
	d := &motionClass{typ: reflect.TypeFor[M](), whole: true}
	if capture == nil || apply == nil {
		k.fault("has a Motion without capture or apply: give both")
		return motionItem{k}
	}
	switch {
	case k.motion != nil && k.motion.whole:
		k.fault("has a Motion twice: keep one")
		return motionItem{k}
	case atomic.LoadUint32(&k.used) != 0:
		k.fault("gets a Motion after a schema was made with it: declare it before, in a package variable")
		return motionItem{k}
	}
	d.open = func() channel { return newChannel(d, capture, apply) }
	k.motion = d
	k.describe()
	return motionItem{k}
}

type motionItem struct{ class *class }

func (m motionItem) addTo(d *declared) { d.add(m.class) }

func (m motionItem) core() *class { return m.class }

// motionClass is how a class streams. Like the class it never changes once that is in a schema.
type motionClass struct {
	typ   reflect.Type // M; of a streamed position its own
	whole bool         // it is a struct beside the entity, not a field of it
	slot  int          // on the wire
	bit   uint64
	id    uint32               // of M, for those who do not have it
	of    *layout.MotionStruct // of M; nil: it is a field
	plan  *delta.Plan          // of M
	open  func() channel
}

// stream lays out what the class streams, behind its other slots.
func (c *class) stream() {
	m := c.motion
	switch {
	case c.cfg.Mode > Dynamic:
		c.fault("has Mode %d: use Static or Dynamic", c.cfg.Mode)
		return
	case m != nil && m.whole && c.cfg.Mode != Dynamic:
		c.fault("has a Motion and is Static: set ClassConfig.Mode to Dynamic")
		return
	case c.cfg.Mode != Dynamic:
		return
	case m == nil || !m.whole:
		c.streamPosition()
		return
	}
	of, err := layout.MotionOf(m.typ, c.name, layoutConfig())
	if err != nil {
		c.faults = append(c.faults, split(err)...)
		return
	}
	if of.Where != nil && c.position >= 0 {
		c.fault("has a position in %s and in its motion struct %v: an entity is in one place, keep one", c.layout.Slots[c.position].Path, m.typ)
		return
	}
	m.slot = len(c.layout.Slots)
	if m.slot >= layout.MaxSlots {
		c.fault("has %d fields and a Motion, and at most %d in all: put fields that change together into one", m.slot, layout.MaxSlots)
		return
	}
	m.bit, m.of, m.plan = 1<<m.slot, of, delta.Compile(of.Layout)
	m.id = motionID(of.Slots[0].Type)
	if of.Where != nil {
		c.position, c.axes = m.slot, of.Where.Axes
	}
}

// streamPosition makes the position what the class streams.
func (c *class) streamPosition() {
	if c.position < 0 {
		c.fault("is Dynamic and streams nothing: give it a field with `rep:\"position\"`, or a Motion")
		return
	}
	c.layout.Stream()
	f := &c.layout.Slots[c.position]
	m := &motionClass{typ: f.Go, slot: c.position, bit: 1 << c.position, id: motionID(f.Type)}
	m.open = func() channel { return &placeChannel{class: c} }
	c.motion = m
}

// motionID is the number of a type of motion, the same in every build that means the same.
func motionID(canonical string) uint32 {
	h := fnv.New32a()
	h.Write([]byte(canonical))
	return h.Sum32()
}

// open returns what one World needs to stream the class; nil if it does not.
func (c *class) open() channel {
	if c.motion == nil || c.motion.open == nil {
		return nil
	}
	return c.motion.open()
}

// fields describes all slots on the wire.
func (c *class) fields() []layout.Field {
	f := c.layout.Fields()
	if m := c.motion; m != nil && m.plan != nil {
		f = append(f, m.plan.Layout.Slots[0].Field)
	}
	return f
}

// pathOf names a slot on the wire.
func (c *class) pathOf(slot int) string {
	if slot < len(c.layout.Slots) {
		return c.layout.Slots[slot].Path
	}
	return layout.MotionName
}

// streams is the slot of a class that streams, as a bit, and whether it is a struct beside the entity.
func (c *class) streams() (bit uint64, whole bool) {
	if c.motion == nil {
		return 0, false
	}
	return c.motion.bit, c.motion.whole
}

// channel is the motion of a class in one World: the memory it works in belongs to the World's goroutine.
type channel interface {
	// capture appends the entity's present value in wire form. where is its place; false if the motion does not say.
	capture(b []byte, o Object) (out []byte, where Vec3, placed bool, err error)
	// set puts a value into the entity as it is.
	set(o Object, value []byte) error
	// track returns memory for the samples of a proxy.
	track() track
}

// track is the samples of one proxy.
type track interface {
	// push takes a sample; a field was written to the entity already.
	push(o Object, value []byte, a motion.Arrival, snap float64, stats *motion.Stats) error
	// draw puts into the entity how it was a little before now.
	draw(o Object, now, dt float64, stats *motion.Stats) motion.Drawn
	// land puts the newest sample into the entity.
	land(o Object)
	explain() MotionExplanation
}

// wholeChannel is the channel of a motion struct.
type wholeChannel[T, M any] struct {
	of    *motionClass
	get   func(*T) M
	put   func(*T, M)
	tmp   M
	at    delta.Ptr     // tmp
	read  *delta.Reader // into tmp
	blend func(pose, from, to *M, t float64)
	far   func(from, to *M, ms float64) bool // nil: M is nowhere
	snap  float64
}

func newChannel[T, M any](d *motionClass, capture func(*T) M, apply func(*T, M)) channel {
	c := &wholeChannel[T, M]{of: d, get: capture, put: apply}
	if c.at = delta.PtrTo(&c.tmp); d.plan != nil {
		c.read = d.plan.Reader(c.at, 0)
	}
	if _, ok := any(&c.tmp).(interface{ Interpolate(M, float64) M }); ok {
		c.blend = func(pose, from, to *M, t float64) {
			*pose = any(from).(interface{ Interpolate(M, float64) M }).Interpolate(*to, t)
		}
	} else {
		c.blend = func(pose, from, to *M, t float64) {
			if *pose = *from; t >= 1 {
				*pose = *to
			}
			d.plan.Blend(delta.PtrTo(pose), delta.PtrTo(from), delta.PtrTo(to), t)
		}
	}
	if d.of != nil && d.of.Where != nil {
		c.far = func(from, to *M, ms float64) bool {
			return c.snap > 0 && tooFar(where(d.of, delta.PtrTo(from), d.plan), where(d.of, delta.PtrTo(to), d.plan), ms, c.snap)
		}
	}
	return c
}

// where reads the position of a motion struct.
func where(of *layout.MotionStruct, p delta.Ptr, plan *delta.Plan) Vec3 {
	x, y, z := of.Where.XYZ(plan.FieldAt(p, of.At, of.Go))
	return Vec3{x, y, z}
}

// snapTime is how long a sample may take for SnapDistance; motion that is thinned takes longer, and may go farther.
const snapTime = 200

// tooFar reports whether a way was not walked. snap is the greatest distance; 0: there is none.
func tooFar(from, to Vec3, ms, snap float64) bool {
	return snap > 0 && from.Dist(to) > snap*max(1, ms/snapTime)
}

func (c *wholeChannel[T, M]) capture(b []byte, o Object) (out []byte, at Vec3, placed bool, err error) {
	c.tmp = c.get(any(o).(*T))
	out, refused := c.of.plan.Append(b, c.at, 1)
	if refused != 0 {
		return b, at, false, c.of.plan.Refusal(c.at, 0)
	}
	if len(out)-len(b) > wire.MaxValues {
		return b, at, false, fmt.Errorf("throng: a %v takes %d bytes on the wire, and at most %d fit: shorten its strings", c.of.typ, len(out)-len(b), wire.MaxValues)
	}
	if c.of.of.Where != nil {
		at, placed = where(c.of.of, c.at, c.of.plan), true
	}
	return out, at, placed, nil
}

func (c *wholeChannel[T, M]) set(o Object, value []byte) error {
	if err := c.read.Read(value); err != nil {
		return err
	}
	c.put(any(o).(*T), c.tmp)
	return nil
}

func (c *wholeChannel[T, M]) track() track { return &wholeTrack[T, M]{of: c} }

// wholeTrack is the samples of a proxy with a motion struct.
type wholeTrack[T, M any] struct {
	motion.Track[M]
	of *wholeChannel[T, M]
}

func (t *wholeTrack[T, M]) push(_ Object, value []byte, a motion.Arrival, snap float64, stats *motion.Stats) error {
	if err := t.of.read.Read(value); err != nil {
		return err
	}
	t.of.snap = snap
	t.Track.Push(a, t.of.tmp, t.of.far, stats)
	return nil
}

func (t *wholeTrack[T, M]) draw(o Object, now, dt float64, stats *motion.Stats) motion.Drawn {
	d := t.Track.Draw(now, dt, t.of.blend, stats)
	if d.News {
		t.of.put(any(o).(*T), *t.Pose())
	}
	return d
}

func (t *wholeTrack[T, M]) land(o Object) {
	if t.Len() > 0 {
		t.of.put(any(o).(*T), t.Newest().V)
	}
}

func (t *wholeTrack[T, M]) explain() MotionExplanation { return explainTrack(&t.Track) }
