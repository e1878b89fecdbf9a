package throng

import "time"

// lock returns how far to shift the next replication tick, so that what it sends arrives shortly before the relay flushes.
func (w *World) lock() time.Duration {
	if w.cfg.NoPhaseLock || w.profile.Flush <= 0 || w.interval%w.profile.Flush != 0 {
		return 0
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.sess == nil {
		return w.reg.Shift(w.nextTick, w.interval, w.frame, 0, 0)
	}
	rtt, jitter := w.sess.RTT()
	return w.reg.Shift(w.nextTick, w.interval, w.frame, rtt, jitter)
}

// blindAfter is how long a client may be in a world without a place to look from before it is told so.
const blindAfter = 2 * time.Second

// blind tells a program, once, that it sees nothing of what has a position: what everybody forgets once.
func (w *World) blind(now time.Duration) {
	if w.blindly || now < w.liveAt+blindAfter {
		return
	}
	w.blindly = true
	if len(w.views) > 0 || w.authority || w.byID.Find(w.self.AvatarID().Bytes()) != nil {
		return
	}
	for _, c := range w.schema.classes {
		if c.position >= 0 {
			w.log.Warn("throng: this client sees nothing that has a position: spawn what it looks from with AsAvatar, or call SetViewpoints", "addr", w.addr)
			return
		}
	}
}
