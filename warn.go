package throng

import "time"

// What others send can make a World warn as often as they like, so a kind of warning is logged at most warnMost times a second
// (B-120).
const warnMost = 10

// warning is one kind, named by its text.
type warning struct {
	second time.Duration
	n      int // in that second
	missed int // not logged, ever since the last that was
}

// warn logs what another client or the relay caused.
func (w *World) warn(msg string, args ...any) {
	if w.warnings == nil {
		w.warnings = map[string]*warning{}
	}
	k := w.warnings[msg]
	if k == nil {
		k = &warning{}
		w.warnings[msg] = k
	}
	if now := w.now() / time.Second; now != k.second {
		k.second, k.n = now, 0
	}
	if k.n++; k.n > warnMost {
		k.missed++
		return
	}
	if k.missed > 0 {
		args = append(args, "not logged before", k.missed)
		k.missed = 0
	}
	w.log.Warn(msg, args...)
}
