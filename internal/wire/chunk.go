package wire

import (
	"encoding/binary"

	"github.com/throng-dev/throng/internal/grid"
)

// A chunk is written relative to a base that both ends know. The code is one byte for the 125 chunks within two of the
// base; codes above are the longer forms and, inside a segment, the class switch.
const (
	codeNear  = 125 // below: (dx+2) + 5(dy+2) + 25(dz+2)
	codeBytes = 125 // three i8 follow: dx dy dz
	codeFar   = 126 // three zigzag varints follow
	codeClass = 127 // inside a segment only: a class number follows
)

// AppendChunk writes c relative to base.
func AppendChunk(b []byte, base, c grid.Chunk) []byte {
	dx, dy, dz := c.X-base.X, c.Y-base.Y, c.Z-base.Z
	switch m := c.Distance(base); {
	case m <= 2:
		return append(b, byte(dx+2+5*(dy+2)+25*(dz+2)))
	case m <= 127:
		return append(b, codeBytes, byte(dx), byte(dy), byte(dz))
	}
	return AppendAbsoluteChunk(append(b, codeFar), grid.Chunk{X: dx, Y: dy, Z: dz})
}

// ParseChunk reads what AppendChunk wrote; n is 0 if b does not hold a valid chunk.
func ParseChunk(b []byte, base grid.Chunk) (c grid.Chunk, n int) {
	if len(b) == 0 {
		return c, 0
	}
	switch code := int64(b[0]); {
	case code < codeNear:
		c, n = grid.Chunk{X: base.X + code%5 - 2, Y: base.Y + code/5%5 - 2, Z: base.Z + code/25 - 2}, 1
	case code == codeBytes && len(b) >= 4:
		c, n = grid.Chunk{X: base.X + int64(int8(b[1])), Y: base.Y + int64(int8(b[2])), Z: base.Z + int64(int8(b[3]))}, 4
	case code == codeFar:
		r := cursor{b: b[1:]}
		d := grid.Chunk{X: r.zigzag(), Y: r.zigzag(), Z: r.zigzag()}
		c = grid.Chunk{X: base.X + d.X, Y: base.Y + d.Y, Z: base.Z + d.Z}
		if !r.bad {
			n = len(b) - len(r.b)
		}
	}
	if !c.Valid() {
		return grid.Chunk{}, 0
	}
	return c, n
}

// AppendAbsoluteChunk writes three zigzag varints.
func AppendAbsoluteChunk(b []byte, c grid.Chunk) []byte {
	return binary.AppendVarint(binary.AppendVarint(binary.AppendVarint(b, c.X), c.Y), c.Z)
}
