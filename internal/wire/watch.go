package wire

import "encoding/binary"

// What a session wants to be told of beside what it is introduced to: bits of MsgWatch. Others are ignored.
const WatchDepartures = 1 // departures, within reach, of what it does not hold

// AppendWatch writes a Watch message.
func AppendWatch(b []byte, flags uint32) []byte {
	return binary.AppendUvarint(append(b, MsgWatch), uint64(flags))
}

// ParseWatch reads the body of a Watch message.
func ParseWatch(b []byte) (flags uint32, err error) {
	r := cursor{b: b}
	flags = uint32(r.uv(1<<32 - 1))
	return flags, r.err()
}
