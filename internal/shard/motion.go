package shard

import (
	"github.com/throng-dev/throng/internal/table"
	"github.com/throng-dev/throng/internal/wire"
)

// Motion has a time: when the driver captured it. It comes with the frame, is bounded by what the relay knows itself, stays
// with the entity, and goes out as an age before the time of the bundle.

// maxCaptureAge is how long before its arrival a value may say that it was captured, in ms.
const maxCaptureAge = 1000

// capture is when the values of the frame at hand were captured. Zero: now, as far as anybody knows.
type capture struct {
	timed, cut, still bool
	at                uint32
}

// motion takes a frame of changes of a class with motion.
func (s *Shard) motion(o *Session, body []byte) {
	now := s.ms()
	at, deltas, err := wire.ParseMotion(body, now)
	if err != nil {
		s.stats.Malformed++
		s.fault = err
		return
	}
	if int32(now-at) < 0 {
		at = now
	} else if now-at > maxCaptureAge {
		at = now - maxCaptureAge
	}
	s.capture = capture{timed: true, at: at}
	s.deltas(o, deltas)
	s.capture = capture{}
}

// captured notes when the motion that was just stored was captured.
func (s *Shard) captured(e *table.Entity) {
	if s.capture.timed {
		e.Stamp(s.capture.at)
	} else {
		e.Stamp(s.ms())
	}
	e.SetStill(s.capture.still || !s.capture.timed)
	if s.capture.cut {
		e.TurnCut()
	}
}

// sample is the time of an entity's motion as a bundle of this flush tells it.
func (s *Shard) sample(e *table.Entity) wire.Sample {
	if e.Class.Motion == 0 {
		return wire.Sample{}
	}
	return wire.SampleOf(uint32(max(0, int32(s.ms()-e.Captured()))), e.Cut(), e.Still())
}
