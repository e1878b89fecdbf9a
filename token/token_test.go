package token_test

import (
	"bytes"
	"fmt"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/throng-dev/throng/internal/netcode"
	"github.com/throng-dev/throng/token"
)

var addrs = []netip.AddrPort{netip.MustParseAddrPort("203.0.113.7:7777"), netip.MustParseAddrPort("[2001:db8::7]:7777")}

func claims() token.Claims {
	return token.Claims{
		Player: [16]byte{1, 2, 3}, Realm: [16]byte{9}, Rights: token.Player | token.HostEligible,
		World: 0x1122334455667788, Issued: time.UnixMilli(1_800_000_000_123), KeyID: 7,
	}
}

func TestClaimsRoundTrip(t *testing.T) {
	c := claims()
	b := c.Append([]byte("before"))
	if len(b) != 6+token.ClaimsSize {
		t.Fatalf("%d bytes", len(b))
	}
	got, err := token.ParseClaims(b[6:])
	if err != nil || got != c {
		t.Errorf("%+v, %v", got, err)
	}
	// What a later version puts behind the fields is ignored, a later version byte is not.
	b[6+60] = 1
	if _, err := token.ParseClaims(b[6:]); err != nil {
		t.Error(err)
	}
	b[6] = 2
	if _, err := token.ParseClaims(b[6:]); err == nil {
		t.Error("version 2 was read")
	}
	for _, n := range []int{0, 255, 257} {
		if _, err := token.ParseClaims(make([]byte, n)); err == nil {
			t.Errorf("%d bytes were read", n)
		}
	}
	if _, err := token.ParseClaims(token.Claims{}.Append(nil)); err == nil {
		t.Error("no player")
	}
}

// The bytes are a format: a backend in another language writes them.
func TestClaimsLayout(t *testing.T) {
	want := []byte{1, 3, 0, 7, 0, 0, 0, 0x88, 0x77, 0x66, 0x55, 0x44, 0x33, 0x22, 0x11}
	if got := claims().Append(nil); !bytes.HasPrefix(got, want) || got[23] != 1 || got[39] != 9 || got[55] != 0 {
		t.Errorf("%x", got[:56])
	}
}

// what the carrier knows a connection by is random for each token, and never the player: claims alone say who it is.
func TestMintedTokenOpens(t *testing.T) {
	key := token.NewKey()
	c := claims()
	b, err := token.Mint(key, token.ProtocolID, addrs, c, 0)
	if err != nil {
		t.Fatal(err)
	}
	public, err := netcode.ParsePublicToken(b)
	if err != nil {
		t.Fatal(err)
	}
	var private netcode.PrivateToken
	if err := private.Open(netcode.Key(key), &public); err != nil {
		t.Fatal(err)
	}
	got, err := token.ParseClaims(private.UserData[:])
	if err != nil || got != c {
		t.Errorf("%+v, %v", got, err)
	}
	if len(public.Addrs) != 2 || public.Addrs[1] != addrs[1] || private.ClientID == 0 || public.Timeout != 17 {
		t.Errorf("%+v", public)
	}
	if private.Open(netcode.Key(token.NewKey()), &public) == nil {
		t.Error("another key opens it")
	}
	again, _ := token.Mint(key, token.ProtocolID, addrs, c, 0)
	if bytes.Equal(b, again) {
		t.Error("two tokens are the same")
	}
	first := private.ClientID
	if public, err = netcode.ParsePublicToken(again); err != nil {
		t.Fatal(err)
	}
	if err := private.Open(netcode.Key(key), &public); err != nil || private.ClientID == first {
		t.Errorf("two tokens of a player have one number: %v", err)
	}
}

func TestMintNamesAllThatIsWrong(t *testing.T) {
	_, err := token.Mint(token.Key{}, 1, []netip.AddrPort{{}, netip.MustParseAddrPort("0.0.0.0:1")}, token.Claims{}, time.Hour)
	for _, want := range []string{"key is zero", "cannot reach", "0.0.0.0:1", "without a player", "1h0m0s is out of range"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v does not say %q", err, want)
		}
	}
	for _, n := range []int{0, 33} {
		if _, err := token.Mint(token.NewKey(), 1, make([]netip.AddrPort, n), claims(), 0); err == nil {
			t.Errorf("%d addresses", n)
		}
	}
}

func TestFresh(t *testing.T) {
	issued := claims().Issued
	for name, c := range map[string]struct {
		start time.Duration // after issue
		life  time.Duration
		want  bool
	}{
		"issued later":    {-time.Hour, token.MaxLife, true},
		"a second before": {time.Second, token.MaxLife, true},
		"before start":    {time.Second + time.Millisecond, token.MaxLife, false},
		"too long a life": {-time.Hour, token.MaxLife + 2*time.Second, false},
	} {
		b := claims().Append(nil)
		expires := issued.Add(c.life + time.Second - 1).Unix()
		if got := token.Fresh(issued.Add(c.start))(b, expires, issued.UnixMilli()); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
	if token.Fresh(issued)(make([]byte, token.ClaimsSize), 0, 0) {
		t.Error("unreadable claims are fresh")
	}
}

func TestKeys(t *testing.T) {
	k := token.NewKey()
	if got, err := token.ParseKey(" " + k.Hex() + "\n"); err != nil || got != k {
		t.Error(err)
	}
	for _, text := range []string{"", "secret", k.Hex() + "00", strings.Repeat("0", 64)} {
		if _, err := token.ParseKey(text); err == nil || strings.Contains(err.Error(), "secret") {
			t.Errorf("%q: %v", text, err)
		}
	}
	path := filepath.Join(t.TempDir(), "key")
	if _, err := token.ReadKey(path); err == nil {
		t.Error("read a file that is not there")
	}
	os.WriteFile(path, []byte(k.Hex()+"\n"), 0o600)
	if got, err := token.ReadKey(path); err != nil || got != k {
		t.Error(err)
	}
	for _, verb := range []string{"%v", "%s", "%x", "%#v", "%d", "%q", "%+v"} {
		if s := fmt.Sprintf(verb, k); strings.Contains(s, k.Hex()[:8]) || s != "token.Key(hidden)" {
			t.Errorf("%s prints %s", verb, s)
		}
		if s := fmt.Sprintf(verb, struct{ K token.Key }{k}); !strings.Contains(s, "hidden") {
			t.Errorf("%s prints %s", verb, s)
		}
	}
	if k.Derive("a") == k.Derive("b") || k.Derive("a") != k.Derive("a") || k.Derive("a") == k {
		t.Error("derived keys")
	}
	if token.InsecureDevKey() != token.InsecureDevKey() || token.InsecureDevKey() == (token.Key{}) {
		t.Error("development key")
	}
}

func TestRightsHaveNames(t *testing.T) {
	for r, want := range map[token.Rights]string{
		0: "none", token.Player: "player", token.Player | token.Authority: "player+authority", 1 << 9: "0x200",
	} {
		if r.String() != want {
			t.Errorf("%d is %q, want %q", r, r, want)
		}
	}
	if r := token.Player | token.Observer; !r.Has(token.Observer) || r.Has(token.Observer|token.Authority) {
		t.Error("Has")
	}
}

func FuzzParseClaims(f *testing.F) {
	f.Add(claims().Append(nil))
	f.Add([]byte{1})
	f.Fuzz(func(t *testing.T, b []byte) {
		c, err := token.ParseClaims(b)
		if err != nil {
			return
		}
		if again, err := token.ParseClaims(c.Append(nil)); err != nil || again != c {
			t.Errorf("%+v, then %+v, %v", c, again, err)
		}
	})
}
