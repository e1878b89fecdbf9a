package throng

import (
	"bytes"
	"time"
)

// The driver of what moves sends (B-060):
//
//	changed since the last tick   its value, with the time of this tick
//	not any more                  its value once more, as one at which it stands
//	standing                      its value every 3 s, an empty record every 1 s, at times spread over the entities
//
// The second keeps proxies from drawing it beyond. Nobody needs the third: the value is a slot, and a lost one goes out again.

// How often what stands still is repeated.
const (
	motionKeyframe  = 3 * time.Second
	motionHeartbeat = time.Second
)

// stream is what a driver knows of its own motion.
type stream struct {
	last     []byte // sent last, of a motion struct
	still    bool
	keyframe int64 // the period in which the value left last
	beat     int64 // the period in which anything did
	err      error // why its value cannot be sent
}

// streamed marks the motion of a driven entity if it must leave with this tick. It is called under mu.
func (w *World) streamed(b *body, now time.Duration) {
	k := b.hooks.class
	if k.motion == nil {
		return
	}
	c, s := b.e.c, b.streaming()
	changed := false
	if k.motion.whole {
		out, _, _, err := b.hooks.channel.capture(w.captured[:0], b.o)
		w.captured = out
		changed = err != nil || !bytes.Equal(out, s.last)
	} else {
		changed = b.e.shadow.Diff(b.e.ptr, k.motion.bit) != 0
	}
	id := c.ID
	keyframe, beat := period(now, w.motionKeyframe, id[0], id[1]), period(now, w.motionHeartbeat, id[2], id[3])
	switch {
	case changed:
		s.still = false
	case !s.still:
		s.still = true
	case b.quiet || k.cfg.NoHeartbeat:
		return
	case keyframe != s.keyframe:
	case beat != s.beat:
		s.beat = beat
		w.reg.Beat(c)
		return
	default:
		return
	}
	c.Still = s.still
	s.keyframe, s.beat = keyframe, beat
	w.reg.Mark(c, k.motion.bit)
}

// period numbers the periods of an entity: those of different ones do not begin together.
func period(now, every time.Duration, a, b byte) int64 {
	if every <= 0 {
		return 0
	}
	return int64((now + every*time.Duration(int(a)<<8|int(b))/65536) / every)
}

// streaming returns what the driver knows of its motion: at first that it stands where it is, which was announced or was told.
func (b *body) streaming() *stream {
	d := b.driving()
	if d.stream == nil {
		d.stream = &stream{still: true}
		if b.hooks.class.motion.whole {
			d.stream.last, _, _, _ = b.hooks.channel.capture(nil, b.o)
		}
	}
	return d.stream
}

// encodeMotion appends the motion struct of a driven entity, and returns where that places it. It is called under mu.
func (w *World) encodeMotion(b *body, out []byte) (_ []byte, at Vec3, placed bool) {
	s := b.streaming()
	from := len(out)
	out, at, placed, s.err = b.hooks.channel.capture(out, b.o)
	if s.err == nil {
		s.last = append(s.last[:0], out[from:]...)
	}
	return out, at, placed
}

// Teleport says that an entity this client drives was put elsewhere: proxies jump to where it is at the next replication tick, instead of
// moving there. Set the new place before or after, within the same Tick. The class must be Dynamic; of others every change is a jump. A long way
// within one tick is taken for a jump anyway: see [ClassConfig.SnapDistance].
func (w *World) Teleport(o Object) error {
	defer w.leave(w.enter("Teleport"))
	b := w.bodyOf(o)
	switch {
	case b == nil || b.gone:
		return w.wrap(ErrForeign, "teleporting %T", o)
	case !b.drives:
		return w.wrap(ErrNotDriver, "teleporting %T %v", o, b.e.id)
	case b.hooks.class.motion == nil:
		return nil
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	c := b.e.c
	c.Cut = true
	b.streaming().still = false
	c.Still = false
	w.reg.Mark(c, b.hooks.class.motion.bit)
	return nil
}

// keepTime finds what the relay's clock is now, as well as this client knows, and by when what is sent now was so there.
func (w *World) keepTime(now time.Duration) {
	w.moment = now
	w.mu.Lock()
	defer w.mu.Unlock()
	offset, ok := w.reg.Offset()
	if !ok {
		return
	}
	w.clock.Follow(now, offset)
	if w.sess == nil {
		return
	}
	if rtt, _ := w.sess.RTT(); rtt > 0 {
		// The shortest way down is in the offset. Ways that stay the same must not move the times of capture: the shortest counts here too.
		w.ways.Sample(now, now-rtt/2)
		if d, ok := w.ways.Offset(); ok {
			w.way.Follow(now, -d)
		}
	}
	at, _ := w.clock.Now(now)
	w.reg.CaptureMS = uint32(int64(at + w.way.Offset() + 0.5))
}

// forgetTime is for a new session, whose relay may have another clock.
func (w *World) forgetTime() {
	w.clock.Reset()
	w.way.Reset()
}

// orElse is a duration of Config: 0 means the other, Off none.
func orElse(d, zero time.Duration) time.Duration {
	switch {
	case d == 0:
		return zero
	case d < 0:
		return 0
	}
	return d
}
