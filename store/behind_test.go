package store_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/throng-dev/throng/store"
)

// moody is a store that fails when told to, before or after it did the work.
type moody struct {
	store.Store
	mu      sync.Mutex
	before  error
	after   error
	commits int
}

func (m *moody) Commit(ctx context.Context, b store.Batch) (store.Version, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.commits++
	if m.before != nil {
		return 0, m.before
	}
	v, err := m.Store.Commit(ctx, b)
	if m.after != nil && err == nil {
		return 0, m.after
	}
	return v, err
}

func (m *moody) fail(before, after error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.before, m.after = before, after
}

func load(t *testing.T, b *store.Behind, keys ...string) []store.Record {
	t.Helper()
	rs, err := b.Load(t.Context(), keys...)
	if err != nil {
		t.Fatal(err)
	}
	return rs
}

func put(t *testing.T, b *store.Behind, key, value string) {
	t.Helper()
	if err := b.Put(key, []byte(value)); err != nil {
		t.Fatalf("put %q: %v", key, err)
	}
}

func holds(t *testing.T, s store.Store, key, want string) {
	t.Helper()
	r, err := s.Get(t.Context(), key)
	if err != nil || string(r[0].Value) != want {
		t.Errorf("%q holds %q, want %q (%v)", key, r[0].Value, want, err)
	}
}

func TestB118BehindKeepsItsBound(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &moody{Store: store.NewMemory()}
		b := store.NewBehind(s, store.BehindConfig{Delay: 2 * time.Second})
		load(t, b, "hp", "pos")
		// A stream of values: at any moment the store holds one that is at most Delay old.
		start := time.Now()
		for i := range 100 {
			put(t, b, "hp", fmt.Sprint(i))
			time.Sleep(100 * time.Millisecond)
			synctest.Wait()
			r, _ := s.Get(t.Context(), "hp")
			var held int
			if len(r[0].Value) > 0 {
				fmt.Sscan(string(r[0].Value), &held)
			} else {
				held = -1
			}
			if age := time.Duration(i-held) * 100 * time.Millisecond; age > 2*time.Second+100*time.Millisecond {
				t.Fatalf("after %v the store is %v behind", time.Since(start), age)
			}
		}
		if s.commits > 6 {
			t.Errorf("100 puts in 10 s took %d commits, a delay of 2 s allows 5", s.commits)
		}
		put(t, b, "pos", "here")
		if err := b.Close(t.Context()); err != nil {
			t.Fatal(err)
		}
		holds(t, s, "hp", "99")
		holds(t, s, "pos", "here")
		if err := b.Put("hp", nil); !errors.Is(err, store.ErrClosed) {
			t.Errorf("put after close: %v", err)
		}
		if err := b.Close(t.Context()); !errors.Is(err, store.ErrClosed) {
			t.Errorf("close after close: %v", err)
		}
	})
}

func TestB118BehindTellsTheSecondWriter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := store.NewMemory()
		var conflicts []string
		a := store.NewBehind(s, store.BehindConfig{})
		b := store.NewBehind(s, store.BehindConfig{Conflict: func(c *store.ConflictError) { conflicts = append(conflicts, c.Key) }})
		load(t, a, "x", "y")
		load(t, b, "x", "y", "z")
		put(t, a, "x", "a")
		if err := a.Flush(t.Context()); err != nil {
			t.Fatal(err)
		}
		put(t, b, "x", "b")
		put(t, b, "y", "b")
		put(t, b, "z", "b")
		if err := b.Flush(t.Context()); err != nil {
			t.Fatal(err)
		}
		holds(t, s, "x", "a")
		holds(t, s, "y", "b")
		holds(t, s, "z", "b")
		if fmt.Sprint(conflicts) != "[x]" || b.Lost() != 1 {
			t.Errorf("conflicts %v, lost %d", conflicts, b.Lost())
		}
		if err := b.Put("x", nil); !errors.Is(err, store.ErrNotLoaded) {
			t.Errorf("put of a key that was lost: %v", err)
		}
		// Loaded again it is the writer's.
		if r := load(t, b, "x"); string(r[0].Value) != "a" {
			t.Errorf("loaded %q", r[0].Value)
		}
		put(t, b, "x", "b")
		if err := b.Close(t.Context()); err != nil {
			t.Fatal(err)
		}
		holds(t, s, "x", "b")
		if err := a.Close(t.Context()); err != nil {
			t.Fatal(err)
		}
	})
}

func TestB118BehindSurvivesAStoreThatFails(t *testing.T) {
	for _, when := range []string{"before", "after"} {
		t.Run(when, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := &moody{Store: store.NewMemory()}
				failed := 0
				b := store.NewBehind(s, store.BehindConfig{Failed: func(error) { failed++ }})
				load(t, b, "x", "y")
				put(t, b, "x", "1")
				down := errors.New("no disk")
				if when == "before" {
					s.fail(down, nil)
				} else {
					s.fail(nil, down) // it happened, and nobody knows
				}
				time.Sleep(3500 * time.Millisecond)
				put(t, b, "x", "2")
				put(t, b, "y", "2")
				if err := b.Flush(t.Context()); !errors.Is(err, down) {
					t.Errorf("flush: %v", err)
				}
				if failed < 4 {
					t.Errorf("%d failures were reported in 3.5 s", failed)
				}
				s.fail(nil, nil)
				time.Sleep(1100 * time.Millisecond)
				synctest.Wait()
				holds(t, s, "x", "2")
				holds(t, s, "y", "2")
				if b.Lost() != 0 {
					t.Error("a commit nobody knew of was taken for another writer's")
				}
				if err := b.Close(t.Context()); err != nil {
					t.Fatal(err)
				}
			})
		})
	}
}

func TestB118BehindManyKeysDeletesAndReleases(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := store.NewMemory()
		b := store.NewBehind(s, store.BehindConfig{})
		const keys = 2*store.MaxBatch + 100
		for i := range keys {
			load(t, b, fmt.Sprint(i))
			put(t, b, fmt.Sprint(i), "v")
		}
		time.Sleep(1100 * time.Millisecond)
		synctest.Wait()
		n := 0
		if err := s.Scan(t.Context(), "", func(store.Record) bool { n++; return true }); err != nil || n != keys {
			t.Fatalf("%d of %d keys are stored (%v)", n, keys, err)
		}
		if err := b.Delete("7"); err != nil {
			t.Fatal(err)
		}
		if r := load(t, b, "7"); r[0].Value != nil {
			t.Errorf("a key deleted here loads as %q", r[0].Value)
		}
		if err := b.Release(t.Context(), "7", "8"); err != nil {
			t.Fatal(err)
		}
		holds(t, s, "7", "")
		if err := b.Put("8", nil); !errors.Is(err, store.ErrNotLoaded) {
			t.Errorf("put of a released key: %v", err)
		}
		load(t, b, "7")
		put(t, b, "7", "again")
		ended, cancel := context.WithCancel(t.Context())
		cancel()
		if err := b.Flush(ended); !errors.Is(err, context.Canceled) && err != nil {
			t.Errorf("flush with an ended context: %v", err)
		}
		if err := b.Close(t.Context()); err != nil {
			t.Fatal(err)
		}
		holds(t, s, "7", "again")
	})
}

func ExampleBehind() {
	ctx := context.Background()
	s := store.NewMemory()
	b := store.NewBehind(s, store.BehindConfig{Delay: time.Second})
	if _, err := b.Load(ctx, "hp/dragon"); err != nil {
		fmt.Println(err)
	}
	for hp := 100; hp > 0; hp -= 30 {
		_ = b.Put("hp/dragon", []byte(fmt.Sprint(hp))) // many a second, if need be
	}
	if err := b.Close(ctx); err != nil {
		fmt.Println(err)
	}
	r, _ := s.Get(ctx, "hp/dragon")
	fmt.Printf("%s\n", r[0].Value)
	// Output: 10
}
