package wire

// Group is a MsgGroup, or a MsgGroupIs: whether a session would like to be, or is, in a group of players.
type Group struct {
	In     bool
	Reason uint8 // of a MsgGroupIs: why it is not as the session would like; 0: it is
	Name   string
}

// Append writes a MsgGroup, or a MsgGroupIs.
func (m *Group) Append(b []byte, msg byte) []byte {
	if b = append(b, msg, boolByte(m.In)); msg == MsgGroupIs {
		b = append(b, m.Reason)
	}
	return appendText(b, m.Name)
}

// ParseGroup reads the body of a MsgGroup, or of a MsgGroupIs. A group has a name.
func ParseGroup(msg byte, b []byte) (m Group, err error) {
	r := cursor{b: b}
	if m.In = r.u8() != 0; msg == MsgGroupIs {
		m.Reason = r.u8()
	}
	if m.Name = r.text(MaxName); m.Name == "" {
		return m, ErrMalformed
	}
	return m, r.err()
}
