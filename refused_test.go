package throng_test

import (
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/throng-dev/throng"
	"github.com/throng-dev/throng/internal/memnet"
	"github.com/throng-dev/throng/internal/session"
	"github.com/throng-dev/throng/internal/wire"
	"github.com/throng-dev/throng/transport"
)

// doorman is a relay that refuses everybody with one code: by an answer to Hello, or by a goodbye.
type doorman struct {
	l       *memnet.Listener
	code    wire.CloseCode
	goodbye bool
	start   time.Time
	ends    map[transport.ID]*session.Conn
	said    bool
}

func (d *doorman) Opened(id transport.ID, _ transport.Peer) {
	d.ends[id] = session.New(session.Config{})
}

func (d *doorman) Received(id transport.ID, payload []byte) {
	c, now := d.ends[id], time.Since(d.start)
	if c == nil || c.Receive(now, payload, d) != nil {
		return
	}
	if d.said && !d.goodbye {
		d.said = false
		_ = c.Queue(wire.StreamControl, (&wire.Refuse{Code: uint16(d.code), Text: "go away"}).Append(nil))
	}
	b := c.AppendReliable(now, c.Begin(now, transport.NewBuffer()), transport.MaxPayload)
	if d.said {
		b = session.AppendClose(b, uint16(d.code), "go away")
	}
	c.Commit(now, b, false)
	d.l.Send([]transport.Datagram{{To: id, Buf: b}})
}

func (d *doorman) Closed(transport.ID, error) {}

func (d *doorman) Acked(uint64)                      {}
func (d *doorman) Lost(uint64)                       {}
func (d *doorman) Frame(uint64, byte, []byte)        {}
func (d *doorman) Message(_ uint64, _ int, m []byte) { d.said = d.said || m[0] == wire.MsgHello }

// Every code that a relay may say, those of later versions too, has its retry class, and ends Join (R-63, B-131).
func TestEveryRefusalEndsJoin(t *testing.T) {
	codes := map[wire.CloseCode]throng.Retry{99: throng.RetryNever, 199: throng.RetryFresh, 299: throng.RetryLater, 0: throng.RetryLater, 60000: throng.RetryLater}
	for c := wire.CloseCode(1); c < 400; c++ {
		if !strings.HasPrefix(c.String(), "code ") {
			codes[c] = map[wire.Retry]throng.Retry{wire.RetryNever: throng.RetryNever, wire.RetryFresh: throng.RetryFresh, wire.RetryLater: throng.RetryLater}[c.Retry()]
		}
	}
	if codes[wire.CloseVersion] != throng.RetryNever || codes[wire.CloseTimeout] != throng.RetryFresh || codes[wire.CloseFull] != throng.RetryLater {
		t.Error("the classes are not what they were")
	}
	for code, retry := range codes {
		for _, goodbye := range []bool{false, true} {
			t.Run(fmt.Sprint(code, " goodbye ", goodbye), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					n := memnet.New(1)
					l, err := n.Listen("door")
					if err != nil {
						t.Fatal(err)
					}
					d := &doorman{l: l, code: code, goodbye: goodbye, start: time.Now(), ends: map[transport.ID]*session.Conn{}}
					done := make(chan bool)
					go func() {
						for l.Poll(time.Now().Add(time.Hour), d) == nil {
						}
						close(done)
					}()
					began := time.Now()
					_, err = throng.Join(t.Context(), "door", throng.MustSchema(), throng.Config{World: "w", Token: make([]byte, transport.UserDataSize),
						Dialer: n.Dialer("a"), Logger: slog.New(slog.DiscardHandler)})
					var je *throng.JoinError
					if !errors.As(err, &je) || je.Code != int(code) || je.Retry != retry || je.Text != "go away" {
						t.Errorf("%v, want code %d, retry %v", err, code, retry)
					}
					if d := time.Since(began); d > time.Second {
						t.Errorf("it took %v", d)
					}
					l.Close()
					<-done
				})
			})
		}
	}
}
