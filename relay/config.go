package relay

import (
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"math"
	"net"
	"net/netip"
	"slices"
	"time"
	"unicode/utf8"

	"github.com/throng-dev/throng/internal/shard"
	"github.com/throng-dev/throng/internal/wire"
	"github.com/throng-dev/throng/token"
)

// Config is what a relay needs to know. The zero value is a relay with the documented defaults.
type Config struct {
	// Worlds are settings by level name. Zero: every level has those of Default.
	Worlds map[string]World
	// Default is for levels that are not in Worlds. Zero: the defaults of World.
	Default World
	// ListedOnly refuses levels that are not in Worlds. Zero: a level begins when somebody names it.
	ListedOnly bool

	// Key is the key that the backend mints tokens with. ListenUDP opens tokens with it, and a key derived from it
	// certifies what clients bring back after a restart, so relays that take over from one another must share
	// it. Zero: a random one for certificates, so that nothing comes back after a restart; ListenUDP refuses it.
	Key token.Key
	// AuthorityKey opens tokens that may grant the authority right. It must differ from Key. Zero: no such tokens.
	AuthorityKey token.Key
	// AuthorityFrom are the networks that an authority may come from; from elsewhere its token lets in nobody. Empty: this machine
	// alone.
	AuthorityFrom []netip.Prefix

	// MaxSessions bounds the sessions of all worlds. Zero: 10,000.
	MaxSessions int
	// MaxWorlds bounds the worlds that exist at once. Zero: 256.
	MaxWorlds int
	// MessageRate is how many packets and reliable messages one session may send a second, over five seconds; beyond it
	// is told and closed (B-132). Zero: 2,000; negative: no bound.
	MessageRate int
	// ByteRate is the same for bytes. Zero: 1 MiB; negative: no bound.
	ByteRate int

	// MayJoin decides whether a player may join a group of players in a world by itself. It runs on the relay's goroutine and must not wait.
	// Zero: nobody may, but where World.OpenGroups says so.
	MayJoin func(world WorldName, player [16]byte, group string) bool

	// Settle is how long a new world takes what clients bring back before it elects a host. Zero: 1 s; negative:
	// not at all, for relays that never restart under a crowd.
	Settle time.Duration
	// Start orders the starts of this relay: greater than at any earlier start by more than five times the seconds that one ran.
	// Zero: the time in fifths of a second, of which 32 bits hold 27 years. A relay that was closed took no less than one of them for
	// that; one that was killed must not be started anew within a fifth of a second.
	Start uint32

	// Logger takes what operators should know; who enters and leaves is at level debug. Zero: slog.Default().
	Logger *slog.Logger
}

// World is the profile of a level. Clients take it for their own zero settings, and may only ask for less (B-074).
type World struct {
	// ChunkSize is the edge of a chunk in units. Zero: 1,600.
	ChunkSize float64
	// Reach is how many chunks away a client is shown entities, up to 8. Zero: 8; negative: its own chunk only.
	Reach int
	// PropertyReach is the same for what is not motion, owner or destruction; at most Reach. Zero: Reach;
	// negative: its own chunk only.
	PropertyReach int
	// Decay thins motion with distance. Zero: it is not thinned.
	Decay Decay
	// Flat worlds have columns for chunks: the third axis does not count. Zero: cubes.
	Flat bool
	// PassThrough worlds keep no values for those who come later: no baseline, no repair of what was lost, only what clients
	// repeat. Owners, hosts, introductions and departures work as ever. Zero: values are kept.
	PassThrough bool
	// Trust says what becomes of writes by those who may not. Zero: TrustStrict.
	Trust Trust
	// NoProperties worlds replicate no fields beyond an entity's first values, NoProxies worlds show nobody the entities of others
	// (B-032): clients obey. Spawns, destroys and owners go on. Zero: both replicate.
	NoProperties, NoProxies bool

	// ParkGrants is how long a grant to a player who is not in the world waits for it; then the host gets the entity; at
	// most an hour. Zero: such a grant is refused.
	ParkGrants time.Duration

	// MaxRate is the most replication ticks a second of a client, up to 60. Zero: 60.
	MaxRate int
	// Flush is how long changes wait so that they travel together, while there are many. In whole milliseconds up
	// to 1 s. Zero: 50 ms.
	Flush time.Duration
	// Keyframe is how often clients repeat heartbeat fields, from 0.1 s up to 65 s. Zero: 2 s; negative: never.
	Keyframe time.Duration
	// Silence is after how long without a packet a session counts as silent: its entities leave, host and drives move on
	// . From 1 s up to 60 s. Zero: 5 s.
	Silence time.Duration
	// Budget is the most that an observer is sent, in bytes a second; the rate falls below it while the path loses or delays
	// packets, and rises again (B-072). What does not fit waits, the far longer than the near, and merges. Zero: 64 KiB.
	Budget int
	// MaxStale is how long an observer may lack what changed in its reach because of its budget: what has waited longer goes
	// first, and is counted in Stats as Late. From 100 ms up to 60 s. Zero: 1 s.
	MaxStale time.Duration

	// MaxTracked is how many entities of others a client holds. Zero: 4,096.
	MaxTracked int
	// MaxEntities bounds the entities of the world, up to 4,194,304. Zero: 65,536.
	MaxEntities int
	// SessionEntities bounds the entities that one session drives. Zero: 4,096.
	SessionEntities int
	// EventRate is how many events one session may send a second, over five seconds. Clients stay below it by themselves; one that does not is told
	// and closed (B-132). Zero: 200; negative: no bound.
	EventRate int
	// EventSize bounds the payload of an event, up to 32 KiB. Zero: 32 KiB.
	EventSize int

	// OpenGroups lets any player join any group of players by itself. Groups then keep traffic apart, not secrets. Zero: only those that
	// Config.MayJoin lets, and those that Server.SetGroup put there.
	OpenGroups bool

	// Linger is how long a world without sessions keeps what it holds. Zero: 60 s; negative: for ever.
	Linger time.Duration
}

const (
	maxReach      = 8
	maxDuration   = (1<<16 - 1) * time.Millisecond // in a profile
	defaultLinger = 60 * time.Second
)

// validate names everything that is wrong at once.
func (c *Config) validate() error {
	var errs []error
	bad := func(format string, args ...any) {
		errs = append(errs, fmt.Errorf("throng: relay config: "+format, args...))
	}
	if c.Key != (token.Key{}) && c.AuthorityKey == c.Key {
		bad("AuthorityKey equals Key: every player would be an authority, use two keys")
	}
	if c.MaxSessions < 0 || c.MaxSessions > 1<<20 {
		bad("MaxSessions %d is out of range: use 1 to %d, or 0 for 10,000", c.MaxSessions, 1<<20)
	}
	if c.MaxWorlds < 0 {
		bad("MaxWorlds %d is negative: use 1 or more, or 0 for 256", c.MaxWorlds)
	}
	c.Default.validate("Default", bad)
	for _, name := range slices.Sorted(maps.Keys(c.Worlds)) {
		if !validName(name) {
			bad("Worlds: %q is no level name: use 1 to %d bytes of text", name, wire.MaxName)
		}
		w := c.Worlds[name]
		w.validate(fmt.Sprintf("Worlds[%q]", name), bad)
	}
	return errors.Join(errs...)
}

func (w *World) validate(where string, bad func(string, ...any)) {
	if w.ChunkSize != 0 && !(w.ChunkSize > 0 && w.ChunkSize <= math.MaxFloat32) {
		bad("%s.ChunkSize %v is no size: use a positive number, or 0 for 1600", where, w.ChunkSize)
	}
	if w.Reach > maxReach {
		bad("%s.Reach %d is too far: use 1 to %d chunks, negative for the own chunk, or 0 for %d", where, w.Reach, maxReach, maxReach)
	}
	if w.Decay > DecayLinear5 {
		bad("%s.Decay %d is none: use DecayNone to DecayLinear5", where, w.Decay)
	}
	if w.PropertyReach > chunks(w.Reach, maxReach) {
		bad("%s.PropertyReach %d is above Reach %d: use at most Reach, or 0 for the same", where, w.PropertyReach, chunks(w.Reach, maxReach))
	}
	if w.Trust > TrustAll {
		bad("%s.Trust %d is none: use TrustStrict, TrustObserve or TrustAll", where, w.Trust)
	}
	if w.MaxRate < 0 || w.MaxRate > 60 {
		bad("%s.MaxRate %d is out of range: use 1 to 60 a second, or 0 for 60", where, w.MaxRate)
	}
	duration := func(name string, d, low, high time.Duration) {
		if d != 0 && (d < low || d > high) {
			bad("%s.%s %v is out of range: use %v to %v, or 0 for the default", where, name, d, low, high)
		}
	}
	duration("ParkGrants", w.ParkGrants, time.Millisecond, time.Hour)
	duration("Flush", w.Flush, time.Millisecond, time.Second)
	duration("Keyframe", max(w.Keyframe, 0), 100*time.Millisecond, maxDuration)
	duration("Silence", w.Silence, time.Second, time.Minute)
	duration("MaxStale", w.MaxStale, 100*time.Millisecond, time.Minute)
	count := func(name string, n, high int) {
		if n < 0 || n > high {
			bad("%s.%s %d is out of range: use 1 to %d, or 0 for the default", where, name, n, high)
		}
	}
	count("Budget", w.Budget, 1<<30)
	count("MaxTracked", w.MaxTracked, wire.MaxHandle)
	count("MaxEntities", w.MaxEntities, wire.MaxHandle)
	count("SessionEntities", w.SessionEntities, wire.MaxHandle)
	count("EventRate", max(w.EventRate, 0), 1<<20)
	count("EventSize", w.EventSize, wire.MaxEvent)
}

// withDefaults fills in what zero stands for. The config is valid.
func (c Config) withDefaults() Config {
	c.Worlds = maps.Clone(c.Worlds)
	def(&c.MaxSessions, 10_000)
	def(&c.MaxWorlds, 256)
	def(&c.MessageRate, 2_000)
	def(&c.ByteRate, 1<<20)
	if c.Logger == nil {
		c.Logger = slog.Default()
	}
	return c
}

// resumeKey is what certificates are made with.
func (c *Config) resumeKey() []byte {
	k := c.Key
	if k == (token.Key{}) {
		rand.Read(k[:])
	}
	k = k.Derive("throng resume")
	return k[:]
}

func (c *Config) world(name string) World {
	if w, ok := c.Worlds[name]; ok {
		return w
	}
	return c.Default
}

// profile is what the world announces.
func (w *World) profile() wire.Profile {
	p := shard.DefaultProfile()
	if w.ChunkSize != 0 {
		p.ChunkSize = w.ChunkSize
	}
	p.Reach = uint8(chunks(w.Reach, maxReach))
	p.PropertyReach = uint8(chunks(w.PropertyReach, int(p.Reach)))
	p.Decay = uint8(w.Decay)
	if w.Flat {
		p.Flags |= wire.ProfileFlat
	}
	if w.PassThrough {
		p.Flags &^= wire.ProfileRetain
	}
	p.Flags = p.Flags&^(wire.ProfileStrict|wire.ProfileObserve) | w.Trust.flags()
	if w.NoProperties {
		p.Flags |= wire.ProfileNoProperties
	}
	if w.NoProxies {
		p.Flags |= wire.ProfileNoProxies
	}
	if w.ParkGrants != 0 {
		p.Flags |= wire.ProfilePark
	}
	if w.MaxRate != 0 {
		p.MaxRate = uint8(w.MaxRate)
	}
	ms := func(v *uint16, d time.Duration) {
		if d != 0 {
			*v = uint16(max(d, 0) / time.Millisecond)
		}
	}
	ms(&p.FlushMS, w.Flush)
	ms(&p.KeyframeMS, w.Keyframe)
	ms(&p.SilenceMS, w.Silence)
	if w.MaxTracked != 0 {
		p.MaxEntities = uint32(w.MaxTracked)
	}
	return p
}

// chunks reads a reach: zero is the default, negative is none.
func chunks(reach, zero int) int {
	if reach == 0 {
		return zero
	}
	return max(reach, 0)
}

func def[T int | uint32](v *T, zero T) {
	if *v == 0 {
		*v = zero
	}
}

func validName(name string) bool {
	return name != "" && len(name) <= wire.MaxName && utf8.ValidString(name)
}

// authorityFrom reports whether an authority may come from an address. What is no address of the Internet is a carrier within this
// program.
func (c *Config) authorityFrom(from net.Addr) bool {
	if from == nil {
		return false
	}
	at, err := netip.ParseAddrPort(from.String())
	if err != nil {
		return true
	}
	ip := at.Addr().Unmap()
	if len(c.AuthorityFrom) == 0 {
		return ip.IsLoopback()
	}
	return slices.ContainsFunc(c.AuthorityFrom, func(p netip.Prefix) bool { return p.Contains(ip) })
}
