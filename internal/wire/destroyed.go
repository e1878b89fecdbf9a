package wire

import "encoding/binary"

// Destroyed is a placed entity that was destroyed in this world, and stays so.
type Destroyed struct {
	ID  ID
	Inc Count
}

// MaxDestroyed is how many of them one message names.
const MaxDestroyed = 1000

// AppendDestroyed writes a MsgDestroyed. At most MaxDestroyed of list are written; the rest is returned for the next message.
func AppendDestroyed(b []byte, list []Destroyed) (_ []byte, rest []Destroyed) {
	n := min(len(list), MaxDestroyed)
	b = binary.AppendUvarint(append(b, MsgDestroyed), uint64(n))
	for _, d := range list[:n] {
		b = appendCount(append(b, d.ID[:]...), d.Inc)
	}
	return b, list[n:]
}

// ParseDestroyed reads the body of a MsgDestroyed and calls f for each entity named, or for none if it is malformed.
func ParseDestroyed(b []byte, f func(Destroyed)) error {
	for pass := range 2 { // before anything is told: a message counts whole or not at all
		r := cursor{b: b}
		n := int(r.uv(MaxDestroyed))
		for range n {
			d := Destroyed{ID: r.id(), Inc: r.count()}
			if r.bad {
				return ErrMalformed
			}
			if pass == 1 {
				f(d)
			}
		}
		if r.bad {
			return ErrMalformed
		}
	}
	return nil
}
