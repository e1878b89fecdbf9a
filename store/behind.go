package store

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"
)

// BehindConfig says how a Behind writes. The zero value commits every second.
type BehindConfig struct {
	// Delay is how long a Put waits for company. What a crash loses is at most what was Put in the last Delay plus the time of
	// a commit, while the store answers. 0: one second.
	Delay time.Duration
	// Conflict is called when a key was written by somebody else since Load: this Behind gives the key up, Puts of it do
	// nothing until it is loaded again. It runs on the Behind's goroutine. Nil: ignored, see Lost.
	Conflict func(*ConflictError)
	// Failed is called when a commit failed for any other reason; its values are kept and tried again after the next Delay. It
	// runs on the Behind's goroutine. Nil: ignored.
	Failed func(error)
}

// Behind commits values some time after they were put, the newest of each key only: for values that change faster than they
// are worth a commit each. It checks versions: of two programs that hold a key, the second to write is told.
//
// A Behind holds the last version of each key it loaded, and values not yet committed: its memory grows with the keys, not with
// the Puts. All methods may be called from any goroutine.
type Behind struct {
	store Store
	cfg   BehindConfig

	mu     sync.Mutex
	held   map[string]*heldKey
	dirty  []string // keys with a value not committed, each once
	closed bool
	lost   int

	name    string // of this Behind, in the names of its batches
	batches uint64
	pending *Batch // failed last; touched by run alone

	wake chan struct{}   // there is something dirty
	ask  chan chan error // commit now
	stop chan struct{}
	done chan struct{}
}

type heldKey struct {
	version Version
	value   []byte
	dirty   bool
	deleted bool // the value is "no record"
}

// ErrNotLoaded is the answer to a Put of a key that was not loaded, or was lost to another writer.
var ErrNotLoaded = errors.New("throng: put: the key is not loaded here: load it first, its version guards against a second writer")

// NewBehind starts writing behind to s. End it with Close; s stays open.
func NewBehind(s Store, cfg BehindConfig) *Behind {
	if cfg.Delay <= 0 {
		cfg.Delay = time.Second
	}
	b := &Behind{
		store: s, cfg: cfg, held: map[string]*heldKey{}, name: rand.Text(),
		wake: make(chan struct{}, 1), ask: make(chan chan error), stop: make(chan struct{}), done: make(chan struct{}),
	}
	go b.run()
	return b
}

// Load reads keys and holds them: from here on this Behind is their writer, until it hears of another. A key it already holds
// answers with the value put last.
func (b *Behind) Load(ctx context.Context, keys ...string) ([]Record, error) {
	got, err := b.store.Get(ctx, keys...)
	if err != nil {
		return nil, fmt.Errorf("throng: load of %d keys: %w", len(keys), err)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed {
		return nil, ErrClosed
	}
	for i := range got {
		r := &got[i]
		if h := b.held[r.Key]; h != nil {
			if r.Version, r.Value = h.version, append([]byte(nil), h.value...); h.deleted {
				r.Value = nil
			}
			continue
		}
		b.held[r.Key] = &heldKey{version: r.Version, value: append([]byte(nil), r.Value...), deleted: r.Version == 0}
	}
	return got, nil
}

// Put says what key should hold. The value is copied. It never waits for the store.
func (b *Behind) Put(key string, value []byte) error { return b.put(key, value, false) }

// Delete says that key should hold nothing.
func (b *Behind) Delete(key string) error { return b.put(key, nil, true) }

func (b *Behind) put(key string, value []byte, deleted bool) error {
	if len(value) > MaxValue {
		return fmt.Errorf("throng: put of a value of %d bytes for key %q: %w, the limit is %d", len(value), key, ErrInvalid, MaxValue)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed {
		return ErrClosed
	}
	h := b.held[key]
	if h == nil {
		return ErrNotLoaded
	}
	h.value, h.deleted = append(h.value[:0], value...), deleted
	if !h.dirty {
		h.dirty = true
		b.dirty = append(b.dirty, key)
		select {
		case b.wake <- struct{}{}:
		default:
		}
	}
	return nil
}

// Release commits what is put for the keys and lets go of them, so that another program may load them.
func (b *Behind) Release(ctx context.Context, keys ...string) error {
	if err := b.Flush(ctx); err != nil {
		return err
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, k := range keys {
		if h := b.held[k]; h != nil && !h.dirty { // dirty: put again during the flush
			delete(b.held, k)
		}
	}
	return nil
}

// Flush returns when all that was Put before the call is committed, or lost to another writer. It tries once: it fails with
// what the store answers, or when ctx ends; the values are kept and tried again.
func (b *Behind) Flush(ctx context.Context) error {
	answer := make(chan error, 1)
	select {
	case b.ask <- answer:
	case <-b.done:
		return ErrClosed
	case <-ctx.Done():
		return fmt.Errorf("throng: flush: not begun: %w", ctx.Err())
	}
	select {
	case err := <-answer:
		if err != nil {
			return fmt.Errorf("throng: flush: %w", err)
		}
		return nil
	case <-ctx.Done():
		return fmt.Errorf("throng: flush: not ended: %w", ctx.Err())
	}
}

// Lost is how many keys were given up because somebody else wrote them.
func (b *Behind) Lost() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.lost
}

// Close takes no more, flushes and ends. When the flush fails its error says why; the Behind ends all the same.
func (b *Behind) Close(ctx context.Context) error {
	b.mu.Lock()
	already := b.closed
	b.closed = true
	b.mu.Unlock()
	if already {
		return ErrClosed
	}
	err := b.Flush(ctx)
	close(b.stop)
	<-b.done
	return err
}

func (b *Behind) run() {
	defer close(b.done)
	timer := time.NewTimer(b.cfg.Delay)
	timer.Stop()
	waiting := false
	for {
		select {
		case <-b.stop:
			timer.Stop()
			return
		case answer := <-b.ask:
			answer <- b.commit()
		case <-b.wake:
			if !waiting {
				waiting = true
				timer.Reset(b.cfg.Delay)
			}
		case <-timer.C:
			if waiting = b.commit() != nil; waiting {
				timer.Reset(b.cfg.Delay)
			}
		}
	}
}

// commit writes what is dirty, MaxBatch keys at a time, until the store fails. First it repeats the batch that failed last: it
// may have happened, and its name makes the store say so instead of finding a conflict with ourselves.
func (b *Behind) commit() error {
	for {
		batch := b.pending
		if batch == nil {
			batch = b.next()
		}
		if batch == nil {
			return nil
		}
		v, err := b.store.Commit(context.Background(), *batch)
		var conflict *ConflictError
		switch {
		case err == nil:
			b.pending = nil
			b.committed(batch, v)
		case errors.As(err, &conflict):
			b.pending = nil
			b.conflicted(batch, conflict)
		default:
			b.pending = batch
			if b.cfg.Failed != nil {
				b.cfg.Failed(err)
			}
			return err
		}
	}
}

// next makes a batch of keys that are dirty.
func (b *Behind) next() *Batch {
	b.mu.Lock()
	defer b.mu.Unlock()
	n := min(len(b.dirty), MaxBatch)
	if n == 0 {
		return nil
	}
	b.batches++
	batch := &Batch{Once: fmt.Sprintf("behind %s %d", b.name, b.batches), Writes: make([]Write, 0, n)}
	for _, k := range b.dirty[:n] {
		h := b.held[k]
		h.dirty = false // a Put from here on is news
		batch.Writes = append(batch.Writes, Write{Key: k, Value: append([]byte(nil), h.value...), Delete: h.deleted, Checked: true, Expect: h.version})
	}
	b.dirty = append(b.dirty[:0], b.dirty[n:]...)
	return batch
}

func (b *Behind) committed(batch *Batch, v Version) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for i := range batch.Writes {
		w := &batch.Writes[i]
		switch h := b.held[w.Key]; {
		case h == nil: // released meanwhile
		case w.Delete:
			h.version = 0
		default:
			h.version = v
		}
	}
}

// conflicted costs the key that has the conflict; the others are dirty again.
func (b *Behind) conflicted(batch *Batch, c *ConflictError) {
	b.mu.Lock()
	for i := range batch.Writes {
		k := batch.Writes[i].Key
		if h := b.held[k]; h != nil && k != c.Key && !h.dirty {
			h.dirty = true
			b.dirty = append(b.dirty, k)
		}
	}
	delete(b.held, c.Key)
	b.dirty = slices.DeleteFunc(b.dirty, func(k string) bool { return k == c.Key }) // a Put may have come meanwhile
	b.lost++
	b.mu.Unlock()
	if b.cfg.Conflict != nil {
		b.cfg.Conflict(c)
	}
}
