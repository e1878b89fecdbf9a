package throng

import (
	"errors"
	"fmt"
	"log/slog"
	"reflect"
	"slices"
	"sync/atomic"

	"github.com/throng-dev/throng/internal/wire"
)

// Item is what a schema is made of: a [Class], an [Event], or [SchemaLenient].
type Item interface {
	addTo(*declared)
}

// Schema is all that may be replicated in a world. It never changes, and any number of worlds may share it.
type Schema struct {
	classes []*class
	byID    map[uint32]*class
	byType  map[reflect.Type]*class
	events  []*event
	refused []error // of a lenient schema: fields it goes without
}

// SchemaLenient makes a schema go without the fields that cannot be replicated, instead of refusing it: each is logged as
// an error when a world is joined. The other fields keep their meaning. Faults that leave a class unusable stay errors.
//
// It is for the days when a large program is moved to Throng. Two builds that refuse different fields have different
// layouts, and do not apply each other's changes.
const SchemaLenient lenient = true

type lenient bool

func (l lenient) addTo(d *declared) { d.lenient = bool(l) }

func (c *Class[T]) addTo(d *declared) { d.add(c.core()) }

// NewSchema puts a schema together. Naming the same class twice is fine. The error holds every fault of every class, one a
// line, each with what to do about it.
func NewSchema(items ...Item) (*Schema, error) {
	var d declared
	for i, item := range items {
		if item == nil {
			d.faults = append(d.faults, fmt.Errorf("throng: item %d of the schema is nil: pass the result of NewClass", i+1))
			continue
		}
		item.addTo(&d)
	}
	return d.schema()
}

// MustSchema is [NewSchema] for package variables: it panics if there is a fault.
func MustSchema(items ...Item) *Schema {
	s, err := NewSchema(items...)
	if err != nil {
		panic(err)
	}
	return s
}

// classOf returns the class of an object, nil if it has none in this schema.
func (s *Schema) classOf(o Object) *class {
	t := reflect.TypeOf(o)
	if t == nil || t.Kind() != reflect.Pointer {
		return nil
	}
	return s.byType[t.Elem()]
}

// logRefused tells about the fields that a lenient schema goes without.
func (s *Schema) logRefused(l *slog.Logger) {
	for _, err := range s.refused {
		l.Error("a field is not replicated", "cat", "state", "err", err)
	}
}

// declared collects the items of a schema with what is wrong with them.
type declared struct {
	classes []*class
	events  []*event
	lenient bool
	refused []error
	faults  []error
}

func (d *declared) add(c *class) {
	switch {
	case c == nil:
		d.faults = append(d.faults, errors.New("throng: a class that was not made by NewClass: declare it as var X = throng.NewClass[T](name, config)"))
		return
	case slices.Contains(d.classes, c):
		return
	}
	atomic.StoreUint32(&c.used, 1)
	d.refused = append(d.refused, c.refused...)
	d.faults = append(d.faults, c.faults...)
	for _, other := range d.classes {
		if err := clash(other, c); err != nil {
			d.faults = append(d.faults, err)
			break
		}
	}
	d.classes = append(d.classes, c)
}

func (d *declared) addEvent(e *event) {
	switch {
	case e == nil:
		d.faults = append(d.faults, errors.New("throng: an event that was not made by NewEvent: declare it as var X = throng.NewEvent[T](name, config)"))
		return
	case slices.Contains(d.events, e):
		return
	}
	d.faults = append(d.faults, e.faults...)
	for _, other := range d.events {
		if err := eventClash(other, e); err != nil {
			d.faults = append(d.faults, err)
			break
		}
	}
	d.events = append(d.events, e)
}

// clash says why two classes cannot be in one schema (B-018).
func clash(a, b *class) error {
	switch {
	case a.name == b.name:
		return fmt.Errorf("throng: class %q is declared twice, with %v and with %v: give one another name", a.name, a.typ, b.typ)
	case a.id == b.id:
		return fmt.Errorf("throng: classes %q and %q have the same id %#x: set ClassConfig.ID of one to a number of its own", a.name, b.name, a.id)
	case a.typ == b.typ:
		return fmt.Errorf("throng: classes %q and %q are both of %v: declare a second struct that embeds it", a.name, b.name, a.typ)
	}
	return nil
}

func (d *declared) schema() (*Schema, error) {
	if n := len(d.classes); n > wire.MaxClasses {
		d.faults = append(d.faults, fmt.Errorf("throng: %d classes in a schema, at most %d: let kinds that have the same fields share a class", n, wire.MaxClasses))
	}
	if n := len(d.events); n > wire.MaxEvents {
		d.faults = append(d.faults, fmt.Errorf("throng: %d events in a schema, at most %d: let kinds that have the same payload share an event", n, wire.MaxEvents))
	}
	if !d.lenient {
		// Field by field before class by class: mending a field may be all there is to do.
		d.faults, d.refused = append(d.refused, d.faults...), nil
	}
	if len(d.faults) > 0 {
		return nil, errors.Join(d.faults...)
	}
	s := &Schema{classes: d.classes, byID: map[uint32]*class{}, byType: map[reflect.Type]*class{}, events: d.events, refused: d.refused}
	for _, c := range d.classes {
		s.byID[c.id], s.byType[c.typ] = c, c
	}
	return s, nil
}
