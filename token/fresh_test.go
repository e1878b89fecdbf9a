package token

import (
	"net/netip"
	"testing"
	"time"

	"github.com/throng-dev/throng/internal/netcode"
)

// TestFreshTakesWhatMintMakes is R-61: a token of the longest life is taken whatever fraction of a second it was issued at. One
// in a thousand, issued within the first microseconds of a second, was not.
func TestFreshTakesWhatMintMakes(t *testing.T) {
	start := time.Unix(1_000_000, 0)
	fresh := Fresh(start)
	key, addrs := NewKey(), []netip.AddrPort{netip.MustParseAddrPort("127.0.0.1:7777")}
	for _, ns := range []int64{0, 1, 500, 999_999, 1_000_000, 1_000_001, 500_000_000, 998_999_999, 999_000_000, 999_999_999} {
		c := Claims{Player: [16]byte{1}, Issued: start.Add(time.Duration(ns))}
		b, err := Mint(key, ProtocolID, addrs, c, MaxLife)
		if err != nil {
			t.Fatal(err)
		}
		public, err := netcode.ParsePublicToken(b)
		if err != nil {
			t.Fatal(err)
		}
		if !fresh(c.Append(nil), int64(public.Expires), start.UnixMilli()) {
			t.Errorf("issued %d ns after a second: refused, expires %d", ns, public.Expires)
		}
	}
}
