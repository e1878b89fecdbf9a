package udp

import (
	"errors"
	"net"
	"net/netip"
	"sync"
	"time"
)

// portable is the socket of every other system: a goroutine reads, one datagram a call, into a small queue, because
// package net has no read that does not wait.
//
//	reader: free → ReadFromUDPAddrPort → full → recv → datagram → free, at the next recv
type portable struct {
	conn    *net.UDPConn
	free    chan []byte // buffers, all of which fit
	full    chan packet // as many, so only free ever makes the reader wait
	woken   chan struct{}
	closing chan struct{}
	once    sync.Once
	done    chan struct{}
	err     error // why the reader ended; read after done

	held   []packet // receiving goroutine
	timer  *time.Timer
	sender sender // sending goroutine
}

func newPortable(conn *net.UDPConn, size, buffer int) *portable {
	// Some systems refuse what others cut to their limit.
	for n := buffer; n > 64<<10 && conn.SetReadBuffer(n) != nil; n /= 2 {
	}
	for n := buffer; n > 64<<10 && conn.SetWriteBuffer(n) != nil; n /= 2 {
	}
	// Twice a batch: one is being handled while the next arrives. When it is full, the system's own buffer holds more.
	s := &portable{
		conn: conn, free: make(chan []byte, 2*size), full: make(chan packet, 2*size),
		woken: make(chan struct{}, 1), closing: make(chan struct{}), done: make(chan struct{}),
		held: make([]packet, 0, size), timer: time.NewTimer(time.Hour),
	}
	for range 2 * size {
		s.free <- make([]byte, slot)
	}
	s.sender = newSender(false, size, s.write)
	go s.read()
	return s
}

func (s *portable) read() {
	defer close(s.done)
	for failures := 0; ; {
		var b []byte
		select {
		case b = <-s.free:
		case <-s.closing:
			s.err = net.ErrClosed
			return
		}
		n, from, err := s.conn.ReadFromUDPAddrPort(b[:slot])
		if err != nil {
			// Some systems report here that an earlier datagram met a closed port. Only a row of errors is an end.
			if failures++; errors.Is(err, net.ErrClosed) || !transient(err) && failures > maxFailures {
				s.err = err
				return
			}
			s.free <- b
			continue
		}
		failures = 0
		s.full <- packet{netip.AddrPortFrom(from.Addr().Unmap(), from.Port()), b[:n]}
	}
}

func (s *portable) recv(until time.Time) (int, error) {
	for _, p := range s.held {
		s.free <- p.data[:slot]
	}
	s.held = s.held[:0]
	if s.more() > 0 {
		return len(s.held), nil
	}
	if until.IsZero() {
		select {
		case <-s.done:
			return 0, s.err
		default:
			return 0, nil
		}
	}
	s.timer.Reset(time.Until(until))
	select {
	case p := <-s.full:
		s.held = append(s.held, p)
		return s.more(), nil
	case <-s.woken:
	case <-s.timer.C:
	case <-s.done:
		return 0, s.err
	}
	return 0, nil
}

// more takes what is there.
func (s *portable) more() int {
	for len(s.held) < cap(s.held) {
		select {
		case p := <-s.full:
			s.held = append(s.held, p)
		default:
			return len(s.held)
		}
	}
	return len(s.held)
}

func (s *portable) datagram(i int) (netip.AddrPort, []byte) { return s.held[i].to, s.held[i].data }

func (s *portable) send(ps []packet) int {
	// Package net has no write that does not wait, and one whose deadline has passed fails without trying. So this is a
	// bound for a card that hangs; a full buffer otherwise empties in the time it takes to transmit it.
	_ = s.conn.SetWriteDeadline(time.Now().Add(100 * time.Millisecond))
	return s.sender.send(ps)
}

func (s *portable) write(ps []packet, spans []span) (int, error) {
	for i, sp := range spans {
		var err error
		if p := ps[sp.first]; p.to.IsValid() {
			_, err = s.conn.WriteToUDPAddrPort(p.data, p.to)
		} else {
			_, err = s.conn.Write(p.data)
		}
		if err != nil && i == 0 {
			return 0, plainError(err)
		} else if err != nil {
			return i, nil // the next call meets it again
		}
	}
	return len(spans), nil
}

func (s *portable) wake() {
	select {
	case s.woken <- struct{}{}:
	default:
	}
}

func (s *portable) close() error {
	err := net.ErrClosed
	s.once.Do(func() {
		close(s.closing)
		err = s.conn.Close()
		<-s.done
	})
	return err
}
