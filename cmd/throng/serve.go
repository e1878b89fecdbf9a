package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/netip"
	"time"

	"github.com/throng-dev/throng/internal/inspect"
	"github.com/throng-dev/throng/internal/load"
	"github.com/throng-dev/throng/relay"
	"github.com/throng-dev/throng/token"
)

// serveCommand runs a relay for a game.
type serveCommand struct {
	Listen string           `default:"127.0.0.1:9091" help:"UDP address for clients."`
	Public []netip.AddrPort `placeholder:"ADDR" help:"Addresses that tokens name for this relay, if they differ from --listen: behind a translating router."`
	HTTP   string           `name:"http" default:"127.0.0.1:9092" help:"TCP address of the page, /healthz and /metrics; they show everything to everybody who reaches it."`

	Key            string         `placeholder:"FILE" help:"Key file that the backend mints tokens with."`
	AuthorityKey   string         `placeholder:"FILE" help:"Key file for tokens that may override everybody."`
	AuthorityFrom  []netip.Prefix `placeholder:"NET" help:"Networks an authority may come from, as 10.0.0.0/8; none: this machine alone."`
	InsecureDevKey bool           `help:"Use the key that everybody knows, on a loopback address."`

	Chunk         float64       `default:"1600" help:"Edge of a chunk in units."`
	Reach         int           `default:"8" help:"Chunks away that a client is shown entities; -1: its own chunk only."`
	PropertyReach int           `placeholder:"N" help:"The same for what is not motion, owner or destruction; --reach at most, and by default."`
	Flat          bool          `help:"Chunks are columns: the third axis does not count."`
	PassThrough   bool          `help:"Keep no values for those who come later, and repair nothing that was lost."`
	Trust         relay.Trust   `default:"strict" enum:"strict,observe,trust" help:"Writes by those who may not: strict drops them, observe lets them pass and logs them, trust leaves them to the clients."`
	OpenGroups    bool          `help:"Let any player join any group of players by itself."`
	Flush         time.Duration `default:"50ms" help:"How long changes wait, while there are many, so that they travel together."`
	MaxRate       int           `default:"60" help:"Replication ticks a second of a client at most."`
	MaxSessions   int           `default:"10000" help:"Sessions at most."`

	JSON bool `name:"json" help:"Log in JSON; the first line of standard output is an object with the addresses."`
}

// Run serves until ctx ends.
func (c *serveCommand) Run(ctx context.Context, con console) error {
	key, authority, err := c.keys()
	if err != nil {
		return err
	}
	log := slog.New(slog.NewTextHandler(con.err, nil))
	if c.JSON {
		log = slog.New(slog.NewJSONHandler(con.err, nil))
	}
	load.Thrift()
	r, err := relay.New(relay.Config{
		Default: relay.World{
			ChunkSize: c.Chunk, Reach: c.Reach, PropertyReach: c.PropertyReach, Flat: c.Flat, PassThrough: c.PassThrough, Trust: c.Trust,
			OpenGroups: c.OpenGroups,
			MaxRate:    c.MaxRate, Flush: c.Flush,
		},
		Key: key, AuthorityKey: authority, AuthorityFrom: c.AuthorityFrom, MaxSessions: c.MaxSessions, Logger: log,
	})
	if err != nil {
		return err
	}
	page, err := listenHTTP("--http", c.HTTP)
	if err != nil {
		return err
	}
	defer page.Close()
	l, err := listenUDP(r, "--listen", c.Listen, c.Public...)
	if err != nil {
		return err
	}
	ended := make(chan error, 1)
	go func() { ended <- r.Serve(l) }()
	stopPage := servePage(page, inspect.New(newView(r, nil), 0), func(mux *http.ServeMux) {
		mux.Handle("GET /metrics", metrics(r, l))
		mux.Handle("GET /healthz", &health{relay: r})
	})
	defer stopPage()
	c.announce(con, l.Addr().String(), page.Addr().String())
	second := time.NewTicker(time.Second)
	defer second.Stop()
	strange := strangeKeys{log: log}
wait:
	for {
		select {
		case err := <-ended:
			return err // it did not end because somebody asked
		case now := <-second.C:
			strange.look(now, l.Stats().Dropped["token forged"])
		case <-ctx.Done():
			break wait
		}
	}
	if err := r.Close(); err != nil {
		return err
	}
	if err := <-ended; err != nil {
		return err
	}
	if !c.JSON {
		fmt.Fprintln(con.out, "stopped")
	}
	return nil
}

// strangeKeys warns of tokens that the relay's keys do not open, once a minute at most: anybody may send some. Their clients
// hear nothing, so that the log of the relay is where to learn of it.
type strangeKeys struct {
	log  *slog.Logger
	told uint64    // how many there were at the last warning
	next time.Time // warning, at the earliest
}

func (s *strangeKeys) look(now time.Time, n uint64) {
	if n == s.told || now.Before(s.next) {
		return
	}
	s.log.Warn("connect requests that this relay's key does not open: the backend uses another key, or the client uses token.DevSource and the relay has no --insecure-dev-key",
		"requests", n-s.told)
	s.told, s.next = n, now.Add(time.Minute)
}

func (c *serveCommand) announce(con console, udp, http string) {
	if c.JSON {
		json.NewEncoder(con.out).Encode(map[string]string{"listen": udp, "http": http})
		return
	}
	fmt.Fprintf(con.out, "throng serve: relay on %s\npage on http://%s, also /healthz and /metrics\n", udp, http)
}

// keys reads the keys, or says how to make them.
func (c *serveCommand) keys() (key, authority token.Key, err error) {
	switch {
	case c.InsecureDevKey && c.Key != "":
		return key, authority, errors.New("--key and --insecure-dev-key: a relay has one key for players, use one of both")
	case c.InsecureDevKey:
		key, err = token.InsecureDevKey(), loopbackOnly("--insecure-dev-key --listen", c.Listen)
	case c.Key == "":
		err = errors.New("a relay needs the key that tokens are minted with: make one with `throng key relay.key`, give it to your backend too, and pass --key relay.key; to try things out on this machine pass --insecure-dev-key")
	default:
		key, err = readKey(c.Key)
	}
	if err == nil && c.AuthorityKey != "" {
		authority, err = readKey(c.AuthorityKey)
	}
	return key, authority, err
}
