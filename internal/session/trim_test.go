package session

import (
	"bytes"
	"testing"
)

// A frame that was filled in place reads like one that was written whole, and is no longer.
func TestTrimmedFrames(t *testing.T) {
	for n := range 400 {
		body := bytes.Repeat([]byte{byte(n)}, n)
		b, at := BeginFrame([]byte{1, 2}, FirstKind)
		b = TrimFrame(append(b, body...), at)
		if len(b)-2 != FrameSize(n) {
			t.Fatalf("%d bytes for a body of %d", len(b)-2, n)
		}
		if kind, got, rest, ok := nextFrame(b[2:]); !ok || kind != FirstKind || !bytes.Equal(got, body) || len(rest) != 0 {
			t.Fatalf("a body of %d bytes reads as %d", n, len(got))
		}
	}
}
