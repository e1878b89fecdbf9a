package memnet

import (
	"container/heap"
	"math/rand/v2"
	"time"
)

// Sched runs functions in order of time, those of one instant in the order they were planned. The zero value starts at
// time 0. It belongs to one goroutine; the functions it runs may plan more.
type Sched struct {
	now time.Duration
	seq uint64
	all events
}

type event struct {
	at  time.Duration
	seq uint64
	f   func()
}

// Now is the time of the function that runs, or up to which Run ran.
func (s *Sched) Now() time.Duration { return s.now }

// After plans f for d from now.
func (s *Sched) After(d time.Duration, f func()) { s.At(s.now+d, f) }

// At plans f for a time; one that is past runs as soon as possible.
func (s *Sched) At(at time.Duration, f func()) {
	s.seq++
	heap.Push(&s.all, event{max(at, s.now), s.seq, f})
}

// Next is when the next function is planned for.
func (s *Sched) Next() (at time.Duration, ok bool) {
	if len(s.all) == 0 {
		return 0, false
	}
	return s.all[0].at, true
}

// Step runs the next function, and reports false if there is none.
func (s *Sched) Step() bool {
	if len(s.all) == 0 {
		return false
	}
	e := heap.Pop(&s.all).(event)
	s.now = e.at
	e.f()
	return true
}

// Run runs all that is planned up to and at until, then stands there.
func (s *Sched) Run(until time.Duration) {
	for len(s.all) > 0 && s.all[0].at <= until {
		s.Step()
	}
	s.now = max(s.now, until)
}

// Carry sends a copy of payload down p and plans arrive for each time it comes out; the bytes are arrive's to keep.
func (s *Sched) Carry(p *Pipe, rng *rand.Rand, payload []byte, arrive func(payload []byte)) {
	var room [2]time.Duration
	for _, at := range p.Plan(rng, s.now, len(payload), room[:0]) {
		b := append([]byte(nil), payload...)
		s.At(at, func() { arrive(b) })
	}
}

// events is a heap by time, then by order.
type events []event

func (q events) Len() int { return len(q) }
func (q events) Less(i, j int) bool {
	return q[i].at < q[j].at || q[i].at == q[j].at && q[i].seq < q[j].seq
}
func (q events) Swap(i, j int) { q[i], q[j] = q[j], q[i] }
func (q *events) Push(e any)   { *q = append(*q, e.(event)) }
func (q *events) Pop() any {
	last := len(*q) - 1
	e := (*q)[last]
	(*q)[last] = event{}
	*q = (*q)[:last]
	return e
}
