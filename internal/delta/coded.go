package delta

import (
	"bytes"
	"reflect"
	"sync"

	"github.com/throng-dev/throng/internal/layout"
)

// coded handles an atom that has its own form on the wire.
type coded struct {
	layout.Codec
	width int
	typ   reflect.Type
	xyz   func(any) (x, y, z float64) // nil: no position
}

func newCoded(a layout.Atom, xyz func(any) (x, y, z float64)) *coded {
	return &coded{Codec: a.Codec, width: a.Codec.Width(), typ: a.Type, xyz: xyz}
}

// append writes *v, a length in front if the width varies. The bytes are what two values are compared by.
func (c *coded) append(b []byte, v any) ([]byte, error) {
	if c.xyz != nil && !layout.Finite(c.xyz(v)) {
		return b, ErrNotFinite
	}
	start := len(b)
	if c.width == 0 {
		b = append(b, 0)
	}
	out, err := c.Append(b, v)
	switch {
	case err != nil:
		return b[:start], err
	case c.width == 0:
		return frame(out, start)
	case len(out) != start+c.width:
		return b[:start], ErrCodec
	}
	return out, nil
}

// cut returns the bytes of the value at the start of b, and how many those and their length are.
func (c *coded) cut(b []byte) (body []byte, n int, err error) {
	switch {
	case c.width == 0:
		return unframe(b)
	case len(b) < c.width:
		return nil, 0, ErrTruncated
	}
	return b[:c.width:c.width], c.width, nil
}

// parse sets *v and returns how many bytes it took.
func (c *coded) parse(b []byte, v any) (n int, err error) {
	body, n, err := c.cut(b)
	if err != nil {
		return 0, err
	}
	switch took, err := c.Parse(body, v); {
	case err != nil:
		return 0, err
	case took != len(body):
		return 0, ErrLength
	case c.xyz != nil && !layout.Finite(c.xyz(v)):
		return 0, ErrNotFinite
	}
	return n, nil
}

// spare is memory to parse and compare coded values in.
type spare struct {
	vals      []any // a *T per coded op: what check parsed last
	mem       []Ptr // the same
	old, next []byte
}

// sparePool lends spares to the goroutines that share a plan.
type sparePool struct {
	of   *Plan
	pool sync.Pool
}

func (p *sparePool) get() *spare {
	if s, ok := p.pool.Get().(*spare); ok {
		return s
	}
	s := &spare{vals: make([]any, p.of.coded), mem: make([]Ptr, p.of.coded)}
	for _, o := range p.of.ops {
		if o.coded != nil {
			v := reflect.New(o.coded.typ)
			s.vals[o.side], s.mem[o.side] = v.Interface(), Ptr{v.UnsafePointer()}
		}
	}
	return s
}

func (p *sparePool) put(s *spare) { p.pool.Put(s) }

// differs reports whether the value at the start of b, which was checked with this spare, is another one than v holds.
func (s *spare) differs(o *op, v any, b []byte) (differs bool, n int) {
	_, n, _ = o.coded.cut(b)
	var err error
	if s.old, err = o.coded.append(s.old[:0], v); err != nil {
		return true, n
	}
	if bytes.Equal(s.old, b[:n]) {
		return false, n
	}
	// A peer may have written the same value in another way.
	s.next, err = o.coded.append(s.next[:0], s.vals[o.side])
	return err != nil || !bytes.Equal(s.old, s.next), n
}
