package token

import (
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"net/netip"
	"time"

	"github.com/throng-dev/throng/internal/netcode"
)

const (
	// Size is the size of a connect token, in bytes.
	Size = netcode.PublicTokenSize
	// MaxLife is the longest life of a token, and the usual one. Relays remember a used token for so long.
	MaxLife = netcode.MaxLife
	// MaxAddrs is how many addresses a token can list.
	MaxAddrs = netcode.MaxAddrs
)

// Mint makes a connect token: the Size bytes a player passes to Dial, once.
//
// addrs are where the relay is reached, 1..32 of them; the player tries them in order. The relay takes the token only
// if one of them is an address it knows as its own. protocol is ProtocolID unless the relay is configured with
// another. life is how long the player may take to connect, not how long the session may last; zero is MaxLife.
func Mint(key Key, protocol uint64, addrs []netip.AddrPort, c Claims, life time.Duration) ([]byte, error) {
	if life == 0 {
		life = MaxLife
	}
	if c.Issued.IsZero() {
		c.Issued = time.Now()
	}
	c.Issued = c.Issued.Truncate(time.Millisecond) // as the claims have it: one that counts from later would live too long
	if c.Rights == 0 {
		c.Rights = Player
	}
	if err := check(key, addrs, c, life); err != nil {
		return nil, err
	}
	var random struct {
		ID       uint64
		Nonce    [netcode.NonceSize]byte
		Up, Down netcode.Key
	}
	if err := binary.Read(rand.Reader, binary.LittleEndian, &random); err != nil {
		return nil, fmt.Errorf("throng: minting a token: %w", err)
	}
	private := netcode.PrivateToken{
		ClientID:       random.ID,
		Timeout:        int32(netcode.DefaultTimeout / time.Second),
		Addrs:          addrs,
		ClientToServer: random.Up,
		ServerToClient: random.Down,
	}
	c.Append(private.UserData[:0])
	public := netcode.PublicToken{
		Protocol: protocol,
		Created:  uint64(c.Issued.Unix()),
		// Tokens count in seconds. Rounded up, so that a short life is not over when it begins.
		Expires:        uint64(c.Issued.Add(life + time.Second - 1).Unix()),
		Nonce:          random.Nonce,
		Timeout:        private.Timeout,
		Addrs:          addrs,
		ClientToServer: random.Up,
		ServerToClient: random.Down,
	}
	private.Seal(public.Private[:0], netcode.Key(key), protocol, public.Expires, public.Nonce)
	return public.Append(make([]byte, 0, Size)), nil
}

// check names everything that is wrong at once.
func check(key Key, addrs []netip.AddrPort, c Claims, life time.Duration) error {
	var errs []error
	if key == (Key{}) {
		errs = append(errs, errors.New("throng: minting a token: the key is zero: use ParseKey, ReadKey or NewKey"))
	}
	if len(addrs) == 0 || len(addrs) > MaxAddrs {
		errs = append(errs, fmt.Errorf("throng: minting a token: %d addresses: list 1 to %d where the relay is reached", len(addrs), MaxAddrs))
	}
	for _, a := range addrs {
		if !a.IsValid() || a.Addr().IsUnspecified() || a.Port() == 0 {
			errs = append(errs, fmt.Errorf("throng: minting a token: players cannot reach %v: list a full address and port such as 203.0.113.7:9091", a))
		}
	}
	if c.Player == ([16]byte{}) {
		errs = append(errs, errNoPlayer)
	}
	if life < time.Second || life > MaxLife {
		errs = append(errs, fmt.Errorf("throng: minting a token: life of %v is out of range: use %v to %v, or 0 for %v", life, time.Second, MaxLife, MaxLife))
	}
	if c.Issued.Unix() < 0 {
		errs = append(errs, fmt.Errorf("throng: minting a token: issued %v: use the time of now", c.Issued))
	}
	return errors.Join(errs...)
}

// Fresh returns what a relay that started at a certain time asks of an opened token before it lets it in: that its
// claims can be read, that it was not issued before the start, and that it does not live longer than MaxLife.
//
// A relay forgets the tokens it has seen when it stops. The first rule keeps one that was used before from opening a
// second connection under the same keys; one second is allowed for clocks that differ. expires is in unix seconds,
// wall, the relay's clock, in unix milliseconds.
func Fresh(start time.Time) func(userData []byte, expires, wall int64) bool {
	first := start.Add(-time.Second).UnixMilli()
	return func(userData []byte, expires, wall int64) bool {
		c, err := ParseClaims(userData)
		if err != nil {
			return false
		}
		issued := c.Issued.UnixMilli()
		// One second more: Mint rounds up.
		return issued >= first && expires < (issued+(MaxLife+time.Second).Milliseconds()+999)/1000
	}
}
