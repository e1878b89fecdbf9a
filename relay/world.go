package relay

import (
	"slices"
	"time"

	"github.com/throng-dev/throng/internal/shard"
	"github.com/throng-dev/throng/internal/table"
)

// worldKey names a world: a level, for one realm.
type worldKey struct {
	realm [16]byte
	level string
}

type world struct {
	key        worldKey
	shard      *shard.Shard
	sessions   int
	linger     time.Duration
	emptySince time.Duration // without sessions
}

// enter finds a world or makes it; nil if there are too many.
func (r *loop) enter(key worldKey) *world {
	if w := r.byKey[key]; w != nil {
		return w
	}
	if len(r.worlds) >= r.cfg.MaxWorlds {
		return nil
	}
	cfg := r.cfg.world(key.level)
	r.made++
	r.nextStart = r.now + startUnit
	w := &world{key: key, linger: cfg.Linger, emptySince: r.now}
	if w.linger == 0 {
		w.linger = defaultLinger
	}
	w.shard = shard.New(r.now, shard.Config{
		// A world that ended and begins again is like a relay that restarted: new epoch, higher terms.
		Epoch: uint64(r.start.UnixNano()) + r.made,
		Start: r.starts + uint32(r.now/startUnit),
		Key:   r.resume,
		// Certificates name the realm, or those of one realm would be good in another.
		World:      string(key.realm[:]) + key.level,
		Profile:    cfg.profile(),
		ParkGrants: cfg.ParkGrants,
		Settle:     r.cfg.Settle,
		MayJoin:    r.mayJoin(key, cfg),
		Tolerated:  func(o *shard.Session, e *table.Entity, what string) { r.tolerated(key, o, e, what) },
		Dropped:    func(o *shard.Session, d shard.Drop) { r.dropped(key, o, d) },
		Budget:     cfg.Budget, SessionEntities: cfg.SessionEntities, MaxEntities: cfg.MaxEntities, EventRate: cfg.EventRate, EventSize: cfg.EventSize,
	})
	r.worlds = append(r.worlds, w)
	r.byKey[key] = w
	r.log.Info("world begins", "world", key.level, "realm", hexID(key.realm))
	return w
}

// startUnit is what starts are counted in. Closing lasts that long after a world began: the next start has a higher number even if it
// follows at once.
const startUnit = time.Second / 5

// firstStart is when the count of starts begins, without a Config.Start: the year 2020, in unix milliseconds.
const firstStart = 1_577_836_800_000

func (w *world) left(now time.Duration) {
	w.sessions--
	w.emptySince = now
}

// dropWorlds ends worlds that were empty for long.
func (r *loop) dropWorlds(now time.Duration) {
	r.worlds = slices.DeleteFunc(r.worlds, func(w *world) bool {
		if w.sessions > 0 || w.linger < 0 || now < w.emptySince+max(w.linger, startUnit) {
			return false
		}
		r.counts.ended.add(w.shard.Stats())
		delete(r.byKey, w.key)
		r.log.Info("world ends", "world", w.key.level, "realm", hexID(w.key.realm), "entities", w.shard.Entities())
		return true
	})
}
