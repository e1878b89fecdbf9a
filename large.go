package throng

import (
	"encoding/binary"
	"fmt"
	"math/bits"

	"github.com/throng-dev/throng/internal/layout"
	"github.com/throng-dev/throng/internal/wire"
)

// Values that are too large for a record travel apart: here is only how large they may be.

// over returns a slot whose value must stay here, of the values of the slots in mask; 0: all may travel. room is what a record has for
// those that cannot do without one.
func (c *class) over(mask uint64, values []byte, room int) uint64 {
	total, tied := 0, 0 // all, and what must be in a record
	var longest, longestTied uint64
	most, mostTied := 0, 0
	for m := mask; m != 0; m &= m - 1 {
		i := bits.TrailingZeros64(m)
		n := c.wire.ValueLen(i, values)
		_, length := binary.Uvarint(values)
		values = values[n:]
		bit := uint64(1) << i
		total += n
		if c.wire.Movable()&bit == 0 {
			tied += n
			if n > mostTied && c.wire.Variable&bit != 0 {
				mostTied, longestTied = n, bit
			}
			continue
		}
		if n-length > c.longest {
			return bit
		}
		if n > most {
			most, longest = n, bit
		}
	}
	switch {
	case tied > room:
		return longestTied
	case total > wire.MaxApart:
		return longest
	}
	return 0
}

// tooLong is why over chose slot i.
func (c *class) tooLong(i int) error {
	if c.wire.Movable()>>i&1 == 0 {
		return fmt.Errorf("throng: a position and init fields of an entity take at most %d bytes together with all that has a fixed size: send less", wire.MaxValues)
	}
	return fmt.Errorf("throng: a value takes at most %d bytes, and those of an entity %d together: send less, or split the entity", c.longest, wire.MaxApart)
}

// compileLarge applies ClassConfig.MaxValue.
func (c *class) compileLarge() {
	switch most := c.cfg.MaxValue; {
	case most == 0:
		c.longest = layout.MaxValue
	case most < 0 || most > layout.MaxValue:
		c.fault("has MaxValue %d: use 1 to %d bytes, or 0 for those", most, layout.MaxValue)
	default:
		c.longest = most
	}
}
