// Package delta carries what changed in one struct into its copies.
//
//	driver:  struct ─ Shadow.Diff ─► mask ─ Plan.Append ─► values ─► …   then Shadow.Adopt(mask): these were sent
//	proxy:   … ─► values ─ Plan.Apply: check everything, then write ─► struct, and the mask of what really changed
//
// Only values are written here, one slot after another in slot order; the mask that names them belongs to the frame.
// Equal values have equal bytes, so "did it change" has one meaning at the driver, in the relay, which compares nothing
// but bytes, and at the proxy (B-021).
//
// A Plan is a layout compiled to offsets. All unsafe code of the module's core is in memory.go.
package delta

import (
	"errors"

	"github.com/throng-dev/throng/internal/layout"
)

// What a value can be refused for, by Append as well as by Apply and Skip.
var (
	ErrTruncated = errors.New("throng: values end early: the sender's layout differs or the record was cut")
	ErrSlot      = errors.New("throng: a slot that the layout does not have: the sender's layout differs")
	ErrBool      = errors.New("throng: a bool that is neither 0 nor 1: the sender's layout differs")
	ErrLength    = errors.New("throng: a length that does not fit its contents: the sender's layout differs")
	ErrTooLong   = errors.New("throng: a value over 16 KiB: split the field")
	ErrNotFinite = errors.New("throng: a position that is NaN or infinite: check the step that computes it")
	ErrCodec     = errors.New("throng: a codec whose bytes do not have its width: correct its Width, Append or Parse")
)

// Plan is a layout compiled for speed. It never changes after Compile; Shadows and goroutines share it.
type Plan struct {
	Layout *layout.Layout

	all   uint64 // of Layout
	slots []slot
	ops   []op
	runs  []run
	image uintptr // bytes of memory a Shadow keeps
	strs  int     // strings a Shadow keeps
	coded int     // values with a codec a Shadow keeps
	xyz   func(any) (x, y, z float64)
	parse uint64 // slots that hold such values: to check them is to parse them
	spare sparePool

	blends []blend
}

// slot is what all ops of a slot share.
type slot struct {
	from, to int // its ops
	off, at  uintptr
	size     uintptr
	width    int  // on the wire; 0: varies
	flat     bool // holds no pointers: its memory is in the image as it is
	block    bool // flat, and quicker to compare as a whole first
	framed   bool
	checked  bool // not every sequence of width bytes is a value
}

// op handles one atom.
type op struct {
	form   layout.Form
	finite bool
	side   int32   // index into a Shadow's strings or coded values
	off    uintptr // in the struct
	at     uintptr // in a Shadow's image
	coded  *coded
}

// run is memory of neighbouring flat slots: if it is the same, they all are.
type run struct {
	mask          uint64
	off, at, size uintptr
}

// Compile makes the plan of a layout.
func Compile(l *layout.Layout) *Plan {
	pl := &Plan{Layout: l, all: l.All, blends: blends(l)}
	for i := range l.Slots {
		pl.compile(i, &l.Slots[i])
	}
	pl.spare.of = pl
	return pl
}

func (pl *Plan) compile(i int, from *layout.Slot) {
	s := slot{from: len(pl.ops), off: from.Offset, size: from.Size, width: from.Width,
		flat: !pointers(from.Go), framed: from.Framed}
	if s.flat {
		s.at = pl.reserve(from.Offset, from.Size, pl.extends(i))
	}
	for _, a := range from.Atoms {
		o := op{form: a.Form, finite: a.Finite, off: a.Offset}
		switch {
		case a.Form == layout.String:
			o.side, s.checked = int32(pl.strs), true
			pl.strs++
		case a.Form == layout.Coded:
			o.side, s.checked = int32(pl.coded), true
			o.coded = newCoded(a, from.XYZ)
			pl.parse |= 1 << i
			pl.coded++
		case s.flat:
			o.at = s.at + a.Offset - s.off
		default:
			o.at = pl.reserve(a.Offset, a.Type.Size(), false)
		}
		s.checked = s.checked || a.Form == layout.Bool || a.Finite
		pl.ops = append(pl.ops, o)
	}
	s.to = len(pl.ops)
	s.block = s.flat && (len(from.Atoms) > 1 || from.Atoms[0].Form == layout.Coded)
	if from.XYZ != nil {
		pl.xyz = from.XYZ
	}
	pl.slots = append(pl.slots, s)
	if s.flat {
		pl.runTo(i, s)
	}
}

// reserve finds room in the image. The offset modulo 8 is kept, so everything stays aligned there.
func (pl *Plan) reserve(off, size uintptr, extends bool) (at uintptr) {
	if at = pl.image; extends {
		last := pl.runs[len(pl.runs)-1]
		at = last.at + off - last.off // the padding in between is compared along
	} else {
		at += (off - at) % 8
	}
	pl.image = at + size
	return at
}

// extends reports whether slot i continues the last run: it must be next to the slot before it and be compared at the
// same occasions.
func (pl *Plan) extends(i int) bool {
	if i == 0 || len(pl.runs) == 0 || !pl.Layout.Slots[i].Joined || pl.runs[len(pl.runs)-1].mask>>(i-1) != 1 {
		return false
	}
	before, now := pl.Layout.Auto>>(i-1)&1, pl.Layout.Auto>>i&1
	return before == now
}

func (pl *Plan) runTo(i int, s slot) {
	if pl.extends(i) {
		r := &pl.runs[len(pl.runs)-1]
		r.mask |= 1 << i
		r.size = s.off + s.size - r.off
		return
	}
	pl.runs = append(pl.runs, run{mask: 1 << i, off: s.off, at: s.at, size: s.size})
}
