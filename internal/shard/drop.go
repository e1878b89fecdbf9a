package shard

import "errors"

// What a session sent and the relay did not do is counted where it is decided, and told once for the frame or message, so that somebody
// can log it (B-120):
//
//	Frame, Message ─► count ─► what they do, noting why ─► count again: more? ─► Config.Dropped

// Drop is a frame or a message of which something was refused, or made no sense.
type Drop struct {
	Frame  bool  // Kind is that of a frame, else of a message
	Kind   uint8 // a wire.Kind… or wire.Msg…
	Reason uint8 // the wire.Refused… that the session was told, if it was
	Err    error // what was wrong, if the reason does not say it
}

// dropped is what is known of the drops of the frame or message at hand.
type dropped struct {
	why    uint8
	fault  error
	forged uint64 // records of what somebody else drives, or nobody ever made; ever
}

// What no client of ours sends.
var (
	errClass  = errors.New("no class of the world has that number")
	errMotion = errors.New("the class has motion and the frame no time, or the other way round")
	errKind   = errors.New("the session announced no such kind of event")
	errHandle = errors.New("no entity has that handle")
	errForged = errors.New("somebody else drives that entity")
	errCert   = errors.New("its certificate is not this relay's")
)

// forge notes a record that no client of ours would send.
func (s *Shard) forge(err error) {
	s.forged++
	s.fault = err
}

// failures counts what a session may be to blame for, and begins to note why.
func (s *Shard) failures() uint64 {
	s.why, s.fault = 0, nil
	st := &s.stats
	return st.Malformed + st.Refused + st.EventsMalformed + st.EventsRefused + st.EventsFlooded + s.forged
}

// tellDrop tells of a frame or message if something of it was dropped since failures was was.
func (s *Shard) tellDrop(o *Session, was uint64, d Drop) {
	if s.cfg.Dropped == nil {
		return
	}
	if d.Reason, d.Err = s.why, s.fault; s.failures() != was {
		s.cfg.Dropped(o, d)
	}
}
