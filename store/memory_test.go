package store_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/throng-dev/throng/store"
	"github.com/throng-dev/throng/store/storetest"
)

func TestB118MemoryIsAStore(t *testing.T) {
	storetest.Run(t, func(*testing.T) store.Store { return store.NewMemory() })
}

func TestB118CopyMovesEverything(t *testing.T) {
	src, dst := store.NewMemory(), store.NewMemory()
	for i := range 2500 {
		if _, err := src.Commit(t.Context(), store.Batch{Writes: []store.Write{{Key: fmt.Sprintf("a/%04d", i), Value: make([]byte, i)}, {Key: fmt.Sprintf("b/%04d", i)}}}); err != nil {
			t.Fatal(err)
		}
	}
	n, err := store.Copy(t.Context(), dst, src, "a/")
	if err != nil || n != 2500 {
		t.Fatalf("copied %d: %v", n, err)
	}
	i := 0
	err = dst.Scan(t.Context(), "", func(r store.Record) bool {
		if r.Key != fmt.Sprintf("a/%04d", i) || len(r.Value) != i {
			t.Errorf("record %d is %q with %d bytes", i, r.Key, len(r.Value))
		}
		i++
		return true
	})
	if err != nil || i != 2500 {
		t.Errorf("%d records arrived: %v", i, err)
	}
	if _, err := store.Copy(t.Context(), dst, src, "a/"); err == nil {
		t.Error("copied over records that were there")
	}
}

func ExampleStore() {
	ctx := context.Background()
	var s store.Store = store.NewMemory()

	// Take ten coins, once, from what is there now.
	purse, err := s.Get(ctx, "purse/ann")
	if err != nil {
		fmt.Println(err)
	}
	_, err = s.Commit(ctx, store.Batch{
		Once: "quest 12 of ann",
		Writes: []store.Write{
			{Key: "purse/ann", Value: []byte("10 coins"), Checked: true, Expect: purse[0].Version},
			{Key: "quest/ann/12", Value: []byte("done")},
		},
	})
	if err != nil {
		fmt.Println(err)
	}

	// Whoever decided on the old state is told.
	_, err = s.Commit(ctx, store.Batch{Writes: []store.Write{{Key: "purse/ann", Value: []byte("0 coins"), Checked: true, Expect: purse[0].Version}}})
	fmt.Println(err)
	// Output: throng: commit: key "purse/ann" has version 1, the batch expected 0: read it again and decide anew
}
