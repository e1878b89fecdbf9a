package conformance

import (
	"encoding/binary"
	"testing"
	"time"

	"github.com/throng-dev/throng/internal/session"
	"github.com/throng-dev/throng/token"
)

// A packet as the document describes it. There is no such type in Go's session layer, which never holds one, so the decoder
// below is a second one, written from the document.
type packet struct {
	Number int // low 16 bits
	Acks   []ackRange
	Delay  int // ms
	Frames []frame
}

// ackRange is the packets from Lo to Hi, both included.
type ackRange struct{ Lo, Hi int }

// frame has the fields of a piece or of a goodbye where it is one.
type frame struct {
	Kind   int
	Body   []byte
	Stream int
	More   bool
	Void   bool
	Seq    int
	Stamp  int
	Code   int
	Text   string
}

const (
	kindPiece = 0x01
	kindPing  = 0x02
	kindClose = 0x0f
)

func parsePacket(near int) func(b []byte) (any, error) {
	return func(b []byte) (any, error) {
		if len(b) < 3 || b[2] > 1 {
			return nil, errVector
		}
		p := packet{Number: int(binary.LittleEndian.Uint16(b))}
		rest := b[3:]
		if b[2] == 1 {
			if len(rest) < 5 || rest[3] > 7 {
				return nil, errVector
			}
			hi := near + int(int16(binary.LittleEndian.Uint16(rest)-uint16(near)))
			p.Delay = int(rest[2])
			n := int(rest[3]) + 1
			rest = rest[4:]
			for i := range n {
				if i > 0 {
					gap, size := binary.Uvarint(rest)
					rest = rest[size:]
					hi -= int(gap) + 1
				}
				length, size := binary.Uvarint(rest)
				rest = rest[size:]
				p.Acks = append(p.Acks, ackRange{hi - int(length), hi})
				hi -= int(length) + 1
			}
		}
		for len(rest) > 0 {
			length, size := binary.Uvarint(rest[1:])
			if size < 1 || size > 2 || len(rest) < 1+size+int(length) {
				return nil, errVector
			}
			f := frame{Kind: int(rest[0]), Body: rest[1+size:][:length]}
			rest = rest[1+size+int(length):]
			switch f.Kind {
			case kindPiece:
				f.Stream, f.More = int(f.Body[0]&15), f.Body[0]&0x80 != 0
				f.Void = f.Body[0]&0x40 != 0
				seq, size := binary.Uvarint(f.Body[1:])
				f.Seq, f.Stamp, f.Body = int(seq), int(binary.LittleEndian.Uint16(f.Body[1+size:])), f.Body[3+size:]
			case kindClose:
				f.Code, f.Text, f.Body = int(binary.LittleEndian.Uint16(f.Body)), string(f.Body[2:]), nil
			}
			p.Frames = append(p.Frames, f)
		}
		return p, nil
	}
}

// sink takes what a Conn hands over.
type sink struct {
	acked, lost []uint64
	frames      []byte
	messages    [][]byte
}

func (s *sink) Acked(pn uint64)                     { s.acked = append(s.acked, pn) }
func (s *sink) Lost(pn uint64)                      { s.lost = append(s.lost, pn) }
func (s *sink) Frame(_ uint64, kind byte, _ []byte) { s.frames = append(s.frames, kind) }
func (s *sink) Message(_ uint64, _ int, msg []byte) {
	s.messages = append(s.messages, append([]byte(nil), msg...))
}
func sendPackets(c *session.Conn, n int) (all [][]byte) { // with a frame each, so that they want acks
	for range n {
		b := session.AppendFrame(c.Begin(0, nil), 0x20, nil)
		c.Commit(0, b, true)
		all = append(all, b)
	}
	return all
}

// packetVectors are made by the session layer itself.
func packetVectors(t testing.TB) (all []vector) {
	add := func(name, about, with string, b []byte, near int, want packet) {
		all = append(all, vector{name: name, about: about, is: "packet", with: with, value: want, bytes: b, parse: parsePacket(near)})
	}
	receive := func(c *session.Conn, now time.Duration, b []byte) {
		if err := c.Receive(now, b, &sink{}); err != nil {
			t.Fatal(err)
		}
	}

	c := session.New(session.Config{})
	c.Ping()
	b := c.AppendReliable(0, c.Begin(0, nil), 1200)
	c.Commit(0, b, false)
	add("001-packet-ping", "The first packet of a session: nothing to ack, a ping.", "", b, 0, packet{Number: 1, Frames: []frame{{Kind: kindPing, Body: []byte{}}}})

	c, peer := session.New(session.Config{}), session.New(session.Config{})
	for _, p := range sendPackets(peer, 3) {
		receive(c, 0, p)
	}
	b = c.Begin(7*time.Millisecond, nil)
	c.Commit(7*time.Millisecond, b, false)
	add("002-packet-ack", "Three packets arrived, the newest 7 ms ago. A packet without a frame is not acked itself.", "newest packet sent: 3", b, 3,
		packet{Number: 1, Acks: []ackRange{{1, 3}}, Delay: 7})

	c, peer = session.New(session.Config{}), session.New(session.Config{})
	for i, p := range sendPackets(peer, 600) {
		if i+1 < 300 || i+1 > 302 && i+1 < 450 || i+1 == 500 || i+1 > 555 && i+1 < 599 {
			continue
		}
		receive(c, 0, p)
	}
	b = session.AppendFrame(c.Begin(2*time.Second, nil), 0x7f, []byte("unknown kind"))
	c.Commit(2*time.Second, b, true)
	add("003-packet-ack-ranges", `Gaps: 303 to 449, 500 and 556 to 598 did not arrive. The block reports 256 packets back, so it begins at 345 and leaves
300 to 302 out. The newest came 2 s ago, which is written as 255: more than can be said. The frame is of a kind that nobody knows yet.`,
		"newest packet sent: 600", b, 600,
		packet{Number: 1, Acks: []ackRange{{599, 600}, {501, 555}, {450, 499}}, Delay: 255, Frames: []frame{{Kind: 0x7f, Body: []byte("unknown kind")}}})

	c = session.New(session.Config{})
	for range 65536 {
		c.Commit(0, c.Begin(0, nil), false)
	}
	if err := c.Queue(3, []byte("reliable")); err != nil {
		t.Fatal(err)
	}
	b = c.AppendReliable(0, c.Begin(0, nil), 1200)
	c.Commit(0, b, false)
	add("004-packet-piece", "Packet 65,537, whose number is 1 on the wire, with the first message of stream 3. The stamp is the number of the packet that is next.",
		"newest packet received: 65536", b, 0,
		packet{Number: 1, Frames: []frame{{Kind: kindPiece, Stream: 3, Seq: 0, Stamp: 1, Body: []byte("reliable")}}})

	c = session.New(session.Config{})
	long := make([]byte, 520)
	for i := range long {
		long[i] = byte(i)
	}
	for _, m := range [][]byte{long, {}} {
		if err := c.Queue(0, m); err != nil {
			t.Fatal(err)
		}
	}
	b = c.AppendReliable(0, c.Begin(0, nil), 1200)
	c.Commit(0, b, false)
	add("005-packet-pieces", "A message of 520 bytes in two pieces, and an empty one behind it.", "", b, 0, packet{Number: 1, Frames: []frame{
		{Kind: kindPiece, More: true, Seq: 0, Stamp: 1, Body: long[:512]}, {Kind: kindPiece, Seq: 1, Stamp: 1, Body: long[512:]},
		{Kind: kindPiece, Seq: 2, Stamp: 1, Body: []byte{}}}})

	c = session.New(session.Config{})
	b = session.AppendClose(c.Begin(0, nil), 203, "the relay stops")
	c.Commit(0, b, false)
	add("006-packet-goodbye", "A goodbye.", "", b, 0, packet{Number: 1, Frames: []frame{{Kind: kindClose, Code: 203, Text: "the relay stops"}}})

	c = session.New(session.Config{})
	if err := c.QueueHeld(9, 1, long); err != nil {
		t.Fatal(err)
	}
	c.Withdraw(9, 1)
	b = c.AppendReliable(0, c.Begin(0, nil), 1200)
	c.Commit(0, b, false)
	add("007-packet-taken-back", "A message of two pieces that was taken back before it left.", "", b, 0, packet{Number: 1, Frames: []frame{
		{Kind: kindPiece, Stream: 9, More: true, Void: true, Seq: 0, Stamp: 1, Body: []byte{}}, {Kind: kindPiece, Stream: 9, Void: true, Seq: 1, Stamp: 1, Body: []byte{}}}})
	return all
}

// TestSessionTakesPacketVectors: what the vectors hold is what the session layer does with it.
func TestSessionTakesPacketVectors(t *testing.T) {
	for _, v := range packetVectors(t) {
		want := v.value.(packet)
		c, s := session.New(session.Config{}), &sink{}
		if len(want.Acks) > 0 {
			sendPackets(c, want.Acks[0].Hi)
		}
		err := c.Receive(0, v.bytes, s)
		if want.Frames != nil && want.Frames[0].Kind == kindClose {
			if bye, ok := err.(*session.CloseError); !ok || int(bye.Code) != want.Frames[0].Code || bye.Text != want.Frames[0].Text {
				t.Errorf("%s: %v", v.name, err)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", v.name, err)
		}
		n := 0
		for _, r := range want.Acks {
			n += r.Hi - r.Lo + 1
		}
		if len(s.acked) != n {
			t.Errorf("%s: %d acked, want %d", v.name, len(s.acked), n)
		}
		pieces := 0
		for _, f := range want.Frames {
			if f.Kind == kindPiece && !f.More && !f.Void {
				pieces++
			}
		}
		if len(s.messages) != pieces {
			t.Errorf("%s: %d messages, want %d", v.name, len(s.messages), pieces)
		}
	}
}

// claims has the fields of token.Claims in the order of the bytes.
type claims struct {
	Version  int
	Rights   uint16
	KeyID    uint32
	World    uint64
	IssuedMS int64
	Player   [16]byte
	Realm    [16]byte
}

func claimsVector(testing.TB) vector {
	c := claims{Version: 1, Rights: uint16(token.Player | token.HostEligible), KeyID: 7, World: 0x0123456789abcdef, IssuedMS: 1_790_000_000_123,
		Player: playerA, Realm: [16]byte{0x70, 15: 0x7f}}
	b := token.Claims{Player: c.Player, Realm: c.Realm, Rights: token.Rights(c.Rights), World: c.World, Issued: time.UnixMilli(c.IssuedMS), KeyID: c.KeyID}.Append(nil)
	return vector{name: "010-claims", about: "The user data of a connect token: a player who may be host, for one world.", is: "claims", value: c, bytes: b,
		parse: func(b []byte) (any, error) {
			got, err := token.ParseClaims(b)
			return claims{int(b[0]), uint16(got.Rights), got.KeyID, got.World, got.Issued.UnixMilli(), got.Player, got.Realm}, err
		}}
}
