// Package trace is the capture format: what a client sent, took or dropped.
//
//	registry, World ─► Event ─► Append ─► a line of a file ─► Reader ─► Event ─► show
//	                                                                     └────► Summary ─► Compare
//
// A capture is JSON Lines, so that grep, jq and a text editor are enough to read one. The first line says which version the
// others follow; each of the others is one event. A field that has nothing to say is left out, and one that is not known is
// skipped, so a version can grow. Captures may be appended to one another.
//
//	{"trace":1,"start":"2026-11-30T12:00:00Z","by":"throng-go"}
//	{"t":1500,"cat":"state","dir":"out","what":"delta","id":"4c…","class":"lantern","fields":["Lit"],"bytes":1,"path":"spatial"}
//	{"t":1612,"cat":"state","dir":"in","what":"delta","id":"7a…","class":"lantern","fields":["Lit"],"bytes":1,"ver":88,"drop":"overtaken"}
//
// An event names fields and never holds their values, nor anything that grants something: captures are for bug reports.
package trace

import "time"

// Version is that of the format.
const Version = 1

// Bounds of a capture. What is beyond is malformed.
const (
	MaxLine   = 64 << 10 // bytes of a line: 64 names of 128 bytes, all of them escaped
	MaxFields = 64
)

// Cat is the group of an event. Groups are switched on and off one by one.
type Cat uint8

// The groups.
const (
	Entity Cat = iota // who exists, who drives
	State             // values on their way
	Events            // events
	Net               // connection, packets, players
	Cats              // how many there are
)

var cats = [Cats]string{"entity", "state", "event", "net"}

func (c Cat) String() string {
	if c < Cats {
		return cats[c]
	}
	return "?"
}

// ParseCat reads what String writes.
func ParseCat(s string) (Cat, bool) {
	for i, name := range cats {
		if s == name {
			return Cat(i), true
		}
	}
	return 0, false
}

// Dir is which way something went, as seen by who wrote the capture.
type Dir uint8

// The directions.
const (
	Here Dir = iota // it happened here
	In
	Out
)

var dirs = [...]string{"", "in", "out"}

func (d Dir) String() string { return dirs[d%3] }

// What happened. New ones may come within a version.
const (
	Spawn      = "spawn"      // an entity was announced, or introduced
	Repeat     = "repeat"     // it was announced again, after a reconnect
	Bind       = "bind"       // the relay took the announcement
	Refused    = "refused"    // the relay did not
	Register   = "register"   // the game has a body for it
	Unregister = "unregister" // the body went
	Destroy    = "destroy"    // somebody asks for its end
	Departure  = "departure"  // it ended, or left reach
	NoRoom     = "no room"    // it was refused at the bound of entities
	Request    = "request"    // of the drive
	Grant      = "grant"
	Revoke     = "revoke"
	Release    = "release"
	Assign     = "assign"
	Owner      = "owner" // it has another owner
	Host       = "host"
	Verdict    = "verdict"
	Delta      = "delta"
	Rejected   = "rejected" // fields that the relay does not apply
	EventLine  = "event"
	Join       = "join"
	Welcome    = "welcome"
	Travel     = "travel" // on to another world
	Refuse     = "refuse"
	Phase      = "phase" // of the connection
	Player     = "player"
	View       = "view"
	Packet     = "packet"
	Loss       = "loss"   // of a packet that was sent
	Missed     = "missed" // events that were not written, because the writer was slow
)

// Paths of a delta: to all in reach, to the owner alone, as a keyframe, as the host's correction, with all there is.
const (
	Spatial  = "spatial"
	ToOwner  = "owner"
	Keyframe = "keyframe"
	Override = "override"
	Baseline = "baseline"
)

// Reasons of a drop.
const (
	Overtaken     = "overtaken"      // every value is older than the one held
	Void          = "void"           // about an earlier life of a handle
	Echo          = "echo"           // of an entity that this client drives
	UnknownHandle = "unknown handle" // of an entity that was not introduced
	UnknownClass  = "unknown class"  // the class was not announced
	Foreign       = "foreign class"  // this build lacks the class
	OtherLayout   = "layout differs" // this build has the class with other fields
	WrongEpoch    = "wrong epoch"    // about the world before
	Full          = "no room"        // too many entities
	Malformed     = "malformed"      // the bytes do not follow the format
	Dead          = "dead"           // it was destroyed
	Waiting       = "waiting"        // for the values that come with a change of driver
	Stale         = "stale"          // of an older incarnation, or term
	Uninvited     = "uninvited"      // by somebody who may not, to what this client drives
	Undecoded     = "undecoded"      // a value that no such field can have
	ByRelay       = "refused by relay"
	Late          = "late" // what an event is about did not come in time
	Lost          = "lost" // its packet did not arrive; it goes out again
)

// ID is a NetID or a player's.
type ID [16]byte

// An Event is one line.
type Event struct {
	Time    time.Duration // since the start of the capture; µs on the line
	Cat     Cat
	Dir     Dir
	What    string
	ID      ID     // of the entity; zero: it is not about one, or not about a known one
	Class   string // its name
	Fields  []string
	Bytes   int    // of the values in wire form; of a packet: its payload
	Path    string // of a delta
	Drop    string // why it came to nothing
	Owner   ID     // the player that owns, is host, is asked for, entered; zero: nobody, the host owns it
	Version uint32 // flush that the values are from
	Term    uint64 // of the driver, within a start of the relay
	N       uint64 // handle of an unknown entity, number of a packet, count of what was missed
	Text    string // more, for people
}

// Header is what a capture begins with.
type Header struct {
	Version int
	Start   time.Time // of its clock
	By      string    // the program
}

// A Sink takes events. On is asked first, often, by whoever would have to make one.
type Sink interface {
	On(c Cat) bool
	// Take keeps nothing of e. The sink sets Time.
	Take(e *Event)
}
