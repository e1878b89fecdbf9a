package sqlite

import (
	"database/sql"
	"errors"
	"fmt"

	"github.com/throng-dev/throng/store"
)

// statements are prepared once on the connection that writes.
type statements struct {
	version, put, remove, onceGet, oncePut, onceTrim, last, setLast *sql.Stmt
}

func statementsOf(db *sql.DB) (st statements, err error) {
	for _, p := range []struct {
		to  **sql.Stmt
		sql string
	}{
		{&st.version, `SELECT version FROM record WHERE key = ?`},
		{&st.put, `INSERT INTO record VALUES (?, ?, ?) ON CONFLICT (key) DO UPDATE SET version = excluded.version, value = excluded.value`},
		{&st.remove, `DELETE FROM record WHERE key = ?`},
		{&st.onceGet, `SELECT version FROM once WHERE name = ?`},
		{&st.oncePut, `INSERT INTO once VALUES (?, ?)`},
		{&st.onceTrim, `DELETE FROM once WHERE version < ?`},
		{&st.last, `SELECT version FROM last`},
		{&st.setLast, `UPDATE last SET version = ?`},
	} {
		if *p.to, err = db.Prepare(p.sql); err != nil {
			return st, err
		}
	}
	return st, nil
}

// commit applies the group in one transaction. A request that fails is undone alone; when the transaction fails all fail, and
// nothing of the group is in the file.
func (s *Store) commit(st *statements, group []*store.Request) {
	tx, err := s.write.Begin()
	if err != nil {
		store.Fail(group, fmt.Errorf("throng: commit: %w", err))
		return
	}
	defer tx.Rollback() //nolint:errcheck // after Commit it does nothing
	w := writer{
		version: tx.Stmt(st.version), put: tx.Stmt(st.put), remove: tx.Stmt(st.remove), onceGet: tx.Stmt(st.onceGet), oncePut: tx.Stmt(st.oncePut),
		tx: tx,
	}
	var before store.Version // read each time: another process may have the file open
	if err := tx.Stmt(st.last).QueryRow().Scan(&before); err != nil {
		store.Fail(group, fmt.Errorf("throng: commit: %w", err))
		return
	}
	w.last = before
	for _, r := range group {
		if r.Err = r.Ctx.Err(); r.Err == nil {
			r.Version, r.Err = w.apply(&r.Batch)
		}
	}
	if w.last == before { // nothing to write
		return
	}
	_, err = tx.Stmt(st.setLast).Exec(w.last)
	if err == nil && w.last/4096 != before/4096 && w.last > store.KeepOnce {
		_, err = tx.Stmt(st.onceTrim).Exec(w.last - store.KeepOnce)
	}
	if err == nil {
		err = tx.Commit()
	}
	if err != nil {
		store.Fail(group, fmt.Errorf("throng: commit: %w", err))
	}
}

// writer applies batches within one transaction.
type writer struct {
	version, put, remove, onceGet, oncePut *sql.Stmt
	tx                                     *sql.Tx
	last                                   store.Version
}

// apply is whole or not: expectations are checked before the first write; for the rest there is a savepoint.
func (w *writer) apply(b *store.Batch) (store.Version, error) {
	if b.Once != "" {
		var v store.Version
		switch err := w.onceGet.QueryRow(b.Once).Scan(&v); {
		case err == nil:
			return v, nil
		case !errors.Is(err, sql.ErrNoRows):
			return 0, fmt.Errorf("throng: commit: %w", err)
		}
	}
	for i := range b.Writes {
		c := &b.Writes[i]
		if !c.Checked {
			continue
		}
		var found store.Version
		if err := w.version.QueryRow(c.Key).Scan(&found); err != nil && !errors.Is(err, sql.ErrNoRows) {
			return 0, fmt.Errorf("throng: commit: %w", err)
		}
		if found != c.Expect {
			return 0, &store.ConflictError{Key: c.Key, Expect: c.Expect, Found: found}
		}
	}
	if _, err := w.tx.Exec(`SAVEPOINT batch`); err != nil {
		return 0, fmt.Errorf("throng: commit: %w", err)
	}
	if err := w.writes(b, w.last+1); err != nil {
		if _, undo := w.tx.Exec(`ROLLBACK TO batch`); undo != nil {
			err = errors.Join(err, undo)
		}
		return 0, fmt.Errorf("throng: commit: %w", err)
	}
	if _, err := w.tx.Exec(`RELEASE batch`); err != nil {
		return 0, fmt.Errorf("throng: commit: %w", err)
	}
	w.last++
	return w.last, nil
}

func (w *writer) writes(b *store.Batch, v store.Version) error {
	for i := range b.Writes {
		c := &b.Writes[i]
		var err error
		if c.Delete {
			_, err = w.remove.Exec(c.Key)
		} else {
			value := c.Value
			if value == nil {
				value = []byte{}
			}
			_, err = w.put.Exec(c.Key, v, value)
		}
		if err != nil {
			return err
		}
	}
	if b.Once != "" {
		if _, err := w.oncePut.Exec(b.Once, v); err != nil {
			return err
		}
	}
	return nil
}
