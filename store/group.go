package store

import (
	"context"
	"errors"
	"sync"
)

// MaxGroup is how many commits a Group puts together at most: it bounds how long the first of them waits.
const MaxGroup = 256

// Request is a Commit that waits in a Group. What commits it sets Version or Err.
type Request struct {
	Ctx     context.Context
	Batch   Batch
	Version Version
	Err     error

	done chan struct{}
}

// Group is how stores commit: one goroutine takes all Commits that wait and has them written in one transaction, so that a disk
// which syncs a few hundred times a second carries many thousand of them. It is for who writes a store; its methods may be called
// from any goroutine.
type Group struct {
	asked chan *Request
	done  chan struct{}

	mu     sync.RWMutex // held for reading while a request is handed over
	closed bool
}

// NewGroup begins to take Commits. write is called with one to MaxGroup of them, one call after the other. A request that fails must be
// undone alone; if all fail together there is Fail.
func NewGroup(write func([]*Request)) *Group {
	g := &Group{asked: make(chan *Request, MaxGroup), done: make(chan struct{})}
	go g.run(write)
	return g
}

// Commit is Commit of Store: it checks the batch, and returns when it was written.
func (g *Group) Commit(ctx context.Context, b Batch) (Version, error) {
	if err := b.Check(); err != nil {
		return 0, err
	}
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	r := &Request{Ctx: ctx, Batch: b, done: make(chan struct{})}
	g.mu.RLock()
	if g.closed {
		g.mu.RUnlock()
		return 0, ErrClosed
	}
	select {
	case g.asked <- r:
	case <-ctx.Done():
		g.mu.RUnlock()
		return 0, ctx.Err()
	}
	g.mu.RUnlock()
	<-r.done // soon: the batch is the caller's memory, so there is no leaving earlier
	return r.Version, r.Err
}

// Ready is why nothing may be read: the store is closed, or ctx has ended.
func (g *Group) Ready(ctx context.Context) error {
	g.mu.RLock()
	defer g.mu.RUnlock()
	if g.closed {
		return ErrClosed
	}
	return ctx.Err()
}

// Close takes no more and waits for what is under way. It reports whether it was the first to close.
func (g *Group) Close() (first bool) {
	g.mu.Lock()
	if first = !g.closed; first {
		g.closed = true
		close(g.asked)
	}
	g.mu.Unlock()
	<-g.done
	return first
}

func (g *Group) run(write func([]*Request)) {
	defer close(g.done)
	group := make([]*Request, 0, MaxGroup)
	for r := range g.asked {
		group = append(group[:0], r)
	more:
		for len(group) < MaxGroup {
			select {
			case r, ok := <-g.asked:
				if !ok {
					break more
				}
				group = append(group, r)
			default:
				break more
			}
		}
		write(group)
		for _, r := range group {
			close(r.done)
		}
	}
}

// Fail answers requests whose transaction failed: also a conflict, which may have been with a batch beside it.
func Fail(group []*Request, err error) {
	for _, r := range group {
		var conflict *ConflictError
		if r.Err == nil || errors.As(r.Err, &conflict) {
			r.Version, r.Err = 0, err
		}
	}
}
