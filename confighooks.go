package throng

// Config has hooks for entities of any class. They run behind those of the class (B-058):
//
//	OnSpawn ─► OnRegistered ─► OnAppeared;  OnOwner ─► OnOwnerChanged;  OnDestroy ─► OnUnregistered ─► OnTimedOut or OnLeft

// runConfig runs what Config has for a happening of a body.
func (w *World) runConfig(h *happening) {
	b, cfg := h.b, &w.cfg
	switch h.kind {
	case spawned, met:
		if cfg.OnRegistered != nil {
			cfg.OnRegistered(w, b.o)
		}
		if cfg.OnAppeared != nil && !b.gone {
			cfg.OnAppeared(w, b.o)
		}
	case selfSeen:
		if cfg.OnAppeared != nil {
			cfg.OnAppeared(w, b.o)
		}
	case selfLost:
		if cfg.OnTimedOut != nil {
			cfg.OnTimedOut(w, b.o)
		}
	case changedOwner:
		if cfg.OnOwnerChanged != nil {
			cfg.OnOwnerChanged(w, b.o, h.was)
		}
	case departed:
		if cfg.OnUnregistered != nil {
			cfg.OnUnregistered(w, b.o)
		}
		if h.d.Why == TimedOut && cfg.OnTimedOut != nil {
			cfg.OnTimedOut(w, b.o)
		}
		w.left(b.e.id, h.d)
	}
}

// runUnseen runs what Config has for a happening of something that has no body here.
func (w *World) runUnseen(h *happening) {
	switch h.kind {
	case leftUnseen:
		w.left(h.id, h.d)
	case loadFail:
		if w.cfg.OnLoadFailed != nil {
			w.cfg.OnLoadFailed(w, h.id, h.err)
		}
	}
}
