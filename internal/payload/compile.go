package payload

import (
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/throng-dev/throng/internal/layout"
)

// op is what is done with a value.
type op uint8

const (
	opBool op = iota
	opInt
	opUint
	opFloat32
	opFloat64
	opString
	opBytes
	opSlice
	opArray
	opMap
	opStruct
	opCoded
)

// node is a type within the type.
type node struct {
	op        op
	width     int // bytes of a number, of a coded value; 0: varying
	min       int // bytes of the least value; 0 while it is being compiled, or of a set's value
	typ       reflect.Type
	key, elem *node
	fields    []field
	codec     layout.Codec
}

type field struct {
	index int
	node  *node
}

// stop is put where there is a fault, so that the walk goes on.
var stop = &node{op: opBool, width: 1, min: 1}

// compiler takes one type apart.
type compiler struct {
	cfg    Config
	nodes  map[reflect.Type]*node
	open   []reflect.Type // structs, slices, arrays and maps around the type at hand
	told   []reflect.Type // whose faults are known
	counts []counted
	faults []error
}

// counted is a slice or map, to be judged when the sizes of all are known.
type counted struct {
	node *node
	path string
}

var plain = map[reflect.Kind]op{
	reflect.Bool: opBool, reflect.Int8: opInt, reflect.Int16: opInt, reflect.Int32: opInt, reflect.Int64: opInt,
	reflect.Uint8: opUint, reflect.Uint16: opUint, reflect.Uint32: opUint, reflect.Uint64: opUint,
	reflect.Float32: opFloat32, reflect.Float64: opFloat64, reflect.String: opString,
}

// Refusal says why no value of a kind can be sent, and what to do; empty: it can. What a payload may hold beyond a slot is of several
// elements; the rest is refused in the same words.
func Refusal(k reflect.Kind) (problem, remedy string) {
	switch k {
	case reflect.Slice, reflect.Map, reflect.Array:
		return "", ""
	}
	return layout.Refusal(k)
}

func (c *compiler) fault(rule, path, word, problem, remedy string) {
	c.faults = append(c.faults, &layout.Fault{Rule: rule, Type: c.cfg.Of, Field: path, Word: word, Problem: problem, Remedy: remedy})
}

func (c *compiler) leaf(t reflect.Type) (layout.Leaf, bool) {
	if l, ok := c.cfg.Leaves[t]; ok {
		return l, true
	}
	if c.cfg.Find != nil {
		return c.cfg.Find(t)
	}
	return layout.Leaf{}, false
}

// compile takes t apart, and returns its canonical text: what it is made of, whatever it is called.
func (c *compiler) compile(t reflect.Type, path string) (*node, string) {
	if l, ok := c.leaf(t); ok {
		return c.coded(t, &l, path)
	}
	if slices.Contains(c.cfg.Skip, t) {
		c.fault("B-013", path, "", "is another entity", "use its throng.NetID")
		return stop, ""
	}
	if o, ok := plain[t.Kind()]; ok {
		n := &node{op: o, typ: t, width: int(t.Size()), min: int(t.Size())}
		if o == opString {
			n.width, n.min = 0, 1
		}
		if t == reflect.TypeFor[time.Duration]() {
			return n, "duration"
		}
		return n, t.Kind().String()
	}
	if problem, remedy := Refusal(t.Kind()); problem != "" {
		c.fault("B-013", path, "", "("+t.String()+") "+problem, remedy)
		return stop, ""
	}
	if i := slices.Index(c.open, t); i >= 0 { // it stands in itself
		return c.nodes[t], "^" + strconv.Itoa(len(c.open)-i)
	}
	if t.Size() == 0 {
		c.fault("B-013", path, "", "("+t.String()+") has no size, so nothing to send", "use a bool, or remove it; map[K]struct{} is a set")
		return stop, ""
	}
	n := c.nodes[t]
	if n == nil {
		n = &node{typ: t}
		c.nodes[t] = n
	}
	c.open = append(c.open, t)
	canon := ""
	switch t.Kind() {
	case reflect.Slice:
		n.op, n.min = opSlice, 1
		elem, text := c.compile(t.Elem(), path+"[]")
		n.elem, canon = elem, "[]"+text
		if elem.op == opUint && elem.width == 1 {
			n.op = opBytes
		}
		c.counts = append(c.counts, counted{n, path})
	case reflect.Array:
		n.op = opArray
		elem, text := c.compile(t.Elem(), path+"[]")
		n.elem, n.min, canon = elem, max(1, elem.min)*t.Len(), "["+strconv.Itoa(t.Len())+"]"+text
	case reflect.Map:
		n.op, n.min = opMap, 1
		key, kt := c.compile(t.Key(), path+"[key]")
		elem, vt := c.setOr(t.Elem(), path+"[]")
		n.key, n.elem, canon = key, elem, "map["+kt+"]"+vt
		c.counts = append(c.counts, counted{n, path})
	default:
		canon = c.structure(n, t, path)
	}
	c.open = c.open[:len(c.open)-1]
	return n, canon
}

// setOr is compile for the value of a map, which may be nothing: then the map is a set.
func (c *compiler) setOr(t reflect.Type, path string) (*node, string) {
	if t.Kind() == reflect.Struct && t.NumField() == 0 {
		return &node{op: opStruct, typ: t}, "struct{}"
	}
	return c.compile(t, path)
}

func (c *compiler) structure(n *node, t reflect.Type, path string) string {
	var names []string
	n.op, n.fields, n.min = opStruct, nil, 0
	for i := range t.NumField() {
		f := t.Field(i)
		name := f.Name
		if path != "" {
			name = path + "." + f.Name
		}
		if f.Name == "_" {
			continue // padding, or a marker for the compiler: holds no value
		}
		if !f.IsExported() && (!f.Anonymous || f.Type.Kind() != reflect.Struct) {
			c.fault("B-013", name, "", "is not exported, so "+t.String()+" keeps its meaning to itself", "export the field, or give the type a throng.NetCodec")
			continue
		}
		if tag, _ := f.Tag.Lookup("rep"); tag != "" {
			c.fault("B-011", name, tag, "stands inside a value, where it has no effect", "remove the words")
		}
		in, text := c.compile(f.Type, name)
		names = append(names, f.Name+" "+text)
		n.fields = append(n.fields, field{i, in})
		n.min += in.min
	}
	if len(names) == 0 {
		c.fault("B-013", path, "", "("+t.String()+") has no fields, so nothing to send", "use a bool, or remove the field")
	}
	return "struct{" + strings.Join(names, "; ") + "}"
}

// coded makes the node of a type that is sent as a whole.
func (c *compiler) coded(t reflect.Type, l *layout.Leaf, path string) (*node, string) {
	switch {
	case l.Problem != "":
		c.fault("B-012", path, "", "("+t.String()+") "+l.Problem, l.Remedy)
		return stop, l.Name
	case t.Size() == 0:
		c.fault("B-013", path, "", "("+t.String()+") has no size, so nothing to send", "use a bool, or remove the field")
		return stop, l.Name
	case l.Codec == nil:
		inner := compiler{cfg: Config{Of: c.cfg.Of}, nodes: map[reflect.Type]*node{}}
		n, _ := inner.compile(t, path)
		c.faults = append(c.faults, inner.faults...)
		return n, l.Name
	}
	w := l.Codec.Width()
	return &node{op: opCoded, typ: t, width: w, min: max(w, 1), codec: l.Codec}, l.Name
}

// judge holds the elements of slices and maps to the memory that a byte may cost.
func (c *compiler) judge() {
	for _, k := range c.counts {
		n := k.node
		size, least := n.elem.typ0().Size(), n.elem.min
		if n.op == opMap {
			size, least = size+n.key.typ0().Size(), least+n.key.min
		}
		if int(size) > PerByte*max(least, 1) {
			c.fault("B-013", k.path, "", fmt.Sprintf("(%v) has elements that take %d bytes of memory, and as few as %d on the wire", n.typ, size, least),
				"use smaller elements, or give them a codec of fixed width: what others send must not cost much more memory than it has bytes")
		}
	}
}

// typ0 is the type, of a node that stands for a fault any.
func (n *node) typ0() reflect.Type {
	if n.typ == nil {
		return reflect.TypeFor[bool]()
	}
	return n.typ
}
