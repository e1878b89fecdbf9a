// Command bench plays the crowd of `throng load` on Throng and on peers that can be installed, and prints one table.
//
//	go run . --clients 500 --runs 3
//
// README.md says what is measured and what must be installed.
package main

import (
	"cmp"
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"text/tabwriter"
	"time"

	"github.com/throng-dev/throng/internal/load"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if len(os.Args) == 2 {
		child := map[string]func() error{
			load.ChildCommand: func() error { return load.Child(ctx, os.Stdin, os.Stdout, os.Stderr) },
			natsChild:         serveNATS,
		}[os.Args[1]]
		if child != nil {
			exit(child())
		}
	}
	exit(run(ctx, os.Args[1:], os.Stdout))
}

func exit(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

func run(ctx context.Context, args []string, out io.Writer) error {
	f := flag.NewFlagSet("bench", flag.ContinueOnError)
	o := &options{}
	f.IntVar(&o.clients, "clients", 500, "how many clients walk")
	f.DurationVar(&o.window, "for", 20*time.Second, "how long is measured")
	f.DurationVar(&o.warm, "warm", 6*time.Second, "how long is played before")
	f.BoolVar(&o.pin, "pin", true, "the server has CPU 0 to itself and the clients CPU 1")
	runs := f.Int("runs", 1, "runs of each; the table has the medians")
	peers := f.String("peers", "throng,nats,colyseus", "which, with commas between")
	dir := f.String("colyseus", "colyseus", "where Colyseus is installed")
	if err := f.Parse(args); err != nil {
		return err
	}
	if o.clients < 2 || o.clients > 5000 || *runs < 1 || *runs > 20 || o.window < time.Second || o.window > 5*time.Minute {
		return fmt.Errorf("bench: use 2 to 5000 clients, 1 to 20 runs, and measure for 1s to 5m")
	}
	if o.pin {
		o.pin = load.Pin(1)
		runtime.GOMAXPROCS(1)
	}
	players := map[string]func() (*result, error){
		"throng":   func() (*result, error) { return playThrong(ctx, o) },
		"nats":     func() (*result, error) { return playNATS(ctx, o) },
		"colyseus": func() (*result, error) { return playColyseus(ctx, o, *dir) },
	}
	var rows []*result
	var missing []error
	for _, name := range strings.Split(*peers, ",") {
		play := players[name]
		if play == nil {
			return fmt.Errorf("bench: there is no peer %q: use throng, nats, colyseus", name)
		}
		var of []*result
		for range *runs {
			r, err := play()
			if ctx.Err() != nil {
				return ctx.Err()
			}
			if err != nil {
				missing = append(missing, err)
				break
			}
			r.judge(o)
			of = append(of, r)
		}
		if len(of) > 0 {
			rows = append(rows, median(of))
		}
	}
	table(out, o, rows, *runs)
	for _, err := range missing {
		fmt.Fprintln(os.Stderr, err)
	}
	if len(rows) == 0 {
		return fmt.Errorf("bench: nothing could be measured")
	}
	return nil
}

// median is of each number for itself.
func median(of []*result) *result {
	m := *of[0]
	for _, field := range []func(*result) *float64{
		func(r *result) *float64 { return &r.updates }, func(r *result) *float64 { return &r.cpu }, func(r *result) *float64 { return &r.core },
		func(r *result) *float64 { return &r.bytes }, func(r *result) *float64 { return &r.wire }, func(r *result) *float64 { return &r.p50 }, func(r *result) *float64 { return &r.p99 },
		func(r *result) *float64 { return &r.freshness }, func(r *result) *float64 { return &r.clientCore },
	} {
		all := make([]float64, len(of))
		for i, r := range of {
			all[i] = *field(r)
		}
		slices.Sort(all)
		*field(&m) = all[len(all)/2]
	}
	for _, r := range of {
		m.invalid = cmp.Or(m.invalid, r.invalid)
	}
	return &m
}

func table(out io.Writer, o *options, rows []*result, runs int) {
	where := "server on CPU 0, clients on CPU 1"
	if !o.pin {
		where = "not pinned"
	}
	fmt.Fprintf(out, "crowd of %d, %v after %v of warm-up, medians of %d runs, %s, %s/%s, %s\n\n", o.clients, o.window, o.warm, runs, where, runtime.GOOS, runtime.GOARCH, time.Now().Format(time.DateOnly))
	w := tabwriter.NewWriter(out, 2, 0, 2, ' ', 0)
	fmt.Fprintln(w, "server\tclients\tupdates/s\tserver CPU/update\tof a core\tbytes/update\ton the wire\tlatency p50/p99\tfreshness\tclients' core\tvalid")
	for _, r := range rows {
		valid := "yes"
		if r.invalid != "" {
			valid = "NO: " + r.invalid
		}
		fmt.Fprintf(w, "%s\t%d\t%.0f\t%.2f µs\t%.0f %%\t%.1f\t%.1f\t%.1f / %.1f ms\t%.4f\t%.0f %%\t%s\n", r.peer, r.joined, r.updates, r.cpu, 100*r.core, r.bytes, r.wire, r.p50, r.p99, r.freshness, 100*r.clientCore, valid)
	}
	w.Flush()
}
