package wire

import (
	"encoding/binary"
	"math"

	"github.com/throng-dev/throng/internal/grid"
)

// Hello is the first message of a session.
type Hello struct {
	MinVersion, MaxVersion uint8
	World                  string // level name
	Agent                  string // library and version, for logs
}

// Append writes the message.
func (m *Hello) Append(b []byte) []byte {
	return appendText(appendText(append(b, MsgHello, m.MinVersion, m.MaxVersion), m.World), m.Agent)
}

// ParseHello reads the body of a MsgHello.
func ParseHello(b []byte) (m Hello, err error) {
	r := cursor{b: b}
	m = Hello{MinVersion: r.u8(), MaxVersion: r.u8(), World: r.text(MaxName), Agent: r.text(MaxName)}
	return m, r.err()
}

// Profile is what a relay decides for a world (B-074). Durations are in ms.
type Profile struct {
	ChunkSize     float64
	Reach         uint8 // presence, chunks
	PropertyReach uint8 // properties, chunks; at most Reach
	MaxRate       uint8 // replication ticks a second
	Flags         uint8
	FlushMS       uint16
	KeyframeMS    uint16 // 0: off
	SilenceMS     uint16
	MaxEntities   uint32
	Decay         uint8 // how motion is thinned with distance
}

// How motion is thinned with distance (B-071): an observer gets all of it, half as much with each ring from the second on, or so
// many hundredths in the farthest ring and the more the nearer.
const (
	DecayNone = iota
	DecayExponential
	DecayLinear50
	DecayLinear25
	DecayLinear10
	DecayLinear5
)

// Flags of a Profile.
const (
	ProfileRetain = 1 << iota
	ProfileFlat
	ProfileObserve // Trust observe
	ProfileStrict  // Trust strict
	ProfileNoProperties
	ProfileNoProxies
	ProfilePark // a grant to somebody who is not in the world waits for it
)

// Welcome answers Hello.
type Welcome struct {
	Version   uint8
	Epoch     uint64 // of the relay: all handles and versions of an older one are void
	Start     uint32 // counts the starts of the relay
	World     uint8  // epoch of the session in this world
	Flush     uint32
	TimeMS    uint32
	Player    PlayerID
	Eligible  bool // may become host
	Authority bool // is a trusted server
	Host      PlayerID
	HostTerm  Count
	Profile   Profile
}

// Append writes the message.
func (m *Welcome) Append(b []byte) []byte {
	b = append(b, MsgWelcome, m.Version)
	b = binary.LittleEndian.AppendUint64(b, m.Epoch)
	b = binary.LittleEndian.AppendUint32(b, m.Start)
	b = append(b, m.World)
	b = binary.LittleEndian.AppendUint32(b, m.Flush)
	b = binary.LittleEndian.AppendUint32(b, m.TimeMS)
	b = append(b, m.Player[:]...)
	b = append(b, boolByte(m.Eligible)|boolByte(m.Authority)<<1)
	b = appendCount(appendOwner(b, m.Host), m.HostTerm)
	p := &m.Profile
	b = binary.LittleEndian.AppendUint64(b, math.Float64bits(p.ChunkSize))
	b = append(b, p.Reach, p.PropertyReach, p.MaxRate, p.Flags)
	b = binary.LittleEndian.AppendUint16(b, p.FlushMS)
	b = binary.LittleEndian.AppendUint16(b, p.KeyframeMS)
	b = binary.LittleEndian.AppendUint16(b, p.SilenceMS)
	return append(binary.LittleEndian.AppendUint32(b, p.MaxEntities), p.Decay)
}

// ParseWelcome reads the body of a MsgWelcome.
func ParseWelcome(b []byte) (m Welcome, err error) {
	r := cursor{b: b}
	m = Welcome{Version: r.u8(), Epoch: r.u64(), Start: r.u32(), World: r.u8(), Flush: r.u32(), TimeMS: r.u32(), Player: r.player()}
	flags := r.u8()
	m.Eligible, m.Authority, m.Host, m.HostTerm = flags&1 != 0, flags&2 != 0, r.owner(), r.count()
	m.Profile = Profile{ChunkSize: math.Float64frombits(r.u64()), Reach: r.u8(), PropertyReach: r.u8(), MaxRate: r.u8(), Flags: r.u8(),
		FlushMS: r.u16(), KeyframeMS: r.u16(), SilenceMS: r.u16(), MaxEntities: r.u32(), Decay: r.u8()}
	if p := &m.Profile; !(p.ChunkSize > 0) || math.IsInf(p.ChunkSize, 1) || p.MaxRate == 0 || p.PropertyReach > p.Reach {
		return m, ErrMalformed
	}
	return m, r.err()
}

// AppendTravel writes a MsgTravel: the name of the level that a session goes on to.
func AppendTravel(b []byte, world string) []byte { return appendText(append(b, MsgTravel), world) }

// ParseTravel reads the body of a MsgTravel.
func ParseTravel(b []byte) (world string, err error) {
	r := cursor{b: b}
	world = r.text(MaxName)
	return world, r.err()
}

// Refuse ends a session, or in a MsgTravelRefused says why it stays where it is.
type Refuse struct {
	Code uint16
	Text string
}

// Append writes the message.
func (m *Refuse) Append(b []byte) []byte { return m.append(append(b, MsgRefuse)) }

// AppendTravel writes a MsgTravelRefused.
func (m *Refuse) AppendTravel(b []byte) []byte { return m.append(append(b, MsgTravelRefused)) }

func (m *Refuse) append(b []byte) []byte {
	return appendText(binary.LittleEndian.AppendUint16(b, m.Code), m.Text[:min(len(m.Text), MaxText)])
}

// ParseRefuse reads the body of a MsgRefuse or a MsgTravelRefused.
func ParseRefuse(b []byte) (m Refuse, err error) {
	r := cursor{b: b}
	m = Refuse{Code: r.u16(), Text: r.text(MaxText)}
	return m, r.err()
}

// Host names the host of a world; the zero player says that there is none.
type Host struct {
	Player PlayerID
	Term   Count
}

// Append writes the message.
func (m *Host) Append(b []byte) []byte {
	return appendCount(appendOwner(append(b, MsgHost), m.Player), m.Term)
}

// ParseHost reads the body of a MsgHost.
func ParseHost(b []byte) (m Host, err error) {
	r := cursor{b: b}
	m = Host{Player: r.owner(), Term: r.count()}
	return m, r.err()
}

// Player says that someone is in the world, or has left it.
type Player struct {
	ID        PlayerID
	Present   bool
	Eligible  bool
	Authority bool
}

// MaxPlayers is how many players one message names.
const MaxPlayers = 200

// AppendPlayers writes a MsgPlayer: who is there, or what changed, in order. At most MaxPlayers of list are written; the rest
// is returned for the next message.
func AppendPlayers(b []byte, list []Player) (_ []byte, rest []Player) {
	n := min(len(list), MaxPlayers)
	b = binary.AppendUvarint(append(b, MsgPlayer), uint64(n))
	for _, p := range list[:n] {
		b = append(append(b, p.ID[:]...), boolByte(p.Present)|boolByte(p.Eligible)<<1|boolByte(p.Authority)<<2)
	}
	return b, list[n:]
}

// ParsePlayers reads the body of a MsgPlayer and calls f for each player named, or for none if it is malformed.
func ParsePlayers(b []byte, f func(Player)) error {
	r := cursor{b: b}
	n := int(r.uv(MaxPlayers))
	if r.bad || n*(16+1) > len(r.b) { // before anything is told: a message counts whole or not at all
		return ErrMalformed
	}
	for range n {
		p := Player{ID: r.player()}
		flags := r.u8()
		p.Present, p.Eligible, p.Authority = flags&1 != 0, flags&2 != 0, flags&4 != 0
		f(p)
	}
	return nil
}

// AppendView writes a MsgView: the chunks that a session looks from. follow means its avatar instead.
func AppendView(b []byte, follow bool, views []grid.Chunk) []byte {
	b = append(b, MsgView, boolByte(follow), byte(len(views)))
	for _, v := range views {
		b = AppendAbsoluteChunk(b, v)
	}
	return b
}

// ParseView reads the body of a MsgView into views.
func ParseView(b []byte, views []grid.Chunk) (follow bool, _ []grid.Chunk, err error) {
	r := cursor{b: b}
	follow = r.u8() != 0
	n := int(r.u8())
	if n > MaxViews {
		return false, nil, ErrMalformed
	}
	views = views[:0]
	for range n {
		views = append(views, r.chunk())
	}
	return follow, views, r.err()
}

func boolByte(v bool) byte {
	if v {
		return 1
	}
	return 0
}
