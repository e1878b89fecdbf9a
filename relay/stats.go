package relay

import (
	"maps"

	"github.com/throng-dev/throng/internal/shard"
	"github.com/throng-dev/throng/internal/wire"
)

// Stats say how a relay is. Levels are of now, all else counts since Serve.
type Stats struct {
	Sessions, Worlds, Entities int // levels
	Joined                     uint64
	Traveled                   uint64 // from one world to another on the same session
	OldEpoch                   uint64 // frames and messages of a world that their session had left

	// Payloads between sessions and the relay; what the carrier adds is in its own stats.
	In, Out, BytesIn, BytesOut uint64

	// Refused counts the sessions that the relay refused or ended, by the name of the reason: replaced, kicked, version,
	// world, rights, timeout, claims, behind, full, protocol, limit, shutdown. Reasons that did not occur are missing.
	Refused map[string]uint64

	// Replication is the sum over all worlds, those that ended included.
	Replication Replication
}

// Replication counts what worlds did.
type Replication struct {
	Flushes, Packets, Bytes       uint64 // packets and payload bytes built
	Deltas, Writes                uint64 // records received, slots accepted of them
	Segments, SegmentRecords      uint64 // built, once for all observers
	SegmentCopies, RecordCopies   uint64 // copied into packets
	CatchUps                      uint64 // of the segments, blobs built for those who lacked the same
	Mends                         uint64 // sessions told between two flushes what they lost
	Held, Late                    uint64 // chunks that an observer's budget held back; of these, those that waited longer than MaxStale
	OwnRecords, Intros, Departs   uint64 // for one observer each
	Lost, ListsGone               uint64 // packets reported lost; of these, after it was forgotten what they carried
	Malformed, Stale, Refused     uint64 // frames that do not parse, records of old terms, slots or messages refused
	NoHandle                      uint64 // records of entities that are gone
	Overtaken, Overridden         uint64 // slots that a newer write, or a later override, holds
	NotDriver, NotHost, OwnerOnly uint64 // of Refused: by who does not drive, is not host; of what only its owner writes
	Absent, Floods                uint64 // of Refused: grants to who is not there, requests beyond what a session may ask
	Tolerated                     uint64 // let pass by worlds that are not strict
	Transfers, Forced, HostChange uint64 // of the drive; of these, without the old driver's answer; of the host

	Events, EventBytes           uint64 // taken from their senders, and their payload
	EventsSent, EventsOnce       uint64 // handed to recipients: on their streams, and in packets
	EventsHeld                   uint64 // came before what they stand behind, and waited
	EventsGone, EventsNobody     uint64 // reached nobody: about what is gone; to an owner, host, player or authority that is not there
	EventsRefused, EventsFlooded uint64 // by those who may not; above the limits of a session
	EventsOld, EventsDropped     uint64 // of a world that their sender left; sent once, and of no use any more
	EventsMalformed              uint64
}

func (r *Replication) add(s shard.Stats) {
	r.Flushes += s.Flushes
	r.Packets += s.Packets
	r.Bytes += s.Bytes
	r.Deltas += s.Deltas
	r.Writes += s.Writes
	r.Segments += s.Segments
	r.SegmentRecords += s.SegmentRecords
	r.SegmentCopies += s.SegmentCopies
	r.RecordCopies += s.RecordCopies
	r.CatchUps += s.CatchUps
	r.Mends += s.Mends
	r.Held += s.Held
	r.Late += s.Late
	r.OwnRecords += s.OwnRecords
	r.Intros += s.Intros
	r.Departs += s.Departs
	r.Lost += s.Lost
	r.ListsGone += s.ListsGone
	r.Malformed += s.Malformed
	r.Stale += s.Stale
	r.Refused += s.Refused
	r.NoHandle += s.NoHandle
	r.Overtaken += s.Overtaken
	r.Overridden += s.Overridden
	r.NotDriver += s.NotDriver
	r.NotHost += s.NotHost
	r.OwnerOnly += s.OwnerOnly
	r.Absent += s.Absent
	r.Floods += s.Floods
	r.Tolerated += s.Tolerated
	r.Transfers += s.Transfers
	r.Forced += s.Forced
	r.HostChange += s.HostChanges
	r.Events += s.Events
	r.EventBytes += s.EventBytes
	r.EventsSent += s.EventsSent
	r.EventsOnce += s.EventsOnce
	r.EventsHeld += s.EventsHeld
	r.EventsGone += s.EventsGone
	r.EventsNobody += s.EventsNobody
	r.EventsRefused += s.EventsRefused
	r.EventsFlooded += s.EventsFlooded
	r.EventsOld += s.EventsOld
	r.EventsDropped += s.EventsDropped
	r.EventsMalformed += s.EventsMalformed
}

// Stats returns a copy that is at most a second old.
func (s *Server) Stats() Stats {
	st := *s.stats.Load()
	st.Refused = maps.Clone(st.Refused)
	return st
}

// counts is what the loop counts itself.
type counts struct {
	sessions                   int
	joined, traveled, oldEpoch uint64
	in, out, bytesIn, bytesOut uint64
	refused                    map[wire.CloseCode]uint64
	ended                      Replication // of worlds that are gone
}

// publish makes the counters visible to other goroutines.
func (r *loop) publish() {
	c := &r.counts
	st := &Stats{Sessions: c.sessions, Worlds: len(r.worlds), Joined: c.joined, Traveled: c.traveled, OldEpoch: c.oldEpoch,
		In: c.in, Out: c.out, BytesIn: c.bytesIn, BytesOut: c.bytesOut,
		Refused: make(map[string]uint64, len(c.refused)), Replication: c.ended}
	for code, n := range c.refused {
		st.Refused[code.String()] = n
	}
	for _, w := range r.worlds {
		st.Entities += w.shard.Entities()
		st.Replication.add(w.shard.Stats())
	}
	r.server.stats.Store(st)
}
