// Package postgres keeps a store in a PostgreSQL database, shared by any number of processes: the store of more than one
// machine.
//
// The flow: a [store.Group] takes all Commits of this process that wait, up to 256, into one transaction and answers all after it
// committed. A transaction begins by taking an advisory lock, so the writers of
// all processes take turns: versions grow in the order of commits, and there are no deadlocks to retry. Reads use a pool and a
// snapshot, and wait for nobody.
//
// A Commit that returned is as durable as the server's synchronous_commit says; the default is "on disk".
package postgres

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/throng-dev/throng/store"
)

// formatVersion is in the table throng_format: a program refuses a schema of a format it does not know.
const formatVersion = 1

// Config says where. The zero value of all but URL is good.
type Config struct {
	// URL names the database as libpq does, with what the pool takes: postgres://user@host/db?pool_max_conns=8
	URL string
	// Schema is made if it is not there. Stores in two schemas know nothing of each other. Empty: throng.
	Schema string
}

// Store is a store in a database. Make one with Open.
type Store struct {
	pool  *pgxpool.Pool
	lock  int64 // of the advisory lock
	group *store.Group
}

var _ store.Store = (*Store)(nil)

// Open connects, and makes the schema and its tables if they are not there.
func Open(ctx context.Context, cfg Config) (*Store, error) {
	if cfg.Schema == "" {
		cfg.Schema = "throng"
	}
	s, err := open(ctx, cfg)
	if err != nil {
		return nil, fmt.Errorf("throng: open of the store in schema %q: %w", cfg.Schema, err)
	}
	return s, nil
}

func open(ctx context.Context, cfg Config) (*Store, error) {
	pc, err := pgxpool.ParseConfig(cfg.URL)
	if err != nil {
		return nil, err
	}
	pc.ConnConfig.RuntimeParams["search_path"] = pgx.Identifier{cfg.Schema}.Sanitize()
	if pc.ConnConfig.RuntimeParams["application_name"] == "" {
		pc.ConnConfig.RuntimeParams["application_name"] = "throng"
	}
	pool, err := pgxpool.NewWithConfig(ctx, pc)
	if err != nil {
		return nil, err
	}
	h := fnv.New64a()
	h.Write([]byte("throng store " + cfg.Schema))
	s := &Store{pool: pool, lock: int64(h.Sum64())}
	if err := s.prepare(ctx, cfg.Schema); err != nil {
		pool.Close()
		return nil, err
	}
	s.group = store.NewGroup(s.write)
	return s, nil
}

func (s *Store) prepare(ctx context.Context, schema string) error {
	return pgx.BeginFunc(ctx, s.pool, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, `SELECT pg_advisory_xact_lock($1)`, s.lock); err != nil {
			return err
		}
		if _, err := tx.Exec(ctx, `CREATE SCHEMA IF NOT EXISTS `+pgx.Identifier{schema}.Sanitize()); err != nil {
			return err
		}
		for _, q := range []string{
			`CREATE TABLE IF NOT EXISTS throng_format (format int NOT NULL, last bigint NOT NULL)`,
			`CREATE TABLE IF NOT EXISTS record (key text COLLATE "C" PRIMARY KEY, version bigint NOT NULL, value bytea NOT NULL)`,
			`CREATE TABLE IF NOT EXISTS once (name text COLLATE "C" PRIMARY KEY, version bigint NOT NULL)`,
			`CREATE INDEX IF NOT EXISTS once_version ON once (version)`,
		} {
			if _, err := tx.Exec(ctx, q); err != nil {
				return err
			}
		}
		var format int
		switch err := tx.QueryRow(ctx, `SELECT format FROM throng_format`).Scan(&format); {
		case errors.Is(err, pgx.ErrNoRows):
			_, err = tx.Exec(ctx, `INSERT INTO throng_format VALUES ($1, 0)`, formatVersion)
			return err
		case err != nil:
			return err
		case format != formatVersion:
			return fmt.Errorf("it has format %d, this program knows %d: use the program that wrote it", format, formatVersion)
		}
		return nil
	})
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
	out, err := s.get(ctx, keys)
	if s.dropped(err) && ctx.Err() == nil {
		out, err = s.get(ctx, keys)
	}
	if err != nil {
		return nil, s.failed("get", err)
	}
	return out, nil
}

func (s *Store) get(ctx context.Context, keys []string) ([]store.Record, error) {
	rows, err := s.pool.Query(ctx, `SELECT key, version, value FROM record WHERE key = ANY($1)`, keys) // one statement, one state
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	found := make(map[string]store.Record, len(keys))
	for rows.Next() {
		var r store.Record
		if err := rows.Scan(&r.Key, &r.Version, &r.Value); err != nil {
			return nil, err
		}
		found[r.Key] = r
	}
	if err := rows.Err(); err != nil {
		return nil, err
	}
	out := make([]store.Record, len(keys))
	for i, k := range keys {
		out[i].Key = k
		if r, ok := found[k]; ok {
			out[i].Version, out[i].Value = r.Version, append([]byte{}, r.Value...)
		}
	}
	return out, nil
}

// dropped says whether the error is of a connection and not of the server's answer. Then the other idle connections of the
// pool are no better: all are closed, so that a server that comes back is met by fresh ones.
func (s *Store) dropped(err error) bool {
	if err == nil || errors.As(err, new(*pgconn.PgError)) && !strings.HasPrefix(sqlState(err), "57P") {
		return false
	}
	s.pool.Reset()
	return true
}

// sqlState is the class of an answer: 57P is "operator intervention", a server that shuts down.
func sqlState(err error) string {
	var e *pgconn.PgError
	if errors.As(err, &e) {
		return e.Code
	}
	return ""
}

// Commit is part of store.Store. The server's timeouts bound the wait.
func (s *Store) Commit(ctx context.Context, b store.Batch) (store.Version, error) {
	return s.group.Commit(ctx, b)
}

// Scan is part of store.Store.
func (s *Store) Scan(ctx context.Context, prefix string, fn func(store.Record) bool) error {
	if err := s.group.Ready(ctx); err != nil {
		return err
	}
	rows, err := s.pool.Query(ctx, `SELECT key, version, value FROM record WHERE starts_with(key, $1) ORDER BY key`, prefix)
	if err != nil {
		s.dropped(err)
		return s.failed("scan", err)
	}
	defer rows.Close()
	for rows.Next() {
		var r store.Record
		if err := rows.Scan(&r.Key, &r.Version, &r.Value); err != nil {
			return s.failed("scan", err)
		}
		if !fn(r) {
			return nil
		}
	}
	if err := rows.Err(); err != nil {
		s.dropped(err)
		return s.failed("scan", err) // not repeated: fn has seen a part
	}
	return nil
}

// Close is part of store.Store.
func (s *Store) Close() error {
	if s.group.Close() {
		s.pool.Close()
	}
	return nil
}

func (s *Store) failed(what string, err error) error {
	if errors.Is(s.group.Ready(context.Background()), store.ErrClosed) {
		return store.ErrClosed
	}
	return fmt.Errorf("throng: %s: %w", what, err)
}
