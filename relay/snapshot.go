package relay

import (
	"bytes"
	"cmp"
	"slices"
	"time"

	"github.com/throng-dev/throng/internal/table"
	"github.com/throng-dev/throng/internal/wire"
)

// SnapshotEntities is how many entities of one world a Snapshot holds at most: the loop stands still while it copies.
const SnapshotEntities = 4096

// Snapshot is what a relay holds at one moment, copied: for inspectors. It shows all, owner fields too, so it is for the
// operator's eyes.
type Snapshot struct {
	At     time.Time
	Worlds []WorldState // by level, then realm
}

// WorldState is one world.
type WorldState struct {
	Level     string
	Realm     [16]byte
	Flush     uint32   // number of the newest flush
	Host      [16]byte // player; zero: none
	ChunkSize float64
	Reach     int // chunks
	Sessions  []SessionState
	Classes   []ClassState
	Entities  []EntityState // by handle, at most SnapshotEntities
	Total     int           // entities there are
}

// SessionState is one session of a world.
type SessionState struct {
	Player   [16]byte
	Views    []Chunk // that it looks from
	Addr     string
	RTT      time.Duration
	Drives   int // entities
	Eligible bool
	Observer bool
	Silent   bool // nothing came for longer than World.Silence
}

// ClassState is the layout of a class that an entity of the snapshot has.
type ClassState struct {
	Name  string
	ID    uint32
	Hash  uint64
	Slots []SlotState
}

// SlotState describes one slot of a class. Name and type are what the game calls them; the relay decides nothing by them.
type SlotState struct {
	Name, Type string
	Width      int // bytes; 0: the value says its own length
	Owner      bool
	Position   bool
}

// EntityState is one entity.
type EntityState struct {
	NetID       [16]byte
	Class       int // index in WorldState.Classes
	Owner       [16]byte
	Driver      [16]byte // player whose session is the source now; zero: nobody
	Hosted      bool     // the host drives it
	Silent      bool     // its driver's session is silent: nobody is shown it
	Handle      uint32
	Incarnation uint64
	Term        uint64
	Chunk       Chunk
	Global      bool     // without a position: Chunk means nothing
	Values      [][]byte // of each slot, in wire form
}

// Chunk is the index of a cube of space.
type Chunk struct{ X, Y, Z int64 }

// Snapshot copies what all worlds hold. It waits for the relay's goroutine, and keeps it busy for about a millisecond per
// 4,000 entities.
func (s *Server) Snapshot() (Snapshot, error) {
	var snap Snapshot
	err := s.Do(func() {
		snap.At = time.Now()
		for _, w := range s.loop.worlds {
			snap.Worlds = append(snap.Worlds, s.loop.worldState(w))
		}
	})
	slices.SortFunc(snap.Worlds, func(a, b WorldState) int {
		return cmp.Or(cmp.Compare(a.Level, b.Level), bytes.Compare(a.Realm[:], b.Realm[:]))
	})
	return snap, err
}

func (r *loop) worldState(w *world) WorldState {
	p := w.shard.Profile()
	ws := WorldState{Level: w.key.level, Realm: w.key.realm, Flush: w.shard.FlushNumber(), Host: w.shard.Host(),
		ChunkSize: p.ChunkSize, Reach: int(p.Reach), Total: w.shard.Entities()}
	for _, p := range r.peers {
		if p.sess != nil && p.world == w {
			ws.Sessions = append(ws.Sessions, p.state())
		}
	}
	slices.SortFunc(ws.Sessions, func(a, b SessionState) int { return bytes.Compare(a.Player[:], b.Player[:]) })
	classes := map[*table.Class]int{}
	w.shard.Each(func(e *table.Entity) {
		if len(ws.Entities) >= SnapshotEntities {
			return
		}
		i, ok := classes[e.Class]
		if !ok {
			i = len(ws.Classes)
			classes[e.Class] = i
			ws.Classes = append(ws.Classes, classState(e.Class))
		}
		ws.Entities = append(ws.Entities, entityState(e, i, w.shard.Driver(e)))
	})
	return ws
}

func (p *peer) state() SessionState {
	o := p.sess
	srtt, _ := p.conn.RTT()
	s := SessionState{Player: o.Player, RTT: srtt, Drives: o.Owned(), Eligible: o.Eligible, Observer: o.Observer, Silent: o.Silent()}
	if p.addr != nil {
		s.Addr = p.addr.String()
	}
	for _, v := range o.Views() {
		s.Views = append(s.Views, Chunk(v))
	}
	return s
}

func classState(c *table.Class) ClassState {
	k := ClassState{Name: c.Name, ID: c.ID, Hash: c.Hash}
	for _, s := range c.Slots {
		k.Slots = append(k.Slots, SlotState{Name: s.Name, Type: s.Type, Width: int(s.Width),
			Owner: s.Words&wire.WordOwner != 0, Position: s.Words&wire.WordPosition != 0})
	}
	return k
}

func entityState(e *table.Entity, class int, driver wire.PlayerID) EntityState {
	s := EntityState{NetID: e.ID, Class: class, Owner: e.Owner, Driver: driver, Hosted: e.Flags&wire.EntityHosted != 0, Silent: e.Silent,
		Handle: e.Handle, Incarnation: uint64(e.Inc), Term: uint64(e.Term), Chunk: Chunk(e.Place.Chunk), Global: e.Class.Position < 0}
	all := e.AppendValues(nil, e.Class.All)
	for i := range e.Class.Slots {
		n := e.Class.ValueLen(i, all)
		s.Values = append(s.Values, all[:n:n])
		all = all[n:]
	}
	return s
}
