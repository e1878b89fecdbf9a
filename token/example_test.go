package token_test

import (
	"fmt"
	"net/netip"

	"github.com/throng-dev/throng/token"
)

// A backend lets a player who has logged in onto a relay.
func ExampleMint() {
	key := token.InsecureDevKey() // in earnest: token.ReadKey("/etc/game/player.key")
	relay := []netip.AddrPort{netip.MustParseAddrPort("127.0.0.1:7777")}

	t, err := token.Mint(key, token.ProtocolID, relay, token.Claims{
		Player: [16]byte{0xA1, 0x1C, 0xE0},
		Rights: token.Player | token.HostEligible,
	}, 0)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("a token of", len(t), "bytes")
	// Output: a token of 2048 bytes
}

// A relay reads who connects.
func ExampleParseClaims() {
	userData := token.Claims{Player: [16]byte{0xA1, 0x1C, 0xE0}, Rights: token.Player | token.Observer}.Append(nil)

	c, err := token.ParseClaims(userData)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%x is %v\n", c.Player[:3], c.Rights)
	fmt.Println("may be host:", c.Rights.Has(token.HostEligible))
	// Output:
	// a11ce0 is player+observer
	// may be host: false
}

// Mistakes are named, with what to do.
func ExampleMint_mistakes() {
	_, err := token.Mint(token.Key{}, token.ProtocolID, nil, token.Claims{Player: [16]byte{1}}, 0)
	fmt.Println(err)
	// Output:
	// throng: minting a token: the key is zero: use ParseKey, ReadKey or NewKey
	// throng: minting a token: 0 addresses: list 1 to 32 where the relay is reached
}

func ExampleKey() {
	key, err := token.ParseKey("000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f")
	fmt.Println(key, err)
	// Output: token.Key(hidden) <nil>
}
