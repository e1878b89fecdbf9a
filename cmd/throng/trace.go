package main

import (
	"bufio"
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/throng-dev/throng/internal/grid"
	"github.com/throng-dev/throng/internal/registry"
	"github.com/throng-dev/throng/internal/session"
	"github.com/throng-dev/throng/internal/trace"
	"github.com/throng-dev/throng/internal/udp"
	"github.com/throng-dev/throng/internal/wire"
	"github.com/throng-dev/throng/token"
	"github.com/throng-dev/throng/transport"
)

// traceCommand works with captures: what a client sent, received and dropped.
type traceCommand struct {
	Record traceRecord `cmd:"" help:"Look on in a world and write down what arrives."`
	Show   traceShow   `cmd:"" help:"Print a capture, one line an event."`
	Diff   traceDiff   `cmd:"" help:"Say what two captures tell differently. Status 1 if they do."`
}

// traceRecord is an observer without a game: it knows entities by the classes that others announced.
type traceRecord struct {
	Relay          string        `required:"" placeholder:"ADDR" help:"The relay, HOST:PORT."`
	World          string        `required:"" placeholder:"NAME" help:"The world to look on in."`
	Realm          string        `placeholder:"NAME" help:"Its game or stage: 32 hex digits, or a name, which is hashed. Default: the only one."`
	Key            string        `placeholder:"FILE" help:"Key file of the relay."`
	InsecureDevKey bool          `help:"Use the key that everybody knows, for relays on loopback addresses."`
	Player         string        `default:"throng trace" placeholder:"NAME" help:"Who looks on: 32 hex digits, or a name, which is hashed."`
	At             []string      `sep:"none" placeholder:"X,Y,Z" help:"Where to look from, up to 8 times. Default: nowhere, which shows what has no position."`
	Cat            []string      `default:"entity,state" placeholder:"GROUP" help:"What to write down: entity, state, event, net."`
	For            time.Duration `placeholder:"DURATION" help:"How long. Default: until Ctrl-C."`
	Out            string        `default:"-" placeholder:"FILE" help:"Where to write the capture; - is standard output."`
	JSON           bool          `name:"json" help:"Write the summary as one JSON object."`
}

// recording is the sink of a capture.
type recording struct {
	w      *bufio.Writer
	on     [trace.Cats]bool
	start  time.Time
	line   []byte
	events int
	err    error
}

func (r *recording) On(c trace.Cat) bool { return r.on[c] }

func (r *recording) Take(e *trace.Event) {
	e.Time = time.Since(r.start)
	r.line = trace.Append(r.line[:0], e)
	r.events++
	if _, err := r.w.Write(r.line); err != nil && r.err == nil {
		r.err = err
	}
}

// Run records.
func (c *traceRecord) Run(ctx context.Context, con console) error {
	views, err := c.views()
	if err != nil {
		return err
	}
	on, err := parseCats(c.Cat)
	if err != nil {
		return err
	}
	minted, err := c.token(ctx)
	if err != nil {
		return err
	}
	out := con.out
	if c.Out != "-" {
		f, err := os.Create(c.Out)
		if err != nil {
			return fmt.Errorf("writing the capture: %w", err)
		}
		defer f.Close()
		out = f
	}
	if c.For > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, c.For)
		defer cancel()
	}
	rec := &recording{w: bufio.NewWriter(out), on: on, start: time.Now()}
	_, rec.err = rec.w.Write(trace.AppendHeader(nil, &trace.Header{Version: trace.Version, Start: rec.start, By: "throng trace record"}))
	conn, err := udp.Dialer{}.Dial(ctx, c.Relay, minted)
	if err != nil {
		return errors.New(strings.ReplaceAll(err.Error(), "throng: ", "")) // each layer says so
	}
	defer conn.Close()
	o := &onlooker{conn: conn, sess: session.New(session.Config{}), start: rec.start, views: views, rec: rec}
	o.reg = registry.New(registry.Config{MaxEntities: 1 << 17, Observer: true, Trace: rec, World: c.World, Agent: "throng trace", Encode: o.encode})
	held, err := o.watch(ctx)
	if err := errors.Join(err, rec.err, rec.w.Flush()); err != nil {
		return err
	}
	return c.summary(con, rec.events, held)
}

func (c *traceRecord) token(ctx context.Context) ([]byte, error) {
	t := tokenCommand{Key: c.Key, InsecureDevKey: c.InsecureDevKey, Relay: []string{c.Relay}}
	key, err := t.key()
	if err != nil {
		return nil, err
	}
	addrs, err := t.addrs(ctx)
	if err != nil {
		return nil, err
	}
	claims := token.Claims{Player: idFor("development player", c.Player), Rights: token.Observer, Issued: time.Now()}
	if c.Realm != "" {
		claims.Realm = idFor("realm", c.Realm)
	}
	return token.Mint(key, token.ProtocolID, addrs, claims, token.MaxLife)
}

func (c *traceRecord) views() (all [][3]float64, err error) {
	if len(c.At) > wire.MaxViews {
		return nil, fmt.Errorf("--at: %d places, at most %d: record twice", len(c.At), wire.MaxViews)
	}
	for _, s := range c.At {
		var v [3]float64
		parts := strings.Split(s, ",")
		if len(parts) < 2 || len(parts) > 3 {
			return nil, fmt.Errorf("--at %s: write it as X,Y or X,Y,Z", s)
		}
		for i, p := range parts {
			if v[i], err = strconv.ParseFloat(strings.TrimSpace(p), 64); err != nil {
				return nil, fmt.Errorf("--at %s: %q is no number: write it as X,Y or X,Y,Z", s, p)
			}
		}
		all = append(all, v)
	}
	return all, nil
}

func (c *traceRecord) summary(con console, events, held int) error {
	to := con.out
	if c.Out == "-" {
		to = con.err
	}
	if c.JSON {
		return json.NewEncoder(to).Encode(map[string]any{"file": c.Out, "events": events, "entities": held})
	}
	_, err := fmt.Fprintf(to, "throng trace: %d events, %d entities in the end\n", events, held)
	return err
}

// onlooker is a client without a game.
type onlooker struct {
	conn    transport.Conn
	sess    *session.Conn
	reg     *registry.Registry
	rec     *recording
	start   time.Time
	views   [][3]float64
	looked  bool
	changed []*registry.Copy
	out     [][]byte
}

// encode is for who drives something.
func (*onlooker) encode(c *registry.Copy, _ uint64, b []byte) ([]byte, uint64, grid.Chunk) {
	return b, 0, c.Chunk
}

// watch takes what comes until ctx ends. held is how many entities there are then.
func (o *onlooker) watch(ctx context.Context) (held int, err error) {
	const patience = 50 * time.Millisecond
	o.reg.Connect(o.now(), o.sess)
	for ctx.Err() == nil && o.rec.err == nil {
		if err := o.step(patience); err != nil {
			return 0, err
		}
	}
	b := o.sess.Begin(o.now(), transport.NewBuffer())
	b = session.AppendClose(b, uint16(wire.CloseGoodbye), "")
	o.sess.Commit(o.now(), b, false)
	_ = o.conn.Send([][]byte{b}) // the relay hears of silence otherwise
	if !o.reg.Welcomed {
		return 0, errors.New("the relay has not answered in time: check the address, or record for longer")
	}
	return o.reg.Len(), nil
}

func (o *onlooker) now() time.Duration { return time.Since(o.start) }

func (o *onlooker) step(wait time.Duration) error {
	now := o.now()
	if err := o.send(now); err != nil {
		return err
	}
	var failed error
	err := o.conn.Receive(time.Now().Add(wait), func(payload []byte) {
		now := o.now()
		if o.rec.On(trace.Net) {
			o.rec.Take(&trace.Event{Cat: trace.Net, Dir: trace.In, What: trace.Packet, Bytes: len(payload)})
		}
		if err := o.sess.Receive(now, payload, o.reg.Handler(now)); err != nil && !errors.Is(err, session.ErrMalformed) {
			failed = err
		}
	})
	now = o.now()
	o.sess.Expire(now, o.reg.Handler(now))
	switch {
	case o.reg.Refused != nil:
		return fmt.Errorf("the relay refused: %s (code %d)", o.reg.Refused.Text, o.reg.Refused.Code)
	case failed != nil:
		return failed
	case err != nil:
		return err
	}
	if o.reg.Welcomed && !o.looked {
		o.look()
	}
	o.reg.Announce()
	o.changed = o.reg.Changed(o.changed[:0])
	o.reg.Strangers = nil
	return nil
}

// look tells the relay where to look from, once the size of a chunk is known.
func (o *onlooker) look() {
	o.looked = true
	p := o.reg.Welcome.Profile
	var chunks []grid.Chunk
	for _, v := range o.views {
		if p.Flags&wire.ProfileFlat != 0 {
			v[2] = 0
		}
		if c, ok := grid.Of(v[0], v[1], v[2], p.ChunkSize); ok {
			chunks = append(chunks, c)
		}
	}
	o.reg.SetView(false, chunks)
}

func (o *onlooker) send(now time.Duration) error {
	o.out = o.reg.Send(now, false, transport.MaxPayload, transport.Headroom, func() []byte { return transport.NewBuffer() }, o.out[:0])
	if len(o.out) == 0 {
		return nil
	}
	return o.conn.Send(o.out)
}

// traceShow prints a capture.
type traceShow struct {
	File  string   `arg:"" help:"The capture; - is standard input."`
	ID    string   `placeholder:"HEX" help:"Only the entity whose id begins like this."`
	Class string   `placeholder:"NAME" help:"Only entities of a class."`
	Cat   []string `placeholder:"GROUP" help:"Only these groups: entity, state, event, net."`
	Drops bool     `help:"Only what was dropped."`
	JSON  bool     `name:"json" help:"Write the lines as they stand in the capture."`
}

// Run prints.
func (c *traceShow) Run(con console) error {
	on := [trace.Cats]bool{true, true, true, true}
	if len(c.Cat) > 0 {
		var err error
		if on, err = parseCats(c.Cat); err != nil {
			return err
		}
	}
	id := strings.ToLower(c.ID)
	r, closer, err := openCapture(c.File)
	if err != nil {
		return err
	}
	defer closer.Close()
	out := bufio.NewWriter(con.out)
	var line []byte
	for err == nil {
		var e trace.Event
		if e, err = r.Next(); err != nil {
			break
		}
		if !on[e.Cat] || c.Drops && e.Drop == "" || c.Class != "" && e.Class != c.Class || !strings.HasPrefix(hex.EncodeToString(e.ID[:]), id) {
			continue
		}
		if c.JSON {
			line = trace.Append(line[:0], &e)
			_, err = out.Write(line)
		} else {
			_, err = fmt.Fprintln(out, e.String())
		}
	}
	if errors.Is(err, io.EOF) {
		err = nil
	}
	if err := errors.Join(err, out.Flush()); err != nil {
		return fmt.Errorf("%s: %w", c.File, err)
	}
	warnCut(con, c.File, r)
	return nil
}

// traceDiff compares two captures.
type traceDiff struct {
	A    string `arg:"" help:"A capture."`
	B    string `arg:"" help:"Another one."`
	JSON bool   `name:"json" help:"Write the differences as one JSON array."`
}

type jsonDifference struct {
	ID    string `json:"id"`
	Class string `json:"class"`
	What  string `json:"what"`
	A     string `json:"a"`
	B     string `json:"b"`
}

// Run compares.
func (c *traceDiff) Run(con console) error {
	var both [2]trace.Summary
	for i, file := range []string{c.A, c.B} {
		r, closer, err := openCapture(file)
		if err != nil {
			return err
		}
		both[i], err = trace.Summarize(r)
		closer.Close()
		if err != nil {
			return fmt.Errorf("%s: %w", file, err)
		}
		warnCut(con, file, r)
	}
	found := trace.Compare(both[0], both[1])
	list := make([]jsonDifference, len(found)) // not nil: an empty array, not null
	for i, d := range found {
		list[i] = jsonDifference{hex.EncodeToString(d.ID[:]), d.Class, d.What, d.A, d.B}
	}
	switch {
	case c.JSON:
		if err := json.NewEncoder(con.out).Encode(list); err != nil {
			return err
		}
	case len(found) == 0:
		fmt.Fprintf(con.out, "the captures say the same of %d entities\n", len(both[0]))
	default:
		for _, d := range list {
			fmt.Fprintf(con.out, "%s %s: %s\n  %s: %s\n  %s: %s\n", d.ID, strconv.Quote(d.Class), d.What, c.A, d.A, c.B, d.B)
		}
	}
	if len(found) > 0 {
		return fmt.Errorf("the captures differ in %d places: `throng trace show --id ID` shows an entity in each of them", len(found))
	}
	return nil
}

// openCapture opens a file, or standard input.
func openCapture(file string) (*trace.Reader, io.Closer, error) {
	f := os.Stdin
	if file != "-" {
		var err error
		if f, err = os.Open(file); errors.Is(err, fs.ErrNotExist) {
			return nil, nil, fmt.Errorf("there is no capture %s: make one with `throng trace record`, or run a game with THRONG_TRACE=entity,state:%s", file, file)
		} else if err != nil {
			return nil, nil, fmt.Errorf("reading a capture: %w", err)
		}
	}
	r, err := trace.NewReader(f)
	if err != nil {
		f.Close()
		return nil, nil, fmt.Errorf("%s: %w", file, err)
	}
	return r, f, nil
}

func warnCut(con console, file string, r *trace.Reader) {
	if r.Cut() {
		fmt.Fprintf(con.err, "throng trace: %s ends in the middle of a line: what wrote it was stopped\n", file)
	}
}

func parseCats(names []string) (on [trace.Cats]bool, err error) {
	for _, name := range names {
		c, ok := trace.ParseCat(strings.TrimSpace(name))
		if !ok {
			return on, fmt.Errorf("--cat %s: there is no such group: use entity, state, event, net", name)
		}
		on[c] = true
	}
	if !slices.Contains(on[:], true) {
		return on, errors.New("--cat: no group: use entity, state, event, net")
	}
	return on, nil
}
