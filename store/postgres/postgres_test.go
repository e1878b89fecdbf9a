package postgres_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/throng-dev/throng/store"
	"github.com/throng-dev/throng/store/postgres"
	"github.com/throng-dev/throng/store/storetest"
)

var schemas atomic.Int32

// schema is the name of one that nothing used yet.
func schema() string { return fmt.Sprint("test ", schemas.Add(1)) }

func open(t testing.TB, schema string) *postgres.Store {
	t.Helper()
	s, err := postgres.Open(t.Context(), postgres.Config{URL: shared.url(), Schema: schema})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

func TestB118PostgresIsAStore(t *testing.T) {
	storetest.Run(t, func(t *testing.T) store.Store { return open(t, schema()) })
}

func TestB118TwoProcessesShareADatabase(t *testing.T) {
	name := schema()
	a, b := open(t, name), open(t, name)
	other := open(t, schema())
	var mu sync.Mutex
	seen := map[store.Version]bool{}
	var wg sync.WaitGroup
	for i, s := range []*postgres.Store{a, b, a, b} {
		wg.Go(func() {
			for j := range 50 {
				v, err := s.Commit(t.Context(), store.Batch{Writes: []store.Write{{Key: fmt.Sprint(i, j)}, {Key: "shared"}, {Key: fmt.Sprint(j)}}})
				mu.Lock()
				if err != nil || seen[v] {
					t.Errorf("version %d, seen before: %v; %v", v, seen[v], err)
				}
				seen[v] = true
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	if err := other.Scan(t.Context(), "", func(r store.Record) bool { t.Errorf("another schema holds %q", r.Key); return true }); err != nil {
		t.Error(err)
	}
}

func TestB118OtherSchemasAreRefused(t *testing.T) {
	name := schema()
	if err := open(t, name).Close(); err != nil {
		t.Fatal(err)
	}
	conn, err := pgx.Connect(t.Context(), shared.url())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(context.Background())
	if _, err := conn.Exec(t.Context(), `UPDATE `+pgx.Identifier{name, "throng_format"}.Sanitize()+` SET format = 99`); err != nil {
		t.Fatal(err)
	}
	if _, err := postgres.Open(t.Context(), postgres.Config{URL: shared.url(), Schema: name}); err == nil || !strings.Contains(err.Error(), "format 99") {
		t.Errorf("opened a schema of another format: %v", err)
	}
	if _, err := postgres.Open(t.Context(), postgres.Config{URL: "postgres:///?host=/nowhere"}); err == nil || !strings.HasPrefix(err.Error(), "throng: ") {
		t.Errorf("opened a database that is not there: %v", err)
	}
}

// The server is killed while four goroutines commit, and started again: what was acknowledged is there, and the store goes on.
func TestB118KillOfTheServerLosesNothingAcknowledged(t *testing.T) {
	s := open(t, schema())
	const enough = 300
	var (
		mu     sync.Mutex
		acked  []string
		failed error
		wg     sync.WaitGroup
		ready  = make(chan struct{})
	)
	for w := range 4 {
		wg.Go(func() {
			for i := 0; ; i++ {
				key := fmt.Sprint(w, "/", i)
				_, err := s.Commit(t.Context(), store.Batch{Writes: []store.Write{{Key: "a/" + key, Value: []byte("v")}, {Key: "b/" + key}}})
				mu.Lock()
				if err != nil {
					failed = err
					mu.Unlock()
					return
				}
				acked = append(acked, key)
				if len(acked) == enough {
					close(ready)
				}
				mu.Unlock()
			}
		})
	}
	<-ready
	shared.kill(t)
	wg.Wait()
	if failed == nil || !strings.HasPrefix(failed.Error(), "throng: commit") {
		t.Errorf("a commit on a dead server: %v", failed)
	}
	if err := shared.start(); err != nil {
		t.Fatal(err)
	}
	for _, key := range acked {
		rs, err := s.Get(t.Context(), "a/"+key, "b/"+key)
		if err != nil || rs[0].Version == 0 || rs[0].Version != rs[1].Version {
			t.Fatalf("%q was acknowledged: %v, %v", key, rs, err)
		}
	}
	if _, err := s.Commit(t.Context(), store.Batch{Writes: []store.Write{{Key: "after"}}}); err != nil {
		t.Errorf("commit after the restart: %v", err)
	}
	t.Logf("%d acknowledged, none lost", len(acked))
}

func BenchmarkCommit(b *testing.B) {
	storetest.Benchmark(b, func(b *testing.B) store.Store { return open(b, schema()) })
}
