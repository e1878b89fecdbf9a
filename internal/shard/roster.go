package shard

import (
	"time"

	"github.com/throng-dev/throng/internal/session"
	"github.com/throng-dev/throng/internal/wire"
)

// roster is who came and left, told to all. A crowd that arrives together makes N² of it, so nothing is made or kept for one session:
//
//	Join, Leave ─► news ─► log of messages, each built once ─► every session from where it is, as fast as it acks
//	                                                       └► who is there: a list for those that come, built anew when the log has grown
//
// The reliable window of a session copies what is queued: it is given a little at a time, and so that half of what may leave at once
// stays for what happens in the world.
type roster struct {
	news   []wire.Player // not in the log yet
	log    [][]byte
	first  uint64 // number of log[0]
	at     time.Duration
	trimAt time.Duration

	list   [][]byte // who was there at number listAt of the log
	listAt uint64
	valid  bool
}

const (
	// rosterBatch is how many players a message of the roster names: about as many as fit a packet.
	rosterBatch = 56
	// rosterRoom is how much may be unacked while more of the roster is queued, in a world of up to crowdedWorld sessions; what waits
	// for thousands at a time is most of a relay's memory, so that they get it in smaller pieces.
	rosterRoom, crowdedRoom = 4 << 10, 1 << 10
	crowdedWorld            = 1024
	// maxRoster bounds the log in messages: who is that far behind cannot follow the world.
	maxRoster = 4096
	// smallWorld is up to how many sessions the list is built anew for everybody who comes.
	smallWorld = 64
)

func (r *roster) add(p wire.Player) { r.news = append(r.news, p) }

func (r *roster) end() uint64 { return r.first + uint64(len(r.log)) }

// write puts the news into the log.
func (r *roster) write() {
	for rest := r.news; len(rest) > 0; {
		n := min(len(rest), rosterBatch)
		m, _ := wire.AppendPlayers(nil, rest[:n])
		r.log, rest = append(r.log, m), rest[n:]
	}
	r.news = r.news[:0]
}

// trimEvery is how often the log is looked at for what everybody has been told.
const trimEvery = 100 * time.Millisecond

// rosterDue is when everybody is told who entered and left since the last time: at once in a small world, half a millisecond
// later for each session. A crowd that arrives together must not cost its square in datagrams.
func (s *Shard) rosterDue() time.Duration {
	return s.roster.at + time.Duration(len(s.sessions))*time.Millisecond/2
}

func (s *Shard) tellRoster() {
	r := &s.roster
	if len(r.news) > 0 && s.now >= s.rosterDue() {
		r.at = s.now
		r.write()
		s.callAll()
	}
	if len(r.log) > 0 && (s.now >= r.trimAt || len(r.log) > maxRoster) {
		r.trimAt = s.now + trimEvery
		s.trimRoster()
	}
}

// trimRoster drops what everybody has been told.
func (s *Shard) trimRoster() {
	r := &s.roster
	if r.end()-r.listAt > uint64(len(r.list)) {
		r.list, r.valid = nil, false
	}
	least := r.end()
	if r.valid {
		least = r.listAt
	}
	for _, o := range s.sessions {
		if o.welcomed && o.closing == nil {
			least = min(least, o.upTo)
		}
	}
	if bound := r.end() - min(r.end(), maxRoster); least < bound {
		for _, o := range s.sessions {
			if o.welcomed && o.upTo < bound {
				o.end(session.ErrBackpressure)
			}
		}
		least = bound
		if r.listAt < bound {
			r.list, r.valid = nil, false
		}
	}
	n := int(least - r.first)
	r.first = least
	if r.log = append(r.log[:0], r.log[n:]...); len(r.log) == 0 {
		r.log = nil
	}
}

// whoIsThere is what somebody who comes is told, and from where in the log it goes on. In a large world the list may be of a while ago.
func (s *Shard) whoIsThere() (list [][]byte, from uint64) {
	r := &s.roster
	if !r.valid || len(s.sessions) <= smallWorld {
		if len(r.news) > 0 {
			r.write()
			s.callAll()
		}
		there := make([]wire.Player, 0, len(s.sessions))
		for _, p := range s.sessions {
			there = append(there, wire.Player{ID: p.Player, Present: true, Eligible: p.Eligible, Authority: p.Authority})
		}
		r.list, r.listAt, r.valid = nil, r.end(), true
		for len(there) > 0 {
			n := min(len(there), rosterBatch)
			m, _ := wire.AppendPlayers(nil, there[:n])
			r.list, there = append(r.list, m), there[n:]
		}
	}
	return r.list, r.listAt
}

// listens reports whether there is more of the roster for the session, and room for it.
func (o *Session) listens() bool {
	s := o.shard
	if !o.open || !o.welcomed || o.closing != nil || len(o.there) == 0 && o.upTo == s.roster.end() {
		return false
	}
	room := rosterRoom
	if len(s.sessions) > crowdedWorld {
		room = crowdedRoom
	}
	return o.unacked() < room
}

// hear queues what the session has not been told of the roster, as fast as it is acked and its budget bears.
func (o *Session) hear() {
	if !o.listens() {
		return
	}
	r := &o.shard.roster
	for o.budget.refill(o.shard.now); o.listens() && o.budget.rich(); {
		if len(o.there) > 0 {
			o.queue(o.there[0])
			if o.there = o.there[1:]; len(o.there) == 0 {
				o.there = nil
			}
			continue
		}
		o.queue(r.log[o.upTo-r.first])
		o.upTo++
	}
}
