package throng

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/throng-dev/throng/internal/wire"
	"github.com/throng-dev/throng/transport"
)

// Off switches off what a duration in [Config] sets: the zero duration means the world's setting.
const Off time.Duration = -1

// Config is how a client takes part in a world. TokenSource or Token, and World, must be given; all else may be zero. Join
// copies it.
type Config struct {
	// TokenSource returns a fresh connect token for every attempt to connect. The game's backend mints it; see package
	// token. It runs on a goroutine of the World.
	TokenSource func(ctx context.Context) ([]byte, error)
	// Token is used instead if TokenSource is nil. A token opens one connection: there is no reconnect.
	Token []byte

	// World names the level to play in first; World.Travel leads to others. Players meet if they are in the same realm, which the token says, and name the
	// same world. 1 to 128 bytes.
	World string

	// Rate is how often the values this client drives are compared and sent, times a second, 1 to 60. 0 means 10, or less
	// if the world allows no more; a higher rate than the world allows is lowered, with a line in the log.
	Rate int
	// Keyframe is how often heartbeat fields are repeated, 100 ms at least. 0 means the world's interval, Off none.
	Keyframe time.Duration
	// MotionKeyframe is how often the motion of an entity that stands still is repeated, 100 ms at least; MotionHeartbeat how often the relay
	// is told at least that it is there. Nothing depends on either. 0 means 3 s and 1 s, Off none.
	MotionKeyframe, MotionHeartbeat time.Duration
	// NoPhaseLock keeps replication ticks where they fall. Else they are shifted, by 2 ms at most each, so that what leaves
	// arrives just before the relay sends: it is shared in fewer packets and waits less.
	NoPhaseLock bool
	// MaxEntities is how many entities of others this client holds at once; the nearest come first, and what this client drives does not
	// count. 0 means 4096.
	MaxEntities int
	// EntityTimeout is after how long without news an entity of somebody else's leaves with TimedOut; see OnTimedOut. 0 means 12 s, Off never.
	EntityTimeout time.Duration
	// MaxLoads is how many Hooks.Load run at once. 0 means 8.
	MaxLoads int
	// TrackSelf lets OnAppeared and OnTimedOut tell of what this client drives too: when the relay begins, and ceases, to send it back. In a world
	// that keeps no values it is on anyway. The switch track.self changes it at run time.
	TrackSelf bool

	// NoProperties switches property replication off here: nothing is compared, marked or repeated, and what arrives after an
	// entity's first values is ignored. Spawns, destroys and owners go on.
	NoProperties bool
	// NoProxies keeps entities of others away: no body, no hook. Own spawns go on. It is for clients that only write.
	NoProxies bool

	// Hooks is the behaviour of classes, and the handlers of events.
	Hooks []Hook
	// OnHost runs when the host changed; was is the one before, zero if there was none. World.Host tells the new one.
	OnHost func(w *World, was PlayerID)
	// OnPlayer runs when a player entered or left the world. Those already there when Join returns are in World.Players.
	OnPlayer func(w *World, p PlayerInfo, present bool)
	// OnRegistered runs when an entity has come into the registry, spawned here or elsewhere: Find has it. OnUnregistered runs when it has
	// left it. Hooks of the class run first, here as below.
	OnRegistered, OnUnregistered func(w *World, e Object)
	// OnOwnerChanged runs when the owner of an entity changes after its spawn; was is zero if the host drove it.
	OnOwnerChanged func(w *World, e Object, was PlayerID)
	// OnAppeared runs when an entity of somebody else's is seen here for the first time, or again after it had left.
	OnAppeared func(w *World, e Object)
	// OnTimedOut runs, behind OnDestroy, when nothing was heard for EntityTimeout: of the relay, which vouches for everything it shows, or, in
	// a world that keeps no values, of an entity that streams. It is a guess, for when the link is broken; the relay announces real departures.
	OnTimedOut func(w *World, e Object)
	// OnLeft runs for every departure of others within reach, whether the entity is held here or not: one that was refused for want of room,
	// that this build has no class for, or that was gone before it was shown. What this client destroyed, and what timed out
	// before, it does not tell of.
	OnLeft func(w *World, id NetID, d Departure)
	// OnLoadFailed runs when Hooks.Load returned an error: the entity is not seen.
	OnLoadFailed func(w *World, id NetID, err error)
	// OnOwnershipRequest runs when a player would like to drive an entity that this client drives and whose requests are not granted
	// by themselves. True hands the entity over; false, or no function, means not now: the player is told nothing, and a later Grant
	// works as well.
	OnOwnershipRequest func(w *World, e Object, from PlayerID) (grant bool)
	// OnGroup runs when the relay said whether this client is in a group: after Groups.Join and Leave, and when the relay's owner changed it.
	OnGroup func(w *World, name string, in bool)
	// OnUnknownClass runs once for each class of the world that this build lacks, when an entity of it is near: nothing of it is
	// shown. A class that this build has with another layout is not unknown; the log names the difference.
	OnUnknownClass func(w *World, name string, id uint32)
	// OnUndelivered runs for each reliable event that was sent from here and reached nobody, for a reason that the call could not know, such as
	// that no trusted server is there. nil: it is logged.
	OnUndelivered func(w *World, u Undelivered)
	// OnUpdates takes the motion values that came since the last Tick, of everybody in reach, as they came; see Update. It runs before the other
	// hooks. World.SetUpdates, and the switch updates.batch, switch it off and on.
	OnUpdates func(w *World, batch []Update)
	// OnState runs when the connection changes.
	OnState func(w *World, s ConnState)

	// Dialer carries the datagrams. nil means UDP.
	Dialer transport.Dialer
	// Tracer writes down what is sent, received and dropped, and why. nil: what the environment variable THRONG_TRACE asks
	// for when the World is joined: groups with commas between them, then perhaps a colon and a file to append to, such as
	// entity,state:trace.jsonl; without a file they are records of Logger.
	Tracer *Tracer
	// Loopback gives every entity that this client drives a mirror: a proxy without an owner, with an id of its own, that
	// receives all that is sent of the entity as another client would. So OnSpawn and OnRep of proxies can be tried alone.
	// A mirror comes with the first delta and leaves when the entity does, or is driven elsewhere; nothing of it is sent.
	// The environment variable THRONG_LOOPBACK=state does the same, World.SetLoopback at run time.
	Loopback bool

	// Logger takes what a program should know about. nil means slog.Default().
	Logger *slog.Logger
}

// PlayerInfo is one player of a world.
type PlayerInfo struct {
	ID PlayerID
	// Eligible is true if the player's client may become host.
	Eligible bool
	// Authority is true for a trusted server; see [World.IsAuthority].
	Authority bool
}

// Phase is what a connection is doing.
type Phase uint8

// The phases.
const (
	Connecting   Phase = iota // the first time
	Live                      // in the world
	Reconnecting              // the connection was lost; what this client drives will be announced again
	Closed                    // for good: Tick returns the reason
	Traveling                 // on the way to another world; see World.Travel
)

func (p Phase) String() string {
	return nameOf("Phase", int(p), "connecting", "live", "reconnecting", "closed", "traveling")
}

// ConnState is the state of a connection.
type ConnState struct {
	Phase Phase
	// Err is why the connection was lost or closed, or, with Live, a *JoinError that says why the relay refused to let this client
	// travel; else nil.
	Err error
}

// Retry says what to do after a connection came to nothing.
type Retry uint8

// The retry classes.
const (
	RetryNever Retry = iota // something must change first: the token, the name of the world, the build
	RetryFresh              // again, with a fresh token
	RetryLater              // again, after a while
)

func (r Retry) String() string { return nameOf("Retry", int(r), "never", "fresh", "later") }

// JoinError is why a client is not, or no longer, in a world.
type JoinError struct {
	Addr  string
	World string // that a travel was refused to; empty: it is about the connection
	Code  int    // why, as the relay says; 0: the relay did not say
	Text  string
	Retry Retry
	Err   error // what happened if the relay did not say
	// Joined is true if the client was in the world before.
	Joined bool
}

func (e *JoinError) Error() string {
	what := "joining " + e.Addr
	if e.Joined {
		what = "the connection to " + e.Addr + " ended"
	}
	switch {
	case e.World != "":
		return fmt.Sprintf("throng: traveling to %q: the relay says: %s (code %d): this client stays where it is", e.World, e.Text, e.Code)
	case e.Code == int(wire.CloseReplaced):
		return "throng: " + what + ": this player connected from elsewhere: give each running program a player of its own"
	case e.Err == nil:
		return fmt.Sprintf("throng: %s: the relay says: %s (code %d)", what, e.Text, e.Code)
	case errors.Is(e.Err, transport.ErrTimeout) && !e.Joined:
		return "throng: " + what + `: no relay answers: is it running there ("throng serve --insecure-dev-key" while developing), is the UDP port right and open, was the token made with the relay's key?`
	case errors.Is(e.Err, transport.ErrTimeout):
		return "throng: " + what + ": the relay stopped answering"
	}
	return "throng: " + what + ": " + strings.TrimPrefix(e.Err.Error(), "throng: ")
}

func (e *JoinError) Unwrap() error { return e.Err }

// Errors of World methods. They are wrapped with what was being done to what.
var (
	// ErrNotLive: the world has not been joined yet, or not again yet.
	ErrNotLive = errors.New("not in the world: wait until OnState says Live")
	// ErrClosed: the World was closed, or will not connect again.
	ErrClosed = errors.New("the world is closed: Join again")
	// ErrNoHost: the world has no host, as in its first second.
	ErrNoHost = errors.New("the world has no host: wait for OnHost, a second after the world began, or do without")
	// ErrIDHeld: an entity with that id is here.
	ErrIDHeld = errors.New("an entity with that id lives: find it, or use another id")
	// ErrSpawned: the struct is an entity already.
	ErrSpawned = errors.New("this struct is in a world already: spawn each once, and a new one for another entity")
	// ErrNoPlayer: the player is not in the world.
	ErrNoPlayer = errors.New("that player is not in the world: World.Players lists who is")
	// ErrNoOwner: no player owns the entity, the host drives it.
	ErrNoOwner = errors.New("no player owns it, the host drives it: name the host instead, with GrantToHost or ToHost")
	// ErrNotHost: only the host may do this.
	ErrNotHost = errors.New("this client is not the host: only the host corrects what others drive")
	// ErrOwnerOnly: its class lets nobody but the owner write.
	ErrOwnerOnly = errors.New("its class is OwnerOnly: only its owner writes it")
	// ErrNoField: no field was given that this could be done with.
	ErrNoField = errors.New("no field that can be sent: give the addresses of fields, as in &e.Lit, that are neither init nor auth")
	// ErrGone: a placed entity was destroyed, which lasts as long as the world.
	ErrGone = errors.New("it was destroyed in this world: placed entities do not come back by themselves, the host may Respawn it")
	// ErrNotDriver: another client drives the entity.
	ErrNotDriver = errors.New("another client drives it: only its driver may do this, the host may use Override")
	// ErrForeign: the entity is in no world, in another one, or has left this one.
	ErrForeign = errors.New("it is not in this world: Spawn or Place it first, and let go of it in its OnDestroy")
	// ErrNil: there is no entity.
	ErrNil = errors.New("it is nil: give the address of a struct that embeds throng.Entity")
	// ErrClass: the class is not in the schema.
	ErrClass = errors.New("its class is not in the schema: pass it to NewSchema")
)

func (c *Config) validate(s *Schema) error {
	var all []error
	bad := func(format string, args ...any) { all = append(all, fmt.Errorf("throng: Config."+format, args...)) }
	if c.TokenSource == nil && len(c.Token) == 0 {
		bad("TokenSource: no token: set it, or Token, or use token.DevSource while developing on loopback")
	}
	if c.World == "" || len(c.World) > wire.MaxName || !utf8.ValidString(c.World) {
		bad("World: %.40q is no name of a level: use 1 to %d bytes of text", c.World, wire.MaxName)
	}
	if c.Rate < 0 || c.Rate > 60 {
		bad("Rate: %d is out of range: use 1 to 60, or 0 for the world's", c.Rate)
	}
	if c.Keyframe > 0 && c.Keyframe < 100*time.Millisecond {
		bad("Keyframe: %v is too short: use at least 100ms, 0 for the world's, throng.Off for none", c.Keyframe)
	}
	if c.MotionKeyframe > 0 && c.MotionKeyframe < 100*time.Millisecond || c.MotionHeartbeat > 0 && c.MotionHeartbeat < 100*time.Millisecond {
		bad("MotionKeyframe %v or MotionHeartbeat %v is too short: use at least 100ms, 0 for 3s and 1s, throng.Off for none", c.MotionKeyframe, c.MotionHeartbeat)
	}
	if c.MaxEntities < 0 || c.MaxEntities > 1<<20 {
		bad("MaxEntities: %d is out of range: use 1 to 1048576, or 0 for 4096", c.MaxEntities)
	}
	if c.EntityTimeout > 0 && c.EntityTimeout < time.Second {
		bad("EntityTimeout: %v is too short: use at least 1s, 0 for 12s, throng.Off for none", c.EntityTimeout)
	}
	if c.MaxLoads < 0 || c.MaxLoads > 1024 {
		bad("MaxLoads: %d is out of range: use 1 to 1024, or 0 for %d", c.MaxLoads, defaultLoads)
	}
	for i, h := range c.Hooks {
		if h.event != nil {
			if !slices.Contains(s.events, h.event) {
				bad("Hooks[%d]: event %q is not in the schema: pass it to NewSchema", i, h.event.name)
			}
		} else if h.class == nil {
			bad("Hooks[%d]: an empty Hook: make hooks with Class.Bind, Class.OnRep or Event.Handle", i)
		} else if s.byID[h.class.id] != h.class {
			bad("Hooks[%d]: class %q is not in the schema: pass it to NewSchema", i, h.class.name)
		}
	}
	return errors.Join(all...)
}
