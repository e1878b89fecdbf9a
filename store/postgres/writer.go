package postgres

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/throng-dev/throng/store"
)

// write commits a group.
func (s *Store) write(group []*store.Request) {
	if err := s.commit(context.Background(), group); err != nil {
		s.dropped(err)
		store.Fail(group, fmt.Errorf("throng: commit: %w", err)) // not repeated: it may have happened
	}
}

// commit decides a group in memory, under the lock: one read of all that the group checks, then one write of what is left to
// write. Two round trips a group, whatever its size.
func (s *Store) commit(ctx context.Context, group []*store.Request) error {
	return pgx.BeginFunc(ctx, s.pool, func(tx pgx.Tx) error {
		d, err := s.look(ctx, tx, group)
		if err != nil {
			return err
		}
		for _, r := range group {
			if r.Err = r.Ctx.Err(); r.Err == nil {
				r.Version, r.Err = d.decide(&r.Batch)
			}
		}
		if d.last == d.before {
			return nil
		}
		return d.write(ctx, tx)
	})
}

// decision is the state that a group is decided on: what the database held, and what batches of the group before changed.
type decision struct {
	before, last store.Version
	versions     map[string]store.Version // of the keys of the group; absent: no record
	values       map[string][]byte        // to be written; nil: to be removed
	once         map[string]store.Version
	named        []string // in this group
}

func (s *Store) look(ctx context.Context, tx pgx.Tx, group []*store.Request) (*decision, error) {
	d := &decision{versions: map[string]store.Version{}, values: map[string][]byte{}, once: map[string]store.Version{}}
	var keys, names []string
	for _, r := range group {
		for i := range r.Batch.Writes {
			if r.Batch.Writes[i].Checked {
				keys = append(keys, r.Batch.Writes[i].Key)
			}
		}
		if r.Batch.Once != "" {
			names = append(names, r.Batch.Once)
		}
	}
	var b pgx.Batch
	// The lock first: each statement that follows sees what was committed before it began (read committed).
	b.Queue(`SELECT pg_advisory_xact_lock($1)`, s.lock)
	b.Queue(`SELECT last FROM throng_format`).QueryRow(func(row pgx.Row) error { return row.Scan(&d.before) })
	pairs := func(into map[string]store.Version) func(pgx.Rows) error {
		return func(rows pgx.Rows) error {
			for rows.Next() {
				var k string
				var v store.Version
				if err := rows.Scan(&k, &v); err != nil {
					return err
				}
				into[k] = v
			}
			return rows.Err()
		}
	}
	if len(keys) > 0 {
		b.Queue(`SELECT key, version FROM record WHERE key = ANY($1)`, keys).Query(pairs(d.versions))
	}
	if len(names) > 0 {
		b.Queue(`SELECT name, version FROM once WHERE name = ANY($1)`, names).Query(pairs(d.once))
	}
	if err := tx.SendBatch(ctx, &b).Close(); err != nil {
		return nil, err
	}
	d.last = d.before
	return d, nil
}

func (d *decision) decide(b *store.Batch) (store.Version, error) {
	if b.Once != "" {
		if v, done := d.once[b.Once]; done {
			return v, nil
		}
	}
	for i := range b.Writes {
		w := &b.Writes[i]
		if found := d.versions[w.Key]; w.Checked && found != w.Expect {
			return 0, &store.ConflictError{Key: w.Key, Expect: w.Expect, Found: found}
		}
	}
	d.last++
	for i := range b.Writes {
		w := &b.Writes[i]
		switch {
		case w.Delete:
			d.values[w.Key] = nil
			delete(d.versions, w.Key)
			continue
		case w.Value == nil:
			d.values[w.Key] = []byte{}
		default:
			d.values[w.Key] = w.Value
		}
		d.versions[w.Key] = d.last
	}
	if b.Once != "" {
		d.once[b.Once] = d.last
		d.named = append(d.named, b.Once)
	}
	return d.last, nil
}

func (d *decision) write(ctx context.Context, tx pgx.Tx) error {
	var (
		keys, gone []string
		versions   []int64
		values     [][]byte
		named      []int64
	)
	for k, v := range d.values {
		if v == nil {
			gone = append(gone, k)
			continue
		}
		keys, versions, values = append(keys, k), append(versions, int64(d.versions[k])), append(values, v)
	}
	var b pgx.Batch
	if len(keys) > 0 {
		b.Queue(`INSERT INTO record SELECT * FROM unnest($1::text[], $2::bigint[], $3::bytea[])
			ON CONFLICT (key) DO UPDATE SET version = excluded.version, value = excluded.value`, keys, versions, values)
	}
	if len(gone) > 0 {
		b.Queue(`DELETE FROM record WHERE key = ANY($1)`, gone)
	}
	if len(d.named) > 0 {
		for _, n := range d.named {
			named = append(named, int64(d.once[n]))
		}
		b.Queue(`INSERT INTO once SELECT * FROM unnest($1::text[], $2::bigint[])`, d.named, named)
	}
	if d.last/4096 != d.before/4096 && d.last > store.KeepOnce {
		b.Queue(`DELETE FROM once WHERE version < $1`, int64(d.last-store.KeepOnce))
	}
	b.Queue(`UPDATE throng_format SET last = $1`, int64(d.last))
	return tx.SendBatch(ctx, &b).Close()
}
