package session

import "encoding/binary"

const (
	pieceMore = 0x80
	pieceVoid = 0x40
)

// piece is a piece of a reliable message.
//
//	 0        1         1+n     3+n
//	┌────────┬─────────┬───────┬──────┐   stream: low 4 bits; bit 7 = more of this message follows; bit 6 = the message
//	was taken back, it is counted and not handed over; the others are 0
//
//	│ stream │ seq     │ stamp │ data │   seq: uvarint, counts the pieces of the stream from 0
//	└────────┴─────────┴───────┴──────┘   stamp: low bits of the number the next packet had when it was queued
type piece struct {
	stream uint8
	more   bool
	void   bool
	stamp  uint16
	seq    uint64
	data   []byte // part of the packet
}

func parsePiece(b []byte) (p piece, ok bool) {
	if len(b) == 0 || b[0]&^(pieceMore|pieceVoid|(Streams-1)) != 0 {
		return p, false
	}
	seq, n := binary.Uvarint(b[1:])
	if n <= 0 || len(b) < 3+n {
		return p, false
	}
	return piece{
		stream: b[0] & (Streams - 1), more: b[0]&pieceMore != 0, void: b[0]&pieceVoid != 0,
		seq: seq, stamp: binary.LittleEndian.Uint16(b[1+n:]), data: b[3+n:],
	}, true
}

// inbox puts reliable pieces in order. A piece that is next costs no memory unless its message has more pieces.
//
// The bound on what it holds follows from the sender's window: a message incomplete here has a piece that is not
// acked; the oldest such piece has at most one message's earlier pieces before it, and everything after is in the window.
type inbox struct {
	streams []inStream
	early   map[earlyKey]earlyPiece
	held    int
	peak    int // of the messages joined since the last rest, the longest; above 0 if a piece came early
}

type inStream struct {
	want  uint64 // sequence of the next piece
	stamp uint64 // of the message under way
	msgs  uint32 // handed over, ever
	begun bool
	void  bool   // it was taken back
	half  []byte // the message under way
}

type earlyKey struct {
	stream uint8
	seq    uint64
}

type earlyPiece struct {
	stamp      uint64
	more, void bool
	data       []byte
}

// plausible is false for a sequence that the sender's window cannot hold yet.
func (in *inbox) plausible(p *piece, cfg *Config) bool {
	want := uint64(0)
	if int(p.stream) < len(in.streams) {
		want = in.streams[p.stream].want
	}
	return p.seq < want || p.seq-want <= uint64(cfg.Window/pieceCost)
}

// take uses a piece that came in packet pn, and hands over the messages it completes.
func (in *inbox) take(pn uint64, p *piece, cfg *Config, h Handler) error {
	for len(in.streams) <= int(p.stream) {
		in.streams = append(in.streams, inStream{})
	}
	s := &in.streams[p.stream]
	if p.seq < s.want {
		return nil // a second copy
	}
	// The stamp is at most pn: the packet was numbered after the message was queued.
	stamp := pn - uint64(uint16(pn)-p.stamp)
	if stamp > pn {
		return ErrProtocol
	}
	if p.seq > s.want {
		return in.keep(p, stamp, cfg)
	}
	if err := in.join(s, p.stream, earlyPiece{stamp, p.more, p.void, p.data}, cfg, h); err != nil {
		return err
	}
	for len(in.early) > 0 {
		key := earlyKey{p.stream, s.want}
		e, ok := in.early[key]
		if !ok {
			break
		}
		delete(in.early, key)
		in.held -= len(e.data) + pieceCost
		if err := in.join(s, p.stream, e, cfg, h); err != nil {
			return err
		}
	}
	return nil
}

// keep stores a piece that came before its turn.
func (in *inbox) keep(p *piece, stamp uint64, cfg *Config) error {
	key := earlyKey{p.stream, p.seq}
	if _, ok := in.early[key]; ok {
		return nil
	}
	if in.held += len(p.data) + pieceCost; in.held > cfg.Window+cfg.MaxMessage {
		return ErrProtocol
	}
	in.peak = max(in.peak, 1)
	if in.early == nil {
		in.early = make(map[earlyKey]earlyPiece)
	}
	in.early[key] = earlyPiece{stamp, p.more, p.void, append([]byte(nil), p.data...)}
	return nil
}

// join adds the next piece of a stream to its message.
func (in *inbox) join(s *inStream, stream uint8, e earlyPiece, cfg *Config, h Handler) error {
	s.want++
	if len(s.half)+len(e.data) > cfg.MaxMessage {
		return ErrProtocol
	}
	if !s.begun {
		s.stamp = e.stamp
		if !e.more {
			s.msgs++
			if !e.void {
				h.Message(s.stamp, int(stream), e.data)
			}
			return nil
		}
	}
	s.begun = true
	if s.void = s.void || e.void; s.void {
		in.held -= len(s.half)
		s.half, e.data = s.half[:0], nil
	}
	s.half = append(s.half, e.data...)
	if in.held += len(e.data); in.held > cfg.Window+cfg.MaxMessage {
		return ErrProtocol
	}
	in.peak = max(in.peak, len(s.half))
	if e.more {
		return nil
	}
	in.held -= len(s.half)
	s.msgs++
	if !s.void {
		h.Message(s.stamp, int(stream), s.half)
	}
	s.begun, s.void, s.half = false, false, s.half[:0]
	return nil
}

// Taken is how many messages of a stream were handed over. See Queued.
func (c *Conn) Taken(stream int) uint32 {
	if stream < len(c.inbox.streams) {
		return c.inbox.streams[stream].msgs
	}
	return 0
}

// rest frees room that was not needed since the last rest.
func (in *inbox) rest() {
	if len(in.early) == 0 && in.peak == 0 {
		in.early = nil
	}
	for i := range in.streams {
		if s := &in.streams[i]; !s.begun && cap(s.half) > 4*in.peak {
			s.half = nil
		}
	}
	in.peak = 0
}
