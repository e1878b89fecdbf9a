package conformance

import (
	"bytes"

	"github.com/throng-dev/throng/internal/wire"
)

// valueVectors are values that travel apart.
func valueVectors() []vector {
	text := append([]byte{0xac, 0x02}, bytes.Repeat([]byte("oil"), 100)...)
	up := wire.ValueUp{Handle: 200, Gen: 2, Term: 40, N: 3, Tick: 4711, Slot: 2, Value: text}
	down := wire.Value{Epoch: 1, Handle: 200, Flush: 70001, Slot: 2, Value: text}
	return []vector{
		message("345-value-up", "A driver's value of 300 bytes: any may travel apart.", wire.MsgValueUp, "ValueUp", up, up.Append(nil),
			func(b []byte) (any, error) { return wire.ParseValueUp(b) }),
		message("346-value", "The same, to an observer.", wire.MsgValue, "Value", down, down.Append(nil),
			func(b []byte) (any, error) { return wire.ParseValue(b) }),
	}
}
