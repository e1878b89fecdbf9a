package authority

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net/netip"
	"time"

	"github.com/throng-dev/throng"
	"github.com/throng-dev/throng/relay"
	"github.com/throng-dev/throng/token"
	"github.com/throng-dev/throng/transport"
)

// Source is a source of tokens for an authority that holds the relay's authority key, as its backend does: a
// throng.Config's TokenSource. Player and realm are those of c; its rights are the authority's.
func Source(key token.Key, relay netip.AddrPort, c token.Claims) func(context.Context) ([]byte, error) {
	c.Rights = token.Authority
	return func(context.Context) ([]byte, error) {
		c.Issued = time.Now()
		return token.Mint(key, token.ProtocolID, []netip.AddrPort{relay}, c, 0)
	}
}

// Embed starts a relay in this process, listening for players on addr, and joins a world of it as an authority: a game server in
// one call. Close ends both. rc.AuthorityKey zero is a random one, which nobody else has; realm is that of the players.
func Embed(ctx context.Context, rc relay.Config, addr string, realm [16]byte, schema *throng.Schema, cfg Config) (*Server, error) {
	if rc.AuthorityKey == (token.Key{}) {
		if _, err := rand.Read(rc.AuthorityKey[:]); err != nil {
			return nil, fmt.Errorf("throng: a key for the embedded authority: %w", err)
		}
	}
	r, err := relay.New(rc)
	if err != nil {
		return nil, err
	}
	l, err := r.ListenUDP(addr)
	if err != nil {
		return nil, errors.Join(err, r.Close())
	}
	served := make(chan error, 1)
	go func() { served <- r.Serve(l) }()
	closing := func() error { return errors.Join(r.Close(), <-served) }
	to, err := local(l)
	if err == nil && cfg.TokenSource == nil {
		var me [16]byte
		if _, err = rand.Read(me[:]); err == nil {
			cfg.TokenSource = Source(rc.AuthorityKey, to, token.Claims{Player: me, Realm: realm})
		}
	}
	if err != nil {
		return nil, errors.Join(err, closing())
	}
	s, err := Join(ctx, to.String(), schema, cfg)
	if err != nil {
		return nil, errors.Join(err, closing())
	}
	s.relay, s.closing = r, closing
	return s, nil
}

// Relay is the embedded relay; nil: there is none.
func (s *Server) Relay() *relay.Server { return s.relay }

// RelayAddr is how players of this machine reach the relay that the Server joined.
func (s *Server) RelayAddr() string { return s.addr }

// local is how this process reaches a listener of its own.
func local(l transport.Listener) (netip.AddrPort, error) {
	a, err := netip.ParseAddrPort(l.Addr().String())
	switch {
	case err != nil:
		return a, fmt.Errorf("throng: the address of the embedded relay: %w", err)
	case a.Addr().IsUnspecified() && a.Addr().Is4():
		return netip.AddrPortFrom(netip.AddrFrom4([4]byte{127, 0, 0, 1}), a.Port()), nil
	case a.Addr().IsUnspecified():
		return netip.AddrPortFrom(netip.IPv6Loopback(), a.Port()), nil
	}
	return a, nil
}
