package shard

import (
	"errors"
	"testing"
	"time"

	"github.com/throng-dev/throng/transport"
)

// misbehave is what one of a crowd does with what it is sent: true, it takes the packet.
type misbehave func(n int) bool

// play runs a crowd for a while, of which one misbehaves. It returns what the others got, what that one was sent, and why it ended.
func (c *crowd) play(steps int, bad misbehave) (records, bytes int, ended error, after time.Duration) {
	hostile := c.walkers[1]
	n, start := 0, c.now
	for range steps {
		for _, w := range c.walkers {
			w.stroll(c) // chance falls the same whoever is gone
			state := c.rng.Uint32()
			if !w.sess.open {
				continue
			}
			if err := c.s.Receive(c.now, w.sess, w.packet(c.now, state)); err != nil && w != hostile {
				panic(err)
			}
			w.conn.Expire(c.now, w)
		}
		for range 2 { // 50 ms each
			c.out = c.s.Flush(c.now, c.out[:0])
			for _, d := range c.out {
				w := c.byTo[d.To]
				if w == hostile && bad != nil {
					n++
					if bytes += len(d.Payload()); !bad(n) {
						continue
					}
				}
				if err := w.conn.Receive(c.now, d.Payload(), w); err != nil {
					panic(err)
				}
			}
			for _, o := range c.s.Failed() {
				if o != hostile.sess {
					panic(o.Err())
				}
				ended, after = o.Err(), c.now-start
				c.s.Leave(c.now, o, 0)
			}
			c.now += 50 * time.Millisecond
		}
	}
	for _, w := range c.walkers {
		if w != hostile {
			records += w.records
		}
	}
	return records, bytes, ended, after
}

// TestB132OneHostileAmongMany: who acks nothing, or picks what it acks so that all is sent again, is sent less and less and ends with a
// reason; the others get what they got without it.
func TestB132OneHostileAmongMany(t *testing.T) {
	const n, seconds = 100, 80
	run := func(bad misbehave) (records, rate int, ended error, after time.Duration) {
		c := newCrowd(n)
		for _, w := range c.walkers {
			w.records = 0
		}
		records, bytes, ended, after := c.play(10*seconds, bad)
		if after == 0 {
			after = seconds * time.Second
		}
		return records, int(float64(bytes) / after.Seconds()), ended, after
	}
	base, normal, _, _ := run(func(int) bool { return true })
	for _, tt := range []struct {
		name string
		bad  misbehave
		want error
	}{
		{"never acks", func(int) bool { return false }, errDeaf},
		{"acks one of four", func(n int) bool { return n%4 == 0 }, errLossy},
		{"acks every other", func(n int) bool { return n%2 == 0 }, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			records, rate, ended, after := run(tt.bad)
			t.Logf("the others got %d records, %d without; it was sent %d B/s, else %d; ended after %v: %v", records, base, rate, normal, after, ended)
			if !errors.Is(ended, tt.want) {
				t.Errorf("ended with %v", ended)
			}
			// Its own entity leaves with it, and walks on in the other run.
			if float64(records) < 0.98*float64(base) {
				t.Errorf("the others got %d records of %d", records, base)
			}
			if rate > 3*normal || rate > 16<<10 {
				t.Errorf("it was sent %d B/s, where %d would do", rate, normal)
			}
		})
	}
}

// A session that is silent for a while is not judged by what it does not ack meanwhile.
func TestB132SilenceIsNotDeafness(t *testing.T) {
	c := newCrowd(10)
	quiet := c.walkers[0]
	for range 160 {
		for _, w := range c.walkers[1:] {
			w.stroll(c)
			if err := c.s.Receive(c.now, w.sess, w.packet(c.now, c.rng.Uint32())); err != nil {
				t.Fatal(err)
			}
		}
		c.out = c.s.Flush(c.now, c.out[:0])
		for _, d := range c.out {
			if d.To != transport.ID(1) {
				if err := c.byTo[d.To].conn.Receive(c.now, d.Payload(), c.byTo[d.To]); err != nil {
					t.Fatal(err)
				}
			}
		}
		c.now += 100 * time.Millisecond
	}
	if f := c.s.Failed(); len(f) > 0 || !quiet.sess.silent {
		t.Fatalf("silent %v, ended: %v", quiet.sess.silent, quiet.sess.Err())
	}
}
