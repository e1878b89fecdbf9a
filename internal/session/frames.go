package session

// Frames calls f for each frame of a packet, in order, for programs that count what passes by. It knows nothing of the session,
// so it does not tell a packet that came twice, nor one that the session refuses. It reports false where the packet does not parse.
func Frames(payload []byte, f func(kind byte, body []byte)) bool {
	if len(payload) < headerSize {
		return false
	}
	b := payload[headerSize:]
	if payload[2]&flagAcks != 0 {
		var a ackBlock
		n, err := a.parse(b, 1<<32) // whichever packets they are
		if err != nil {
			return false
		}
		b = b[n:]
	}
	for len(b) > 0 {
		kind, body, rest, ok := nextFrame(b)
		if !ok {
			return false
		}
		f(kind, body)
		b = rest
	}
	return true
}
