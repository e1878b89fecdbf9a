package shard

// overlooked tells of those who should have been called for the pass that is about to serve, and were not.
func (s *Shard) overlooked(full bool) {
	for _, o := range s.sessions {
		if o.called || o.closing != nil {
			continue
		}
		if what := o.wants(full); what != "" {
			s.cfg.Overlooked(o, what)
		}
	}
}

// wants is what serve would do for the session; "": nothing.
func (o *Session) wants(full bool) string {
	s := o.shard
	if at, ok := o.conn.Deadline(); ok && at <= s.now || o.conn.WantsSend(s.now) {
		return "what is reliable, acks and probes"
	}
	if s.now-o.heard() > s.silenceLimit() != o.silent {
		return "silence"
	}
	if !o.silent && o.budget.due(o.conn.InFlight()) <= s.now {
		return "a judgement"
	}
	if o.unacked() < classRoom && (o.told < len(s.classes) || o.events.told < len(s.kinds)) {
		return "classes"
	}
	if o.listens() && o.budget.richAt() <= s.now {
		return "the roster"
	}
	if v := &o.events; len(v.early)+len(v.waiting)+len(v.once) > 0 || v.state {
		return "events"
	}
	if !full || !o.ready || o.silent {
		return ""
	}
	switch near, _ := o.nearSegments(); {
	case len(near) > 0:
		return "segments"
	case o.skipped != 0 || len(o.intros)+len(o.leaves)+len(o.own)+len(o.marks.list) > 0:
		return "what is its own"
	case !o.marked:
		return "an end mark"
	case o.conn.Holding():
		return "values that travel apart"
	}
	return ""
}
