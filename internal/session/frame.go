package session

import "encoding/binary"

// Frame kinds of the session.
const (
	kindPiece = 0x01 // a piece of a reliable message, see piece
	kindPing  = 0x02 // empty: asks for an ack
	kindClose = 0x0f // code u16, text
)

const (
	headerSize = 3
	flagAcks   = 1 << 0
)

// AppendFrame appends a frame of the owner's: kind ≥ FirstKind, a body of at most 16,383 bytes.
func AppendFrame(b []byte, kind byte, body []byte) []byte {
	b = append(b, kind)
	b = binary.AppendUvarint(b, uint64(len(body)))
	return append(b, body...)
}

// FrameSize is the size of a frame with a body of n bytes, as AppendFrame writes it.
func FrameSize(n int) int {
	if n < 0x80 {
		return 2 + n
	}
	return 3 + n
}

// BeginFrame opens a frame whose body the caller appends in place; EndFrame closes it. A frame opened so is 3 bytes
// larger than its body.
func BeginFrame(b []byte, kind byte) (_ []byte, at int) {
	return append(b, kind, 0x80, 0), len(b)
}

// EndFrame writes the length of the frame that BeginFrame opened at at.
func EndFrame(b []byte, at int) {
	n := len(b) - at - 3
	b[at+1], b[at+2] = byte(n)|0x80, byte(n>>7)
}

// TrimFrame closes the frame that BeginFrame opened at at, the last in b, and takes a byte out of it where its length fits one.
func TrimFrame(b []byte, at int) []byte {
	n := len(b) - at - 3
	if n >= 0x80 {
		EndFrame(b, at)
		return b
	}
	copy(b[at+2:], b[at+3:])
	b[at+1] = byte(n)
	return b[:len(b)-1]
}

// AppendClose appends a goodbye; text beyond MaxCloseText bytes is cut off. Nobody answers it: send it two or three times.
func AppendClose(b []byte, code uint16, text string) []byte {
	text = text[:min(len(text), MaxCloseText)]
	b = append(b, kindClose)
	b = binary.AppendUvarint(b, uint64(2+len(text)))
	b = binary.LittleEndian.AppendUint16(b, code)
	return append(b, text...)
}

// nextFrame splits the first frame off b. It reports false if b does not hold a whole one.
func nextFrame(b []byte) (kind byte, body, rest []byte, ok bool) {
	if len(b) == 0 {
		return 0, nil, nil, false
	}
	length, n := shortUvarint(b[1:])
	if n == 0 || uint64(len(b)-1-n) < length {
		return 0, nil, nil, false
	}
	end := 1 + n + int(length)
	return b[0], b[1+n : end], b[end:], true
}
