package authority

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/throng-dev/throng"
	"github.com/throng-dev/throng/store"
)

// What is Persistent:
//
//	Spawn ─► load, on a goroutine ─► ReadPersist ─► published, if it is to be
//	each tick: AppendPersist ─ differs from what was put? ─► Behind.Put ─► a commit within Config.Behind

var (
	errNoStore         = errors.New("Persistent without Config.Store: give a store, such as sqlite.Open's")
	errNothingPersists = errors.New("Persistent, but its class has no field tagged auth,persist")
)

// keeper keeps the persist fields of actors.
type keeper struct {
	s       *Server
	behind  *store.Behind
	byKey   map[string]*actor
	put     map[string][]byte // what the store has, or will have
	scratch []byte
	leaving map[string]chan struct{} // keys that are let go: closed when they are
	waits   sync.WaitGroup           // loads and releases under way
	ctx     context.Context
	cancel  context.CancelFunc
}

func newKeeper(s *Server) *keeper {
	k := &keeper{s: s, byKey: map[string]*actor{}, put: map[string][]byte{}, leaving: map[string]chan struct{}{}}
	k.ctx, k.cancel = context.WithCancel(context.Background())
	k.behind = store.NewBehind(s.cfg.Store, store.BehindConfig{
		Delay: s.cfg.Behind,
		Conflict: func(c *store.ConflictError) {
			s.world.Post(func() {
				if a := k.byKey[c.Key]; a != nil {
					s.lost(a, c)
				}
			})
		},
		Failed: func(err error) {
			s.log.Error("throng: persistent fields were not committed, they are tried again", "err", err)
		},
	})
	return k
}

// key is where an actor is kept: under its world's name, class and its own name.
func (k *keeper) key(a *actor) string { return k.s.cfg.World + "/" + a.class + "/" + a.name }

// load begins to load an actor that was spawned.
func (k *keeper) load(a *actor) error {
	a.key = k.key(a)
	if k.byKey[a.key] != nil {
		return fmt.Errorf("persistent name %q of class %q is in use here: two actors cannot be kept as one", a.name, a.class)
	}
	if err := store.CheckKey(a.key); err != nil {
		return err
	}
	k.byKey[a.key] = a
	a.loading = true
	before := k.leaving[a.key] // of an actor that ended just now
	k.waits.Go(func() {
		if before != nil {
			<-before
		}
		got, err := k.behind.Load(k.ctx, a.key)
		if k.ctx.Err() == nil {
			k.s.world.Post(func() { k.loaded(a, got, err) })
		}
	})
	return nil
}

func (k *keeper) loaded(a *actor, got []store.Record, err error) {
	if k.byKey[a.key] != a {
		return // destroyed meanwhile
	}
	if err == nil && len(got[0].Value) > 0 {
		var left []string
		if left, err = k.s.schema.ReadPersist(a.o, got[0].Value); len(left) > 0 {
			k.s.log.Warn("throng: a stored record has fields that this build does not", "class", a.class, "name", a.name, "fields", left)
		}
		k.put[a.key] = bytes.Clone(got[0].Value)
	}
	if err != nil {
		k.s.lost(a, err)
		return
	}
	if a.loading = false; a.wants {
		a.wants = false
		if err := k.s.publish(a, &options{}); err != nil {
			k.s.lost(a, err)
		}
	}
}

// lost gives up an actor that cannot be kept: it is withdrawn, so that nobody goes on with what will not last.
func (s *Server) lost(a *actor, err error) {
	s.log.Error("throng: a persistent actor is lost to this program", "class", a.class, "name", a.name, "err", err)
	delete(s.keeper.byKey, a.key)
	delete(s.keeper.put, a.key)
	a.key = ""
	if a.life == Published {
		s.check(s.Withdraw(a.o))
	}
	if s.cfg.OnLost != nil {
		s.cfg.OnLost(s, a.o, err)
	}
}

// keep puts what changed.
func (s *Server) keep() {
	if k := s.keeper; k != nil {
		for key, a := range k.byKey {
			if !a.loading {
				k.keepOne(key, a.o)
			}
		}
	}
}

func (k *keeper) keepOne(key string, o throng.Object) {
	k.scratch = k.s.schema.AppendPersist(k.scratch[:0], o)
	was, ever := k.put[key]
	if ever && bytes.Equal(was, k.scratch) {
		return
	}
	if err := k.behind.Put(key, k.scratch); err == nil { // else the actor is lost, or too large: Conflict or the log tells
		k.put[key] = append(was[:0], k.scratch...)
	} else if !errors.Is(err, store.ErrNotLoaded) && !errors.Is(err, store.ErrClosed) {
		k.s.log.Error("throng: persistent fields are not kept", "key", key, "err", err)
	}
}

// release commits an actor that ends and lets go of its key, so that another program may have it.
func (k *keeper) release(a *actor) {
	if !a.loading {
		k.keepOne(a.key, a.o)
	}
	delete(k.byKey, a.key)
	delete(k.put, a.key)
	gone := make(chan struct{})
	k.leaving[a.key] = gone
	k.waits.Go(func() {
		defer k.s.world.Post(func() {
			if k.leaving[a.key] == gone {
				delete(k.leaving, a.key)
			}
		})
		defer close(gone)
		if err := k.behind.Release(k.ctx, a.key); err != nil && k.ctx.Err() == nil {
			k.s.log.Error("throng: an actor that ended was not committed yet, it is tried again", "class", a.class, "name", a.name, "err", err)
		}
	})
}

// closeWithin is how long Close waits for the store.
const closeWithin = 10 * time.Second

func (k *keeper) close() error {
	ctx, cancel := context.WithTimeout(context.Background(), closeWithin)
	defer cancel()
	err := k.behind.Close(ctx)
	k.cancel()
	k.waits.Wait()
	if err != nil {
		return fmt.Errorf("throng: closing the authority: what is persistent was not all committed: %w", err)
	}
	return nil
}
