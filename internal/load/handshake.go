package load

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/throng-dev/throng/internal/udp"
)

// HandshakeReport is what it costs to let clients in: tokens opened, addresses proven, keys agreed on.
type HandshakeReport struct {
	PerS    float64 `json:"per_s"`        // that were made
	CPU     float64 `json:"relay_cpu_us"` // of the relay for each, goodbye included
	PerCore float64 `json:"per_s_and_core"`
}

// A relay remembers a used token until it has expired, so that nobody uses it twice, and lets nobody in beyond a number of them that follows
// from MaxSessions: 84,000 at 20,000. At 10,000 handshakes a second that was over in 9 s, with tokens of the usual minute. Tokens that live
// for guestLife are forgotten 11 s later, so that guests suffice for 25,000 a second.
const (
	guests    = 100_000
	guestLife = 5 * time.Second
)

// refusals are why handshakes failed, and how often.
type refusals struct {
	mu sync.Mutex
	n  map[string]int
}

func (f *refusals) add(why string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.n == nil {
		f.n = map[string]int{}
	}
	f.n[why]++
}

// all is how many there were, and all reasons, the most frequent first.
func (f *refusals) all() (n int, text string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, k := range f.n {
		n += k
	}
	return n, tally(f.n)
}

// tally writes what was counted, the most frequent first.
func tally[N int | uint64](count map[string]N) string {
	var parts []string
	for _, k := range slices.SortedFunc(maps.Keys(count), func(a, b string) int {
		return cmp.Or(cmp.Compare(count[b], count[a]), strings.Compare(a, b))
	}) {
		parts = append(parts, fmt.Sprintf("%d × %s", count[k], k))
	}
	return strings.Join(parts, "; ")
}

// handshake has some clients connect and leave again, one after another without a pause.
func (r *run) handshake(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var made atomic.Uint64
	var failed refusals
	var work sync.WaitGroup
	defer work.Wait()
	defer cancel()
	for i := range r.Clients {
		work.Go(func() {
			for n := 0; ctx.Err() == nil; n++ {
				token, err := r.gate.tokens(fmt.Sprintf("h%d-%d", i, n))(ctx)
				if err != nil {
					failed.add(err.Error())
					return
				}
				c, err := udp.Dialer{}.Dial(ctx, r.gate.addr, token)
				switch {
				case ctx.Err() != nil && err != nil:
				case err != nil:
					failed.add(err.Error())
				default:
					made.Add(1)
				}
				if err == nil {
					c.Close()
				}
			}
		})
	}
	read := func(window string) (*mark, uint64, error) {
		m, err := r.mark(window)
		return m, made.Load(), err
	}
	if err := sleep(ctx, min(r.Warm, 2*time.Second)); err != nil {
		return err
	}
	from, before, err := read("begin")
	if err != nil {
		return err
	}
	if err := sleep(ctx, r.Window); err != nil {
		return err
	}
	to, after, err := read("end")
	if err != nil {
		return err
	}
	n := after - before
	rep := &HandshakeReport{PerS: round(float64(n)/(to.at-from.at).Seconds(), 1)}
	if to.relay != nil && n > 0 {
		rep.CPU = round(float64((to.relay.CPU-from.relay.CPU).Nanoseconds())/1e3/float64(n), 10)
		rep.PerCore = round(1e6/rep.CPU, 1)
		core, rss := round((to.relay.CPU-from.relay.CPU).Seconds()/(to.relay.At-from.relay.At).Seconds(), 1000), to.relay.RSS
		r.rep.RelayCore, r.rep.RSS = &core, &rss
	}
	r.rep.Handshake, r.rep.Seconds = rep, (to.at - from.at).Seconds()
	r.rep.ClientCPU = round((to.cpu-from.cpu).Seconds()/(to.at-from.at).Seconds(), 1000)
	if n, why := failed.all(); n > 0 {
		if to.relay != nil && len(to.relay.UDP.Dropped) > 0 {
			why += "; the relay dropped " + tally(to.relay.UDP.Dropped)
		}
		r.fail(fmt.Errorf("%d of %d handshakes failed: %s", n, n+int(made.Load()), why))
	}
	if n > 0 {
		r.rep.Joined = r.Clients
	}
	return nil
}

// sleep waits, unless ctx ends.
func sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-t.C:
		return nil
	}
}
