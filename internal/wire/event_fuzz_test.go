package wire

import "testing"

func FuzzEventKind(f *testing.F) {
	seed(f, "message", MsgEventKindUp, func(b []byte) { f.Add(b) })
	seed(f, "message", MsgEventKind, func(b []byte) { f.Add(b) })
	f.Fuzz(func(t *testing.T, b []byte) {
		roundTrip(t, b, 0, ParseEventKind, func(m *EventKind) []byte { return m.Append(nil, MsgEventKind)[1:] })
	})
}

func FuzzEventUp(f *testing.F) {
	seed(f, "message", MsgEventUp, func(b []byte) { f.Add(b) })
	f.Fuzz(func(t *testing.T, b []byte) {
		roundTrip(t, b, 0, ParseEventUp, func(m *EventUp) []byte { return m.Append(nil) })
	})
}

func FuzzEventDown(f *testing.F) {
	seed(f, "message", MsgEvent, func(b []byte) { f.Add(b) })
	f.Fuzz(func(t *testing.T, b []byte) {
		parse := func(b []byte) (EventDown, error) { return ParseEventDown(b, nil) }
		roundTrip(t, b, 0, parse, func(m *EventDown) []byte { return m.Append(nil) })
	})
}

func FuzzEventState(f *testing.F) {
	seed(f, "message", MsgEventState, func(b []byte) { f.Add(b) })
	f.Fuzz(func(t *testing.T, b []byte) {
		roundTrip(t, b, 0, ParseEventState, func(m *EventState) []byte { return m.Append(nil)[1:] })
	})
}
