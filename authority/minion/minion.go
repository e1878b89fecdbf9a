// Package minion is the pattern of the local stand-in. A player's client shows a body of its own for something that the server
// simulates, so that it answers without delay. It is never sent the server's actor, so there is one body, not two.
//
//	 owner's client                        authority                             other clients
//	Crew.Request ── Request ──────────────► Book.Request: may it? limits
//	   │ a dummy at once, with a key        │ spawns the actor, Book.Grant
//	   ◄───────── Grant, Event, Hint, ──────┤ never the actor itself
//	              Formation, Revoke         └── the actor, kept from the owner ──► one proxy each
//
// Whatever the owner must know of the actor comes as messages that name the key, because no record of the actor reaches it.
// Grants are state: the authority sends all of them again when the player joins or comes back, and a message that is stale or
// doubled changes nothing.
//
// A stand-in has a key and no NetID: it is in no registry and no datagram names it.
//
// Crew (the client's side) and Book (the authority's) are plain state machines: they are told the time, and what they want
// sent is taken from them. Neither is safe for concurrent use.
package minion

import (
	"fmt"
	"math"
	"time"

	"github.com/throng-dev/throng"
)

// Key names a stand-in over reconnects, and the actor it stands for: a player, a number of that player's, and which grant of
// that number. A later grant of the same number has a greater Gen; what names an older one is stale.
type Key struct {
	Player throng.PlayerID
	Seq    uint32 // counted by the player's client, or, from FirstUnasked on, by the authority
	Gen    uint16 // counted by the authority from 1; 0: asked for, not granted
	Line   uint64 // the minion, whoever it was given to; 0 as long as it is not granted. It is no NetID, and nobody can guess it
}

// FirstUnasked is the first Seq of grants that nobody asked for.
const FirstUnasked = 1 << 31

// IsZero reports whether k names nothing.
func (k Key) IsZero() bool { return k == Key{} }

// Asked reports whether the player's client made the number.
func (k Key) Asked() bool { return k.Seq < FirstUnasked }

// String is the key in logs: player/seq.gen
func (k Key) String() string { return fmt.Sprintf("%v/%d.%d", k.Player, k.Seq, k.Gen) }

// slot is a Key without its generation.
type slot struct {
	player throng.PlayerID
	seq    uint32
}

func (k Key) slot() slot { return slot{k.Player, k.Seq} }

// names reports whether two keys are of one grant.
func (k Key) names(o Key) bool { return k.slot() == o.slot() && k.Gen == o.Gen }

// Pose is where a body stands: to a tenth of a unit and 0.0055°. Near the origin it takes about 10 bytes.
type Pose struct {
	At     throng.Vec3Quantize10
	Facing throng.Rotator
}

// Dist is how far apart two poses are, in units; angles do not count.
func (p Pose) Dist(q Pose) float64 {
	return math.Sqrt((p.At.X-q.At.X)*(p.At.X-q.At.X) + (p.At.Y-q.At.Y)*(p.At.Y-q.At.Y) + (p.At.Z-q.At.Z)*(p.At.Z-q.At.Z))
}

func (p Pose) finite() bool {
	return throng.Vec3(p.At).IsFinite() && !math.IsNaN(p.Facing.Yaw+p.Facing.Pitch+p.Facing.Roll)
}

// Reason says why a grant ended.
type Reason uint8

const (
	Ended     Reason = iota // the authority took the minion away
	Died                    // it was killed
	Refused                 // the request was not granted: see Revoke.Text
	TooMany                 // the player has as many as it may have
	TooFast                 // the player asks too often
	GivenAway               // another player owns it now
	NoAnswer                // the authority did not answer the request in time; said by the Crew itself
	Forgotten               // the authority does not know of it (any more); said by the Crew itself
)

var reasons = [...]string{"ended", "died", "refused", "too many", "too fast", "given away", "no answer", "forgotten"}

// String is the reason in logs.
func (r Reason) String() string {
	if int(r) < len(reasons) {
		return reasons[r]
	}
	return fmt.Sprintf("Reason(%d)", uint8(r))
}

// Messages from the owner's client to the authority.
type (
	// Request asks for a minion. Asking again with the same Seq is answered with the grant that there is.
	Request struct {
		Seq  uint32
		Kind uint32 // the game's: what to spawn
		Pose Pose
	}

	// Sync asks for the State: of a program that begins to play, or whose connection was lost.
	Sync struct{}

	// Close reports that a client was shown a second body for a key; the authority should look why.
	Close struct {
		Key  Key
		Body throng.NetID
	}
)

// Messages from the authority to the owner's client. Version counts the messages about a key: of two, the greater is newer.
type (
	// Grant says that the player has a minion. It is sent when granted and with every State.
	Grant struct {
		Key     Key
		Version uint32
		Kind    uint32
		Pose    Pose
		Health  float32
		Slot    uint16 // of a formation; see Formation
		Number  uint32 // counts grants and states of the player
	}

	// Revoke says that the player has it no longer.
	Revoke struct {
		Key    Key
		Reason Reason
		Text   string // for people, of Refused
	}

	// Event says that something happened to the actor.
	Event struct {
		Key     Key
		Version uint32
		Health  float32
		What    uint16 // the game's
	}

	// Hint says where the actor is, once or twice a second: it bounds how far a dummy drifts from it.
	Hint struct {
		Key     Key
		Version uint32
		Pose    Pose
	}

	// Formation assigns a place.
	Formation struct {
		Key     Key
		Version uint32
		Slot    uint16
		Point   throng.Vec3Quantize10
	}

	// State is all grants of a player: what it does not name the player does not have. It is sent when the player joins.
	State struct {
		Number uint32 // of what was granted with a greater one it says nothing
		Grants []Grant
	}
)

// after reports whether version a comes after b; both wrap around.
func after(a, b uint32) bool { return int32(a-b) > 0 }

// Limits of a Book that does not say otherwise.
const (
	DefaultPerPlayer = 64                     // minions of a player
	DefaultRate      = 4                      // requests a second of a player
	DefaultBurst     = 16                     // requests at once
	HintEvery        = 500 * time.Millisecond // between hints of a minion
	AnswerWithin     = 10 * time.Second       // after which a Crew gives up a request
	SwapWithin       = 2 * time.Second        // how long a dummy that was given away waits for its proxy
)
