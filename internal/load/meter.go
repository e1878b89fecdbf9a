package load

import (
	"math/rand/v2"
	"slices"
	"sort"
	"time"

	"github.com/throng-dev/throng"
)

// samplesPerSecond is how many random moments a second freshness is judged at.
const samplesPerSecond = 1000

// meter is what is known of all clients: which entity was where with which values, and what observers have made of it. It
// belongs to the goroutine that ticks all clients.
//
//	drivers   ─► sent, moved ─► tracks, cells
//	observers ─► spawned, changed, departed ─► pairs ─► ticked ─► histograms
//	time      ─► sample ─► freshness, ages
type meter struct {
	start  time.Time
	rng    *rand.Rand
	tracks []*track
	byID   map[throng.NetID]*track
	cells  map[Cell][]*track
	seats  []*seat
	sinks  sinks

	counting bool // inside the window
	from, to time.Duration
	due      time.Duration // of the next sample
	bits     []uint64      // scratch of delivered

	updates                      uint64
	samples, fresh               uint64
	nearSamples, nearFresh       uint64 // of the nearest ones
	ranked                       bool   // these are looked at
	latency, age, baseline       histogram
	duplicates, strange, unheard uint64 // second OnSpawn; values nobody sent; entities nobody spawned
}

func newMeter(seed uint64) *meter {
	return &meter{start: time.Now(), rng: rand.New(rand.NewPCG(seed, 1)), byID: map[throng.NetID]*track{}, cells: map[Cell][]*track{}}
}

func (m *meter) now() time.Duration { return time.Since(m.start) }

// seat is the measuring side of one client.
type seat struct {
	m      *meter
	index  int
	self   throng.PlayerID
	avatar *track
	pairs  map[*track]*pair
	heard  []time.Duration // when the values of this Tick's changes were written

	updates, events uint64
}

// pair is what one client knows of one entity of others.
type pair struct {
	t     *track // nil: no client of this process spawned it
	held  bool
	state State
	run   span   // versions since the window began that were held, the last ones without a gap
	runs  []span // those before
}

// span is versions in a row.
type span struct{ from, to int32 } // to is behind the last

func (m *meter) seat() *seat {
	s := &seat{m: m, index: len(m.seats), pairs: map[*track]*pair{}}
	m.seats = append(m.seats, s)
	return s
}

// born begins the track of an entity whose driver spawns it now.
func (m *meter) born(id throng.NetID, owner throng.PlayerID, s State, now time.Duration) *track {
	t := &track{id: id, owner: owner, born: now, versions: make([]version, 0, 384), stays: []stay{{now, s.Cell()}}}
	t.add(version{now, s})
	m.tracks = append(m.tracks, t)
	m.byID[id] = t
	m.cells[t.cell()] = append(m.cells[t.cell()], t)
	return t
}

// sent notes that the driver sends s: the Tick that wrote it began at now.
func (m *meter) sent(t *track, s State, now time.Duration) {
	t.add(version{now, s})
	t.resting = false
	was, is := t.cell(), s.Cell()
	if was == is {
		return
	}
	t.stays = append(t.stays, stay{now, is})
	m.leave(t, was)
	m.cells[is] = append(m.cells[is], t)
}

func (m *meter) leave(t *track, c Cell) {
	in := m.cells[c]
	i := slices.Index(in, t)
	in[i] = in[len(in)-1]
	m.cells[c] = in[:len(in)-1]
}

// ended takes an entity out of the world.
func (m *meter) ended(t *track) {
	if !t.gone {
		t.gone = true
		m.leave(t, t.cell())
	}
}

// spawned is OnSpawn at an observer. It returns nil for an entity that no client of this process spawned.
func (s *seat) spawned(id throng.NetID, v State) *pair {
	t := s.m.byID[id]
	s.events++
	if t == nil {
		s.m.unheard++
		return nil
	}
	p := s.pairs[t]
	if p == nil {
		p = &pair{t: t}
		s.pairs[t] = p
	}
	if p.held {
		s.m.duplicates++
	}
	p.held, p.state = true, v
	p.mark(s.m, t.held(v))
	if now := s.m.now(); s.m.counting && s.avatar != nil {
		if since, ok := reachSince(s.avatar, t, now); ok && since >= s.m.from {
			s.m.baseline.add(now - since)
		}
	}
	return p
}

// changed is OnRep at an observer.
func (s *seat) changed(p *pair, v State) {
	m, t := s.m, p.t
	s.events++
	held := t.held(v)
	p.mark(m, held)
	fresh := p.state.Anim != v.Anim
	p.state = v
	if held < 0 {
		m.strange++
		return
	}
	if !m.counting {
		return
	}
	m.updates++
	s.updates++
	if fresh { // a place that was lost comes behind the rest of its version
		held = t.newest() - int(uint8(t.newest())-v.Anim)
	}
	s.heard = append(s.heard, t.version(held).at)
}

// mark notes that a version was held.
func (p *pair) mark(m *meter, held int) {
	v := int32(held)
	switch r := &p.run; {
	case m.from == 0 || v < p.t.first || v >= r.from && v < r.to:
	case v == r.to:
		r.to++
	default:
		if r.from < r.to {
			p.runs = append(p.runs, *r)
		}
		*r = span{v, v + 1}
	}
}

// departed is OnDestroy at an observer.
func (p *pair) departed(s *seat) {
	p.held = false
	s.events++
}

// ticked ends a Tick of a client.
func (s *seat) ticked() {
	if len(s.heard) == 0 {
		return
	}
	now := s.m.now()
	for _, at := range s.heard {
		s.m.latency.add(now - at)
	}
	s.heard = s.heard[:0]
}

// begin opens the window.
func (m *meter) begin() {
	m.from = m.now()
	m.due, m.counting = m.from, true
	for _, t := range m.tracks {
		t.first = t.count
	}
	for _, s := range m.seats {
		for _, p := range s.pairs {
			p.run, p.runs = span{}, p.runs[:0]
		}
	}
}

// end closes it. Versions that were written before may still arrive.
func (m *meter) end() {
	m.to = m.now()
	m.sample(m.to)
	m.counting = false
}

// sample judges what clients hold at random moments up to now. The moments are fixed before they come, and what a client holds
// changes in its Tick only: so a moment that passed while nothing could run is judged by what was held then.
func (m *meter) sample(now time.Duration) {
	if !m.counting {
		return
	}
	for m.due <= now {
		m.judge(m.due)
		m.due += time.Duration(m.rng.ExpFloat64() / samplesPerSecond * float64(time.Second))
	}
}

func (m *meter) judge(at time.Duration) {
	s := m.seats[m.rng.IntN(len(m.seats))]
	if s.avatar == nil {
		return
	}
	if age, fresh, ok := s.look(m.near(s.avatar), at); ok {
		m.samples++
		if fresh {
			m.fresh++
		}
		if age >= 0 {
			m.age.add(age)
		}
	}
	if m.ranked && m.rng.IntN(4) == 0 {
		if _, fresh, ok := s.look(m.neighbour(s.avatar), at); ok {
			m.nearSamples++
			if fresh {
				m.nearFresh++
			}
		}
	}
}

// look judges what a client holds of an entity: how old it is, −1 if it holds nothing. It is false if there is nothing to judge.
func (s *seat) look(t *track, at time.Duration) (age time.Duration, fresh, ok bool) {
	if t == nil {
		return 0, false, false
	}
	p := s.pairs[t]
	if p == nil || !p.held {
		// What came within reach just now could not be older than what counts as fresh.
		since, near := reachSince(s.avatar, t, at)
		return -1, false, near && at-since > staleAfter
	}
	v := t.held(p.state)
	if v < 0 {
		return -1, false, true
	}
	age = at - t.version(v).at
	return age, age <= staleAfter || t.resting && v == t.newest(), true
}

// near is a random entity in reach of another, nil if there is none.
func (m *meter) near(a *track) *track {
	c := a.cell()
	n := -1 // a itself
	for dx := int16(-Reach); dx <= Reach; dx++ {
		for dy := int16(-Reach); dy <= Reach; dy++ {
			n += len(m.cells[Cell{c.X + dx, c.Y + dy}])
		}
	}
	if n < 1 {
		return nil
	}
	k := m.rng.IntN(n)
	for dx := int16(-Reach); dx <= Reach; dx++ {
		for dy := int16(-Reach); dy <= Reach; dy++ {
			for _, t := range m.cells[Cell{c.X + dx, c.Y + dy}] {
				if t == a {
					continue
				}
				if k == 0 {
					return t
				}
				k--
			}
		}
	}
	return nil
}

// delivered counts, over all pairs, the versions that were written in the window while the entity was in reach for a whole
// interval before and after, and those of them that the observer held at some time.
func (m *meter) delivered() (held, written uint64) {
	for _, s := range m.seats {
		if s.avatar == nil {
			continue
		}
		for _, t := range m.tracks {
			if t != s.avatar {
				h, w := m.deliveredTo(s, t)
				held, written = held+h, written+w
			}
		}
	}
	return held, written
}

func (m *meter) deliveredTo(s *seat, t *track) (held, written uint64) {
	a := s.avatar
	all := reaches(a, t, m.from, m.to)
	if len(all) == 0 {
		return 0, 0
	}
	got := m.had(s.pairs[t], t)
	for _, in := range all {
		lo := sort.Search(len(t.versions), func(i int) bool { return t.versions[i].at >= in[0]+interval })
		for v := max(lo, int(t.first)); v < len(t.versions) && t.versions[v].at <= in[1]-interval; v++ {
			written++
			k := v - int(t.first)
			held += got[k/64] >> (k % 64) & 1
		}
	}
	return held, written
}

// had is a bit for each version since the window began: whether the pair held it. It is valid until the next call.
func (m *meter) had(p *pair, t *track) []uint64 {
	n := int(t.count-t.first)/64 + 1
	m.bits = slices.Grow(m.bits[:0], n)[:n]
	clear(m.bits)
	if p == nil {
		return m.bits
	}
	for _, r := range append(p.runs, p.run) {
		for v := r.from - t.first; v < r.to-t.first; v++ {
			m.bits[v/64] |= 1 << (v % 64)
		}
	}
	return m.bits
}

// reaches are the times within from…to that two entities are in reach of one another.
func reaches(a, b *track, from, to time.Duration) (out [][2]time.Duration) {
	i, j := 0, 0
	for i < len(a.stays) && j < len(b.stays) {
		begin := max(a.stays[i].from, b.stays[j].from, from)
		endA, endB := to, to
		if i+1 < len(a.stays) {
			endA = a.stays[i+1].from
		}
		if j+1 < len(b.stays) {
			endB = b.stays[j+1].from
		}
		end := min(endA, endB, to)
		if begin < end && a.stays[i].cell.Far(b.stays[j].cell) <= Reach {
			if n := len(out); n > 0 && out[n-1][1] == begin {
				out[n-1][1] = end
			} else {
				out = append(out, [2]time.Duration{begin, end})
			}
		}
		if endA <= endB {
			i++
		} else {
			j++
		}
	}
	return out
}
