package conformance

import "github.com/throng-dev/throng/internal/wire"

func repeatVector() vector {
	m := wire.Entity{ID: lampID, Inc: wire.NewCount(3, 17), Term: wire.NewCount(3, 40), Mask: 1, Values: lampValues(1)}
	return message("290-repeat", "The spawn of a lamp once more, from where it is now.", wire.MsgRepeat, "Repeat", m, wire.AppendEntity(nil, wire.MsgRepeat, &m),
		func(b []byte) (any, error) { return wire.ParseEntity(wire.MsgRepeat, b) })
}
