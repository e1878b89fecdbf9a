package shard

import "github.com/throng-dev/throng/internal/grid"

// eyes finds who looks from near a chunk, without asking those who do not: by the regions of their views.
type eyes struct {
	at    map[grid.Region][]eye
	spare [][]eye
	wide  []*Session // who sees everything from everywhere
}

// eye is one region that a session looks from; which is its index in Session.eyes.
type eye struct {
	o     *Session
	which int32
}

// eyeAt is where in eyes.at an eye of a session is.
type eyeAt struct {
	region grid.Region
	pos    int32
}

// open files a session by its views, anew if it was filed.
func (x *eyes) open(o *Session) {
	if len(o.eyes) == 1 && len(o.views) == 1 && o.eyes[0].region == o.views[0].Region() {
		return
	}
	x.close(o)
	if x.at == nil {
		x.at = make(map[grid.Region][]eye)
	}
	for _, v := range o.views {
		r := v.Region()
		list := x.at[r]
		if n := len(list); n > 0 && list[n-1].o == o {
			continue // another view from there
		}
		if n := len(x.spare); list == nil && n > 0 {
			list, x.spare = x.spare[n-1], x.spare[:n-1]
		}
		x.at[r] = append(list, eye{o, int32(len(o.eyes))})
		o.eyes = append(o.eyes, eyeAt{r, int32(len(list))})
	}
}

// close forgets where a session looks from.
func (x *eyes) close(o *Session) {
	for _, at := range o.eyes {
		list := x.at[at.region]
		last := len(list) - 1
		if int(at.pos) != last {
			list[at.pos] = list[last]
			list[at.pos].o.eyes[list[at.pos].which].pos = at.pos
		}
		list[last] = eye{}
		if last == 0 {
			delete(x.at, at.region)
			if len(x.spare) < 64 && cap(list) <= 64 {
				x.spare = append(x.spare, list[:0])
			}
		} else {
			x.at[at.region] = list[:last]
		}
	}
	o.eyes = o.eyes[:0]
}

// margin is how many regions from one that holds a chunk they may be who have it within so many chunks.
func margin(chunks int64) int64 { return (chunks + grid.RegionSize - 1) / grid.RegionSize }

// near calls f for everybody who looks from the regions from lo to hi, those included; for some more than once. It reports false, and
// calls it for nobody, if that takes more look-ups than there are sessions to be asked.
func (s *Shard) near(lo, hi grid.Region, f func(o *Session)) bool {
	x, most := &s.eyes, s.worthLooking()
	if n := boxSize(lo, hi, most); n < 0 || n > most {
		return false
	}
	for i := lo.X; i <= hi.X; i++ {
		for j := lo.Y; j <= hi.Y; j++ {
			for k := lo.Z; k <= hi.Z; k++ {
				for _, e := range x.at[grid.Region{X: i, Y: j, Z: k}] {
					f(e.o)
				}
			}
		}
	}
	for _, o := range x.wide {
		f(o)
	}
	return true
}

// worthLooking is how many look-ups cost less than to ask everybody.
func (s *Shard) worthLooking() int64 {
	if s.cfg.Overlooked != nil {
		return 1 << 20
	}
	return int64(len(s.sessions)) / 4 // a comparison of distances is about a quarter of one
}

// boxSize is how many regions a box has; -1: more than most.
func boxSize(lo, hi grid.Region, most int64) int64 {
	n := int64(1)
	for _, d := range [...]int64{hi.X - lo.X, hi.Y - lo.Y, hi.Z - lo.Z} {
		if d < 0 || d >= most {
			return -1
		}
		if n *= d + 1; n > most {
			return -1
		}
	}
	return n
}

// callNear calls everybody for whom something of this flush may be.
func (s *Shard) callNear() {
	b := &s.blob
	if s.cfg.Faults.NearForgotten {
		return
	}
	if b.global.to > b.global.from {
		s.callAll()
		return
	}
	m := margin(int64(s.cfg.Profile.Reach) + 1)
	if edge := 2*m + 1; int64(len(b.regions))*edge*edge*edge > s.worthLooking() {
		s.callAll()
		return
	}
	for i := b.global.to; i < b.fresh; {
		r := b.segs[i].chunk.Region()
		i = b.regions[r].to
		s.near(grid.Region{X: r.X - m, Y: r.Y - m, Z: r.Z - m}, grid.Region{X: r.X + m, Y: r.Y + m, Z: r.Z + m}, (*Session).call)
	}
}
