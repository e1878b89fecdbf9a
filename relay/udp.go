package relay

import (
	"errors"
	"net/netip"
	"time"

	"github.com/throng-dev/throng/internal/udp"
	"github.com/throng-dev/throng/token"
	"github.com/throng-dev/throng/transport"
)

// ListenUDP opens a UDP socket for Serve on addr, HOST:PORT; port 0 takes one that is free, and Addr of the listener tells
// it. It opens tokens with the keys of the config, and only those issued from now on.
//
// public are the addresses that tokens list for this relay. None: the address listened on, or that port on every address of
// this machine. Behind a translating router they must be given.
func (s *Server) ListenUDP(addr string, public ...netip.AddrPort) (transport.Listener, error) {
	if s.cfg.Key == (token.Key{}) {
		return nil, errors.New("throng: relay cannot listen: Config.Key is zero: set the key that the backend mints tokens with")
	}
	l, err := udp.Listen(addr, udp.Config{
		Key: s.cfg.Key, AuthorityKey: s.cfg.AuthorityKey, Protocol: token.ProtocolID, Public: public,
		// Room to tell those beyond MaxSessions that the relay is full.
		MaxClients: min(s.cfg.MaxSessions+s.cfg.MaxSessions/16+16, 1<<20),
		Accept:     token.Fresh(time.Now()),
	})
	if err != nil {
		return nil, err // not l, which would be a Listener that is nil inside
	}
	return l, nil
}
