package conformance

import "github.com/throng-dev/throng/internal/wire"

// watch is the readable form of a Watch message.
type watch struct{ Flags uint32 }

func watchVector() vector {
	return message("120-watch", "Departures, too, of what the session does not hold.", wire.MsgWatch, "Watch", watch{wire.WatchDepartures},
		wire.AppendWatch(nil, wire.WatchDepartures), func(b []byte) (any, error) {
			flags, err := wire.ParseWatch(b)
			return watch{flags}, err
		})
}

func forgotVector() vector {
	m := wire.Entity{ID: lampID, Inc: wire.NewCount(3, 17), Handle: 200, Gen: 2}
	return message("260-forgot", "Nothing was heard of an entity for long.", wire.MsgForgot, "Forgot", m, wire.AppendEntity(nil, wire.MsgForgot, &m),
		func(b []byte) (any, error) { return wire.ParseEntity(wire.MsgForgot, b) })
}
