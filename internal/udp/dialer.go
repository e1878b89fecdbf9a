package udp

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"time"

	"github.com/throng-dev/throng/internal/netcode"
	"github.com/throng-dev/throng/transport"
)

// Dialer opens connections over UDP. Its zero value is ready to use.
type Dialer struct {
	// Protocol must be that of the relay. Zero: what the token says.
	Protocol uint64
	// Handshake is how long each address of the relay may take to accept. Zero: 5 s.
	Handshake time.Duration
	// Timeout is how long a connection survives silence. Zero: what the token says.
	Timeout time.Duration
	// KeepAlive is the silence after which one is sent. Zero: 1.5 s.
	KeepAlive time.Duration
	// Portable does without the system's batches.
	Portable bool
}

// Dial opens a connection with a connect token. addr is HOST:PORT; if it is empty, the addresses in the token are
// tried in their order. The error wraps transport.ErrTokenUsed, ErrRefused or ErrTimeout where one of them is why.
func (d Dialer) Dial(ctx context.Context, addr string, token []byte) (transport.Conn, error) {
	c, err := d.dial(ctx, addr, token)
	if err != nil {
		return nil, err // not a nil *Conn in an interface
	}
	return c, nil
}

func (d Dialer) dial(ctx context.Context, addr string, token []byte) (*Conn, error) {
	if !hasUDP() {
		return nil, errNoUDP
	}
	fail := func(err error) (*Conn, error) {
		if addr == "" {
			return nil, fmt.Errorf("throng: dialing the addresses of the token: %w", err)
		}
		return nil, fmt.Errorf("throng: dialing %s: %w", addr, err)
	}
	protocol := d.Protocol
	if protocol == 0 {
		t, err := netcode.ParsePublicToken(token)
		if err != nil {
			return fail(reason(err))
		}
		protocol = t.Protocol
	}
	addrs, err := resolve(ctx, addr)
	if err != nil {
		return fail(err)
	}
	c := &Conn{clock: clock{time.Now()}}
	c.client, err = netcode.NewClient(c.clock.at(c.clock.start), netcode.ClientConfig{
		Token: token, Protocol: protocol, Addrs: addrs, Handshake: d.Handshake, Timeout: d.Timeout, KeepAlive: d.KeepAlive,
	})
	if err != nil {
		return fail(reason(err))
	}
	for {
		err := d.try(ctx, c)
		switch {
		case err != nil:
			return fail(reason(err))
		case c.client.State() == netcode.Connected:
			return c, nil
		}
	}
}

// try does a handshake with the address in use, on a socket of its own, which the Conn keeps if it worked. It returns
// nil without a connection if the client went on to the next address.
func (d Dialer) try(ctx context.Context, c *Conn) error {
	remote := c.client.Remote()
	conn, err := net.DialUDP("udp", nil, net.UDPAddrFromAddrPort(remote))
	if err == nil {
		c.socket, err = newSocket(conn, clientBatch, clientBuffer, d.Portable)
	}
	if err != nil {
		// Such as IPv6 on a machine that has none: the next address may do.
		c.client.Skip(c.clock.at(time.Now()))
		if c.client.State() == netcode.Over {
			return err
		}
		return nil
	}
	stop := context.AfterFunc(ctx, c.socket.wake)
	defer stop()
	done := func() bool {
		return c.client.State() == netcode.Connected || c.client.Remote() != remote || ctx.Err() != nil
	}
	for err == nil && !done() {
		err = c.pump(time.Time{}, done)
	}
	if c.client.State() == netcode.Connected && ctx.Err() == nil {
		return nil
	}
	if err == nil && ctx.Err() != nil {
		err = ctx.Err()
		if errors.Is(err, context.DeadlineExceeded) {
			err = fmt.Errorf("%w (%w)", transport.ErrTimeout, err)
		}
		c.client.Goodbye(c.send)
	}
	c.socket.close()
	c.got = c.got[:0]
	return err
}

// resolve looks a host up. An empty addr gives no addresses.
func resolve(ctx context.Context, addr string) ([]netip.AddrPort, error) {
	if addr == "" {
		return nil, nil
	}
	host, service, err := net.SplitHostPort(addr)
	if err != nil {
		return nil, fmt.Errorf("%w: write it as HOST:PORT, such as play.example.com:9091", err)
	}
	port, err := net.DefaultResolver.LookupPort(ctx, "udp", service)
	if err != nil {
		return nil, err
	}
	if host == "" {
		host = "localhost"
	}
	ips, err := net.DefaultResolver.LookupNetIP(ctx, "ip", host)
	if err != nil {
		return nil, err
	}
	var addrs []netip.AddrPort
	for _, ip := range ips[:min(len(ips), netcode.MaxAddrs)] {
		addrs = append(addrs, netip.AddrPortFrom(ip.Unmap(), uint16(port)))
	}
	return addrs, nil
}

// reason adds what package transport calls it to why a handshake failed.
func reason(err error) error {
	switch err {
	case netcode.ErrTokenExpired, netcode.ErrInvalidToken:
		return fmt.Errorf("%w (%w)", transport.ErrTokenUsed, err)
	case netcode.ErrDenied:
		return fmt.Errorf("%w (%w)", transport.ErrRefused, err)
	case netcode.ErrRequestTimeout, netcode.ErrResponseTimeout:
		return fmt.Errorf("%w (%w)", transport.ErrTimeout, err)
	}
	return err
}
