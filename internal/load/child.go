package load

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"os"
	"runtime"
	"runtime/debug"
	"runtime/pprof"
	"sync"
	"time"

	"github.com/throng-dev/throng/internal/udp"
	"github.com/throng-dev/throng/relay"
	"github.com/throng-dev/throng/token"
)

// The relay under load is a process of its own, on a core of its own. Lines of JSON go to and fro by its standard input and output,
// the key among them, which must not stand in an argument list:
//
//	parent ─► Order                 child: listens
//	       ◄─ Ready
//	       ─► Question ◄─ Readings  (any number of times)
//	end of input                    child: closes, ends: also if the parent was killed

// Order is what a child must do.
type Order struct {
	Job     string        `json:"job"` // relay, floor or echo
	CPU     int           `json:"cpu"` // −1: anywhere
	Key     string        `json:"key,omitempty"`
	Clients int           `json:"clients,omitempty"`
	Flush   time.Duration `json:"flush,omitempty"`
	Profile string        `json:"profile,omitempty"` // file for a CPU profile of the window
	Heap    string        `json:"heap,omitempty"`    // file for a profile of the memory in use when it ends

	Silence time.Duration `json:"silence,omitempty"`
	Floor   FloorOrder    `json:"floor,omitzero"`
}

// Ready is a child's first answer.
type Ready struct {
	Addr   string `json:"addr"`
	Pinned bool   `json:"pinned"`
	Error  string `json:"error,omitempty"`
}

// Question asks for Readings. Window "begin" and "end" enclose what is profiled.
type Question struct {
	Window string `json:"window,omitempty"`
}

// Readings are the counters of a child's process at one moment.
type Readings struct {
	At    time.Duration `json:"at"`  // since it started
	CPU   time.Duration `json:"cpu"` // user and system
	RSS   uint64        `json:"rss"`
	Relay relay.Stats   `json:"relay"`
	UDP   udp.Stats     `json:"udp"`
	Floor FloorReadings `json:"floor,omitzero"`
}

// Child is the whole of such a process.
func Child(ctx context.Context, in io.Reader, out, errs io.Writer) error {
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, 16<<20)
	var o Order
	if !lines.Scan() || json.Unmarshal(lines.Bytes(), &o) != nil {
		return fmt.Errorf("throng: this is a part of `throng load`, which starts it: it reads its orders from standard input")
	}
	say := json.NewEncoder(out)
	r := Ready{Pinned: o.CPU >= 0 && Pin(o.CPU)}
	if r.Pinned {
		runtime.GOMAXPROCS(1)
	}
	job, err := o.start(errs)
	if err != nil {
		r.Error = err.Error()
		say.Encode(r)
		return err
	}
	r.Addr = job.addr()
	if err := say.Encode(r); err != nil {
		job.stop()
		return err
	}
	began := time.Now()
	asked := make(chan Question)
	go func() {
		defer close(asked)
		for lines.Scan() {
			var q Question
			if json.Unmarshal(lines.Bytes(), &q) == nil {
				asked <- q
			}
		}
	}()
	stop := func() {}
	defer func() { stop() }()
	for {
		select {
		case <-ctx.Done():
			job.stop()
			return nil
		case err := <-job.ended():
			return err
		case q, ok := <-asked:
			if !ok {
				job.stop()
				return nil
			}
			if q.Window == "begin" {
				if stop, err = profile(o.Profile); err != nil {
					return err
				}
			}
			var got Readings
			job.read(&got)
			got.At, got.CPU, got.RSS = time.Since(began), CPUTime(), residentBytes()
			if q.Window == "end" {
				stop()
				if err := heapProfile(o.Heap); err != nil {
					return err
				}
			}
			if err := say.Encode(&got); err != nil {
				job.stop()
				return err
			}
		}
	}
}

// job is what a child does.
type job interface {
	addr() string
	ended() <-chan error
	read(*Readings)
	stop()
}

func (o *Order) start(errs io.Writer) (job, error) {
	switch o.Job {
	case "relay":
		return o.startRelay(errs)
	case "floor":
		return startFloor(&o.Floor)
	case "echo":
		return startEcho()
	}
	return nil, fmt.Errorf("throng: no job %q: parent and child are of different builds", o.Job)
}

type relayJob struct {
	server *relay.Server
	udp    *udp.Listener
	done   chan error
}

// FieldWorld are the relay's settings for the field.
func FieldWorld(flush, silence time.Duration) relay.World {
	return relay.World{ChunkSize: ChunkSize, Reach: Reach, Flat: true, Flush: flush, Silence: silence, Keyframe: -1}
}

// Thrift is how the process of a relay collects garbage, unless GOGC says otherwise. In play it makes next to none, so that half the room
// for it costs no time; what thousands who come together leave behind, an idle relay keeps.
func Thrift() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(50)
	}
}

func (o *Order) startRelay(errs io.Writer) (job, error) {
	key, err := token.ParseKey(o.Key)
	if err != nil {
		return nil, err
	}
	Thrift()
	r, err := relay.New(relay.Config{
		Worlds: map[string]relay.World{Level: FieldWorld(o.Flush, o.Silence)},
		Key:    key, Settle: -1, MaxSessions: o.Clients + 64,
		Logger: slog.New(slog.NewTextHandler(errs, &slog.HandlerOptions{Level: slog.LevelError})),
	})
	if err != nil {
		return nil, err
	}
	l, err := r.ListenUDP("127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	j := &relayJob{server: r, udp: l.(*udp.Listener), done: make(chan error, 1)}
	go func() { j.done <- r.Serve(l) }()
	return j, nil
}

func (j *relayJob) addr() string        { return j.udp.Addr().String() }
func (j *relayJob) ended() <-chan error { return j.done }
func (j *relayJob) read(r *Readings)    { r.Relay, r.UDP = j.server.Stats(), j.udp.Stats() }
func (j *relayJob) stop()               { j.server.Close() }

// profile writes a CPU profile until stop is called; a second call does nothing. Without a file it does nothing at all.
func profile(file string) (stop func(), err error) {
	if file == "" {
		return func() {}, nil
	}
	f, err := os.Create(file)
	if err != nil {
		return nil, fmt.Errorf("throng: profiling: %w", err)
	}
	if err := pprof.StartCPUProfile(f); err != nil {
		f.Close()
		return nil, fmt.Errorf("throng: profiling: %w", err)
	}
	return sync.OnceFunc(func() {
		pprof.StopCPUProfile()
		f.Close()
	}), nil
}

func heapProfile(file string) error {
	if file == "" {
		return nil
	}
	f, err := os.Create(file)
	if err != nil {
		return fmt.Errorf("throng: profiling: %w", err)
	}
	defer f.Close()
	runtime.GC() // it knows of garbage only what the last collection found
	return pprof.WriteHeapProfile(f)
}
