package wire

import "testing"

func FuzzGroup(f *testing.F) {
	for _, msg := range []byte{MsgGroup, MsgGroupIs} {
		seed(f, "message", msg, func(b []byte) { f.Add(msg, b) })
	}
	f.Fuzz(func(t *testing.T, msg byte, b []byte) {
		if msg != MsgGroup {
			msg = MsgGroupIs
		}
		roundTrip(t, b, 0, func(b []byte) (Group, error) { return ParseGroup(msg, b) }, func(m *Group) []byte { return m.Append(nil, msg)[1:] })
	})
}

func FuzzAttach(f *testing.F) {
	for _, msg := range []byte{MsgAttach, MsgAttached} {
		seed(f, "message", msg, func(b []byte) { f.Add(msg, b) })
	}
	f.Fuzz(func(t *testing.T, msg byte, b []byte) {
		if msg != MsgAttach {
			msg = MsgAttached
		}
		roundTrip(t, b, 0, func(b []byte) (Attach, error) { return ParseAttach(msg, b) }, func(m *Attach) []byte { return m.Append(nil, msg)[1:] })
	})
}

func FuzzTie(f *testing.F) {
	seed(f, "frame", KindTie, func(b []byte) { f.Add(b) })
	f.Fuzz(func(t *testing.T, b []byte) {
		roundTrip(t, b, 0, ParseTie, func(m *Tie) []byte { return m.Append(nil) })
	})
}

func FuzzDestroyed(f *testing.F) {
	seed(f, "message", MsgDestroyed, func(b []byte) { f.Add(b) })
	f.Fuzz(func(t *testing.T, b []byte) {
		parse := func(b []byte) (list []Destroyed, err error) {
			err = ParseDestroyed(b, func(d Destroyed) { list = append(list, d) })
			return list, err
		}
		roundTrip(t, b, 0, parse, func(list *[]Destroyed) []byte {
			b, _ := AppendDestroyed(nil, *list)
			return b[1:]
		})
	})
}
