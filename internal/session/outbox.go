package session

import (
	"encoding/binary"
	"time"
)

const (
	// pieceSize is the most data one piece carries: with the longest header and ack block it still fits a 576 B packet
	// so what was cut once never has to be cut again. Two fill a 1,200 B packet to 88 %.
	pieceSize = 512

	// pieceCost is what a piece takes of the reliable window besides its data, so that many small messages are bounded too.
	pieceCost = 32

	smallFrame = 200
	firstTries = 3
	twinAfter  = 25 * time.Millisecond

	keepData   = 128
	keepPieces = 2
)

// queued is a piece that the other end has not acked.
type queued struct {
	data     uint64 // index in outbox.data
	seq      uint64
	in, twin uint64 // packets in flight that carry it, 0 if none
	stamp    uint16
	size     uint16
	stream   uint8
	tries    uint8 // times its probe timer ran out
	more     bool
	due      bool
	owed     bool // a second copy should ride in the next packet
	acked    bool
	sent     bool
	held     bool   // Feed makes it due
	void     bool   // Withdraw took its message back: what leaves of it from now on is empty
	tag      uint32 // of QueueHeld, 0 of others
}

func (q *queued) small() bool { return q.frameSize() <= smallFrame }

func (q *queued) bodySize() int { return 3 + uvarintSize(q.seq) + q.length() }

// length is how much data leaves with the piece.
func (q *queued) length() int {
	if q.void {
		return 0
	}
	return int(q.size)
}

func (q *queued) frameSize() int { return FrameSize(q.bodySize()) }

// outbox holds reliable pieces in the order they were queued, until acked. A piece acked ahead of an older one keeps
// its room until that one is acked too; the window bounds both.
type outbox struct {
	pieces fifo[queued]
	data   fifo[byte]
	seq    []uint64 // next of each stream
	msgs   []uint32 // queued in each stream, ever
	done   []uint32 // of them, acked whole
	used   int      // of the window
	apart  int      // of that, by messages of QueueHeld
	held   int
	heldLo uint64 // no piece before it is held
	due    int
	cursor uint64 // no piece before it is due
	owed   int
	owedLo uint64 // owed pieces are in [owedLo, owedHi)
	owedHi uint64
	owedAt time.Duration
	peak   [2]int // most data and pieces since the last rest
}

// Queue takes a message for reliable delivery, in order within its stream, and copies it. It returns ErrBackpressure
// when the window is full, ErrTooLarge or ErrStream when it never will be sent.
func (c *Conn) Queue(stream int, msg []byte) error { return c.QueueAt(stream, msg, c.next) }

// QueueAt is Queue for a message that had to wait outside for room: stamp is what Next was when it was to be queued.
func (c *Conn) QueueAt(stream int, msg []byte, stamp uint64) error {
	return c.queue(stream, msg, stamp, 0)
}

func (c *Conn) queue(stream int, msg []byte, stamp uint64, tag uint32) error {
	o := &c.outbox
	pieces := max(1, (len(msg)+pieceSize-1)/pieceSize)
	cost := len(msg) + pieces*pieceCost
	switch {
	case uint(stream) >= Streams:
		return ErrStream
	case len(msg) > c.cfg.MaxMessage:
		return ErrTooLarge
	case o.used+cost > c.cfg.Window:
		return ErrBackpressure
	}
	for len(o.seq) <= stream {
		o.seq, o.msgs, o.done = append(o.seq, 0), append(o.msgs, 0), append(o.done, 0)
	}
	o.used += cost
	if tag != 0 {
		o.hold(cost, pieces)
	}
	o.msgs[stream]++
	for {
		n := min(len(msg), pieceSize)
		o.pieces.push(queued{
			data: o.data.end(), seq: o.seq[stream], stamp: uint16(stamp), size: uint16(n),
			stream: uint8(stream), more: n < len(msg), due: tag == 0, held: tag != 0, tag: tag,
		})
		o.data.push(msg[:n]...)
		o.seq[stream]++
		if tag == 0 {
			o.due++
		}
		if msg = msg[n:]; len(msg) == 0 {
			o.peak = [2]int{max(o.peak[0], o.data.len()), max(o.peak[1], o.pieces.len())}
			return nil
		}
	}
}

// Queued is how many messages Queue took for a stream. With what Taken says at the other end, a message of one stream can name those
// of another that it must not overtake.
func (c *Conn) Queued(stream int) uint32 {
	if stream < len(c.outbox.msgs) {
		return c.outbox.msgs[stream]
	}
	return 0
}

// append writes what is due and fits into room bytes, then the second copies of small frames: a packet full of
// fresh pieces needs none, since the next packets tell soon whether it arrived.
func (o *outbox) append(b []byte, room int, p *packet, s *Stats) []byte {
	end := o.pieces.end()
	o.cursor = max(o.cursor, o.pieces.first())
	for ; o.due > 0 && o.cursor < end; o.cursor++ {
		q := o.pieces.at(o.cursor)
		if !q.due {
			continue
		}
		if q.frameSize() > room {
			return b
		}
		if q.sent {
			s.Resent++
		}
		q.due, q.sent, q.in = false, true, p.pn
		o.due--
		room -= q.frameSize()
		b = o.write(b, o.cursor, q, p)
		p.fresh = true
	}
	for i := max(o.owedLo, o.pieces.first()); o.owed > 0 && i < o.owedHi; i++ {
		q := o.pieces.at(i)
		if !q.owed || q.due || q.in == p.pn || q.twin == p.pn || q.frameSize() > room {
			continue
		}
		q.twin = p.pn
		room -= q.frameSize()
		b = o.write(b, i, q, p)
		s.Twins++
	}
	return b
}

// write appends one piece: see piece for the bytes.
func (o *outbox) write(b []byte, i uint64, q *queued, p *packet) []byte {
	if p.lo == p.hi {
		p.lo, p.hi = i, i
	}
	p.lo, p.hi = min(p.lo, i), max(p.hi, i+1)
	p.urgent = p.urgent || q.small() && q.tries < firstTries
	b = append(b, kindPiece)
	b = binary.AppendUvarint(b, uint64(q.bodySize()))
	head := q.stream
	if q.more {
		head |= pieceMore
	}
	if q.void {
		head |= pieceVoid
	}
	b = append(b, head)
	b = binary.AppendUvarint(b, q.seq)
	b = binary.LittleEndian.AppendUint16(b, q.stamp)
	return append(b, o.data.slice(q.data, q.length())...)
}

// committed notes which small frames of p ride in the next packet too.
func (o *outbox) committed(now time.Duration, p *packet) {
	for i := max(o.owedLo, o.pieces.first()); o.owed > 0 && i < o.owedHi; i++ {
		if q := o.pieces.at(i); q.owed && (p.fresh || q.twin == p.pn) {
			o.forgive(q)
		}
	}
	if !p.fresh {
		return
	}
	o.owedLo, o.owedHi, o.owedAt = p.lo, p.hi, now+twinAfter
	for i := p.lo; i < p.hi; i++ {
		if q := o.pieces.at(i); q.in == p.pn && q.small() {
			q.owed = true
			o.owed++
		}
	}
}

func (o *outbox) forgive(q *queued) {
	if q.owed {
		q.owed = false
		o.owed--
	}
}

// aborted takes back what append wrote for a packet that will not leave.
func (o *outbox) aborted(p *packet) {
	for i := p.lo; i < p.hi; i++ {
		q := o.pieces.at(i)
		if q.twin == p.pn {
			q.twin = 0
		}
		if q.in == p.pn {
			q.in = 0
			o.again(i, q)
		}
	}
}

func (o *outbox) again(i uint64, q *queued) {
	q.due = true
	o.due++
	o.cursor = min(o.cursor, i)
}

func (o *outbox) acked(f *flight) {
	for i, end := max(f.lo, o.pieces.first()), f.lo+uint64(f.n); i < end; i++ {
		if q := o.pieces.at(i); q.in == f.pn || q.twin == f.pn {
			q.acked, q.in, q.twin = true, 0, 0
			o.forgive(q)
		}
	}
	for o.pieces.len() > 0 && o.pieces.at(o.pieces.first()).acked {
		q := o.pieces.at(o.pieces.first())
		size := int(q.size)
		o.used -= size + pieceCost
		if q.tag != 0 {
			o.apart -= size + pieceCost
		}
		if !q.more {
			o.done[q.stream]++
		}
		o.data.pop(size)
		o.pieces.pop(1)
	}
}

func (o *outbox) lost(f *flight, timer bool) {
	for i, end := max(f.lo, o.pieces.first()), f.lo+uint64(f.n); i < end; i++ {
		q := o.pieces.at(i)
		switch f.pn {
		case q.in:
			q.in = 0
		case q.twin:
			q.twin = 0
		default:
			continue
		}
		if q.in == 0 && q.twin == 0 {
			if timer && q.tries < firstTries {
				q.tries++
			}
			o.again(i, q)
		}
	}
}

// rest frees room that was not needed since the last rest.
func (o *outbox) rest() {
	o.data.shrink(max(o.peak[0], keepData))
	o.pieces.shrink(max(o.peak[1], keepPieces))
	o.peak = [2]int{}
}
