package netcode

import (
	"bytes"
	"encoding/hex"
	"net/netip"
	"os"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/crypto/chacha20poly1305"
)

// The vectors were made by running the reference implementation: key 00..1f, protocol 0x1234567890ABCDEF.
const vectorProtocol = 0x1234567890ABCDEF

func vectorKey() (k Key) {
	for i := range k {
		k[i] = byte(i)
	}
	return k
}

type vector struct {
	name string
	arg  string
	data []byte
}

func vectors(t testing.TB) (all []vector) {
	text, err := os.ReadFile("testdata/netcode-1.02.txt")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		f := strings.Fields(line)
		if len(f) < 3 {
			continue
		}
		data, err := hex.DecodeString(f[len(f)-1])
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, vector{f[0], f[1], data})
	}
	return all
}

func TestVectorToken(t *testing.T) {
	for _, v := range vectors(t) {
		if v.name != "TOKEN" {
			continue
		}
		public, err := ParsePublicToken(v.data)
		if err != nil {
			t.Fatal(err)
		}
		if public.Protocol != vectorProtocol || public.Expires-public.Created != 45 || public.Timeout != 17 {
			t.Errorf("protocol %x, life %d, timeout %d", public.Protocol, public.Expires-public.Created, public.Timeout)
		}
		want := []netip.AddrPort{netip.MustParseAddrPort("127.0.0.1:40000"), netip.MustParseAddrPort("[::1]:40001")}
		if len(public.Addrs) != 2 || public.Addrs[0] != want[0] || public.Addrs[1] != want[1] {
			t.Errorf("addresses %v, want %v", public.Addrs, want)
		}
		if got := public.Append(nil); !bytes.Equal(got, v.data) {
			t.Error("Append does not give the bytes that were parsed")
		}

		var private PrivateToken
		if err := private.Open(vectorKey(), &public); err != nil {
			t.Fatal(err)
		}
		if private.ClientID != 0x1122334455667788 || private.Timeout != 17 {
			t.Errorf("client %x, timeout %d", private.ClientID, private.Timeout)
		}
		if private.ClientToServer != public.ClientToServer || private.ServerToClient != public.ServerToClient {
			t.Error("keys differ between the parts")
		}
		for i, b := range private.UserData {
			if b != byte(255-i) {
				t.Fatalf("user data [%d] = %d", i, b)
			}
		}
		sealed := private.Seal(nil, vectorKey(), public.Protocol, public.Expires, public.Nonce)
		if !bytes.Equal(sealed, public.Private[:]) {
			t.Error("Seal does not give the bytes that were opened")
		}
	}
}

func TestVectorPackets(t *testing.T) {
	key := vectorKey()
	aead := must(chacha20poly1305.New(key[:]))
	c := newCrypt(vectorProtocol)
	n := 0
	for _, v := range vectors(t) {
		if v.name != "PKT" {
			continue
		}
		n++
		seq, err := strconv.ParseUint(v.arg, 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		body := []byte{3, 0, 0, 0, 32, 0, 0, 0}
		buf := append(make([]byte, 16, 64), body...)
		if got := c.seal(aead, kindKeepAlive, seq, buf, 16); !bytes.Equal(got, v.data) {
			t.Errorf("sequence %d: sealed %x, want %x", seq, got, v.data)
		}
		kind, got, why := c.open(aead, fromServer, &window{}, bytes.Clone(v.data))
		if why != 0 || kind != kindKeepAlive || !bytes.Equal(got, body) {
			t.Errorf("sequence %d: opened %d %x, %v", seq, kind, got, why)
		}
	}
	if n != 10 {
		t.Errorf("%d packet vectors, want 10", n)
	}
}

func TestVectorChallenge(t *testing.T) {
	for _, v := range vectors(t) {
		if v.name != "CHALLENGE" {
			continue
		}
		// The last 16 bytes are the room for the tag.
		plain := v.data[:challengePlain]
		var c Challenge
		if !c.Parse(plain) {
			t.Fatal("not parsed")
		}
		if c.ClientID != 0x0102030405060708 {
			t.Errorf("client %x", c.ClientID)
		}
		for i, b := range c.UserData {
			if b != byte(i)^0x5A {
				t.Fatalf("user data [%d] = %x", i, b)
			}
		}
		if !bytes.Equal(c.Append(nil), plain) {
			t.Error("Append does not give the bytes that were parsed")
		}
	}
}
