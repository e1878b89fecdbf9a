package throng

import "time"

// maxShift is how far a replication tick moves toward the relay's flush: little enough that nobody sees it.
const maxShift = 2 * time.Millisecond

// lock returns how far to shift the next replication tick, so that what it sends arrives shortly before the relay flushes:
// 2 ms and twice the jitter before it, and a frame earlier, since a tick waits for the next call of Tick.
func (w *World) lock() time.Duration {
	if w.cfg.NoPhaseLock || w.profile.Flush <= 0 || w.interval%w.profile.Flush != 0 {
		return 0
	}
	w.mu.Lock()
	offset, ok := w.reg.Offset()
	var rtt, jitter time.Duration
	if w.sess != nil {
		rtt, jitter = w.sess.RTT()
	}
	w.mu.Unlock()
	if !ok {
		return 0
	}
	before := min(2*time.Millisecond+2*jitter+w.frame, w.interval/2)
	return toward(w.nextTick+offset+rtt, -before, w.interval)
}

// toward is the step, maxShift at most, that brings the phase of at within period closer to want.
func toward(at, want, period time.Duration) time.Duration {
	d := (want - at) % period
	if d < 0 {
		d += period
	}
	if d > period/2 {
		d -= period
	}
	return max(-maxShift, min(maxShift, d))
}

// blindAfter is how long a client may be in a world without a place to look from before it is told so.
const blindAfter = 2 * time.Second

// blind tells a program, once, that it sees nothing of what has a position: what everybody forgets once.
func (w *World) blind(now time.Duration) {
	if w.blindly || now < w.liveAt+blindAfter {
		return
	}
	w.blindly = true
	if len(w.views) > 0 || w.authority || w.byID[w.self.AvatarID()] != nil {
		return
	}
	for _, c := range w.schema.classes {
		if c.position >= 0 {
			w.log.Warn("throng: this client sees nothing that has a position: spawn what it looks from with AsAvatar, or call SetViewpoints", "addr", w.addr)
			return
		}
	}
}
