// Package sqlite keeps a store in one file, with SQLite and without cgo: the embedded store of one machine.
//
// The flow: a [store.Group] takes all Commits that wait, up to 256, into one transaction, applies each behind a savepoint of its own, syncs
// once, then answers all. Readers use other connections and see the last state committed (WAL).
//
// A Commit that returned is in the write-ahead log and synced (synchronous=FULL): it survives a kill and a power cut, as far as
// the disk keeps what it says it wrote.
package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"runtime"

	_ "modernc.org/sqlite" // the driver named sqlite

	"github.com/throng-dev/throng/store"
)

// formatVersion is in the file's user_version: a program refuses a file of a format it does not know.
const formatVersion = 1

// Store is a store in a file. Make one with Open. Several processes may have a file open; each waits up to five
// seconds for the other's transaction.
type Store struct {
	write *sql.DB // one connection, used by the group alone
	read  *sql.DB
	group *store.Group
}

var _ store.Store = (*Store)(nil)

// Open opens the store in the file of that path and makes the file if there is none. Beside it SQLite keeps PATH-wal and
// PATH-shm while it is open: a backup copies the file with `VACUUM INTO`, or all three while it is closed.
func Open(path string) (*Store, error) {
	s, err := open(path)
	if err != nil {
		return nil, fmt.Errorf("throng: open of store %s: %w", path, err)
	}
	return s, nil
}

func open(path string) (*Store, error) {
	if path == "" {
		return nil, errors.New("a store needs a file name")
	}
	name := func(more string) string {
		u := url.URL{Scheme: "file", Opaque: (&url.URL{Path: path}).EscapedPath()}
		return u.String() + "?_pragma=busy_timeout(5000)&_pragma=journal_mode(WAL)&_pragma=synchronous(FULL)" + more
	}
	write, err := sql.Open("sqlite", name("&_txlock=immediate&_pragma=wal_autocheckpoint(4000)"))
	if err != nil {
		return nil, err
	}
	write.SetMaxOpenConns(1)
	if err := prepare(write); err != nil {
		return nil, errors.Join(err, write.Close())
	}
	read, err := sql.Open("sqlite", name("&_pragma=query_only(1)"))
	if err != nil {
		return nil, errors.Join(err, write.Close())
	}
	read.SetMaxOpenConns(max(2, runtime.GOMAXPROCS(0)))
	read.SetMaxIdleConns(max(2, runtime.GOMAXPROCS(0)))
	st, err := statementsOf(write)
	if err != nil {
		return nil, errors.Join(err, read.Close(), write.Close())
	}
	s := &Store{write: write, read: read}
	s.group = store.NewGroup(func(group []*store.Request) { s.commit(&st, group) })
	return s, nil
}

func prepare(db *sql.DB) (err error) {
	tx, err := db.Begin()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, ignoreDone(tx.Rollback())) }()
	var format int
	if err := tx.QueryRow(`PRAGMA user_version`).Scan(&format); err != nil {
		return err
	}
	switch format {
	case 0:
		var tables int
		if err := tx.QueryRow(`SELECT count(*) FROM sqlite_schema`).Scan(&tables); err != nil {
			return err
		}
		if tables > 0 {
			return errors.New("the file is a database of something else")
		}
		for _, q := range []string{
			`CREATE TABLE record (key TEXT PRIMARY KEY, version INTEGER NOT NULL, value BLOB NOT NULL) WITHOUT ROWID`,
			`CREATE TABLE once (name TEXT PRIMARY KEY, version INTEGER NOT NULL) WITHOUT ROWID`,
			`CREATE INDEX once_version ON once (version)`,
			`CREATE TABLE last (version INTEGER NOT NULL)`,
			`INSERT INTO last VALUES (0)`,
			fmt.Sprintf(`PRAGMA user_version = %d`, formatVersion),
		} {
			if _, err := tx.Exec(q); err != nil {
				return err
			}
		}
	case formatVersion:
	default:
		return fmt.Errorf("the file has format %d, this program knows %d: use the program that wrote it", format, formatVersion)
	}
	return tx.Commit()
}

func ignoreDone(err error) error {
	if errors.Is(err, sql.ErrTxDone) {
		return nil
	}
	return err
}

// Get is part of store.Store.
func (s *Store) Get(ctx context.Context, keys ...string) ([]store.Record, error) {
	for _, k := range keys {
		if err := store.CheckKey(k); err != nil {
			return nil, err
		}
	}
	if err := s.group.Ready(ctx); err != nil {
		return nil, err
	}
	tx, err := s.read.BeginTx(ctx, &sql.TxOptions{ReadOnly: true}) // several keys are of one state
	if err != nil {
		return nil, s.failed("get", err)
	}
	defer tx.Rollback() //nolint:errcheck // it only read
	out := make([]store.Record, len(keys))
	for i, k := range keys {
		r := &out[i]
		r.Key = k
		err := tx.QueryRowContext(ctx, `SELECT version, value FROM record WHERE key = ?`, k).Scan(&r.Version, &r.Value)
		switch {
		case errors.Is(err, sql.ErrNoRows):
		case err != nil:
			return nil, s.failed("get", err)
		case r.Value == nil:
			r.Value = []byte{}
		}
	}
	return out, nil
}

// Commit is part of store.Store.
func (s *Store) Commit(ctx context.Context, b store.Batch) (store.Version, error) {
	return s.group.Commit(ctx, b)
}

// Scan is part of store.Store.
func (s *Store) Scan(ctx context.Context, prefix string, fn func(store.Record) bool) error {
	if err := s.group.Ready(ctx); err != nil {
		return err
	}
	// The keys with a prefix are those from it up to the first that is greater than all of them.
	rows, err := s.read.QueryContext(ctx, `SELECT key, version, value FROM record WHERE key >= ? AND (? = '' OR key < ?) ORDER BY key`,
		prefix, after(prefix), after(prefix))
	if err != nil {
		return s.failed("scan", err)
	}
	defer rows.Close()
	for rows.Next() {
		var r store.Record
		if err := rows.Scan(&r.Key, &r.Version, &r.Value); err != nil {
			return s.failed("scan", err)
		}
		if r.Value == nil {
			r.Value = []byte{}
		}
		if !fn(r) {
			return nil
		}
	}
	if err := rows.Err(); err != nil {
		return s.failed("scan", err)
	}
	return nil
}

// after is the smallest text greater than all texts that begin with prefix; empty if there is none. SQLite compares bytes.
func after(prefix string) string {
	b := []byte(prefix)
	for i := len(b) - 1; i >= 0; i-- {
		if b[i] < 0xff {
			b[i]++
			return string(b[:i+1])
		}
	}
	return ""
}

// Close is part of store.Store.
func (s *Store) Close() error {
	if !s.group.Close() {
		return nil
	}
	if err := errors.Join(s.read.Close(), s.write.Close()); err != nil { // prepared statements end with their connection
		return fmt.Errorf("throng: close of the store: %w", err)
	}
	return nil
}

func (s *Store) failed(what string, err error) error {
	if errors.Is(s.group.Ready(context.Background()), store.ErrClosed) {
		return store.ErrClosed
	}
	return fmt.Errorf("throng: %s: %w", what, err)
}
