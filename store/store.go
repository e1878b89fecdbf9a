// Package store keeps values that must outlive a process: versioned, committed in batches, durable before they are acknowledged.
//
// The flow: a program reads records with Get or Scan, decides, and hands a [Batch] to Commit. A batch is applied whole or not at
// all; each of its writes may name the version it was decided on, so of two programs that decide on the same version one wins
// and the other hears of it as a [ConflictError]. When Commit returns, the batch survives the end of the process and of the
// machine, as far as the store's medium does.
//
// Values that change often and may lose their last moments (a position, a cooldown) go through a [Behind] instead, which
// commits the newest value of each key at a stated interval.
//
// [NewMemory] is a store that survives nothing, for tests. store/sqlite keeps a file, store/postgres a database; both are
// modules of their own, so that a game does not download what it does not use. store/storetest is what all of them must pass.
package store

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"
)

// Limits of every store.
const (
	MaxKey   = 256     // bytes of a key
	MaxValue = 1 << 20 // bytes of a value
	MaxBatch = 1000    // writes of a batch
	MaxOnce  = 128     // bytes of the name of a batch
	KeepOnce = 1 << 20 // commits for which the name of a batch is remembered
)

// Version says which commit wrote a record. Versions of a store only grow, over all its keys and over restarts; a record that
// was deleted and written again has another version than before. Zero is "no record".
type Version uint64

// Record is a value and the version it has. A zero Version says that the key has no record; its Value is nil.
type Record struct {
	Key     string
	Version Version
	Value   []byte
}

// Write changes one key.
type Write struct {
	Key   string
	Value []byte // never nil in a store: nil is stored as empty
	// Delete removes the record instead; Value is ignored.
	Delete bool
	// Checked writes only if the record has the version Expect. With Expect zero: only if there is no record.
	Checked bool
	Expect  Version
}

// Batch is what is committed whole or not at all.
type Batch struct {
	Writes []Write
	// Once names the batch. A batch with a name that was committed before is not applied again; Commit returns the version of
	// the first time. A program that does not know whether its last commit happened repeats it. Empty: no name. Names are
	// remembered for KeepOnce commits.
	Once string
}

// Store is safe for use by several goroutines at once. Contexts bound the wait, they do not undo: a Commit that returns an
// error of its context may have happened (name it with Once and repeat it).
type Store interface {
	// Get returns a record for each key, in the order of the keys. The slices are the caller's.
	Get(ctx context.Context, keys ...string) ([]Record, error)
	// Commit applies a batch and returns its version when it is durable. A write whose version does not match fails the whole
	// batch with a *ConflictError.
	Commit(ctx context.Context, b Batch) (Version, error)
	// Scan calls fn for every record whose key begins with prefix, in the order of the keys' bytes, until fn returns false.
	// It shows one instant: commits made meanwhile are seen whole by the next Scan. fn must not use the store.
	Scan(ctx context.Context, prefix string, fn func(Record) bool) error
	// Close waits for commits under way. A store that is closed answers ErrClosed.
	Close() error
}

// ErrClosed is the answer of a store that was closed.
var ErrClosed = errors.New("throng: the store is closed")

// ErrInvalid is wrapped by errors about keys, values and batches that no store takes.
var ErrInvalid = errors.New("not storable")

// ConflictError says that a checked write met another version than it expected. Nothing of its batch was applied.
type ConflictError struct {
	Key    string
	Expect Version
	Found  Version
}

func (e *ConflictError) Error() string {
	return fmt.Sprintf("throng: commit: key %q has version %d, the batch expected %d: read it again and decide anew", e.Key, e.Found, e.Expect)
}

// CheckKey says whether stores take the key: 1 to MaxKey bytes of UTF-8 without NUL.
func CheckKey(key string) error {
	switch {
	case key == "":
		return fmt.Errorf("throng: an empty key is %w", ErrInvalid)
	case len(key) > MaxKey:
		return fmt.Errorf("throng: a key of %d bytes is %w, the limit is %d", len(key), ErrInvalid, MaxKey)
	case !utf8.ValidString(key) || strings.ContainsRune(key, 0):
		return fmt.Errorf("throng: key %q is %w: keys are UTF-8 without NUL", key, ErrInvalid)
	}
	return nil
}

// Check says whether stores take the batch. Stores call it first.
func (b *Batch) Check() error {
	if len(b.Writes) == 0 || len(b.Writes) > MaxBatch {
		return fmt.Errorf("throng: a batch of %d writes is %w, it may hold 1 to %d", len(b.Writes), ErrInvalid, MaxBatch)
	}
	if b.Once != "" {
		if len(b.Once) > MaxOnce || !utf8.ValidString(b.Once) || strings.ContainsRune(b.Once, 0) {
			return fmt.Errorf("throng: a batch named %q is %w: names are UTF-8 without NUL, up to %d bytes", b.Once, ErrInvalid, MaxOnce)
		}
	}
	seen := make(map[string]struct{}, len(b.Writes))
	for i := range b.Writes {
		w := &b.Writes[i]
		if err := CheckKey(w.Key); err != nil {
			return err
		}
		if _, twice := seen[w.Key]; twice {
			return fmt.Errorf("throng: a batch that writes key %q twice is %w: say what it should hold in the end", w.Key, ErrInvalid)
		}
		seen[w.Key] = struct{}{}
		if len(w.Value) > MaxValue {
			return fmt.Errorf("throng: a value of %d bytes for key %q is %w, the limit is %d", len(w.Value), w.Key, ErrInvalid, MaxValue)
		}
	}
	return nil
}
