package shard

import (
	"math"
	"time"
)

// Who is served in a pass. A world may have ten thousand sessions of which a handful has something to do, so that nobody is looked at
// without a cause:
//
//	a packet came, something was queued, became dirty, begins or ends for it ─► call ─────────┐
//	its time has come: ack, probe, keep-alive, silence, judgement of its path ─► dues ─► call ─┼─► called ─► FlushTo: serve, once each
//	what changed is near where it looks from (eyes.go) ─► call ────────────────────────────────┤
//	it is not done: it lacks room, or waits for what only the next pass can tell ─► call ──────┘
//	something is for all: the roster, a settled world, what has no position ─► callAll

// never is the due time of who waits for nothing.
const never = time.Duration(math.MaxInt64)

// dues holds the sessions of a world by when their time comes: a heap with four children a node, whose keys lie in it.
type dues []due

type due struct {
	at time.Duration
	o  *Session
}

// first is the earliest time; never if there is none.
func (d dues) first() time.Duration {
	if len(d) == 0 {
		return never
	}
	return d[0].at
}

func (d *dues) add(o *Session, at time.Duration) {
	*d = append(*d, due{})
	d.up(len(*d)-1, due{at, o})
}

func (d *dues) remove(o *Session) {
	i, last := int(o.due), len(*d)-1
	moved := (*d)[last]
	(*d)[last] = due{}
	if *d = (*d)[:last]; i < last {
		d.place(i, moved)
	}
}

// set changes when the time of a session comes.
func (d *dues) set(o *Session, at time.Duration) {
	if i := int(o.due); (*d)[i].at != at {
		d.place(i, due{at, o})
	}
}

// place puts v where i is free.
func (d *dues) place(i int, v due) {
	if i > 0 && v.at < (*d)[(i-1)/4].at {
		d.up(i, v)
		return
	}
	h := *d
	for {
		least, end := 4*i+1, min(4*i+5, len(h))
		if least >= end {
			break
		}
		for k := least + 1; k < end; k++ {
			if h[k].at < h[least].at {
				least = k
			}
		}
		if h[least].at >= v.at {
			break
		}
		h[i] = h[least]
		h[i].o.due = int32(i)
		i = least
	}
	h[i] = v
	v.o.due = int32(i)
}

func (d *dues) up(i int, v due) {
	h := *d
	for i > 0 && v.at < h[(i-1)/4].at {
		h[i] = h[(i-1)/4]
		h[i].o.due = int32(i)
		i = (i - 1) / 4
	}
	h[i] = v
	v.o.due = int32(i)
}

// call says that the next pass must look at the session.
func (o *Session) call() {
	if !o.called {
		o.called = true
		o.shard.called = append(o.shard.called, o)
	}
}

// callAll says that the next pass must look at everybody.
func (s *Shard) callAll() { s.allCalled = true }

// callDue calls those whose time has come.
func (s *Shard) callDue() {
	for s.dues.first() <= s.now {
		o := s.dues[0].o
		o.call()
		s.dues.set(o, never) // until it was served
	}
}

// plan notes when time alone next changes something for the session.
func (o *Session) plan() {
	if !o.open {
		return
	}
	at := never
	if o.closing == nil {
		at = o.silenceDue()
		if !o.silent {
			at = min(at, o.budget.due(o.conn.InFlight()))
		}
		if d, ok := o.conn.Deadline(); ok {
			at = min(at, d)
		}
		if o.listens() {
			at = min(at, o.budget.richAt())
		}
	}
	o.shard.dues.set(o, at)
}

// waits reports whether the session must be looked at in the next pass, whatever happens: it was not sent all it is due, or waits for
// what other sessions or the world do.
func (o *Session) waits() bool {
	v := &o.events
	switch {
	case o.closing != nil:
		return false
	case len(v.waiting)+len(v.early) > 0 || v.state:
		return true
	case !o.ready || o.silent:
		return false
	case o.conn.Holding():
		return true
	}
	return !o.marked || o.skipped != 0 || len(o.intros)+len(o.leaves)+len(o.own)+len(o.marks.list) > 0
}
