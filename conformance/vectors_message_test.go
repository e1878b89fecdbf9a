package conformance

import (
	"fmt"

	"github.com/throng-dev/throng/internal/grid"
	"github.com/throng-dev/throng/internal/wire"
)

// Who and what the vectors tell of.
var (
	playerA = [16]byte{0xa0, 0xa1, 0xa2, 0xa3, 0xa4, 0xa5, 0xa6, 0xa7, 0xa8, 0xa9, 0xaa, 0xab, 0xac, 0xad, 0xae, 0xaf}
	playerB = [16]byte{0xb0, 15: 0xbf}
	lampID  = wire.ID{0, 0x11, 0x22, 0x33, 0x44, 0x55, 0x66, 0x77, 0x88, 0x99, 0xaa, 0xbb, 0xcc, 0xdd, 0xee, 0xff}
	cert    = []byte{0xc0, 0xc1, 0xc2, 0xc3, 0xc4, 0xc5, 0xc6, 0xc7, 0xc8, 0xc9, 0xca, 0xcb, 0xcc, 0xcd, 0xce, 0xcf}
)

// lamp is the class of the vectors: a position, a bool, a text and a number for the owner alone.
func lamp() *wire.Class {
	c := &wire.Class{ID: 0x1a2b3c4d, Hash: 0x0102030405060708, Flags: wire.ClassAutoGrant, Reach: 4, Name: "game.Lamp", Slots: []wire.Slot{
		{Width: 12, Words: wire.WordPosition, Name: "Pos", Type: "throng.Vec3Quantize10"},
		{Width: 1, Words: wire.WordHeartbeat, Name: "Lit", Type: "bool"},
		{Width: 0, Name: "Label", Type: "string"},
		{Width: 4, Words: wire.WordOwner, Name: "Oil", Type: "float32"},
	}}
	if !c.Index() {
		panic("class")
	}
	return c
}

// lampValues are the values of the slots in a mask over lamp.
func lampValues(mask uint64) (b []byte) {
	for i, v := range [][]byte{{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}, {1}, append([]byte{6}, "brass\n"...), {0, 0, 128, 63}} {
		if mask>>i&1 != 0 {
			b = append(b, v...)
		}
	}
	return b
}

// class has the fields of a class announcement.
type class struct {
	Num   uint32
	ID    uint32
	Hash  uint64
	Flags uint16
	Reach uint8
	Name  string
	Slots []wire.Slot
}

type view struct {
	Follow bool
	Views  []grid.Chunk
}

type roster struct{ Players []wire.Player }

// nothing is the value of a message that is its type alone.
type nothing struct{}

func message(name, about string, typ byte, typeName string, value any, b []byte, parse func(body []byte) (any, error)) vector {
	return vector{name: name, about: about, is: fmt.Sprintf("message %d %s", typ, typeName), value: value, bytes: b, parse: func(b []byte) (any, error) {
		if len(b) == 0 || b[0] != typ {
			return nil, errVector
		}
		return parse(b[1:])
	}}
}

// as makes a parser of a value a parser of anything.
func as[T any](parse func([]byte) (T, error)) func([]byte) (any, error) {
	return func(b []byte) (any, error) { return parse(b) }
}

func parseNothing(b []byte) (any, error) { return nothing{}, nil }

func messageVectors() []vector {
	hello := wire.Hello{MinVersion: 1, MaxVersion: 1, World: "village", Agent: "throng-go"}
	k := lamp()
	announced := class{5, k.ID, k.Hash, k.Flags, k.Reach, k.Name, k.Slots}
	follow, chunks := view{true, nil}, view{false, []grid.Chunk{{X: 10, Y: -3, Z: 0}, {X: 1<<62 - 1, Y: -(1<<62 - 1), Z: 64}}}
	parseView := func(b []byte) (any, error) {
		f, v, err := wire.ParseView(b, nil)
		return view{f, v}, err
	}
	welcome := wire.Welcome{Version: 1, Epoch: 0x1122334455667788, Start: 3, World: 1, Flush: 70_000, TimeMS: 1_750_000, Player: playerA, Eligible: true,
		Host: playerB, HostTerm: wire.NewCount(3, 2), Profile: wire.Profile{ChunkSize: 1600, Reach: 8, PropertyReach: 4, MaxRate: 60,
			Flags: wire.ProfileRetain | wire.ProfileStrict, FlushMS: 25, KeyframeMS: 2000, SilenceMS: 5000, MaxEntities: 4096}}
	refuse := wire.Refuse{Code: 4, Text: "the relay speaks wire version 1"}
	hosts, none := wire.Host{Player: playerB, Term: wire.NewCount(3, 2)}, wire.Host{Term: wire.NewCount(3, 4)}
	players := roster{[]wire.Player{{ID: playerA, Present: true, Eligible: true}, {ID: playerB, Present: true}, {ID: playerB}}}
	told, _ := wire.AppendPlayers(nil, players.Players)
	return append([]vector{
		message("101-hello", "The first message of a session.", wire.MsgHello, "Hello", hello, hello.Append(nil), as(wire.ParseHello)),
		message("102-class", "A class with a slot of each kind.", wire.MsgClass, "Class", announced, wire.AppendClass(nil, 5, k), func(b []byte) (any, error) {
			num, c, err := wire.ParseClass(b)
			if err != nil {
				return nil, err
			}
			return class{num, c.ID, c.Hash, c.Flags, c.Reach, c.Name, c.Slots}, nil
		}),
		message("103-view-follow", "Look from the avatar.", wire.MsgView, "View", follow, wire.AppendView(nil, true, nil), parseView),
		message("104-view-chunks", "Look from two chunks, one of them at the end of space.", wire.MsgView, "View", chunks,
			wire.AppendView(nil, false, chunks.Views), parseView),
		message("105-ready", "All is announced.", wire.MsgReady, "Ready", nothing{}, []byte{wire.MsgReady}, parseNothing),
		message("106-room", "There is room again.", wire.MsgRoom, "Room", nothing{}, []byte{wire.MsgRoom}, parseNothing),
		message("107-welcome", "The answer to Hello, where somebody else is host.", wire.MsgWelcome, "Welcome", welcome, welcome.Append(nil), as(wire.ParseWelcome)),
		message("108-refuse", "No common version.", wire.MsgRefuse, "Refuse", refuse, refuse.Append(nil), as(wire.ParseRefuse)),
		message("109-host", "A new host.", wire.MsgHost, "Host", hosts, hosts.Append(nil), as(wire.ParseHost)),
		message("110-host-none", "No host.", wire.MsgHost, "Host", none, none.Append(nil), as(wire.ParseHost)),
		message("111-player", "Two players are there, and the second leaves.", wire.MsgPlayer, "Player", players, told, func(b []byte) (any, error) {
			var got roster
			err := wire.ParsePlayers(b, func(p wire.Player) { got.Players = append(got.Players, p) })
			return got, err
		}),
		message("112-end-mark", "What was not introduced by now leaves.", wire.MsgEndMark, "EndMark", nothing{}, []byte{wire.MsgEndMark}, parseNothing),
	}, travelVectors()...)
}

// entityVectors are the messages about one entity. A field that is zero is left out of the readable value.
func entityVectors() (list []vector) {
	k := lamp()
	inc, term := wire.NewCount(3, 17), wire.NewCount(3, 40)
	at := grid.Chunk{X: 10, Y: -3, Z: 1}
	for i, v := range []struct {
		msg      byte
		typeName string
		name     string
		about    string
		m        wire.Entity
	}{
		{wire.MsgSpawn, "Spawn", "spawn", "A new entity, driven by its sender.", wire.Entity{Nonce: 300, Class: 1, Flags: wire.EntityAvatar, Chunk: at, Mask: 15, Values: lampValues(15)}},
		{wire.MsgDestroy, "Destroy", "destroy", "A wish to destroy.", wire.Entity{Inc: inc, Nonce: 300}},
		{wire.MsgRequest, "Request", "request", "A wish to drive.", wire.Entity{Inc: inc}},
		{wire.MsgGrant, "Grant", "grant", "The drive for a player.", wire.Entity{Inc: inc, Term: term, Owner: playerB}},
		{wire.MsgGrant, "Grant", "grant-host", "The drive for the host: the owner is nobody.", wire.Entity{Inc: inc, Term: term}},
		{wire.MsgRelease, "Release", "release", "The last values of a driver, which has applied override 2.", wire.Entity{Inc: inc, Term: term, N: 2, Chunk: at, Mask: 15, Values: lampValues(15)}},
		{wire.MsgOverrideUp, "OverrideUp", "override-up", "The host's correction of one slot.", wire.Entity{Inc: inc, Chunk: at, Mask: 2, Values: lampValues(2)}},
		{wire.MsgAgain, "Again", "again", "A driver announces its entity to a relay that restarted.", wire.Entity{Inc: inc, Term: term, Nonce: 300, Class: 1,
			Flags: wire.EntityAvatar | wire.EntityDrives, Owner: playerA, Cert: cert, Chunk: at, Mask: 15, Values: lampValues(15)}},
		{wire.MsgGone, "Gone", "gone", "A destruction that a relay of before confirmed.", wire.Entity{Inc: inc, Cert: cert}},
		{wire.MsgNoRoom, "NoRoom", "no-room", "A newcomer found no room.", wire.Entity{Inc: inc, Handle: 200, Gen: 2}},
		{wire.MsgBind, "Bind", "bind", "The answer to a spawn.", wire.Entity{Inc: inc, Term: term, Nonce: 300, Handle: 200, Gen: 2, Flags: wire.EntityAvatar, Owner: playerA, Cert: cert}},
		{wire.MsgAssign, "Assign", "assign", "The drive of somebody else's entity.", wire.Entity{Inc: inc, Term: term, Nonce: 300, Class: 5, ClassID: k.ID, ClassHash: k.Hash,
			Flags: wire.EntityAutoGrant, Handle: 200, Gen: 2, N: 1, Owner: playerA, Version: 70_000, Cert: cert, Chunk: at, Mask: 15, Values: lampValues(15)}},
		{wire.MsgRevoke, "Revoke", "revoke", "Stop driving.", wire.Entity{Inc: inc, Term: term}},
		{wire.MsgRefused, "Refused", "refused", "A spawn came to nothing: the id is held.", wire.Entity{Nonce: 300, Reason: wire.RefusedIDHeld}},
		{wire.MsgOverride, "Override", "override", "A correction reaches the driver as the third of its term.", wire.Entity{Inc: inc, Term: term, N: 3, Version: 70_001, Chunk: at, Mask: 2, Values: lampValues(2)}},
		{wire.MsgRejected, "Rejected", "rejected", "A slot that the sender may not write.", wire.Entity{Inc: inc, Reason: wire.RefusedRights, Mask: 8}},
	} {
		v.m.ID = lampID
		list = append(list, message(fmt.Sprintf("%d-%s", 201+i, v.name), v.about, v.msg, v.typeName, v.m, wire.AppendEntity(nil, v.msg, &v.m),
			func(b []byte) (any, error) { return wire.ParseEntity(v.msg, b) }))
	}
	return append(list, ownershipVectors()...)
}
