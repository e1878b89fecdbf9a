package shard

import (
	"github.com/throng-dev/throng/internal/grid"
)

// nearSeg is a segment of this flush that an observer should get, and how many chunks away it is.
type nearSeg struct {
	dist int64
	seg  int32
}

// nearSegments finds the segments of this flush that the observer gets, nearest first, and about how many bytes they take. Of ring
// reach+1 it gets those that hold mostly guests, entities it still knows; of the others the guests become dirty singly.
func (o *Session) nearSegments() (near []nearSeg, size int) {
	s := o.shard
	b := &s.blob
	near = s.scratch.near[:0]
	if b.fresh == 0 || o.pairs.len() == 0 {
		return near, 0
	}
	for i := b.global.from; i < b.global.to; i++ {
		if o.gets(&b.segs[i]) {
			near = append(near, nearSeg{0, i})
		}
	}
	switch {
	case o.Authority:
		for i := b.global.to; i < b.fresh; i++ {
			near = append(near, nearSeg{0, i})
		}
	case len(o.views) == 0:
	case len(o.views) > 1 || len(b.regions) < 16: // regions of several views may overlap; a view touches 27 and more
		for i := b.global.to; i < b.fresh; {
			r := b.regions[b.segs[i].chunk.Region()]
			near = o.nearRegion(near, r)
			i = r.to
		}
	default:
		near = o.nearView(near, o.views[0])
	}
	s.scratch.near = near
	if s.cfg.Faults.NotShared {
		for _, n := range near {
			g := &b.segs[n.seg]
			o.guests(b.ents[g.ents.from:g.ents.to])
		}
		return near[:0], 0
	}
	if len(near) > 1 {
		s.scratch.sorted = sortNear(near, s.scratch.sorted[:0])
	}
	for _, n := range near {
		g := &b.segs[n.seg]
		size += int(g.to-g.from) + segmentHead
	}
	return near, size
}

// gets reports whether a segment is for the observer.
func (o *Session) gets(g *segment) bool {
	return o.admitted(g.aud) || o.Authority || o.shard.cfg.Faults.SegmentsForAll
}

func (o *Session) nearView(near []nearSeg, v grid.Chunk) []nearSeg {
	s := o.shard
	r := int64(s.cfg.Profile.Reach) + 1
	lo := grid.Chunk{X: v.X - r, Y: v.Y - r, Z: v.Z - r}.Region()
	hi := grid.Chunk{X: v.X + r, Y: v.Y + r, Z: v.Z + r}.Region()
	for x := lo.X; x <= hi.X; x++ {
		for y := lo.Y; y <= hi.Y; y++ {
			for z := lo.Z; z <= hi.Z; z++ {
				if at, ok := s.blob.regions[grid.Region{X: x, Y: y, Z: z}]; ok {
					near = o.nearRegion(near, at)
				}
			}
		}
	}
	return near
}

func (o *Session) nearRegion(near []nearSeg, at span) []nearSeg {
	s := o.shard
	reach, props := int64(s.cfg.Profile.Reach), int64(s.cfg.Profile.PropertyReach)
	for i := at.from; i < at.to; i++ {
		g := &s.blob.segs[i]
		if !o.gets(g) {
			continue
		}
		switch d := o.chunkDistance(g.chunk); {
		case g.lane >= laneThin && d <= reach+1 && g.lane != laneThin+s.decay.at(d): // another level's
		case d <= props || d <= reach && g.lane != laneProperty:
			near = append(near, nearSeg{d, i})
		case d == reach+1 && !s.cfg.Faults.GuestForgotten && g.lane != laneProperty:
			ents := s.blob.ents[g.ents.from:g.ents.to]
			guests := 0
			for _, l := range ents {
				if p := o.pairs.get(l.handle); p != nil && p.state == known {
					guests++
				}
			}
			if 2*guests > len(ents) { // a copy is cheaper than records of its own
				near = append(near, nearSeg{d, i})
			} else if guests > 0 {
				o.guests(ents)
			}
		case d == reach+1 && !s.cfg.Faults.GuestForgotten:
			o.guests(s.blob.ents[g.ents.from:g.ents.to])
		}
	}
	return near
}

// guests makes dirty what the observer knows of some records.
func (o *Session) guests(ents []listed) {
	for _, l := range ents {
		if p := o.pairs.get(l.handle); p != nil && p.state == known {
			o.dirty(p, o.shard.table.ByHandle(l.handle), l.mask)
		}
	}
}

// sortNear orders by distance, and leaves equals in order. There are few distances and the list is short or sorted already, so
// insertion is enough up to a size; beyond it, counting by distance. It returns out, which it may use, to be used again.
func sortNear(near, out []nearSeg) []nearSeg {
	if len(near) <= 32 {
		for i := 1; i < len(near); i++ {
			for j := i; j > 0 && near[j].dist < near[j-1].dist; j-- {
				near[j], near[j-1] = near[j-1], near[j]
			}
		}
		return out
	}
	for d := int64(0); len(out) < len(near); d++ {
		for _, n := range near {
			if n.dist == d {
				out = append(out, n)
			}
		}
	}
	copy(near, out)
	return out
}
