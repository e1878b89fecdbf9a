package motion

// Track is one moving thing as an observer knows it. The zero Track has no samples.
type Track[V any] struct {
	Ring[V]
	Pace Pace
	pose V       // what was drawn last
	at   float64 // of what time, in ms
	has  bool    // pose, at
	cut  bool    // the bit that came with the newest sample
	told bool    // it did come with one
}

// Arrival is what is known of a sample beside its value.
type Arrival struct {
	Now   float64 // when it came
	At    int64   // when it was captured
	Timed bool    // false: At is not known
	Cut   bool    // the bit that turns over at jumps
	Still bool    // it stays so
	Kept  bool    // it came before Now, nobody knows when
}

// Push takes a sample. far says whether the way from the newest sample to this one, taken in that many ms, is too far to be one. It reports
// whether the sample counts.
func (t *Track[V]) Push(a Arrival, v V, far func(from, to *V, ms float64) bool, stats *Stats) bool {
	s := Sample[V]{At: a.At, Still: a.Still, V: v}
	if !a.Timed {
		if s.Still = true; t.n == 0 {
			s.At = int64(a.Now) - apart // before all that may follow
		} else if s.At = int64(a.Now); s.At <= t.Newest().At {
			s.At = t.Newest().At + 1
		}
	}
	if t.n > 0 && s.At <= t.Newest().At {
		if t.Newest().At-s.At < apart {
			stats.Old++
			return false
		}
		t.Reset()
		stats.Resets++
	}
	stats.Samples++
	if a.Timed && t.told && t.n > 0 {
		s.Cut = a.Cut != t.cut
	}
	gap, rested := t.bridge(&s)
	t.Ring.Push(s, t.at)
	if last := t.Newest(); t.n > 1 {
		// Both where they lie now: what a function value is given a pointer to must not be on the stack.
		if !last.Cut && far != nil && far(&t.Ring.At(int(t.n)-2).V, &last.V, gap) {
			last.Cut = true
		}
		if last.Cut {
			stats.Jumps++
		}
		if rested || last.Cut {
			gap = 0 // this says nothing about how often samples come
		}
	}
	if a.Timed {
		if !a.Kept {
			t.Pace.Came(a.Now-float64(s.At), gap)
		} else if t.Pace.lates == 0 {
			t.Pace.Came(0, gap)
		}
		t.cut, t.told = a.Cut, true
	}
	return true
}

// bridge puts in what is known of the time between the newest sample and the next, and returns how long that is then, and whether the
// thing stood until then.
func (t *Track[V]) bridge(s *Sample[V]) (gap float64, rested bool) {
	if t.n == 0 {
		return 0, false
	}
	last := t.Newest()
	gap = float64(s.At - last.At)
	switch {
	case last.Still:
		// It stood until an interval ago: the way begins there.
		if interval := t.Pace.Interval(); gap > interval {
			t.Ring.Push(Sample[V]{At: s.At - int64(interval), V: last.V}, t.at)
			gap = interval
		}
		return gap, true
	case t.has && t.at > float64(last.At) && t.at < float64(s.At) && !s.Cut:
		// It was drawn beyond the newest sample: it goes on from where it was drawn.
		if at := int64(t.at); at > last.At && at < s.At {
			t.Ring.Push(Sample[V]{At: at, V: t.pose}, t.at)
		}
	}
	return gap, false
}

// Reset forgets all samples, as when the relay's clock begins anew.
func (t *Track[V]) Reset() {
	t.Ring.Clear()
	t.has, t.told = false, false
}

// Drawn is what Draw says.
type Drawn struct {
	News bool // Pose was set to something it may not have been before
	More bool // there will be news although no sample comes
}

// Draw finds how the thing was at now minus the delay of its pace, dt ms after the last Draw, and has blend make the pose between two samples:
// from at t = 0, to at 1, beyond to by as much as t is above 1.
func (t *Track[V]) Draw(now, dt float64, blend func(pose, from, to *V, t float64), stats *Stats) (d Drawn) {
	if t.n == 0 {
		return d
	}
	at := now - t.Pace.Pass(dt)
	if t.has && at < t.at && t.at-at < apart {
		at = t.at // never back
	}
	// From the newest: what is drawn lies a few samples behind it.
	i := int(t.n) - 1
	for i > 0 && float64(t.At(i).At) > at {
		i--
	}
	from := t.At(i)
	switch {
	case i < int(t.n)-1 && float64(from.At) <= at:
		to := t.At(i + 1)
		if to.Cut {
			t.pose = from.V
		} else {
			blend(&t.pose, &from.V, &to.V, (at-float64(from.At))/float64(to.At-from.At))
		}
		d.More = true
	case float64(from.At) > at || from.Still || i == 0 || from.Cut:
		t.pose = from.V // before the oldest, or at rest
		d.More = float64(from.At) > at
	default:
		before := t.At(i - 1)
		beyond := min(at-float64(from.At), MaxExtrapolated)
		blend(&t.pose, &before.V, &from.V, 1+beyond/float64(from.At-before.At))
		if beyond > 0 {
			stats.Extrapolated++
		}
		d.More = beyond < MaxExtrapolated
	}
	t.at, t.has, d.News = at, true, true
	return d
}

// Pose is what was drawn last.
func (t *Track[V]) Pose() *V { return &t.pose }

// DrawnAt is the time of what was drawn last; false if nothing was.
func (t *Track[V]) DrawnAt() (ms float64, ok bool) { return t.at, t.has }
