package conformance

import (
	"github.com/throng-dev/throng/internal/grid"
	"github.com/throng-dev/throng/internal/wire"
)

func eventVectors() []vector {
	kind := wire.EventKind{Num: 3, ID: 0x5e6f7081, Hash: 0x1112131415161718, Name: "snuff", Type: "struct{By netid; Words []string}"}
	parseDown := as(func(b []byte) (wire.EventDown, error) { return wire.ParseEventDown(b, nil) })
	up := func(name, about string, m wire.EventUp) vector {
		return message(name, about, wire.MsgEventUp, "EventUp", m, m.Append([]byte{wire.MsgEventUp}), as(wire.ParseEventUp))
	}
	down := func(name, about string, m wire.EventDown) vector {
		return message(name, about, wire.MsgEvent, "Event", m, m.Append([]byte{wire.MsgEvent}), parseDown)
	}
	inc := wire.NewCount(3, 40)
	state := wire.EventState{Settled: 70_000, Credit: wire.EventCredit, Largest: wire.MaxEvent, Rate: 200,
		Told: []wire.Undelivered{{Kind: 3, Reason: wire.UndeliveredNobody}, {Kind: 4, Reason: wire.UndeliveredGone, ID: lampID}}}
	said := []byte("payload")
	once := wire.EventUp{Kind: 3, Epoch: 1, After: 12, To: wire.ToPlayer, Who: playerB, Payload: said}
	told := wire.EventDown{Kind: 3, Epoch: 1, After: 20, From: playerA, Direct: true, TimeMS: 1_750_000, Payload: said}
	return []vector{
		message("401-event-kind-up", "A kind of event, as a client numbers it.", wire.MsgEventKindUp, "EventKindUp", kind, kind.Append(nil, wire.MsgEventKindUp), as(wire.ParseEventKind)),
		up("402-event-up", "To a player, about nothing.", once),
		up("403-event-up-about", "To the reach of an entity that the sender drives, with two values that may not have arrived.", wire.EventUp{Kind: 3, Epoch: 1, After: 300,
			To: wire.ToReach, About: true, ID: lampID, Inc: inc, Tick: 70_001, Term: wire.NewCount(3, 41), N: 2, Chunk: grid.Chunk{X: 10, Y: -3}, Mask: 0b110,
			Values: lampValues(0b110), Payload: said}),
		up("404-event-up-announced", "To the owner of an entity that was announced just now, and one that is followed.", wire.EventUp{Kind: 3, Epoch: 1, After: 13,
			To: wire.ToOwner, About: true, ID: lampID, Nonce: 77, Seen: 70_000, Payload: said}),
		inFrame("405-event-up-once", "The first again, in a packet: it is sent once.", wire.KindEventUp, "EventUp", "", once, once.Append(nil), as(wire.ParseEventUp)),
		message("410-event-kind", "The same kind, as the world numbers it.", wire.MsgEventKind, "EventKind", kind, kind.Append(nil, wire.MsgEventKind), as(wire.ParseEventKind)),
		down("411-event", "From the host, about nothing.", wire.EventDown{Kind: 3, Epoch: 1, After: 20, From: playerA, Host: true, TimeMS: 1_750_000, Payload: said}),
		down("412-event-held", "To the owner in person, about an entity of which two values may not have come.", wire.EventDown{Kind: 3, Epoch: 1, After: 20, From: playerA,
			Direct: true, TimeMS: 1_750_000, About: wire.AboutHeld, ID: lampID, Inc: inc, Slots: 0b101, Vers: []uint32{70_002, 69_000}, Payload: said}),
		down("413-event-gone", "From an authority, about an entity that was destroyed.", wire.EventDown{Kind: 3, Epoch: 1, After: 21, From: playerB, Authority: true,
			TimeMS: 1_750_050, About: wire.AboutGone, ID: lampID, Inc: inc, Why: wire.WhyDestroyed, Payload: said}),
		message("414-event-state", "What a session may send, and two events that reached nobody.", wire.MsgEventState, "EventState", state, state.Append(nil), as(wire.ParseEventState)),
		inFrame("415-event-once", "An event that is sent once, to a player in person.", wire.KindEvent, "Event", "", told, told.Append(nil), parseDown),
	}
}
