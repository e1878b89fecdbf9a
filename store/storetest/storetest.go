// Package storetest is what every store must pass: an implementation calls [Run] from a test.
package storetest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/throng-dev/throng/store"
)

// Run tests a store. Open returns an empty one each time; it closes it by t.Cleanup if it wants to.
func Run(t *testing.T, open func(t *testing.T) store.Store) {
	for name, test := range map[string]func(*testing.T, store.Store){
		"ReadsWhatWasCommitted":    readsWhatWasCommitted,
		"ABatchIsWholeOrNot":       aBatchIsWholeOrNot,
		"VersionsGrow":             versionsGrow,
		"ANameCommitsOnce":         aNameCommitsOnce,
		"ScanIsOrderedAndOneState": scanIsOrderedAndOneState,
		"RefusesWhatIsInvalid":     refusesWhatIsInvalid,
		"OneOfManyWritersWin":      oneOfManyWritersWin,
		"TransfersKeepTheSum":      transfersKeepTheSum,
		"LikeTheMemory":            likeTheMemory,
		"AnswersAfterClose":        answersAfterClose,
	} {
		t.Run(name, func(t *testing.T) { test(t, open(t)) })
	}
}

func commit(t *testing.T, s store.Store, writes ...store.Write) store.Version {
	t.Helper()
	v, err := s.Commit(t.Context(), store.Batch{Writes: writes})
	if err != nil {
		t.Fatalf("commit: %v", err)
	}
	return v
}

func get(t *testing.T, s store.Store, key string) store.Record {
	t.Helper()
	r, err := s.Get(t.Context(), key)
	if err != nil || len(r) != 1 || r[0].Key != key {
		t.Fatalf("get %q: %v, %v", key, r, err)
	}
	return r[0]
}

func all(t *testing.T, s store.Store, prefix string) (out []store.Record) {
	t.Helper()
	if err := s.Scan(t.Context(), prefix, func(r store.Record) bool { out = append(out, r); return true }); err != nil {
		t.Fatalf("scan %q: %v", prefix, err)
	}
	return out
}

func readsWhatWasCommitted(t *testing.T, s store.Store) {
	value := make([]byte, store.MaxValue)
	for i := range value {
		value[i] = byte(i * 7)
	}
	key := strings.Repeat("ü", store.MaxKey/2)
	v := commit(t, s, store.Write{Key: key, Value: value}, store.Write{Key: "empty", Value: nil})
	if r := get(t, s, key); r.Version != v || !bytes.Equal(r.Value, value) {
		t.Errorf("the largest record came back with version %d and %d bytes, committed as %d with %d", r.Version, len(r.Value), v, len(value))
	}
	if r := get(t, s, "empty"); r.Version != v || r.Value == nil || len(r.Value) != 0 {
		t.Errorf("an empty value came back as %#v", r)
	}
	if r := get(t, s, "none"); r.Version != 0 || r.Value != nil {
		t.Errorf("a key without a record came back as %#v", r)
	}
	rs, err := s.Get(t.Context(), "none", "empty", "none")
	if err != nil || len(rs) != 3 || rs[0].Version != 0 || rs[1].Version != v || rs[2].Key != "none" {
		t.Errorf("get of three keys: %v, %v", rs, err)
	}
	if rs, err := s.Get(t.Context()); err != nil || len(rs) != 0 {
		t.Errorf("get of no keys: %v, %v", rs, err)
	}
	commit(t, s, store.Write{Key: "empty", Delete: true})
	if r := get(t, s, "empty"); r.Version != 0 {
		t.Errorf("a deleted record came back as %#v", r)
	}
}

func aBatchIsWholeOrNot(t *testing.T, s store.Store) {
	v := commit(t, s, store.Write{Key: "a", Value: []byte("1"), Checked: true}, store.Write{Key: "b", Value: []byte("1")})
	_, err := s.Commit(t.Context(), store.Batch{Writes: []store.Write{
		{Key: "a", Value: []byte("2"), Checked: true, Expect: v},
		{Key: "c", Value: []byte("2")},
		{Key: "b", Value: []byte("2"), Checked: true, Expect: v + 1},
	}})
	var conflict *store.ConflictError
	if !errors.As(err, &conflict) || conflict.Key != "b" || conflict.Expect != v+1 || conflict.Found != v {
		t.Fatalf("a batch decided on another version: %v", err)
	}
	if r := get(t, s, "a"); string(r.Value) != "1" || r.Version != v {
		t.Errorf("a failed batch left %q with version %d", r.Value, r.Version)
	}
	if r := get(t, s, "c"); r.Version != 0 {
		t.Errorf("a failed batch left a new record: %v", r)
	}
	if _, err := s.Commit(t.Context(), store.Batch{Writes: []store.Write{{Key: "a", Checked: true}}}); !errors.As(err, &conflict) || conflict.Found != v {
		t.Errorf("a write that expects no record where there is one: %v", err)
	}
	if _, err := s.Commit(t.Context(), store.Batch{Writes: []store.Write{{Key: "d", Delete: true, Checked: true, Expect: v}}}); !errors.As(err, &conflict) || conflict.Found != 0 {
		t.Errorf("a delete that expects a record where there is none: %v", err)
	}
}

func versionsGrow(t *testing.T, s store.Store) {
	var last store.Version
	for i := range 20 {
		w := store.Write{Key: "k", Value: []byte{byte(i)}, Delete: i%3 == 2}
		v := commit(t, s, w, store.Write{Key: fmt.Sprint(i)})
		if v <= last {
			t.Fatalf("commit %d has version %d, the one before %d", i, v, last)
		}
		last = v
	}
}

func aNameCommitsOnce(t *testing.T, s store.Store) {
	b := store.Batch{Once: "trade 17", Writes: []store.Write{{Key: "gold", Value: []byte("5"), Checked: true}}}
	v, err := s.Commit(t.Context(), b)
	if err != nil {
		t.Fatal(err)
	}
	commit(t, s, store.Write{Key: "gold", Value: []byte("9")})
	again, err := s.Commit(t.Context(), b)
	if err != nil || again != v {
		t.Errorf("the batch again: version %d, %v; it was committed as %d", again, err, v)
	}
	if r := get(t, s, "gold"); string(r.Value) != "9" {
		t.Errorf("a batch of the same name was applied twice: %q", r.Value)
	}
	// A batch that failed has not used its name.
	b = store.Batch{Once: "trade 18", Writes: []store.Write{{Key: "gold", Value: []byte("5"), Checked: true}}}
	if _, err := s.Commit(t.Context(), b); err == nil {
		t.Fatal("committed over a record it did not expect")
	}
	commit(t, s, store.Write{Key: "gold", Delete: true})
	if _, err := s.Commit(t.Context(), b); err != nil {
		t.Errorf("the batch that failed before: %v", err)
	}
	if r := get(t, s, "gold"); string(r.Value) != "5" {
		t.Errorf("the batch that failed before left %q", r.Value)
	}
}

func scanIsOrderedAndOneState(t *testing.T, s store.Store) {
	keys := []string{"a", "a/", "a/1", "a/10", "a/2", "a/B", "a/b", "a/ä", "a0", "b"}
	for _, i := range rand.Perm(len(keys)) {
		commit(t, s, store.Write{Key: keys[i], Value: []byte(keys[i])})
	}
	var got []string
	for _, r := range all(t, s, "a/") {
		got = append(got, r.Key)
		if string(r.Value) != r.Key || r.Version == 0 {
			t.Errorf("scan gave %v", r)
		}
	}
	if want := fmt.Sprint(keys[1:8]); fmt.Sprint(got) != want {
		t.Errorf("scan of a/: %v, want %v", got, want)
	}
	if n := len(all(t, s, "")); n != len(keys) {
		t.Errorf("scan of all gave %d of %d", n, len(keys))
	}
	if rs := all(t, s, "zz"); len(rs) != 0 {
		t.Errorf("scan of nothing gave %v", rs)
	}
	n := 0
	if err := s.Scan(t.Context(), "a", func(store.Record) bool { n++; return n < 2 }); err != nil || n != 2 {
		t.Errorf("a scan that was told to stop after 2 saw %d: %v", n, err)
	}
	// % and _ are no wildcards in a prefix.
	commit(t, s, store.Write{Key: "%_x"}, store.Write{Key: `\x`})
	if len(all(t, s, "%")) != 1 || len(all(t, s, "_")) != 0 || len(all(t, s, `\`)) != 1 {
		t.Error("a prefix is taken for a pattern")
	}
}

func refusesWhatIsInvalid(t *testing.T, s store.Store) {
	long := strings.Repeat("k", store.MaxKey+1)
	many := make([]store.Write, store.MaxBatch+1)
	for i := range many {
		many[i].Key = fmt.Sprint(i)
	}
	for name, b := range map[string]store.Batch{
		"no writes":         {},
		"too many writes":   {Writes: many},
		"an empty key":      {Writes: []store.Write{{}}},
		"a long key":        {Writes: []store.Write{{Key: long}}},
		"a NUL in the key":  {Writes: []store.Write{{Key: "a\x00b"}}},
		"broken UTF-8":      {Writes: []store.Write{{Key: "a\xff"}}},
		"a key twice":       {Writes: []store.Write{{Key: "a"}, {Key: "a"}}},
		"a long value":      {Writes: []store.Write{{Key: "a", Value: make([]byte, store.MaxValue+1)}}},
		"a long name":       {Once: strings.Repeat("n", store.MaxOnce+1), Writes: []store.Write{{Key: "a"}}},
		"a broken name":     {Once: "\xff", Writes: []store.Write{{Key: "a"}}},
		"a NUL in the name": {Once: "\x00", Writes: []store.Write{{Key: "a"}}},
	} {
		if _, err := s.Commit(t.Context(), b); !errors.Is(err, store.ErrInvalid) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if rs := all(t, s, ""); len(rs) != 0 {
		t.Errorf("refused batches left %v", rs)
	}
	if _, err := s.Get(t.Context(), "a", ""); !errors.Is(err, store.ErrInvalid) {
		t.Errorf("get of an empty key: %v", err)
	}
	if _, err := s.Commit(t.Context(), store.Batch{Writes: many[:store.MaxBatch]}); err != nil {
		t.Errorf("the largest batch: %v", err)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := s.Get(ended, "a"); !errors.Is(err, context.Canceled) {
		t.Errorf("get with an ended context: %v", err)
	}
	if _, err := s.Commit(ended, store.Batch{Writes: []store.Write{{Key: "late"}}}); !errors.Is(err, context.Canceled) {
		t.Errorf("commit with an ended context: %v", err)
	}
}

func oneOfManyWritersWin(t *testing.T, s store.Store) {
	const writers, rounds = 8, 20
	for round := range rounds {
		key := fmt.Sprint("key ", round)
		v := commit(t, s, store.Write{Key: key})
		var (
			wg   sync.WaitGroup
			mu   sync.Mutex
			won  []int
			lost int
		)
		for w := range writers {
			wg.Go(func() {
				_, err := s.Commit(t.Context(), store.Batch{Writes: []store.Write{{Key: key, Value: []byte{byte(w)}, Checked: true, Expect: v}}})
				var conflict *store.ConflictError
				mu.Lock()
				defer mu.Unlock()
				switch {
				case err == nil:
					won = append(won, w)
				case errors.As(err, &conflict):
					lost++
				default:
					t.Errorf("writer %d: %v", w, err)
				}
			})
		}
		wg.Wait()
		if len(won) != 1 || lost != writers-1 {
			t.Fatalf("round %d: writers %v won, %d lost", round, won, lost)
		}
		if r := get(t, s, key); len(r.Value) != 1 || int(r.Value[0]) != won[0] {
			t.Fatalf("round %d: the record holds %v, writer %d won", round, r.Value, won[0])
		}
	}
}

// transfersKeepTheSum moves coins between accounts from many goroutines, while scans must never see one half of a transfer.
func transfersKeepTheSum(t *testing.T, s store.Store) {
	const accounts, movers, moves, start = 6, 4, 40, 100
	name := func(i int) string { return fmt.Sprint("account/", i) }
	for i := range accounts {
		commit(t, s, store.Write{Key: name(i), Value: []byte{start}})
	}
	var wg, scans sync.WaitGroup
	for m := range movers {
		wg.Go(func() {
			r := rand.New(rand.NewPCG(uint64(m), 1))
			for done := 0; done < moves; {
				i, j := r.IntN(accounts), r.IntN(accounts)
				if i == j {
					continue
				}
				got, err := s.Get(t.Context(), name(i), name(j))
				if err != nil {
					t.Error(err)
					return
				}
				from, to := got[0], got[1]
				if from.Value[0] == 0 || to.Value[0] == 255 {
					done++
					continue
				}
				_, err = s.Commit(t.Context(), store.Batch{Writes: []store.Write{
					{Key: from.Key, Value: []byte{from.Value[0] - 1}, Checked: true, Expect: from.Version},
					{Key: to.Key, Value: []byte{to.Value[0] + 1}, Checked: true, Expect: to.Version},
				}})
				var conflict *store.ConflictError
				switch {
				case err == nil:
					done++
				case !errors.As(err, &conflict):
					t.Error(err)
					return
				}
			}
		})
	}
	stop := make(chan struct{})
	scans.Go(func() {
		for {
			select {
			case <-stop:
				return
			default:
			}
			sum := 0
			err := s.Scan(t.Context(), "account/", func(r store.Record) bool { sum += int(r.Value[0]); return true })
			if err != nil || sum != accounts*start {
				t.Errorf("a scan saw %d coins of %d: %v", sum, accounts*start, err)
				return
			}
		}
	})
	wg.Wait()
	close(stop)
	scans.Wait()
	sum := 0
	for _, r := range all(t, s, "account/") {
		sum += int(r.Value[0])
	}
	if sum != accounts*start {
		t.Errorf("%d coins are left of %d", sum, accounts*start)
	}
}

// likeTheMemory plays random batches on the store and on a Memory: they must answer alike.
func likeTheMemory(t *testing.T, s store.Store) {
	m := store.NewMemory()
	r := rand.New(rand.NewPCG(7, 7))
	versions := map[store.Version]store.Version{0: 0} // of m → of s
	for i := range 300 {
		var b store.Batch
		if r.IntN(4) == 0 {
			b.Once = fmt.Sprint("op ", r.IntN(20))
		}
		for _, k := range r.Perm(8)[:1+r.IntN(4)] {
			w := store.Write{Key: fmt.Sprint("k", k), Value: []byte(fmt.Sprint(i)), Delete: r.IntN(5) == 0}
			if r.IntN(2) == 0 {
				rec, _ := m.Get(t.Context(), w.Key)
				w.Checked, w.Expect = true, rec[0].Version
				if r.IntN(6) == 0 {
					w.Expect = 0
				}
			}
			b.Writes = append(b.Writes, w)
		}
		vm, errm := m.Commit(t.Context(), b)
		for j := range b.Writes {
			b.Writes[j].Expect = versions[b.Writes[j].Expect]
		}
		vs, errs := s.Commit(t.Context(), b)
		var cm, cs *store.ConflictError
		if errors.As(errm, &cm) != errors.As(errs, &cs) || (errm == nil) != (errs == nil) {
			t.Fatalf("batch %d: the store says %v, the memory %v", i, errs, errm)
		}
		if cm != nil && (cm.Key != cs.Key || versions[cm.Found] != cs.Found) {
			t.Fatalf("batch %d: the store says %v, the memory %v", i, cs, cm)
		}
		if errm == nil {
			if old, ok := versions[vm]; ok && old != vs {
				t.Fatalf("batch %d: version %d of the memory is both %d and %d", i, vm, old, vs)
			}
			versions[vm] = vs
		}
		want, got := all(t, m, ""), all(t, s, "")
		if len(want) != len(got) {
			t.Fatalf("batch %d: the store holds %d records, the memory %d", i, len(got), len(want))
		}
		for j := range want {
			if want[j].Key != got[j].Key || !bytes.Equal(want[j].Value, got[j].Value) || versions[want[j].Version] != got[j].Version {
				t.Fatalf("batch %d: the store holds %v, the memory %v", i, got[j], want[j])
			}
		}
	}
}

func answersAfterClose(t *testing.T, s store.Store) {
	commit(t, s, store.Write{Key: "a"})
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Get(t.Context(), "a"); !errors.Is(err, store.ErrClosed) {
		t.Errorf("get after close: %v", err)
	}
	if _, err := s.Commit(t.Context(), store.Batch{Writes: []store.Write{{Key: "a"}}}); !errors.Is(err, store.ErrClosed) {
		t.Errorf("commit after close: %v", err)
	}
	if err := s.Scan(t.Context(), "", func(store.Record) bool { return true }); !errors.Is(err, store.ErrClosed) {
		t.Errorf("scan after close: %v", err)
	}
	if err := s.Close(); err != nil {
		t.Errorf("close after close: %v", err)
	}
}

// Benchmark measures commits of one key each, from one goroutine and from 32, each durable when it returns.
func Benchmark(b *testing.B, open func(b *testing.B) store.Store) {
	for _, writers := range []int{1, 32} {
		b.Run(fmt.Sprintf("writers=%d", writers), func(b *testing.B) {
			s := open(b)
			value := make([]byte, 200)
			var next atomic.Int64
			var wg sync.WaitGroup
			b.ResetTimer()
			for range writers {
				wg.Go(func() {
					for {
						i := next.Add(1)
						if i > int64(b.N) {
							return
						}
						if _, err := s.Commit(context.Background(), store.Batch{Writes: []store.Write{{Key: fmt.Sprint(i % 10000), Value: value}}}); err != nil {
							b.Error(err)
							return
						}
					}
				})
			}
			wg.Wait()
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "commits/s")
		})
	}
}
