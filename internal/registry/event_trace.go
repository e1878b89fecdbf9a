package registry

import (
	"github.com/throng-dev/throng/internal/trace"
	"github.com/throng-dev/throng/internal/wire"
)

var tos = [...]string{wire.ToReach: "reach", wire.ToWorld: "world", wire.ToOwner: "owner", wire.ToHost: "host", wire.ToPlayer: "player", wire.ToAuthority: "authority"}

// traceEvent tells of an event that left, came or was dropped.
func (r *Registry) traceEvent(dir trace.Dir, k *EventKind, id wire.ID, who wire.PlayerID, size int, to wire.To, why string) {
	t := r.tr
	if t == nil || !t.sink.On(trace.Events) {
		return
	}
	e := t.begin(trace.Events, dir, trace.EventLine, nil)
	if k != nil {
		e.Class = k.Name
	}
	e.ID, e.Owner, e.Bytes, e.Drop = trace.ID(id), trace.ID(who), size, why
	if dir == trace.Out && why == "" {
		e.Path = tos[to]
	}
	t.sink.Take(e)
}
