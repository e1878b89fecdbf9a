package store

import (
	"bytes"
	"context"
	"maps"
	"slices"
	"strings"
	"sync"
)

// Memory is a store that survives nothing. It is what tests use, and the plainest statement of what a store does.
type Memory struct {
	mu      sync.Mutex
	closed  bool
	version Version
	records map[string]Record
	once    map[string]Version
}

// NewMemory returns an empty store.
func NewMemory() *Memory {
	return &Memory{records: map[string]Record{}, once: map[string]Version{}}
}

// Get is part of Store.
func (m *Memory) Get(ctx context.Context, keys ...string) ([]Record, error) {
	for _, k := range keys {
		if err := CheckKey(k); err != nil {
			return nil, err
		}
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := m.ready(ctx); err != nil {
		return nil, err
	}
	out := make([]Record, len(keys))
	for i, k := range keys {
		out[i] = Record{Key: k}
		if r, ok := m.records[k]; ok {
			out[i].Version, out[i].Value = r.Version, bytes.Clone(r.Value)
		}
	}
	return out, nil
}

// Commit is part of Store.
func (m *Memory) Commit(ctx context.Context, b Batch) (Version, error) {
	if err := b.Check(); err != nil {
		return 0, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := m.ready(ctx); err != nil {
		return 0, err
	}
	if v, done := m.once[b.Once]; done && b.Once != "" {
		return v, nil
	}
	for i := range b.Writes {
		w := &b.Writes[i]
		if found := m.records[w.Key].Version; w.Checked && found != w.Expect {
			return 0, &ConflictError{Key: w.Key, Expect: w.Expect, Found: found}
		}
	}
	m.version++
	for i := range b.Writes {
		w := &b.Writes[i]
		if w.Delete {
			delete(m.records, w.Key)
			continue
		}
		m.records[w.Key] = Record{Key: w.Key, Version: m.version, Value: append([]byte{}, w.Value...)}
	}
	if b.Once != "" {
		m.once[b.Once] = m.version
		if len(m.once) > KeepOnce+KeepOnce/8 {
			maps.DeleteFunc(m.once, func(_ string, v Version) bool { return v+KeepOnce < m.version })
		}
	}
	return m.version, nil
}

// Scan is part of Store.
func (m *Memory) Scan(ctx context.Context, prefix string, fn func(Record) bool) error {
	m.mu.Lock()
	if err := m.ready(ctx); err != nil {
		m.mu.Unlock()
		return err
	}
	var all []Record
	for _, r := range m.records {
		if strings.HasPrefix(r.Key, prefix) {
			all = append(all, Record{Key: r.Key, Version: r.Version, Value: bytes.Clone(r.Value)})
		}
	}
	m.mu.Unlock()
	slices.SortFunc(all, func(a, b Record) int { return strings.Compare(a.Key, b.Key) })
	for _, r := range all {
		if err := ctx.Err(); err != nil {
			return err
		}
		if !fn(r) {
			break
		}
	}
	return nil
}

// Close is part of Store.
func (m *Memory) Close() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.closed = true
	return nil
}

func (m *Memory) ready(ctx context.Context) error {
	if m.closed {
		return ErrClosed
	}
	return ctx.Err()
}
