package inspect

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// ticking is a world that counts how often it was asked, and whether by two at once.
type ticking struct {
	asked   atomic.Int64
	busy    atomic.Int64
	overlap atomic.Bool
	takes   time.Duration
	fails   func(n int64) bool
}

func (s *ticking) Frame() (Frame, error) {
	if s.busy.Add(1) > 1 {
		s.overlap.Store(true)
	}
	defer s.busy.Add(-1)
	n := s.asked.Add(1)
	if s.takes > 0 {
		<-time.After(s.takes)
	}
	if s.fails != nil && s.fails(n) {
		return Frame{}, errors.New("throng: no world\nyet")
	}
	return Frame{World: fmt.Sprint(n)}, nil
}

// A viewer is the connection of one stream inside a bubble: it keeps what arrives and may be slow or stuck.
type viewer struct {
	*httptest.ResponseRecorder
	each time.Duration   // what one write takes
	gone <-chan struct{} // if not nil, writes block until then
	mu   sync.Mutex
	text strings.Builder
}

func (v *viewer) Write(b []byte) (int, error) {
	if v.gone != nil {
		<-v.gone
		return 0, io.ErrClosedPipe
	}
	<-time.After(v.each)
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.text.Write(b)
}

func (v *viewer) frames() []string {
	v.mu.Lock()
	defer v.mu.Unlock()
	var worlds []string
	for message := range strings.SplitSeq(v.text.String(), "\n\n") {
		if _, after, ok := strings.Cut(message, `{"world":"`); ok {
			world, _, _ := strings.Cut(after, `"`)
			worlds = append(worlds, world)
		}
	}
	return worlds
}

// watch opens a stream; its goroutine ends with ctx or the handler.
func watch(ctx context.Context, h *Handler, v *viewer) (done <-chan struct{}) {
	v.ResponseRecorder = httptest.NewRecorder()
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		h.ServeHTTP(v, httptest.NewRequestWithContext(ctx, "GET", "http://localhost/events", nil))
	}()
	return ended
}

func TestOneFrameAnIntervalWhoeverWatches(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		src := &ticking{takes: 30 * time.Millisecond}
		h := New(src, 100*time.Millisecond)
		viewers := make([]*viewer, 20)
		for i := range viewers {
			viewers[i] = &viewer{}
			watch(t.Context(), h, viewers[i])
		}
		for range 50 { // others take single frames at odd times
			time.Sleep(19 * time.Millisecond)
			if w := ask(h, "", "GET", "http://localhost/frame"); w.Code != 200 {
				t.Fatalf("a frame: %d %s", w.Code, w.Body)
			}
		}
		h.Close()
		synctest.Wait()
		// The clock also ran while single frames were waited for.
		asked := src.asked.Load()
		for i, v := range viewers {
			if n := int64(len(v.frames())); n < asked-1 {
				t.Errorf("viewer %d saw %d of %d frames", i, n, asked)
			}
		}
		if src.overlap.Load() {
			t.Error("the source was asked twice at once")
		}
	})
}

func TestSourceIsAskedOnceAnInterval(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		src := &ticking{}
		h := New(src, 100*time.Millisecond)
		ctx, stop := context.WithCancel(t.Context())
		for range 5 {
			watch(ctx, h, &viewer{})
		}
		time.Sleep(10*time.Second + time.Millisecond)
		if n := src.asked.Load(); n != 101 {
			t.Errorf("asked %d times in 10 s at 100 ms, want 101", n)
		}
		stop()
		synctest.Wait()
		before := src.asked.Load()
		time.Sleep(time.Hour)
		if n := src.asked.Load() - before; n > 1 { // the one that was due
			t.Errorf("asked %d times while nobody watched", n)
		}
	})
}

func TestSlowViewerSkipsAndDelaysNobody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		src := &ticking{}
		h := New(src, 100*time.Millisecond)
		ctx, stop := context.WithCancel(t.Context())
		quick, slow, stuck := &viewer{}, &viewer{each: 730 * time.Millisecond}, &viewer{gone: ctx.Done()}
		ends := []<-chan struct{}{watch(ctx, h, stuck), watch(ctx, h, slow), watch(ctx, h, quick)}
		time.Sleep(20*time.Second + time.Millisecond)
		got := quick.frames()
		for i, world := range got {
			if world != fmt.Sprint(i+1) {
				t.Fatalf("the quick viewer's frame %d is %s", i+1, world)
			}
		}
		if len(got) != 201 {
			t.Errorf("the quick viewer saw %d frames in 20 s, want 201", len(got))
		}
		late := slow.frames()
		if n := len(late); n < 23 || n > 28 {
			t.Errorf("the slow viewer saw %d frames, want one in 730 ms or so", n)
		}
		// What it sees is new, not a queue: the last one it began to write is not older than one write and one interval.
		var last int
		fmt.Sscan(late[len(late)-1], &last)
		if last < 201-2*8-1 {
			t.Errorf("the slow viewer is at frame %d of 201", last)
		}
		stop()
		for _, end := range ends {
			<-end
		}
	})
}

func TestStreamEndsWithItsRequest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := New(&ticking{}, 100*time.Millisecond)
		defer h.Close()
		ctx, leave := context.WithCancel(t.Context())
		left, stays := &viewer{}, &viewer{}
		done := watch(ctx, h, left)
		watch(t.Context(), h, stays)
		time.Sleep(time.Second)
		leave()
		<-done
		n := len(left.frames())
		time.Sleep(time.Second)
		if len(left.frames()) != n || len(stays.frames()) < 19 {
			t.Errorf("who left saw %d frames more, who stayed %d in all", len(left.frames())-n, len(stays.frames()))
		}
	})
}

func TestCloseEndsStreams(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		src := &ticking{}
		h := New(src, 100*time.Millisecond)
		done := watch(t.Context(), h, &viewer{})
		time.Sleep(time.Second)
		h.Close()
		<-done
		n := src.asked.Load()
		if <-watch(t.Context(), h, &viewer{}); src.asked.Load() != n {
			t.Error("a closed handler asks its source")
		}
	})
}

func TestViewersAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := New(&ticking{}, 100*time.Millisecond)
		defer h.Close()
		ctx, leave := context.WithCancel(t.Context())
		first := watch(ctx, h, &viewer{})
		for range maxViewers - 1 {
			watch(t.Context(), h, &viewer{})
		}
		synctest.Wait()
		more := &viewer{}
		<-watch(t.Context(), h, more)
		if more.Code != http.StatusServiceUnavailable || !strings.Contains(more.text.String(), "64 viewers") {
			t.Errorf("one too many: %d %q", more.Code, more.text.String())
		}
		leave()
		<-first
		after := &viewer{}
		watch(t.Context(), h, after)
		time.Sleep(time.Second)
		if len(after.frames()) == 0 {
			t.Error("a place that became free is not given away")
		}
	})
}

func TestFaultIsToldAndPasses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := New(&ticking{fails: func(n int64) bool { return n == 2 }}, 100*time.Millisecond)
		v := &viewer{}
		done := watch(t.Context(), h, v)
		time.Sleep(210 * time.Millisecond)
		h.Close()
		<-done
		if got := fmt.Sprint(v.frames()); got != "[1 3]" {
			t.Errorf("frames %s, want [1 3]", got)
		}
		if want := "\n\nevent: fault\ndata: \"throng: no world\\nyet\"\n\n"; !strings.Contains(v.text.String(), want) {
			t.Errorf("no %q in %q", want, v.text.String())
		}
	})
}

// TestStreamOverTCP reads the stream with a real client from a real server, then leaves it, then shuts the server down
// while somebody still watches.
func TestStreamOverTCP(t *testing.T) {
	h := New(&ticking{}, 5*time.Millisecond)
	ended := make(chan struct{}, 2)
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h.ServeHTTP(w, r)
		ended <- struct{}{}
	}))
	server.Config.RegisterOnShutdown(h.Close)
	server.Start()
	defer server.Close()
	open := func(ctx context.Context) *http.Response {
		t.Helper()
		req, err := http.NewRequestWithContext(ctx, "GET", server.URL+"/events", nil)
		if err != nil {
			t.Fatal(err)
		}
		resp, err := server.Client().Do(req)
		if err != nil {
			t.Fatal(err)
		}
		if kind := resp.Header.Get("Content-Type"); resp.StatusCode != 200 || kind != "text/event-stream" {
			t.Fatalf("the stream is %d %s", resp.StatusCode, kind)
		}
		return resp
	}
	ctx, leave := context.WithCancel(t.Context())
	resp := open(ctx)
	lines := bufio.NewScanner(resp.Body)
	frames := 0
	for frames < 5 && lines.Scan() {
		if strings.HasPrefix(lines.Text(), `data: {"world":"`) && strings.HasSuffix(lines.Text(), "}") {
			frames++
		}
	}
	if frames < 5 {
		t.Fatalf("the stream ended after %d frames: %v", frames, lines.Err())
	}
	leave()
	<-ended
	resp.Body.Close()

	resp = open(t.Context())
	defer resp.Body.Close()
	if err := server.Config.Shutdown(t.Context()); err != nil {
		t.Fatal(err)
	}
	<-ended
	if _, err := io.Copy(io.Discard, resp.Body); err != nil {
		t.Errorf("the stream broke instead of ending: %v", err)
	}
}
