package throng

import (
	"time"

	"github.com/throng-dev/throng/internal/motion"
	"github.com/throng-dev/throng/internal/registry"
)

// movement is what a World keeps of all that moves. It belongs to the game's goroutine.
type movement struct {
	motionKeyframe  time.Duration // 0: off
	motionHeartbeat time.Duration
	clock           motion.Clock  // the relay's
	ways            motion.Filter // half of the round trip, negative
	way             motion.Clock  // the same, without a jerk
	moving          []*body       // proxies that are not yet where their last sample has them
	drawnAt         time.Duration
	moment          time.Duration // when what arrived is taken
	captured        []byte        // scratch
	motions         motion.Stats
	told            updates // scratch
	batching        bool    // the switch updates.batch
	updates         updates // under mu
}

// stall is how long a game may take between two Ticks until what came meanwhile has waited for it.
const stall = 250 * time.Millisecond

// sample gives a value of the motion slot to the track of its body; the values of fields were written already. The first one shows at once.
// It is called under mu.
func (w *World) sample(b *body, value []byte, at registry.Timing) error {
	if b.track == nil {
		if b.e.c.Drives() { // an override, or what comes with the drive
			return b.hooks.channel.set(b.o, value)
		}
		b.track = b.hooks.channel.track()
	}
	now, known := w.clock.Now(w.moment)
	// What waited for a game that stood still says nothing about how late it came.
	a := motion.Arrival{Now: now, Kept: w.moment-w.drawnAt > stall, Timed: at.Timed && known, Cut: at.Cut, Still: at.Still}
	if a.Timed {
		a.At = int64(now) + int64(int32(at.At-uint32(int64(now))))
	}
	if err := b.track.push(b.o, value, a, w.snapDistance(b.hooks.class), &w.motions); err != nil {
		return err
	}
	if !b.moving {
		b.moving = true
		w.moving = append(w.moving, b)
	}
	if !b.told && !b.drawn {
		b.drawn = true
		b.track.draw(b.o, now, 0, &w.motions)
	}
	return nil
}

// snapDistance is the longest way between two samples that is walked; 0: any is.
func (w *World) snapDistance(k *class) float64 {
	switch d := k.cfg.SnapDistance; {
	case d == 0:
		return w.profile.ChunkSize
	case d > 0:
		return d
	}
	return 0
}

// drawMotion puts into every proxy that moves how it was a little before now.
func (w *World) drawMotion(now time.Duration) {
	dt := float64(now-w.drawnAt) / float64(time.Millisecond)
	w.drawnAt = now
	if len(w.moving) == 0 {
		return
	}
	at, ok := w.clock.Now(now)
	if !ok {
		return
	}
	keep := w.moving[:0]
	for _, b := range w.moving {
		if b.gone || b.track == nil {
			b.moving = false
			continue
		}
		if b.track.draw(b.o, at, dt, &w.motions).More {
			keep = append(keep, b)
		} else {
			b.moving = false
		}
	}
	clear(w.moving[len(keep):])
	w.moving = keep
}

// landMotion ends the drawing of a body that this client drives now: it goes on from where its last driver had it.
func (w *World) landMotion(b *body) {
	if b.track == nil {
		return
	}
	b.track.land(b.o)
	if b.track = nil; b.drive != nil {
		b.drive.stream = nil
	}
}

// MotionStats counts what became of the samples of what moves.
type MotionStats struct {
	Samples      uint64 // taken
	Old          uint64 // not newer than what was held
	Jumps        uint64 // drawn as jumps: Teleport, or farther than ClassConfig.SnapDistance
	Resets       uint64 // of entities whose time began anew
	Extrapolated uint64 // times that an entity was drawn beyond its newest sample
	Beats        uint64 // empty records sent for what stands still
	Dropped      uint64 // of OnUpdates, while the game did not tick
}

// MotionExplanation is how a proxy that moves is drawn.
type MotionExplanation struct {
	Samples  int           // held
	Delay    time.Duration // how long ago it is drawn
	Interval time.Duration // between its samples
	Late     time.Duration // 95 % of them come no later than this after they were captured
	Jitter   time.Duration // what 95 % of them vary by
	Newest   time.Duration // relay time of the newest
	Drawn    time.Duration // relay time that is drawn
	Still    bool          // it stands where the newest sample has it
}

func explainTrack[V any](t *motion.Track[V]) MotionExplanation {
	ms := func(v float64) time.Duration { return time.Duration(v * float64(time.Millisecond)) }
	late, _, jitter := t.Pace.Late()
	x := MotionExplanation{Samples: t.Len(), Delay: ms(t.Pace.Delay()), Interval: ms(t.Pace.Interval()), Late: ms(late), Jitter: ms(jitter)}
	if t.Len() > 0 {
		x.Newest, x.Still = ms(float64(t.Newest().At)), t.Newest().Still
	}
	if at, ok := t.DrawnAt(); ok {
		x.Drawn = ms(at)
	}
	return x
}
