package netcode

import (
	"bytes"
	"container/heap"
	"crypto/rand"
	"encoding/binary"
	mrand "math/rand/v2"
	"net/netip"
	"testing"
	"time"
)

// The test network: one server, clients by address, datagrams in a queue ordered by (time, order of sending).
//
//	client.Next / server.Outgoing → send → lose, double, delay → queue → step → Receive

const testProtocol = 77

var (
	serverAddr = netip.MustParseAddrPort("192.0.2.1:7777")
	playerKey  = Key{1}
	relayKey   = Key{2}
)

// start is the wall clock of every test at Mono zero.
const start = int64(1_800_000_000_000)

func at(d time.Duration) Now { return Now{Wall: start + d.Milliseconds(), Mono: d} }

type minted struct {
	key   Key
	addrs []netip.AddrPort
	life  time.Duration
	born  time.Duration
	proto uint64
	id    uint64
}

func mint(m minted) []byte {
	if m.key == (Key{}) {
		m.key = playerKey
	}
	if m.addrs == nil {
		m.addrs = []netip.AddrPort{serverAddr}
	}
	if m.life == 0 {
		m.life = 60 * time.Second
	}
	if m.proto == 0 {
		m.proto = testProtocol
	}
	var random [8 + NonceSize + 2*KeySize]byte
	rand.Read(random[:])
	if m.id == 0 {
		m.id = binary.LittleEndian.Uint64(random[:])
	}
	private := PrivateToken{ClientID: m.id, Timeout: 17, Addrs: m.addrs,
		ClientToServer: Key(random[32:]), ServerToClient: Key(random[64:])}
	copy(private.UserData[:], "who")
	created := uint64(at(m.born).unix())
	public := PublicToken{Protocol: m.proto, Created: created, Expires: created + uint64(m.life/time.Second),
		Nonce: [NonceSize]byte(random[8:]), Timeout: 17, Addrs: m.addrs,
		ClientToServer: private.ClientToServer, ServerToClient: private.ServerToClient}
	private.Seal(public.Private[:0], m.key, m.proto, public.Expires, public.Nonce)
	return public.Append(nil)
}

func newServer(t testing.TB, edit func(*ServerConfig)) *Server {
	c := ServerConfig{Key: playerKey, Protocol: testProtocol, Addrs: []netip.AddrPort{serverAddr}}
	if edit != nil {
		edit(&c)
	}
	s, err := NewServer(c)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func newClient(t testing.TB, now Now, token []byte) *Client {
	c, err := NewClient(now, ClientConfig{Token: token, Protocol: testProtocol})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

type flight struct {
	due      time.Duration
	order    int
	from, to netip.AddrPort
	data     []byte
}

type flights []flight

func (f flights) Len() int { return len(f) }
func (f flights) Less(i, j int) bool {
	return f[i].due < f[j].due || f[i].due == f[j].due && f[i].order < f[j].order
}
func (f flights) Swap(i, j int) { f[i], f[j] = f[j], f[i] }
func (f *flights) Push(x any)   { *f = append(*f, x.(flight)) }
func (f *flights) Pop() any     { o := *f; x := o[len(o)-1]; *f = o[:len(o)-1]; return x }

type network struct {
	t       testing.TB
	now     time.Duration
	server  *Server
	clients map[netip.AddrPort]*Client
	order   []netip.AddrPort
	queue   flights
	sent    int
	rand    *mrand.Rand
	loss    float64
	double  float64
	delay   time.Duration // at most
	events  []Event
	payload func(at netip.AddrPort, b []byte)
	drops   [Drops]int
}

func newNetwork(t testing.TB, s *Server, seed uint64) *network {
	return &network{t: t, server: s, clients: map[netip.AddrPort]*Client{}, rand: mrand.New(mrand.NewPCG(seed, 7))}
}

func (n *network) join(i int, token []byte) *Client {
	c := newClient(n.t, at(n.now), token)
	a := netip.AddrPortFrom(netip.AddrFrom4([4]byte{10, 0, byte(i >> 8), byte(i)}), 4000)
	n.clients[a] = c
	n.order = append(n.order, a)
	return c
}

func (n *network) send(from, to netip.AddrPort, b []byte) {
	copies := 1
	if n.rand.Float64() < n.loss {
		copies = 0
	} else if n.rand.Float64() < n.double {
		copies = 2
	}
	for range copies {
		due := n.now
		if n.delay > 0 {
			due += time.Duration(n.rand.Int64N(int64(n.delay)))
		}
		n.sent++
		heap.Push(&n.queue, flight{due, n.sent, from, to, bytes.Clone(b)})
	}
}

func (n *network) flush() {
	for _, d := range n.server.Outgoing() {
		n.send(serverAddr, d.To, d.Data)
	}
	n.server.Sent()
	for _, a := range n.order {
		c := n.clients[a]
		for b := c.Next(at(n.now)); b != nil; b = c.Next(at(n.now)) {
			n.send(a, c.Remote(), b)
		}
	}
}

// step runs the network for d in steps of 10 ms.
func (n *network) step(d time.Duration) {
	for end := n.now + d; n.now < end; n.now += 10 * time.Millisecond {
		n.flush()
		for len(n.queue) > 0 && n.queue[0].due <= n.now {
			f := heap.Pop(&n.queue).(flight)
			if f.to == serverAddr {
				e := n.server.Receive(at(n.now), f.from, f.data)
				n.drops[e.Drop]++
				if e.Kind != Ignored {
					e.Data = bytes.Clone(e.Data)
					n.events = append(n.events, e)
				}
			} else if c := n.clients[f.to]; c != nil && f.from == c.Remote() {
				b, _ := c.Receive(at(n.now), f.data)
				if b != nil && n.payload != nil {
					n.payload(f.to, b)
				}
			}
		}
		n.events = n.server.Update(at(n.now), n.events)
	}
	n.flush()
}

func (n *network) count(k EventKind) (c int) {
	for _, e := range n.events {
		if e.Kind == k {
			c++
		}
	}
	return c
}

// buffer lays a payload out as carriers do.
func buffer(payload string) []byte {
	b := append(make([]byte, 16, 16+MaxPayload+TagSize), payload...)
	return b
}

func (n *network) fromServer(id ID, payload string) {
	d, to, ok := n.server.Seal(at(n.now), id, buffer(payload), 16)
	if !ok {
		n.t.Fatalf("no session %d", id)
	}
	for _, o := range n.server.Outgoing() {
		n.send(serverAddr, o.To, o.Data)
	}
	n.server.Sent()
	n.send(serverAddr, to, d)
}

func (n *network) fromClient(i int, payload string) {
	a := n.order[i]
	d := n.clients[a].Seal(at(n.now), buffer(payload), 16)
	if d == nil {
		n.t.Fatalf("client %d is %v: %v", i, n.clients[a].State(), n.clients[a].Err())
	}
	n.send(a, serverAddr, d)
}
