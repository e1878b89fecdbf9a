package conformance

import (
	"fmt"

	"github.com/throng-dev/throng/internal/session"
	"github.com/throng-dev/throng/internal/wire"
)

var tankID = wire.ID{0x7a, 0x6b, 15: 0x5c}

func attachVectors() []vector {
	var all []vector
	for _, v := range []struct {
		typ         byte
		typeName    string
		name, about string
		m           wire.Attach
	}{
		{wire.MsgAttach, "Attach", "280-attach", "An entity that is about to be announced goes with another.", wire.Attach{Nonce: 5, Parent: tankID}},
		{wire.MsgAttach, "Attach", "281-attach-nothing", "An entity goes by itself again.", wire.Attach{Inc: wire.NewCount(3, 17), Nonce: 5}},
		{wire.MsgAttached, "Attached", "282-attached", "What its new driver should know.", wire.Attach{Inc: wire.NewCount(3, 17), Parent: tankID}},
		{wire.MsgAttached, "Attached", "283-attached-refused", "A ring.", wire.Attach{Inc: wire.NewCount(3, 17), Reason: wire.RefusedInvalid}},
	} {
		v.m.ID = lampID
		all = append(all, message(v.name, v.about, v.typ, v.typeName, v.m, v.m.Append(nil, v.typ), func(b []byte) (any, error) { return wire.ParseAttach(v.typ, b) }))
	}
	return all
}

func tieVectors() []vector {
	tie := func(name, about string, m wire.Tie) vector {
		return vector{name: name, about: about, is: fmt.Sprintf("frame 0x%02x Tie", wire.KindTie), value: m, bytes: session.AppendFrame(nil, wire.KindTie, m.Append(nil)),
			parse: func(b []byte) (any, error) {
				if len(b) < 2 || b[0] != wire.KindTie || int(b[1]) != len(b)-2 {
					return nil, errVector
				}
				return wire.ParseTie(b[2:])
			}}
	}
	return []vector{
		tie("350-tie", "An entity goes with another.", wire.Tie{Handle: 200, Parent: 7, Gen: 2}),
		tie("351-tie-nothing", "An entity goes by itself.", wire.Tie{Handle: 200}),
	}
}
