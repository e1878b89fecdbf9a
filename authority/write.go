package authority

import (
	"slices"
	"time"

	"github.com/throng-dev/throng"
)

// writing is what this Server wrote to an entity that somebody else drives. It must stand, also when a relay has restarted and a
// client, whose word does not count for it, has brought the entity back; in another body, it may be.
type writing struct {
	records []written     // one a field
	absent  time.Duration // since when there is no such entity; 0: there is
}

type written struct {
	field string
	value []byte // as AppendFields has it
}

// forgetWriting is how long an entity may be away before what was written to it is forgotten, if nobody said that it was destroyed.
const forgetWriting = 10 * time.Minute

// Write sends fields of an entity that a player drives, by their addresses, with the values they have now: auth fields, and
// others as a correction that the player's client goes on from. Auth fields are sent again whenever the entity comes back without
// them. What this Server drives needs no Write: its fields leave by themselves.
func (s *Server) Write(o throng.Object, fields ...any) error {
	if s.world.Drives(o) {
		return s.world.MarkDirty(o, fields...)
	}
	if err := s.world.Override(o, fields...); err != nil {
		return err
	}
	for _, f := range fields {
		if !s.schema.IsAuth(o, f) {
			continue
		}
		w := s.written[idOf(o)]
		if w == nil {
			w = &writing{}
			s.written[idOf(o)] = w
		}
		name := s.schema.FieldName(o, f)
		i := slices.IndexFunc(w.records, func(r written) bool { return r.field == name })
		if i < 0 {
			i, w.records = len(w.records), append(w.records, written{field: name})
		}
		w.records[i].value = s.schema.AppendFields(w.records[i].value[:0], o, f)
	}
	return nil
}

// rewrite sends again what is not as it was written.
func (s *Server) rewrite() {
	for id, w := range s.written {
		o, ok := s.world.Find(id)
		switch {
		case ok:
			w.absent = 0
		case w.absent == 0:
			w.absent = max(s.now(), 1)
			continue
		case s.now()-w.absent > forgetWriting:
			delete(s.written, id)
			continue
		default:
			continue
		}
		var again []any
		w.records = slices.DeleteFunc(w.records, func(r written) bool {
			changed, err := s.schema.ReadFields(o, r.value)
			again = append(again, changed...)
			return err != nil // another class has the id now
		})
		if len(again) > 0 {
			if err := s.world.Override(o, again...); err != nil {
				s.log.Warn("throng: what the authority wrote is not there any more and cannot be written again", "id", id, "err", err)
			}
		}
	}
}
