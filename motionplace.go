package throng

import "github.com/throng-dev/throng/internal/motion"

// placeChannel streams the position of a Dynamic class without a motion struct. The value is a field of the entity: it is compared, sent
// and written like all others. What is particular is that proxies keep it as a sample, and hold in the field what is drawn.
type placeChannel struct {
	class *class
	snap  float64
}

func (c *placeChannel) capture(b []byte, _ Object) ([]byte, Vec3, bool, error) {
	return b, Vec3{}, false, nil
}
func (c *placeChannel) set(Object, []byte) error { return nil }

func (c *placeChannel) track() track { return &placeTrack{of: c} }

func (c *placeChannel) far(from, to *Vec3, ms float64) bool { return tooFar(*from, *to, ms, c.snap) }

func lerpVec3(pose, from, to *Vec3, t float64) { *pose = from.Lerp(*to, t) }

// placeTrack is the samples of a proxy's position.
type placeTrack struct {
	motion.Track[Vec3]
	of *placeChannel
}

func (t *placeTrack) push(o Object, _ []byte, a motion.Arrival, snap float64, stats *motion.Stats) error {
	e := o.entity()
	var at Vec3
	at.X, at.Y, at.Z, _ = t.of.class.plan.Position(e.ptr)
	t.of.snap = snap
	var far func(from, to *Vec3, ms float64) bool
	if snap > 0 {
		far = t.of.far
	}
	t.Track.Push(a, at, far, stats)
	return nil
}

func (t *placeTrack) draw(o Object, now, dt float64, stats *motion.Stats) motion.Drawn {
	d := t.Track.Draw(now, dt, lerpVec3, stats)
	if d.News {
		t.put(o, *t.Pose())
	}
	return d
}

func (t *placeTrack) land(o Object) {
	if t.Len() > 0 {
		t.put(o, t.Newest().V)
	}
}

// put writes a place into the field.
func (t *placeTrack) put(o Object, v Vec3) {
	k := t.of.class
	switch f := k.plan.Field(o.entity().ptr, k.position).(type) {
	case *Vec3:
		*f = v
	case *Vec3Quantize:
		*f = Vec3Quantize(v)
	case *Vec3Quantize10:
		*f = Vec3Quantize10(v)
	case *Vec3Quantize100:
		*f = Vec3Quantize100(v)
	case *Vec2:
		*f = Vec2{v.X, v.Y}
	case *Vec2Quantize:
		*f = Vec2Quantize{v.X, v.Y}
	case *Vec2Quantize10:
		*f = Vec2Quantize10{v.X, v.Y}
	case *Vec2Quantize100:
		*f = Vec2Quantize100{v.X, v.Y}
	}
}

func (t *placeTrack) explain() MotionExplanation { return explainTrack(&t.Track) }
