package load

import (
	"time"

	"github.com/throng-dev/throng"
)

// All clients are in one process and share its clock, so nothing about the measurement travels on the wire: the driver of an
// entity notes which values left when, an observer looks up when the values that it holds were written.

const (
	interval = time.Second / Rate
	// staleAfter is how old a version that is held may be and still count as fresh.
	staleAfter = interval + 100*time.Millisecond
)

// version is values that left, with the start of the Tick that wrote them.
type version struct {
	at time.Duration
	State
}

// stay is a time that an entity spends in one cell.
type stay struct {
	from time.Duration
	cell Cell
}

// track is the life of one entity as its drivers know it. Version v of it has Anim v, modulo 256.
type track struct {
	// What every change at every observer asks stands in front, in one line of the cache.
	recent [kept]version // version v, while it is among the newest, at v % kept
	count  int32         // versions
	first  int32         // that was to come next when the window began

	id       throng.NetID
	owner    throng.PlayerID
	versions []version
	stays    []stay
	born     time.Duration
	gone     bool
	resting  bool // its driver changes nothing any more, for now
}

// kept is how many of its newest versions a track has twice: an observer is that much behind at most, if all goes well.
const kept = 3

// add appends a version.
func (t *track) add(v version) {
	t.recent[t.count%kept] = v
	t.versions = append(t.versions, v)
	t.count++
}

// newest is the number of the newest version.
func (t *track) newest() int { return int(t.count) - 1 }

func (t *track) last() *version { return t.version(t.newest()) }

// version is one of those that were written.
func (t *track) version(v int) *version {
	if v+kept >= int(t.count) {
		return &t.recent[v%kept]
	}
	return &t.versions[v]
}

func (t *track) cell() Cell { return t.stays[len(t.stays)-1].cell }

// held is the version that somebody holds: the newest whose place is that of s, not newer than Anim says. Loss can leave a
// receiver with the place of one version and the rest of another; then the older one counts. It is −1 for values that were
// never sent.
func (t *track) held(s State) int {
	n := t.newest()
	v := n - int(uint8(n)-s.Anim)
	if v < 0 {
		return -1
	}
	of := t.version(v)
	switch {
	case of.State == s:
		return v
	case of.Anim != s.Anim || of.Yaw != s.Yaw:
		return -1
	}
	for ; v >= 0; v-- {
		if t.versions[v].X == s.X && t.versions[v].Y == s.Y {
			return v
		}
	}
	return -1
}

// at is the cell at a moment, with when it was entered.
func (t *track) at(when time.Duration) *stay {
	i := len(t.stays) - 1
	for i > 0 && t.stays[i].from > when {
		i--
	}
	return &t.stays[i]
}

// reachSince is since when two entities have been in reach of one another at a moment; false if they are not.
func reachSince(a, b *track, now time.Duration) (since time.Duration, ok bool) {
	at := now
	for {
		sa, sb := a.at(at), b.at(at)
		if sa.cell.Far(sb.cell) > Reach {
			return since, ok
		}
		since, ok = max(sa.from, sb.from), true
		if at = since - 1; at < 0 || at < a.stays[0].from || at < b.stays[0].from {
			return since, true
		}
	}
}
