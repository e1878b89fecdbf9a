package wire

import "encoding/binary"

// MaxAudience is how many players an audience may name.
const MaxAudience = 1024

// Audience is a MsgAudience: who may know of an entity, as an authority decides. Of an entity that it has not announced
// yet the relay keeps it until then, so it holds before anybody is shown the entity.
type Audience struct {
	ID      ID
	Group   string     // only who is in this group; "": groups do not matter
	Only    bool       // only Players; false: everybody but Players
	Players []PlayerID // at most MaxAudience
}

// Append writes the message.
func (m *Audience) Append(b []byte) []byte {
	b = append(append(b, MsgAudience), m.ID[:]...)
	b = appendText(append(b, boolByte(m.Only)), m.Group)
	b = binary.AppendUvarint(b, uint64(len(m.Players)))
	for i := range m.Players {
		b = append(b, m.Players[i][:]...)
	}
	return b
}

// ParseAudience reads the body of a MsgAudience.
func ParseAudience(b []byte) (m Audience, err error) {
	r := cursor{b: b}
	m.ID = r.id()
	m.Only = r.u8() != 0
	m.Group = r.text(MaxName)
	n := r.uv(MaxAudience)
	if r.bad || n*uint64(len(PlayerID{})) != uint64(len(r.b)) || m.ID == (ID{}) {
		return Audience{}, ErrMalformed
	}
	if n > 0 {
		m.Players = make([]PlayerID, n)
		for i := range m.Players {
			m.Players[i] = r.player()
		}
	}
	return m, r.err()
}

// Member is a MsgMember: an authority puts a player into a group, or takes it out.
type Member struct {
	Player PlayerID
	In     bool
	Name   string
}

// Append writes the message.
func (m *Member) Append(b []byte) []byte {
	b = append(append(b, MsgMember), m.Player[:]...)
	return appendText(append(b, boolByte(m.In)), m.Name)
}

// ParseMember reads the body of a MsgMember. A group has a name.
func ParseMember(b []byte) (m Member, err error) {
	r := cursor{b: b}
	m.Player = r.player()
	m.In = r.u8() != 0
	if m.Name = r.text(MaxName); m.Name == "" {
		return m, ErrMalformed
	}
	return m, r.err()
}
