package wire

import "encoding/binary"

// Attach is a MsgAttach, or a MsgAttached: an entity goes with another. It stands in the chunk of its parent, and who is shown the one is
// shown the other.
type Attach struct {
	ID     ID
	Inc    Count
	Nonce  uint32 // of a MsgAttach: the announcement, while it has no incarnation
	Reason uint8  // of a MsgAttached: why it is not as asked; 0: it is
	Parent ID     // zero: none
}

// Append writes a MsgAttach, or a MsgAttached.
func (m *Attach) Append(b []byte, msg byte) []byte {
	b = appendCount(append(append(b, msg), m.ID[:]...), m.Inc)
	if msg == MsgAttach {
		b = binary.AppendUvarint(b, uint64(m.Nonce))
	} else {
		b = append(b, m.Reason)
	}
	return append(b, m.Parent[:]...)
}

// ParseAttach reads the body of a MsgAttach, or of a MsgAttached.
func ParseAttach(msg byte, b []byte) (m Attach, err error) {
	r := cursor{b: b}
	m.ID, m.Inc = r.id(), r.count()
	if msg == MsgAttach {
		m.Nonce = uint32(r.uv(1<<32 - 1))
	} else {
		m.Reason = r.u8()
	}
	m.Parent = r.id()
	return m, r.err()
}

// Tie is the body of a KindTie frame: which entity a known one is attached to, a pseudo-slot like owner and term.
type Tie struct {
	Handle uint32
	Parent uint32 // handle; 0: none
	Gen    uint8  // of the parent
}

// Append writes the body.
func (m *Tie) Append(b []byte) []byte {
	return append(binary.AppendUvarint(binary.AppendUvarint(b, uint64(m.Handle)), uint64(m.Parent)), m.Gen)
}

// ParseTie reads the body of a KindTie frame.
func ParseTie(b []byte) (m Tie, err error) {
	r := cursor{b: b}
	m = Tie{Handle: uint32(r.uv(MaxHandle)), Parent: uint32(r.uv(MaxHandle)), Gen: r.u8()}
	if m.Handle == 0 || m.Handle == m.Parent {
		return m, ErrMalformed
	}
	return m, r.err()
}
