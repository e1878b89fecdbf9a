package throng

import (
	"iter"
	"math/bits"
	"strings"

	"github.com/throng-dev/throng/internal/delta"
)

// Changes are the fields of an entity whose values have just changed, all at once. The zero Changes are none.
type Changes struct {
	mask  uint64
	class *class
	ptr   delta.Ptr
}

// Has reports whether one of the fields changed. A field is given by its address in the entity that the hook was called
// with, as in c.Has(&e.Lit, &e.Fuel); an embedded struct without a tag stands for the fields inside, the entity for all.
//
// What is no replicated field of that entity panics with its name: it would be false in every run. A struct is one
// field, so what lies inside it cannot be asked for.
func (c Changes) Has(fields ...any) bool {
	return c.class != nil && c.mask&c.class.slotsOf(c.ptr, fields...) != 0
}

// Names iterates over the changed fields in the order of declaration: Lit, or Base.Lit if it stands in an embedded struct.
func (c Changes) Names() iter.Seq[string] {
	return func(yield func(string) bool) {
		for m := c.mask; m != 0; m &= m - 1 {
			if !yield(c.class.pathOf(bits.TrailingZeros64(m))) {
				return
			}
		}
	}
}

// String returns the names of the changed fields with spaces between them.
func (c Changes) String() string {
	var b strings.Builder
	for name := range c.Names() {
		if b.Len() > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(name)
	}
	return b.String()
}
