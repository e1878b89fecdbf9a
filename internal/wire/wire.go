// Package wire is the byte format of the protocol.
//
//	client → relay   unreliable: KindDeltas KindMotion reliable: Hello Class Spawn Destroy Release Again View …
//	relay → client   unreliable: KindFlush, KindSegment, KindIntro, KindDepart, KindRole
//	                 reliable:   Welcome Refuse Class Bind Assign Revoke Override Host Player …
//
// Everything is Append (value → bytes) or Parse (bytes → value); nothing here keeps state, reads a clock or does I/O.
// Integers are little-endian; "uvarint" is the base-128 form of encoding/binary and "zigzag" its signed form. A parser
// never allocates more than its input can pay for and never reads behind it. The document is docs/spec/wire.md.
package wire

import "errors"

// Version is the protocol version of docs/spec/wire.md. A relay speaks it and the one before.
const Version = 1

// Limits that both ends enforce.
const (
	MaxSlots     = 64         // slots of a class (B-010)
	MaxName      = 128        // bytes of a class, slot, type or world name
	MaxValues    = 1000       // bytes of the slot values of an entity in wire form that travel in records: an introduction is one
	MaxRecorded  = 900        // bytes of one such value; a larger one travels apart
	MaxValue     = 16<<10 + 3 // bytes of one value that travels apart, with its length
	MaxApart     = 48 << 10   // bytes of the values of an entity that travel apart: all its values are one reliable message
	MaxFlying    = 64 << 10   // bytes of values that travel apart and are not acked, in each direction of a session
	MaxSegment   = 256        // bytes of a segment's body unless one record is larger
	MaxViews     = 8          // viewpoints of a session
	MaxText      = 200        // bytes of a reason
	MaxType      = 1024       // bytes of the canonical type of a slot
	MaxClasses   = 1024       // classes a session may announce
	MaxClass     = 60000      // bytes of a class announcement, so that it is one reliable message under any number
	MaxHandle    = 1 << 22    // entities of a world
	MaxCert      = 32         // bytes of a re-announcement certificate
	MaxDepartIDs = 32         // departures in one report of what was destroyed
)

// Frame kinds of packets. Kinds below 0x10 belong to the session layer; unknown kinds are skipped by length.
const (
	KindFlush   = 0x10 // relay → client: opens a bundle: epoch, flush, time, base chunk
	KindSegment = 0x11 // relay → client: records of known entities
	KindIntro   = 0x12 // relay → client: an entity and a baseline of its slots
	KindDepart  = 0x13 // relay → client: an entity left
	KindRole    = 0x14 // relay → client: owner and term
	KindEvent   = 0x15 // relay → client: an event that is sent once
	KindTie     = 0x1b // relay → client: what an entity goes with
	KindDeltas  = 0x20 // client → relay: changes of driven entities
	KindMotion  = 0x22 // client → relay: the same of classes with motion, with the time of capture
	KindEventUp = 0x21 // client → relay: an event that is sent once
)

// Streams of the reliable lane.
const (
	StreamControl = 0 // sessions, classes and everything about entities: one order
	StreamEvents  = 1 // 1..8: events, hashed by sender and entity
	StreamValues  = 9 // down: values that travel apart
)

// ErrMalformed says that bytes do not follow the format.
var ErrMalformed = errors.New("throng: malformed message")

// ID is a NetID in wire form.
type ID [16]byte

// PlayerID names a player; zero is nobody (the host owns it).
type PlayerID [16]byte

// Count is a number issued by a relay: start counts the starts of that relay, n counts within one. Terms and
// incarnations are Counts, so that one issued after a restart is greater than all before it. The zero Count is "none".
type Count uint64

// NewCount returns the n-th number of a start.
func NewCount(start, n uint32) Count { return Count(start)<<32 | Count(n) }

// N is the low half: the number within its start.
func (c Count) N() uint32 { return uint32(c) }

// Next is the number after c that a relay of this start issues.
func (c Count) Next(start uint32) Count { return max(c, NewCount(start, 0)) + 1 }
