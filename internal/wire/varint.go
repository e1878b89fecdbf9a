package wire

import (
	"encoding/binary"

	"github.com/throng-dev/throng/internal/grid"
)

// uvarint reads one unsigned varint from the front of b; n is 0 if there is none.
func uvarint(b []byte) (v uint64, n int) {
	if len(b) > 0 && b[0] < 0x80 { // nearly all gaps and lengths
		return uint64(b[0]), 1
	}
	v, n = binary.Uvarint(b)
	return v, max(n, 0)
}

func appendCount(b []byte, c Count) []byte {
	return binary.AppendUvarint(binary.AppendUvarint(b, uint64(c>>32)), uint64(uint32(c)))
}

// cursor reads control messages field by field. The first fault sticks: later reads return zero values.
type cursor struct {
	b   []byte
	bad bool
}

func (c *cursor) take(n int) []byte {
	if n < 0 || n > len(c.b) {
		c.bad, c.b = true, nil
		return nil
	}
	t := c.b[:n:n]
	c.b = c.b[n:]
	return t
}

func (c *cursor) u8() byte {
	if t := c.take(1); t != nil {
		return t[0]
	}
	return 0
}

func (c *cursor) u16() uint16 {
	if t := c.take(2); t != nil {
		return binary.LittleEndian.Uint16(t)
	}
	return 0
}

func (c *cursor) u32() uint32 {
	if t := c.take(4); t != nil {
		return binary.LittleEndian.Uint32(t)
	}
	return 0
}

func (c *cursor) u64() uint64 {
	if t := c.take(8); t != nil {
		return binary.LittleEndian.Uint64(t)
	}
	return 0
}

// uv reads a uvarint that must not exceed limit.
func (c *cursor) uv(limit uint64) uint64 {
	v, n := uvarint(c.b)
	if n == 0 || v > limit {
		c.bad, c.b = true, nil
		return 0
	}
	c.b = c.b[n:]
	return v
}

func (c *cursor) zigzag() int64 {
	v := c.uv(1<<64 - 1)
	return int64(v>>1) ^ -int64(v&1)
}

func (c *cursor) count() Count {
	start := c.uv(1<<32 - 1)
	return Count(start<<32 | c.uv(1<<32-1))
}

func (c *cursor) id() (id ID)            { copy(id[:], c.take(16)); return }
func (c *cursor) player() (p PlayerID)   { copy(p[:], c.take(16)); return }
func (c *cursor) text(limit int) string  { return string(c.bytes(limit)) }
func (c *cursor) bytes(limit int) []byte { return c.take(int(c.uv(uint64(limit)))) }
func (c *cursor) mask(slots int) uint64  { return c.maskBytes((slots + 7) / 8) }
func (c *cursor) rest() (t []byte)       { t, c.b = c.b, nil; return }
func appendText(b []byte, s string) []byte {
	return append(binary.AppendUvarint(b, uint64(len(s))), s...)
}

func (c *cursor) maskBytes(n int) (m uint64) {
	for i, x := range c.take(n) {
		m |= uint64(x) << (8 * i)
	}
	return m
}

func (c *cursor) chunk() grid.Chunk {
	k := grid.Chunk{X: c.zigzag(), Y: c.zigzag(), Z: c.zigzag()}
	if !k.Valid() {
		c.bad = true
		return grid.Chunk{}
	}
	return k
}

// err is nil if every read succeeded. Bytes after the known fields are ignored: a later version may append some.
func (c *cursor) err() error {
	if c.bad {
		return ErrMalformed
	}
	return nil
}

func appendMask(b []byte, mask uint64, slots int) []byte {
	for i := 0; i < slots; i += 8 {
		b = append(b, byte(mask>>i))
	}
	return b
}
