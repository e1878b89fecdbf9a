package authority

import (
	"reflect"

	"github.com/throng-dev/throng"
)

// writing is what this Server wrote to an entity that somebody else drives. It must stand, also when a relay has restarted and a
// client, whose word does not count for it, has brought the entity back.
type writing struct {
	fields map[any]any // address → value
}

// Write sends fields of an entity that a player drives, by their addresses, with the values they have now: auth fields, and
// others as a correction that the player's client goes on from. Auth fields are sent again whenever the entity comes back without
// them. Of an actor of this Server nothing needs to be written: its fields leave by themselves.
func (s *Server) Write(o throng.Object, fields ...any) error {
	if s.actors[o] != nil {
		return s.world.MarkDirty(o, fields...)
	}
	if err := s.world.Override(o, fields...); err != nil {
		return err
	}
	var auth []any
	for _, f := range fields {
		if s.schema.IsAuth(o, f) {
			auth = append(auth, f)
		}
	}
	if len(auth) == 0 {
		return nil
	}
	w := s.written[o]
	if w == nil {
		w = &writing{fields: map[any]any{}}
		s.written[o] = w
	}
	for _, f := range auth {
		w.fields[f] = reflect.ValueOf(f).Elem().Interface()
	}
	return nil
}

// rewrite sends again what is not as it was written.
func (s *Server) rewrite() {
	for o, w := range s.written {
		var again []any
		for f, want := range w.fields {
			if v := reflect.ValueOf(f).Elem(); !same(v.Interface(), want) {
				v.Set(reflect.ValueOf(want))
				again = append(again, f)
			}
		}
		if len(again) > 0 {
			if err := s.world.Override(o, again...); err != nil {
				s.log.Warn("throng: what the authority wrote is not there any more and cannot be written again", "id", idOf(o), "err", err)
				delete(s.written, o)
			}
		}
	}
}

// same compares as the diff does: NaN is NaN.
func same(a, b any) bool {
	return reflect.DeepEqual(a, b) || a != a && b != b //nolint:gocritic // NaN alone differs from itself
}
