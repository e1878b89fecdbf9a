package store

import (
	"context"
	"fmt"
)

// Copy writes every record of src whose key begins with prefix into dst, which must not hold any of those keys: the way from
// a file to a database and back. It returns how many it wrote. Versions are dst's own afterwards. It needs memory for one batch.
// On an error some records may be written; empty dst and repeat it.
func Copy(ctx context.Context, dst, src Store, prefix string) (int, error) {
	var (
		b    Batch
		size int
		n    int
		fail error
	)
	commit := func() bool {
		if len(b.Writes) == 0 {
			return true
		}
		if _, err := dst.Commit(ctx, b); err != nil {
			fail = fmt.Errorf("throng: copy of keys %q…: %w", b.Writes[0].Key, err)
			return false
		}
		n += len(b.Writes)
		b.Writes, size = b.Writes[:0], 0
		return true
	}
	err := src.Scan(ctx, prefix, func(r Record) bool {
		b.Writes = append(b.Writes, Write{Key: r.Key, Value: r.Value, Checked: true})
		if size += len(r.Value); len(b.Writes) == MaxBatch || size > 4*MaxValue {
			return commit()
		}
		return true
	})
	if err == nil && fail == nil {
		commit()
	}
	if fail != nil {
		return n, fail
	}
	return n, err
}
