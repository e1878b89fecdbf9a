package conformance

import (
	"fmt"

	"github.com/throng-dev/throng/internal/wire"
)

// ownershipVectors are the messages that pass on what others wish or write.
func ownershipVectors() (list []vector) {
	inc, term := wire.NewCount(3, 17), wire.NewCount(3, 40)
	for i, v := range []struct {
		msg      byte
		typeName string
		name     string
		about    string
		m        wire.Entity
	}{
		{wire.MsgForeign, "Foreign", "foreign", "Somebody who is not host wrote a slot, in a world that lets it pass.", wire.Entity{Inc: inc, Term: term, Owner: playerB, Mask: 2, Values: lampValues(2)}},
		{wire.MsgRequested, "Requested", "requested", "Somebody would like to drive.", wire.Entity{Inc: inc, Term: term, Owner: playerB}},
		{wire.MsgGrantRefused, "GrantRefused", "grant-refused", "The player to whom it was granted is not there.", wire.Entity{Inc: inc, Term: term, Owner: playerB, Reason: wire.RefusedAbsent}},
	} {
		v.m.ID = lampID
		list = append(list, message(fmt.Sprintf("%d-%s", 250+i, v.name), v.about, v.msg, v.typeName, v.m, wire.AppendEntity(nil, v.msg, &v.m),
			func(b []byte) (any, error) { return wire.ParseEntity(v.msg, b) }))
	}
	return list
}

func travelVectors() []vector {
	no := wire.Refuse{Code: uint16(wire.CloseWorld), Text: "the token is for another level"}
	return []vector{
		message("113-travel", "On to another world.", wire.MsgTravel, "Travel", "castle", wire.AppendTravel(nil, "castle"), as(wire.ParseTravel)),
		message("114-travel-refused", "The token does not lead there.", wire.MsgTravelRefused, "TravelRefused", no, no.AppendTravel(nil), as(wire.ParseRefuse)),
	}
}
