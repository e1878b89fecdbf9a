package motion

const (
	keptLate = 32
	keptGaps = 8
	lateUnit = 4 // ms
)

// Pace decides how long ago a thing is drawn: long enough that the samples around then have come, no longer.
//
//	delay = max(100 ms, 2 × interval + max(jitter, middle), interval + late)
//
// interval is the time between samples; late is what 95 % of them come later than they were captured, middle what half of them do, and
// jitter what 95 % of them vary by around that. The first makes up for one lost sample, the last is for those that vary much. The zero
// Pace is of a thing of which nothing came.
type Pace struct {
	late          [keptLate]uint8 // how late, in lateUnit
	gaps          [keptGaps]uint16
	lates, spaces uint8 // how many were seen, up to twice the length
	delay, target float32
}

// Came takes a sample that came late ms after it was captured. gap is the time since the one before, 0 if that says nothing about
// how often they come.
func (p *Pace) Came(late, gap float64) {
	p.late[p.lates%keptLate] = uint8(max(0, min(late/lateUnit, 255)))
	if p.lates++; p.lates == 2*keptLate {
		p.lates = keptLate
	}
	if gap > 0 {
		p.gaps[p.spaces%keptGaps] = uint16(min(gap, 1<<16-1))
		if p.spaces++; p.spaces == 2*keptGaps {
			p.spaces = keptGaps
		}
	}
	if p.lates < 8 || p.lates%16 == 8 {
		p.aim()
	}
}

// Interval is the time between two samples in ms: half of the gaps are no longer, so a lost sample does not count.
func (p *Pace) Interval() float64 {
	n := min(int(p.spaces), keptGaps)
	if n == 0 {
		return firstInterval
	}
	s := p.gaps
	order(s[:n])
	return float64(s[(n-1)/2])
}

// Late is by how much 95 % of the samples come later than they were captured at most, by how much half of them do, and by how much
// they vary around that.
func (p *Pace) Late() (late, middle, jitter float64) {
	n := min(int(p.lates), keptLate)
	if n == 0 {
		return 0, 0, 0
	}
	s := p.late
	order(s[:n])
	half := s[n/2]
	late = lateUnit * float64(s[n*95/100])
	for i := range n {
		s[i] = max(s[i], half) - min(s[i], half)
	}
	order(s[:n])
	return late, lateUnit * float64(half), lateUnit * float64(s[n*95/100])
}

func (p *Pace) aim() {
	interval := p.Interval()
	late, middle, jitter := p.Late()
	p.target = float32(min(max(MinDelay, 2*interval+max(jitter, middle), interval+late), MaxDelay))
	if p.delay == 0 {
		p.delay = p.target
	}
}

// Pass lets dt ms go by, in which the delay changes by 5 % of that at most, and returns it.
func (p *Pace) Pass(dt float64) float64 {
	most := float32(0.05 * max(dt, 0))
	p.delay += max(-most, min(most, p.target-p.delay))
	return float64(p.delay)
}

// Delay is how long ago the thing is drawn, in ms.
func (p *Pace) Delay() float64 { return float64(p.delay) }

// order sorts a few numbers in place.
func order[T uint8 | uint16](s []T) {
	for i := 1; i < len(s); i++ {
		for j := i; j > 0 && s[j] < s[j-1]; j-- {
			s[j], s[j-1] = s[j-1], s[j]
		}
	}
}
