package throng

import (
	"fmt"
	"hash/fnv"
	"iter"
	"math/bits"
	"reflect"
	"time"

	"github.com/throng-dev/throng/internal/delta"
	"github.com/throng-dev/throng/internal/layout"
	"github.com/throng-dev/throng/internal/wire"
)

// maxReach is the widest reach a class may have, in chunks (B-070).
const maxReach = 8

// HostOverride says whether the host may correct an entity that a player owns.
type HostOverride uint8

const (
	AllowHost HostOverride = iota // World.Override by the host is applied, the owner goes on from there
	OwnerOnly                     // only the owner writes
)

// OwnerGone says what becomes of an entity when its owner's session ends, or falls silent: Leave, ToHost or Keep.
type OwnerGone time.Duration

const (
	Leave  OwnerGone = 0  // it leaves with its owner
	ToHost OwnerGone = -1 // the host drives it from then on
)

// maxKeep is how long an entity can wait for its owner.
const maxKeep = 12 * time.Hour

// Keep lets an entity stay as it is while its owner is away: nobody drives it, its owner remains the owner. If the player comes back
// within d, a second at least and 12 hours at most, it drives again; else the entity leaves. Fractions of a second are rounded up.
func Keep(d time.Duration) OwnerGone { return OwnerGone(d) }

// ClassConfig is the policy of a class, in one place. The zero value is a class that the host may correct and whose
// entities leave with their owner.
type ClassConfig struct {
	ID             uint32        // the same in every build; 0: hash of the name
	HostOverride   HostOverride  // 0: AllowHost
	AutoGrant      bool          // ownership requests are granted without asking the owner's program
	AutoDiffHosted bool          // compare host-owned entities each tick too; false: the host sends what it marks
	NoHeartbeat    bool          // heartbeat fields are not repeated; false: at the interval of the world
	NotifyDriver   bool          // run OnRep also where the change was made; false: only where it arrives
	OnOwnerGone    OwnerGone     // 0: Leave
	DestroyDelay   time.Duration // the body outlives OnDestroy by this long; 0: gone at once
	Audience       Audience      // who may know of its entities; 0: Everyone
	Reach          int           // chunks from which an entity is seen, at most 8; 0: the world's
	Mode           Mode          // 0: Static; Dynamic: it moves all the time, and is drawn between its samples; see Motion
	SnapDistance   float64       // of a Dynamic class: a way this long between two samples was not walked, proxies jump; 0: a chunk, below 0: any way is walked
	MaxValue       int           // bytes of one value without a fixed size, at most 16 KiB; larger ones stay where they were made; 0: 16 KiB
	Pool           int           // structs of proxies that left, kept and cleared for those that come; see Hooks.Reset; 0: none
}

// Class is a kind of entity: a struct type T, the name by which clients recognise it, a policy. Make it with
// [NewClass], once, in a package variable that all programs of the game share. It never changes and is safe for
// concurrent use.
type Class[T any] struct{ class *class }

// NewClass declares T as a class. Its fields with a rep tag replicate: see the package comment. What is wrong with it is
// said by [NewSchema], together with what is wrong elsewhere.
//
// Only the name and the tagged fields matter to other clients. Renaming the Go type changes nothing, renaming a field
// or changing its type makes another layout, which clients with the old one do not apply.
func NewClass[T any, PT interface {
	*T
	Object
}](name string, cfg ClassConfig) *Class[T] {
	return &Class[T]{newClass(name, cfg, reflect.TypeFor[T](), func() Object { return PT(new(T)) }, func(o Object) {
		var zero T
		*any(o).(*T) = zero
	})}
}

// Name is the name the class was declared with.
func (c *Class[T]) Name() string { return c.class.name }

// LayoutHash is the number by which clients find out whether they mean the same fields. It depends on their names,
// types, order and words, not on the class's name, and is the same on every machine.
func (c *Class[T]) LayoutHash() uint64 { return c.class.wire.Hash }

// All iterates over the entities of the class that this client holds in w, driven and proxies, in no order. Entities may
// be spawned and destroyed meanwhile.
func (c *Class[T]) All(w *World) iter.Seq[*T] {
	return func(yield func(*T) bool) {
		for o := range w.all() {
			if e, ok := any(o).(*T); ok && !yield(e) {
				return
			}
		}
	}
}

// core returns the part that does not depend on T; nil if c was not made by NewClass.
func (c *Class[T]) core() *class {
	if c == nil {
		return nil
	}
	return c.class
}

// class is what all worlds and schemas share of a Class. It never changes after newClass.
type class struct {
	name      string
	id        uint32 // never 0
	cfg       ClassConfig
	typ       reflect.Type   // T
	layout    *layout.Layout // without the fields at fault; nil: there is no layout
	plan      *delta.Plan    // of layout
	wire      wire.Class     // indexed
	newObject func() Object
	clear     func(Object)
	axes      int          // of the position: 2 or 3; 0: the class is global
	position  int          // slot, -1: none
	longest   int          // value of a slot without a fixed size
	motion    *motionClass // nil: nothing of it is drawn between samples
	used      uint32       // 1: a schema was made with it; atomic

	refused []error // faults of single fields: a lenient schema goes without these fields
	faults  []error // all others
}

func newClass(name string, cfg ClassConfig, t reflect.Type, newObject func() Object, clear func(Object)) *class {
	c := &class{name: name, id: cfg.ID, cfg: cfg, typ: t, newObject: newObject, clear: clear, position: -1}
	if c.id == 0 {
		c.id = idOf(name)
	}
	c.describe()
	return c
}

// layoutConfig is what packages of values and entities know.
func layoutConfig() layout.Config {
	return layout.Config{Skip: []reflect.Type{reflect.TypeFor[Entity]()}, Leaves: leaves(), Find: findNetCodec}
}

// describe reads the fields: again when the class gets a motion struct, which takes some of them.
func (c *class) describe() {
	c.faults, c.refused = nil, nil
	c.check()
	cfg := layoutConfig()
	cfg.Init = initField
	if c.motion != nil {
		cfg.Motion = c.motion.typ
	}
	l, err := layout.Of(c.typ, c.name, cfg)
	if l == nil {
		c.faults = append(c.faults, split(err)...)
		return
	}
	c.layout, c.plan, c.refused = l, delta.Compile(l), split(err)
	if c.position = l.Position; c.position >= 0 {
		c.axes = cfg.Leaves[l.Slots[c.position].Go].Axes
	}
	c.stream()
	c.announce()
}

// idOf is the id of a class that sets none: FNV-1a of the name (B-018). Other builds and languages compute it too.
func idOf(name string) uint32 {
	h := fnv.New32a()
	h.Write([]byte(name))
	return max(h.Sum32(), 1)
}

func (c *class) fault(format string, args ...any) {
	c.faults = append(c.faults, fmt.Errorf("throng: class %q "+format, append([]any{c.name}, args...)...))
}

// check finds what is wrong with the class beside its fields.
func (c *class) check() {
	switch {
	case c.name == "":
		c.fault("of %v has no name: give NewClass one, the same in every build", c.typ)
	case len(c.name) > wire.MaxName:
		c.fault("has a name of %d bytes: shorten it to at most %d", len(c.name), wire.MaxName)
	}
	if c.typ == reflect.TypeFor[Entity]() {
		c.fault("is of throng.Entity itself: declare a struct that embeds it")
	} else if !holdsEntity(c.newObject()) {
		c.fault("is of %v, which embeds throng.Entity behind a pointer or an interface: embed it by value", c.typ)
	}
	if c.cfg.HostOverride > OwnerOnly {
		c.fault("has HostOverride %d: use AllowHost or OwnerOnly", c.cfg.HostOverride)
	}
	if d := time.Duration(c.cfg.OnOwnerGone); c.cfg.OnOwnerGone != Leave && c.cfg.OnOwnerGone != ToHost && (d < time.Second || d > maxKeep) {
		c.fault("has OnOwnerGone %v: use Leave, ToHost, or Keep with %v to %v", d, time.Second, maxKeep)
	}
	if c.cfg.Audience > OwnerAlone {
		c.fault("has Audience %d: use Everyone or OwnerAlone", c.cfg.Audience)
	}
	if c.cfg.DestroyDelay < 0 {
		c.fault("has DestroyDelay %v: use 0 for a body that is gone at once", c.cfg.DestroyDelay)
	}
	c.compileLarge()
	if c.cfg.Pool < 0 {
		c.fault("has Pool %d: use the number of structs to keep, or 0 for none", c.cfg.Pool)
	}
	if c.cfg.Reach < 0 || c.cfg.Reach > maxReach {
		c.fault("has Reach %d: use 1 to %d chunks, or 0 for the world's", c.cfg.Reach, maxReach)
	}
}

// holdsEntity reports whether new objects have an Entity. If it was promoted through a pointer or interface, they don't.
func holdsEntity(o Object) (ok bool) {
	defer func() {
		if recover() != nil {
			ok = false
		}
	}()
	return o.entity() != nil
}

// announce makes what is told to the relay. Words of a tag have the same values there (TestWireWords).
func (c *class) announce() {
	c.wire = wire.Class{ID: c.id, Hash: c.layout.Hash, Reach: uint8(c.cfg.Reach), Name: c.name, Slots: make([]wire.Slot, len(c.layout.Slots))}
	for _, f := range []struct {
		set  bool
		flag uint16
	}{
		{c.cfg.Mode == Dynamic, wire.ClassDynamic},
		{c.cfg.HostOverride == OwnerOnly, wire.ClassOwnerOnly},
		{c.cfg.AutoGrant, wire.ClassAutoGrant},
		{c.cfg.OnOwnerGone == ToHost, wire.ClassToHost},
		{c.cfg.AutoDiffHosted, wire.ClassAutoDiffHost},
	} {
		if f.set {
			c.wire.Flags |= f.flag
		}
	}
	if c.cfg.OnOwnerGone > 0 {
		c.wire.Keep = uint16((time.Duration(c.cfg.OnOwnerGone) + time.Second - 1) / time.Second)
	}
	if m := c.motion; m != nil && m.plan != nil {
		f := m.plan.Layout.Slots[0].Field
		c.wire.Slots = append(c.wire.Slots, wire.Slot{})
		c.wire.Hash = layout.HashOf(c.fields())
		c.wire.Slots[m.slot] = wire.Slot{Width: uint16(f.Width), Words: uint16(f.Words), Name: f.Name, Type: f.Type}
	}
	total := 0
	for i, s := range c.layout.Slots {
		c.wire.Slots[i] = wire.Slot{Width: uint16(s.Width), Words: uint16(s.Words), Name: s.Name, Type: s.Type}
		if len(s.Name) > wire.MaxName {
			c.fault("has a field %s with a name of %d bytes: shorten it to at most %d", s.Path, len(s.Name), wire.MaxName)
		}
		if len(s.Type) > wire.MaxType {
			c.fault("has a field %s whose type takes %d bytes to write out: at most %d, so split it into several fields", s.Path, len(s.Type), wire.MaxType)
		}
	}
	for _, s := range c.wire.Slots {
		total += int(s.Width)
	}
	c.wire.Index()
	total += bits.OnesCount64(c.wire.Variable) // each has a length, of at least a byte
	if total > wire.MaxValues {
		c.fault("has values of %d bytes on the wire, and an entity has at most %d: use smaller types, or split the class", total, wire.MaxValues)
	}
}

// slotsOf resolves field arguments such as &e.Fuel of the entity at p. It panics on one that names no slot, which is
// wrong in every run; but a field that a lenient schema goes without is no slot by the schema's will.
func (c *class) slotsOf(p delta.Ptr, fields ...any) (mask uint64) {
	for _, f := range fields {
		m, err := c.plan.SlotOf(p, f)
		if err != nil && len(c.refused) == 0 {
			panic(err)
		}
		mask |= m
	}
	return mask
}

// split takes a joined error apart.
func split(err error) []error {
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		return joined.Unwrap()
	}
	if err != nil {
		return []error{err}
	}
	return nil
}
