package token

import (
	"context"
	"crypto/sha256"
	"fmt"
	"net"
	"net/netip"
	"time"
)

// DevSource mints tokens with [InsecureDevKey] for a relay on the loopback interface, so that a game runs before it has a
// backend. name is the player: equal names are the same player. It fails for any address that is not loopback, since
// everybody knows the key.
func DevSource(addr, name string) func(context.Context) ([]byte, error) {
	return func(ctx context.Context) ([]byte, error) {
		at, err := loopback(ctx, addr)
		if err != nil {
			return nil, err
		}
		id := sha256.Sum256([]byte("throng: development player " + name))
		c := Claims{Player: [16]byte(id[:16]), Rights: Player | HostEligible, Issued: time.Now()}
		return Mint(InsecureDevKey(), ProtocolID, []netip.AddrPort{at}, c, MaxLife)
	}
}

func loopback(ctx context.Context, addr string) (netip.AddrPort, error) {
	host, port, err := net.SplitHostPort(addr)
	if err != nil {
		return netip.AddrPort{}, fmt.Errorf("throng: minting a development token for %q: %w: write it as 127.0.0.1:9091", addr, err)
	}
	ips, err := net.DefaultResolver.LookupNetIP(ctx, "ip", host)
	if err != nil {
		return netip.AddrPort{}, fmt.Errorf("throng: minting a development token for %q: %w", addr, err)
	}
	for _, ip := range ips {
		if ip.IsLoopback() {
			return netip.ParseAddrPort(net.JoinHostPort(ip.Unmap().String(), port))
		}
	}
	return netip.AddrPort{}, fmt.Errorf("throng: minting a development token for %q: it is not a loopback address: have your backend mint tokens with a key of your own", addr)
}
