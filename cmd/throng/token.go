package main

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"strings"
	"time"

	"github.com/throng-dev/throng/relay"
	"github.com/throng-dev/throng/token"
)

// tokenCommand mints a connect token: what a game's backend does with package token, for trying things out.
type tokenCommand struct {
	Key            string        `placeholder:"FILE" help:"Key file of the relay."`
	InsecureDevKey bool          `help:"Use the key that everybody knows, for relays on loopback addresses."`
	Player         string        `required:"" placeholder:"NAME" help:"Who it is: 32 hex digits, or a name, which is hashed."`
	Realm          string        `placeholder:"NAME" help:"Game or stage: 32 hex digits, or a name, which is hashed. Default: the only one."`
	Relay          []string      `required:"" placeholder:"ADDR" help:"Where the relay is reached, HOST:PORT; several with commas, tried in order."`
	Rights         []string      `default:"player,host-eligible" help:"What the player may do: player, host-eligible, authority, observer."`
	World          string        `placeholder:"NAME" help:"The only world the token lets into. Default: any."`
	Life           time.Duration `default:"60s" help:"How long the player may take to connect, at most 60s."`
	Out            string        `default:"-" placeholder:"FILE" help:"Where to write the token; - is standard output."`
	Raw            bool          `help:"Write the 2048 bytes instead of base64."`
	JSON           bool          `name:"json" help:"Write one JSON object with the token in base64, the player and the end of its life."`
}

// Run mints the token and writes it.
func (c *tokenCommand) Run(ctx context.Context, con console) error {
	key, err := c.key()
	if err != nil {
		return err
	}
	addrs, err := c.addrs(ctx)
	if err != nil {
		return err
	}
	rights, err := parseRights(c.Rights)
	if err != nil {
		return err
	}
	if c.Life <= 0 {
		return fmt.Errorf("--life %v: such a token has expired when it is made: use 1s to %v", c.Life, token.MaxLife)
	}
	claims := token.Claims{Player: idFor("development player", c.Player), Rights: rights, Issued: time.Now()}
	if c.Realm != "" {
		claims.Realm = idFor("realm", c.Realm)
	}
	if c.World != "" {
		claims.World = relay.WorldHash(c.World)
	}
	minted, err := token.Mint(key, token.ProtocolID, addrs, claims, c.Life)
	if err != nil {
		return err
	}
	return c.write(con, minted, claims)
}

func (c *tokenCommand) key() (token.Key, error) {
	switch {
	case c.InsecureDevKey && c.Key != "":
		return token.Key{}, errors.New("--key and --insecure-dev-key: use the one that the relay uses")
	case c.InsecureDevKey:
		for _, a := range c.Relay {
			if err := loopbackOnly("--insecure-dev-key --relay", a); err != nil {
				return token.Key{}, err
			}
		}
		return token.InsecureDevKey(), nil
	case c.Key == "":
		return token.Key{}, errors.New("a token needs the key of the relay: pass --key FILE, or --insecure-dev-key if the relay was started with it")
	}
	return readKey(c.Key)
}

// addrs looks the relay's addresses up: tokens hold numbers.
func (c *tokenCommand) addrs(ctx context.Context) ([]netip.AddrPort, error) {
	var out []netip.AddrPort
	for _, a := range c.Relay {
		host, service, err := net.SplitHostPort(a)
		if err != nil {
			return nil, fmt.Errorf("--relay %s: %w: write it as HOST:PORT, such as 127.0.0.1:9091", a, err)
		}
		port, err := net.DefaultResolver.LookupPort(ctx, "udp", service)
		if err != nil {
			return nil, fmt.Errorf("--relay %s: %w", a, err)
		}
		ips, err := net.DefaultResolver.LookupNetIP(ctx, "ip", host)
		if err != nil {
			return nil, fmt.Errorf("--relay %s: %w", a, err)
		}
		for _, ip := range ips {
			out = append(out, netip.AddrPortFrom(ip.Unmap(), uint16(port)))
		}
	}
	return out, nil
}

func (c *tokenCommand) write(con console, minted []byte, claims token.Claims) error {
	text := []byte(base64.StdEncoding.EncodeToString(minted) + "\n")
	switch {
	case c.Raw && c.JSON:
		return errors.New("--raw and --json: use one of both")
	case c.Raw:
		text = minted
	case c.JSON:
		var err error
		text, err = json.Marshal(struct {
			Token   []byte    `json:"token"`
			Player  string    `json:"player"`
			Expires time.Time `json:"expires"`
		}{minted, hex.EncodeToString(claims.Player[:]), claims.Issued.Add(c.Life).UTC().Truncate(time.Second)})
		if err != nil {
			return err
		}
		text = append(text, '\n')
	}
	if c.Out == "-" {
		_, err := con.out.Write(text)
		return err
	}
	if err := os.WriteFile(c.Out, text, 0o600); err != nil { // it holds the keys of a connection
		return fmt.Errorf("writing the token: %w", err)
	}
	return nil
}

// idFor reads 32 hex digits, or hashes a name. Players have the ids that token.DevSource gives to their names, so that both
// name the same player.
func idFor(kind, name string) [16]byte {
	if b, err := hex.DecodeString(name); err == nil && len(b) == 16 {
		return [16]byte(b)
	}
	sum := sha256.Sum256([]byte("throng: " + kind + " " + name))
	return [16]byte(sum[:16])
}

func parseRights(words []string) (token.Rights, error) {
	var all token.Rights
	for _, word := range words {
		switch strings.TrimSpace(word) {
		case "player":
			all |= token.Player
		case "host-eligible":
			all |= token.HostEligible
		case "authority":
			all |= token.Authority
		case "observer":
			all |= token.Observer
		default:
			return 0, fmt.Errorf("--rights %s: there is no such right: use player, host-eligible, authority, observer", word)
		}
	}
	return all, nil
}
