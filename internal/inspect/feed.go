package inspect

import (
	"context"
	"encoding/json"
	"errors"
	"sync"
	"time"
)

// Source is the world to show.
type Source interface {
	// Frame returns the world as it is now. It is called by one goroutine at a time, at most once an interval, and only
	// while somebody watches. It may block; viewers then wait. What it returns is the handler's until the next call.
	Frame() (Frame, error)
}

// errClosed is what after returns once the feed is closed.
var errClosed = errors.New("throng: the inspector is closed: its world ended")

// A snapshot is one frame as it goes to every viewer. It never changes.
type snapshot struct {
	at    time.Time // when the source was asked
	event []byte    // the whole message of the stream
	err   error     // of the source
}

const (
	prefix = "data: "
	suffix = "\n\n"
)

// json is the frame within the message; there is none with err.
func (s *snapshot) json() []byte { return s.event[len(prefix) : len(s.event)-len(suffix)] }

// A feed takes snapshots when somebody waits for one.
type feed struct {
	src      Source
	interval time.Duration
	closed   chan struct{}

	mu      sync.Mutex
	newest  *snapshot
	pending chan struct{} // closed with the next snapshot; nil: nobody waits for one
	ended   bool
}

func newFeed(src Source, interval time.Duration) *feed {
	return &feed{src: src, interval: interval, closed: make(chan struct{})}
}

// after returns the newest snapshot unless it is seen or older than the interval, else it waits for the next.
func (f *feed) after(ctx context.Context, seen *snapshot) (*snapshot, error) {
	for {
		s, next := f.look(seen)
		if s != nil {
			return s, nil
		}
		select {
		case <-next:
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-f.closed:
			return nil, errClosed
		}
		// The next one may be old already if this goroutine waited for the processor; it still is news to the viewer.
		f.mu.Lock()
		s = f.newest
		f.mu.Unlock()
		if s != nil && s != seen {
			return s, nil
		}
	}
}

// look returns a snapshot that will do, or what to wait for.
func (f *feed) look(seen *snapshot) (*snapshot, <-chan struct{}) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.ended {
		return nil, nil // closed is what after will hear of
	}
	now := time.Now()
	var wait time.Duration
	if f.newest != nil {
		wait = f.newest.at.Add(f.interval).Sub(now)
		if wait > 0 && f.newest != seen {
			return f.newest, nil
		}
	}
	if f.pending == nil {
		f.pending = make(chan struct{})
		go f.take(wait)
	}
	return nil, f.pending
}

// take asks the source once, when the interval is over.
func (f *feed) take(wait time.Duration) {
	if wait > 0 {
		t := time.NewTimer(wait)
		defer t.Stop()
		select {
		case <-t.C:
		case <-f.closed:
			return
		}
	}
	f.mu.Lock()
	ended := f.ended
	f.mu.Unlock()
	if ended {
		return
	}
	s := &snapshot{at: time.Now()}
	frame, err := f.src.Frame()
	if err != nil {
		s.err = err
		text, _ := json.Marshal(err.Error()) // a string always can
		s.event = append(s.event, "event: fault\n"+prefix...)
		s.event = append(append(s.event, text...), suffix...)
	} else {
		s.event = append(frame.appendJSON([]byte(prefix)), suffix...)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.newest = s
	close(f.pending)
	f.pending = nil
}

func (f *feed) close() {
	f.mu.Lock()
	defer f.mu.Unlock()
	if !f.ended {
		f.ended = true
		close(f.closed)
	}
}
