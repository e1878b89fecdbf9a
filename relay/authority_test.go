package relay

import (
	"net"
	"net/netip"
	"testing"
)

type memory string

func (memory) Network() string  { return "memory" }
func (m memory) String() string { return string(m) }

func TestR62WhereAnAuthorityMayComeFrom(t *testing.T) {
	at := func(s string) net.Addr { return net.UDPAddrFromAddrPort(netip.MustParseAddrPort(s)) }
	lan := []netip.Prefix{netip.MustParsePrefix("10.1.0.0/16"), netip.MustParsePrefix("fd00::/8")}
	for _, c := range []struct {
		from  net.Addr
		allow []netip.Prefix
		want  bool
	}{
		{at("127.0.0.1:1"), nil, true},
		{at("127.9.9.9:1"), nil, true},
		{at("[::1]:1"), nil, true},
		{at("[::ffff:127.0.0.1]:1"), nil, true},
		{at("10.1.2.3:1"), nil, false},
		{at("[fd00::1]:1"), nil, false},
		{at("10.1.2.3:1"), lan, true},
		{at("[::ffff:10.1.2.3]:1"), lan, true},
		{at("[fd00::1]:1"), lan, true},
		{at("10.2.2.3:1"), lan, false},
		{at("127.0.0.1:1"), lan, false}, // who lists networks lists all of them
		{memory("ann"), nil, true},
		{nil, nil, false},
	} {
		if got := (&Config{AuthorityFrom: c.allow}).authorityFrom(c.from); got != c.want {
			t.Errorf("from %v, allowed %v: %v", c.from, c.allow, got)
		}
	}
}
